#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: csv, json, parquet, otlp, perfetto and sqlite, summed up as their own readers read
# them, say of each function with its callees what `report --children` says. Readers that are not
# installed are left out, and named. PERFDATA_PYTHON: an interpreter that has them; without it that
# of ./dev setup --oracles, or python3.
set -u
export LC_ALL=C.UTF-8 PERF_CONFIG=/dev/null TZ=UTC
python=$SOURCE/build-oracles/python/bin/python
[ -x "$python" ] || python=${PERFDATA_ORACLES:-/nowhere}/python/bin/python
[ -x "$python" ] || python=python3
python=${PERFDATA_PYTHON:-$python}
command -v "$python" >/dev/null || { echo 'skipped: no python3'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export HOME="$work"
failed=0 count=0 recordings=0
forms=csv
# Forms that another reader reads as well.
twice=
"$python" -c 'import polars' 2>/dev/null && twice="csv parquet" ||
    echo 'polars does not read: it is not here (./dev setup --oracles)'
for pair in pyarrow.parquet:parquet sqlite3:sqlite \
    opentelemetry.proto.profiles.v1development.profiles_pb2:otlp \
    perfetto.protos.perfetto.trace.perfetto_trace_pb2:perfetto; do
    if "$python" -c "import ${pair%:*}" 2>/dev/null; then
        forms="$forms ${pair#*:}"
    else
        echo "${pair#*:} is not read: no ${pair%:*} (./dev setup --oracles)"
    fi
done
"$PERFDATA" version --build-options 2>/dev/null | grep -i sqlite | grep -qi off &&
    forms=$(echo "$forms" | sed 's/ sqlite//') && echo 'sqlite is not read: built without it'

# compare FORMS RECORDING SYMFS KALLSYMS [ITRACE]
compare() {
    which=$1 name=$2
    set -- -f -i "$2" --symfs "$3" ${4:+--kallsyms "$4"} ${5:+--itrace="$5"}
    "$PERFDATA" report --children --json -s dso,sym "$@" >"$work/report" 2>/dev/null
    recordings=$((recordings + 1))
    for form in $which; do
        rm -rf "$work/$form"
        stacks=
        [ $form = sqlite ] && stacks=--stacks
        "$PERFDATA" export $form $stacks "$@" -o "$work/$form" 2>"$work/log"
        [ -e "$work/$form" ] || { echo "$form of $name: $(cat "$work/log")"; failed=1; continue; }
        "$python" "$SOURCE/tests/profile/children.py" "$work/report" $form "$work/$form" \
            "$work/csv" >"$work/text" 2>&1 || { echo "$name: $(tail -2 "$work/text")"; failed=1; }
        count=$((count + 1))
        case " $twice " in *" $form "*) ;; *) continue ;; esac
        "$python" "$SOURCE/tests/profile/children.py" "$work/report" polars_$form "$work/$form" \
            >"$work/text" 2>&1 || { echo "$name: $(tail -2 "$work/text")"; failed=1; }
        count=$((count + 1))
    done
}

demo=$SOURCE/tests/data/demo
compare "$forms json" "$demo/spin.data" "$demo/symfs" "$demo/symfs/kallsyms"
compare "$forms json" "$demo/shapes.data" "$demo/symfs" "$demo/symfs/kallsyms"
if [ -n "${PERFDATA_CORPUS-}" ]; then
    own=$PERFDATA_CORPUS/own
    # Programs with their symbols, which those in symfs lack.
    mkdir -p "$work/fs/own"
    ln -s "$own/bin" "$work/fs/own/bin"
    ln -s "$own/symfs/usr" "$work/fs/usr"
    for each in cpu-clock-fp forkexec threads dlopen plt zstd-1 sys-wide max-stack; do
        compare "$forms json" "$own/rec/$each.data" "$work/fs" "$own/symfs/kallsyms"
    done
    # json has the recorded chain alone: neither unwound nor inlined frames, nor the sample's own
    # place where chains leave out the kernel or the user's part.
    for each in kernel-callchains user-callchains cpp-fp dwarf-cpp inline rust-v0-fp \
        rust-legacy-fp dwarf; do
        compare "$forms" "$own/rec/$each.data" "$work/fs" "$own/symfs/kallsyms"
    done
    pt=$PERFDATA_CORPUS/own-pt
    for each in c_dyn c_threads t_cyc; do
        compare "$forms" "$pt/rec/$each.data" "$pt/symfs" "" i10usg
    done
    for machine in aarch64 armhf s390x; do
        foreign=$PERFDATA_CORPUS/foreign/$machine
        compare "$forms" "$foreign/rec/clock-g.data" "$foreign" "$foreign/kallsyms"
    done
fi
[ $count -gt 1 ] || failed=1
echo "$count readings of $recordings recordings"
exit $failed

#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: csv, otlp and perfetto say of each function what report says, when csv modules and the
# classes of OpenTelemetry and Perfetto read them. PERFDATA_PYTHON: an interpreter that has these;
# without it that of ./dev setup --oracles, or python3.
set -u
export LC_ALL=C.UTF-8 PERF_CONFIG=/dev/null TZ=UTC
totals=$1
python=$SOURCE/build-oracles/python/bin/python
[ -x "$python" ] || python=${PERFDATA_ORACLES:-/nowhere}/python/bin/python
[ -x "$python" ] || python=python3
python=${PERFDATA_PYTHON:-$python}
command -v "$python" >/dev/null || { echo 'skipped: no python3'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 count=0
readers=csv
for module in opentelemetry.proto.profiles.v1development.profiles_pb2:otlp \
    perfetto.protos.perfetto.trace.perfetto_trace_pb2:perfetto; do
    if "$python" -c "import ${module%:*}" 2>/dev/null; then
        readers="$readers ${module#*:}"
    else
        echo "${module#*:} is not read: no ${module%%.*} (./dev setup --oracles)"
    fi
done

# RECORDING SYMFS KALLSYMS [--inlined]
compare() {
    name=$1 symfs=$2 kallsyms=$3
    shift 3
    for reader in $readers; do
        detail=0
        [ $reader = otlp ] && detail=2
        "$totals" "$name" $detail "$symfs" "$kallsyms" >"$work/expected" || failed=1
        rm -rf "$work/out"
        "$PERFDATA" export $reader -i "$name" --symfs "$symfs" --kallsyms "$kallsyms" \
            -o "$work/out" 2>"$work/log" || {
            cat "$work/log"; failed=1; }
        "$python" "$SOURCE/tests/profile/read_$reader.py" "$work/expected" "$work/out" "$@" \
            >"$work/text" 2>&1 || {
            echo "$reader of $name: $(tail -3 "$work/text")"; failed=1; }
        count=$((count + 1))
        [ $reader = otlp ] && continue
        "$PERFDATA" export $reader -i "$name" --symfs "$symfs" --kallsyms "$kallsyms" \
            >"$work/piped" 2>/dev/null
        [ -d "$work/out" ] && file=$work/out/samples.csv || file=$work/out
        cmp "$work/piped" "$file" ||
            { echo "$reader of $name: standard output has other bytes"; failed=1; }
    done
}

demo=$SOURCE/tests/data/demo
compare "$demo/spin.data" "$demo/symfs" "$demo/symfs/kallsyms"
compare "$demo/shapes.data" "$demo/symfs" "$demo/symfs/kallsyms"
if [ -n "${PERFDATA_CORPUS-}" ]; then
    own=$PERFDATA_CORPUS/own
    for each in cpu-clock-fp cpp-fp kernel-callchains multi-event sys-wide forkexec; do
        compare "$own/rec/$each.data" "$own/symfs" "$own/symfs/kallsyms"
    done
    # Functions that were put into others are callees of their own here.
    for each in dwarf-cpp inline; do
        compare "$own/rec/$each.data" "$own/symfs" "$own/symfs/kallsyms" --inlined
    done
fi
[ $count -gt 1 ] || failed=1
echo "$count readings"
exit $failed

#!/bin/sh
# SPDX-License-Identifier: MIT
# inject --itrace: the records that perf's own inject writes, byte by byte, with and without
# --strip; what the manual's AutoFDO way ends in (create_gcov) reads them; what is refused.
. "$SOURCE/tests/itrace/common.sh"
. "$SOURCE/tests/itrace/data.sh"
needs perf

# perf inject has no --symfs; where programs are not at their place, decoding errors are compared.
symfs=
[ -e /ptcorpus ] || symfs='--symfs /nowhere'

compare() {
    file=$1
    shift
    rm -rf "$work/perf" "$work/ours"
    PERF_CONFIG=$config perf inject -i "$own/rec/$file" "$@" -o "$work/perf" 2>/dev/null
    # shellcheck disable=SC2086
    PERF_CONFIG=$config "$PERFDATA" inject -i "$own/rec/$file" "$@" $symfs -o "$work/ours" \
        2>/dev/null
    data "$work/perf" >"$work/perf.data"
    data "$work/ours" >"$work/ours.data"
    count=$((count + 1))
    cmp -s "$work/perf.data" "$work/ours.data" || complain "$file $*: other records than perf's"
    for view in 'script' 'evlist -v'; do
        # shellcheck disable=SC2086
        perf $view -i "$work/perf" 2>/dev/null | cksum >"$work/a"
        # shellcheck disable=SC2086
        perf $view -i "$work/ours" 2>/dev/null | cksum >"$work/b"
        cmp -s "$work/a" "$work/b" || complain "$file $*: perf $view shows something else"
    done
}

config=/dev/null
for file in v_code k_cpu; do
    compare $file --itrace=be
    compare $file --itrace=i2usl # idle tasks have no branches
    compare $file --itrace=cr --strip
done
# The kernel's code, of the image that is named.
vmlinux=$own/symfs/boot/vmlinux-tp
compare k_vmlinux.data --itrace=i1us
cp "$work/ours.data" "$work/without"
compare k_vmlinux.data --itrace=i1us -k "$vmlinux"
cmp -s "$work/ours.data" "$work/without" && complain '-k changes nothing'
compare k_vmlinux.data --itrace=i1us -k "$vmlinux" --ignore-vmlinux
compare k_vmlinux.data --itrace=i1us --ignore-vmlinux
for file in t_attach.data t_notnt.data; do # the first events are of a process that is not yet known
    compare $file --itrace=i1uswpxe
done
for file in t_tsc.data t_cyc.data c_threads.data c_sample.data t_ptw.data t_longtnt.data; do
    for what in --itrace=i2usle --itrace=be --itrace=i2usg --itrace=cr; do
        compare "$file" "$what"
        compare "$file" "$what" --strip
    done
done
printf '[intel-pt]\n\tmispred-all = on\n' >"$work/config"
config=$work/config
compare t_psb16k.data --itrace=i100usle --strip
PERF_CONFIG=$config "$PERFDATA" inject -i "$own/rec/t_psb16k.data" --itrace=i100usle \
    --strip --symfs "$own/symfs" \
    -o "$work/ours" 2>/dev/null
"$PERFDATA" script -i "$work/ours" -F brstack | grep -q '/M/' ||
    complain 'perfconfig: no branch is mispredicted'

# The AutoFDO way.
if command -v create_gcov >/dev/null && [ -e /ptcorpus/bin/loops ]; then
    PERF_CONFIG=$config "$PERFDATA" inject -i "$own/rec/t_psb16k.data" --itrace=i100usle \
        --strip --no-hw-index -o "$work/fdo"
    create_gcov --binary=/ptcorpus/bin/loops --profile="$work/fdo" --gcov="$work/gcov" \
        -gcov_version=1 2>/dev/null ||
        complain 'create_gcov does not read it'
    [ -s "$work/gcov" ] || complain 'create_gcov makes nothing of it'
fi

refused() {
    expected=$1
    shift
    if "$PERFDATA" inject "$@" -o "$work/out" 2>"$work/said"; then
        complain "accepted: $*"
    fi
    grep -q -e "$expected" "$work/said" ||
        { complain "$*: not '$expected' but:"; cat "$work/said" >&2; }
    [ ! -e "$work/out" ] || complain "$*: left a file"
}
refused 'strip option requires --itrace' --strip -i "$own/rec/t_tsc.data"
refused 'Bad Instruction Tracing options' --itrace=k -i "$own/rec/t_tsc.data"
refused 'no trace that can be decoded' --itrace -i "$SOURCE/tests/data/demo/spin.data"
refused 'need two runs' --itrace -b -i "$own/rec/t_tsc.data"
echo "$count comparisons"
exit $failed

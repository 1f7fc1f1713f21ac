#!/bin/sh
# SPDX-License-Identifier: MIT
# What decoding Intel PT gives is what ran: instructions and branches of each recording of own-pt,
# in order, by their hash; and the same bytes with 1, 2 and 8 threads.
set -u
corpus=${PERFDATA_CORPUS:-}/own-pt
[ -f "$corpus/check_truth.py" ] ||
    { echo 'skipped: PERFDATA_CORPUS with own-pt is not set'; exit 77; }
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
export TZ=UTC LC_ALL=C
cd "$corpus/symfs" || exit 1
failed=0 count=0
# NAME: options that the recording needs.
options() {
    case $1 in
    k_vmlinux) echo '--symfs . -k boot/vmlinux-tp' ;;
    v_*) echo '--symfs . --guest-code' ;;
    *) echo '--symfs .' ;;
    esac
}
# NAME RECORDING LETTER ITRACE FIELDS
check() {
    truth=$corpus/truth/$1.zst
    case $1 in k_*) fields=hw:cpu,${5#hw:} ;; *) fields=$5 ;; esac
    [ ! -f "$corpus/truth/$1.perf61.zst" ] || truth=$corpus/truth/$1.perf61.zst
    # shellcheck disable=SC2046
    "$PERFDATA" script -i "$2" $(options "$1") --itrace="$4" -F "$fields" 2>"$out/err" |
        python3 "$corpus/check_truth.py" "$truth" "$3" >"$out/answer" 2>&1
    if grep -q '^BAD' "$out/answer" || ! grep -q '^OK' "$out/answer"; then
        echo "$1 $3: $(grep -m 1 -v '^OK' "$out/answer" | cut -c1-200)"
        failed=1
    fi
}
for recording in "$corpus"/rec/*; do
    name=${recording##*/}
    name=${name%.data}
    [ -f "$corpus/truth/$name.zst" ] || continue
    check "$name" "$recording" i i0ns hw:tid,ip
    check "$name" "$recording" b b hw:tid,ip,addr
    count=$((count + 1))
done
[ $count -gt 0 ] || { echo 'no recording has a truth'; failed=1; }
for name in c_dyn.data k_cpu c_sample.data t_pebs.data; do
    for way in --itrace=ibxwpoIe --call-ret-trace '--itrace=i10usgl -F +brstack'; do
        for threads in 1 2 8; do
            # shellcheck disable=SC2086
            "$PERFDATA" script -i "$corpus/rec/$name" --symfs . $way -j $threads 2>/dev/null |
                sha256sum >"$out/sum.$threads"
        done
        [ "$(cat "$out/sum.1")" != "$(sha256sum </dev/null)" ] ||
            { echo "$name $way: no text"; failed=1; }
        cmp -s "$out/sum.1" "$out/sum.2" && cmp -s "$out/sum.1" "$out/sum.8" && continue
        echo "$name $way: the text depends on the number of threads"
        failed=1
    done
done
exit $failed

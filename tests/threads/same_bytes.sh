#!/bin/sh
# SPDX-License-Identifier: MIT
# The same bytes with 1, 2 and 8 threads, and where records wait on the disk. A recording that lies
# here is grown, so that there are many batches.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ninja -C "$BUILD" bench/bench_grow >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
# The kernel's symbols, and so many more that it takes a while to read them: what needs none of them
# goes on meanwhile.
if [ -n "${PERFDATA_CORPUS-}" ]; then
    cat "$PERFDATA_CORPUS/own/symfs/kallsyms"
    awk 'BEGIN { for (i = 0; i < 200000; i++) printf "ffffffffe%07x t f%d\n", 64 * i, i }'
fi >"$work/kallsyms"
count=0
for recording in "$SOURCE"/tests/data/*/*.data \
    ${PERFDATA_CORPUS:+"$PERFDATA_CORPUS"/own/rec/sys-*.data}; do
    "$BUILD/bench/bench_grow" "$recording" "$work/grown.data" 3 >"$work/log" 2>&1 || continue
    for arguments in 'script' 'script --ns -F comm,tid,time,event,ip,sym' 'script --deltatime' \
        'report --stdio' 'report --stdio --no-children -s comm,dso -g none' \
        'report --stdio --branch-history -s comm,sym' \
        "report --stdio --kallsyms $work/kallsyms" \
        "report --stdio --no-children --kallsyms $work/kallsyms"; do
        one=
        for how in '-j 1' '-j 2' '-j 8' '-j 2 --memory=20K'; do
            # shellcheck disable=SC2086
            "$PERFDATA" $arguments $how -i "$work/grown.data" >"$work/out" 2>"$work/err"
            got="$? $(cksum <"$work/out") $(cksum <"$work/err")"
            if [ "${one:=$got}" != "$got" ]; then
                echo "$recording: $arguments: -j 1: $one; $how: $got"
                exit 1
            fi
        done
        case $one in 0*) count=$((count + 1)) ;; esac
    done
done
# Many samples are wrong, in different ways. One way is named: that with the least text, not the one
# that a worker happens to meet first.
{
    cat <<'END'
perfdata-text 1
container file order=little header_size=104
attr cycles={size=128 sample_type=IP|TID|TIME|CALLCHAIN|PERIOD flags=mmap|comm|task|sample_id_all} ids=[7]
ids cycles
attrs
data
END
    awk 'BEGIN { for (i = 0; i < 30000; i++)
        printf "record SAMPLE misc=0x2 {ip=0x401000 pid=1 tid=1 time=1.%09ds period=1 " \
               "ips=[0xffffffffffffff%02x 0x401000]}\n",
            1000 * i, 16 + i % 150 }'
    echo end
} >"$work/wrong.pdt"
"$PERFDATA" assemble "$work/wrong.pdt" -o "$work/wrong.data" || exit 1
for how in 1 2 8 8 8; do
    "$PERFDATA" report --stdio -j $how -i "$work/wrong.data" 2>&1 >/dev/null |
        grep 'unknown context'
done | sort | uniq -c >"$work/told"
grep -q '^ *5 .*unknown context -100 ' "$work/told" || { cat "$work/told"; exit 1; }
[ "$count" -gt 0 ] || { echo 'skipped: no recording could be grown and read'; exit 77; }
echo "$count runs were equal"

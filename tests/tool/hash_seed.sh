#!/bin/sh
# SPDX-License-Identifier: MIT
# Hash functions are drawn anew for each process: no output may depend on them. Each command runs
# several times.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export PERF_CONFIG=/dev/null TZ=UTC LC_ALL=C
runs=0
for recording in "$SOURCE"/tests/data/demo/*.data "$SOURCE"/tests/data/report/*.data \
    "$SOURCE"/tests/data/itrace/t_eptw.data; do
    for arguments in 'script' 'report --stdio' 'report --stdio -s pid,comm,dso,sym --hierarchy' \
        'report --stdio --mmaps' \
        'report --stdio -s comm,sym -g caller' 'dump' 'dump --pdt' 'buildid-list -H' \
        'header --json' 'check' \
        'inject -b -o -' 'anonymize --key k -o -' 'merge -o -' 'export folded -o -' \
        'export pprof -o -' \
        'export postgresql -o -'; do
        first=
        for _ in 1 2 3; do
            # shellcheck disable=SC2086
            "$PERFDATA" $arguments "$recording" >"$work/out" 2>"$work/err"
            got="$? $(cksum <"$work/out") $(cksum <"$work/err")"
            if [ "${first:=$got}" != "$got" ]; then
                echo "$arguments $recording: once $first, then $got"
                exit 1
            fi
        done
        case $first in 0*) runs=$((runs + 1)) ;; esac
    done
done
[ $runs -gt 100 ] || { echo "only $runs commands worked"; exit 1; }
echo "$runs commands gave the same three times"

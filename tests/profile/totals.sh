#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: what each function takes by the profile is what `report --no-children` and `--children`
# say, to the last event. Recordings of the repository, and of the corpus where there is one.
set -u
export LC_ALL=C PERF_CONFIG=/dev/null TZ=UTC
totals=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 count=0 chains=0

# Rows of a report "event|A|B|object|function", unknown functions of an object as one.
rows() {
    "$PERFDATA" report --stdio -g "${graph:-none}" -t '|' --percent-limit 0 --no-group "$@" 2>>"$work/log" |
        awk -F'|' -v OFS='|' '
        /^# Samples: / {
            sub(/^# Samples: .* of events? '"'"'/, "")
            sub(/'"'"'.*$/, "")
            event = $0
            next
        }
        /^#/ || NF < 4 || $3 ~ /^ *$/ { next } # the last ones are of a graph
        { for (i = 1; i <= NF; i++) { gsub(/^ +| +$/, "", $i) }
          symbol = $4
          for (i = 5; i <= NF; i++) symbol = symbol "|" $i
          sub(/^\[.\] /, "", symbol)
          if (symbol ~ /^(0x)?[0-9a-f]+$/ && length(symbol) >= 8) symbol = "[unknown]"
          print event, $1, $2, $3, symbol }'
}

# RECORDING SYMFS KALLSYMS [ITRACE]
compare() {
    name=$1 symfs=$2 kallsyms=$3
    shift 3
    set -- -i "$name" -f --symfs "$symfs" ${kallsyms:+--kallsyms "$kallsyms"} ${1:+"--itrace=$1"}
    for detail in 0 2; do
        # shellcheck disable=SC2086
        "$totals" "$name" $detail "$symfs" "$kallsyms" ${itrace:-} >"$work/ours" 2>"$work/log" ||
            { cat "$work/log"; failed=1; }
        rows --no-children -F period,sample,dso,sym "$@" |
            awk -F'|' -v OFS='|' '{ symbol = $5; for (i = 6; i <= NF; i++) symbol = symbol "|" $i
                key = $1 "|" $4 "|" symbol; period[key] += $2; samples[key] += $3 }
                END { for (key in period) printf "%s|%.0f|%d\n", key, period[key], samples[key] }' |
                    sort >"$work/report"
        awk -F'|' '{ symbol = $6; for (i = 7; i <= NF; i++) symbol = symbol "|" $i
            key = $1 "|" $5 "|" symbol; period[key] += $2; samples[key] += $3 }
            END { for (key in period) if (samples[key]) printf "%s|%.0f|%d\n", key, period[key], samples[key] }' \
            "$work/ours" | sort >"$work/profile"
        cmp -s "$work/report" "$work/profile" || {
            echo "$name, detail $detail: not what report --no-children says";
                diff "$work/report" "$work/profile" | head -6; failed=1; }
        # One function of a name in an object, and no unknown or inlined ones: those are other
        # things for report.
        rows --children -F overhead_children,sample,dso,sym "$@" |
            awk -F'|' '$5 != "[unknown]" && !/\(inlined\)/' |
            awk -F'|' '{ symbol = $5; for (i = 6; i <= NF; i++) symbol = symbol "|" $i
                key = $1 "|" $4 "|" symbol; seen[key]++; share[key] = $2 + 0 }
                END { for (key in seen) if (seen[key] == 1) printf "%s|%.2f\n", key, share[key] }' |
                    sort >"$work/report"
        awk -F'|' '$6 != "[unknown]" && !/\(inlined\)/ {
                symbol = $6
                for (i = 7; i <= NF; i++) symbol = symbol "|" $i
                key = $1 "|" $5 "|" symbol
                seen[key]++
                share[key] = $4
            }
            END { for (key in seen) if (seen[key] == 1) printf "%s|%.2f\n", key, share[key] }' \
                "$work/ours" | sort >"$work/profile"
        # Without chains report counts no callees.
        grep -qv '|0[.]00$' "$work/report" || : >"$work/profile" >"$work/report"
        cmp -s "$work/report" "$work/profile" || {
            echo "$name, detail $detail: not what report --children says";
                diff "$work/report" "$work/profile" | head -6; failed=1; }
        [ -s "$work/report" ] && chains=$((chains + 1))
        count=$((count + 1))
    done
}

demo=$SOURCE/tests/data/demo
compare "$demo/spin.data" "$demo/symfs" "$demo/symfs/kallsyms"
compare "$demo/shapes.data" "$demo/symfs" "$demo/symfs/kallsyms"
[ $chains -eq 4 ] || { echo "report printed nothing"; failed=1; }
if [ -n "${PERFDATA_CORPUS-}" ]; then
    own=$PERFDATA_CORPUS/own
    for name in cpu-clock cpu-clock-fp task-clock-count cpp-fp multi-event kernel-callchains \
        sys-wide rust-v0-fp threads jit \
        dwarf-cpp inline pipe-zstd dir-threads group-read forkexec plt; do
        [ -e "$own/rec/$name.data" ] &&
            compare "$own/rec/$name.data" "$own/symfs" "$own/symfs/kallsyms"
    done
    pt=$PERFDATA_CORPUS/own-pt itrace=i100us
    for name in t_cyc t_sig t_intr; do
        [ -e "$pt/rec/$name.data" ] && compare "$pt/rec/$name.data" "$pt/symfs" '' i100us
    done
    # The call chains that a trace makes count for their callers, which perf adds up only where a
    # graph may show them: here one of what takes more than all.
    itrace=i10usg graph=graph,101
    for name in t_cyc t_sig c_threads c_dyn; do
        before=$chains
        compare "$pt/rec/$name.data" "$pt/symfs" '' i10usg
        [ "$chains" -eq $((before + 2)) ] || { echo "$name: no callers"; failed=1; }
    done
    graph=
    for machine in aarch64 armhf s390x; do
        itrace=''
        foreign=$PERFDATA_CORPUS/foreign/$machine
        for name in clock-g cyc-g user multi-pipe; do
            [ -e "$foreign/rec/$name.data" ] &&
                compare "$foreign/rec/$name.data" "$foreign" "$foreign/kallsyms"
        done
    done
else
    echo 'PERFDATA_CORPUS is not set: recordings of the repository only'
fi
echo "$count comparisons, $chains with callers"
exit $failed

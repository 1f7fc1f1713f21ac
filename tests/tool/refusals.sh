#!/bin/sh
# SPDX-License-Identifier: MIT
# Each option of perf's that is refused has its reason in docs/options.md and in the message, no
# other has one, and of all options of perf's verbs on recordings at most a part is refused.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
    echo "$*"
    failed=1
}

# VERB|OPTION|STATE|TEXT of each row
awk -F ' *[|] *' '/^## / { verb = substr($0, 4) }
     /^[|] `/ { gsub(/`/, "", $2); sub(/^.*--/, "", $2); sub(/[[=].*/, "", $2)
                print verb "|" $2 "|" $3 "|" $4 }' "$SOURCE/docs/options.md" >"$work/rows"
[ "$(wc -l <"$work/rows")" -gt 500 ] || fail "few rows: $(wc -l <"$work/rows")"

awk -F '|' '$3 == "refused" && $4 == "" { print $1 ": --" $2 " has no reason"; bad = 1 }
            END { exit bad }' "$work/rows" || failed=1
awk -F '|' '$3 == "refused" { print $1 "|" $2 }' "$work/rows" | sort >"$work/refused"
sed -n 's/^REFUSED("\([^"]*\)", "\([^"]*\)", .*/\1|\2/p' "$SOURCE/src/tool/refused.def" | sort \
    >"$work/reasons"
comm -13 "$work/refused" "$work/reasons" >"$work/stale"
[ ! -s "$work/stale" ] || fail "reasons of what is not refused: $(cat "$work/stale")"

# The message says it.
while IFS='|' read -r verb option; do
    # shellcheck disable=SC2086
    "$PERFDATA" $verb "--$option=1" >"$work/out" 2>"$work/err" </dev/null
    [ $? -eq 2 ] && grep -q -e "--$option is not supported yet: " "$work/err" ||
        fail "$verb --$option: $(cat "$work/err")"
done <"$work/refused"

# The options of all verbs on recordings, so not of record.
awk -F '|' -v most=20 '$1 != "record" && $3 != "works, ours" {
         all++; if ($3 == "refused") refused++ }
     END { print refused + 0 " of " all " options are refused"
           exit all < 400 || refused * most > all }' "$work/rows" || fail 'more than one in 20'
exit $failed

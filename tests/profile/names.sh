#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: names with quotes, separators, newlines, backslashes, bad UTF-8, tags and 10 KB, of
# functions, threads, objects, sources, events and the host, leave every form valid for its reader,
# and nothing of them is lost: what a function with a plain name took, one with such a name takes as
# well. A form that has no reader in names.py fails.
. "$SOURCE/tests/profile/branch_tools.sh"
needs python3 objdump readelf
python=$SOURCE/build-oracles/python/bin/python
[ -x "$python" ] || python=${PERFDATA_ORACLES:-/nowhere}/python/bin/python
[ -x "$python" ] || python=python3
# go builds pprof once, not in each new home.
command -v go >/dev/null && GOCACHE=$(go env GOCACHE) && export GOCACHE
export PPROF_TMPDIR="$work" HOME="$work" PYTHONDONTWRITEBYTECODE=1

python3 "$SOURCE/tests/profile/names_made.py" source "$work" || exit 1
$CC -g -gdwarf-4 -O1 -no-pie -o "$work/program" "$work/program.c" ||
    { echo "skipped: $CC cannot link -no-pie"; exit 77; }
python3 "$SOURCE/tests/profile/names_made.py" recording "$work" || exit 1
forms=$("$PERFDATA" export 2>&1 | sed -n 's/.*one of \(.*\) is needed/\1/p' | tr -d ,)
for kind in odd plain; do
    "$PERFDATA" assemble "$work/$kind.pdt" -o "$work/$kind.data" || exit 1
    for form in $forms; do
        out=$work/$form
        [ $kind = odd ] || out=$work/plain-$form
        case $form in
        speedscope | pprof | callgrind | csv | otlp | perfetto) lines='--detail line' ;;
        *) lines= ;;
        esac
        # shellcheck disable=SC2086
        "$PERFDATA" export "$form" $lines -i "$work/$kind.data" --symfs "$work/$kind" \
            --kallsyms /dev/null -o "$out" 2>"$work/log" ||
            { grep -q 'built without' "$work/log" || fail "$form: $(cat "$work/log")"; }
    done
done

set -- -i "$work/odd.data" --symfs "$work/odd" --kallsyms /dev/null
"$PERFDATA" script --json "$@" >"$work/script-json" || fail 'script --json'
"$PERFDATA" report --json --no-children "$@" >"$work/report-json" 2>/dev/null ||
    fail 'report --json'
"$PERFDATA" flame --svg "$@" -o "$work/svg" || fail 'flame --svg'

# A server of its own, which takes no user with all rights: its rows as CSV.
postgres() {
    server=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
    as=
    [ -n "$server" ] && has psql || return
    if [ "$(id -u)" = 0 ]; then
        id postgres >/dev/null 2>&1 && command -v runuser >/dev/null || return
        as='runuser -u postgres --'
    fi
    place=$(mktemp -d) || return
    [ -z "$as" ] || chown postgres "$place"
    # shellcheck disable=SC2086
    (cd "$place" && $as "$server/initdb" -D "$place/data" -U perfdata -E UTF8 --no-locale \
        --no-sync -A trust >"$work/log" 2>&1 && $as "$server/pg_ctl" -w -D "$place/data" \
        -o "-k $place -c listen_addresses='' -c fsync=off" -l "$place/log" start >"$work/log" 2>&1)
    if [ $? = 0 ]; then
        for of in odd plain; do
            form=$work/postgresql
            [ $of = odd ] || form=$work/plain-postgresql
            psql -X -q -v ON_ERROR_STOP=1 -h "$place" -U perfdata -d postgres -f "$form" \
                >"$work/log" 2>&1 || fail "psql refuses the form: $(cut -c1-300 "$work/log")"
            [ $of = plain ] || psql -X -q -h "$place" -U perfdata -d postgres -c "copy (
                select symbols.name, period, comm, selected_events.name, long_name from samples
                join symbols on symbols.id = symbol_id join comms on comms.id = comm_id
                join selected_events on selected_events.id = evsel_id
                join dsos on dsos.id = samples.dso_id where samples.id > 0
                ) to stdout (format csv)" >"$work/rows" || fail 'psql reads nothing'
            psql -X -q -h "$place" -U perfdata -d postgres -c 'drop schema public cascade' \
                -c 'create schema public' >"$work/log" 2>&1
        done
        # shellcheck disable=SC2086
        (cd "$place" && $as "$server/pg_ctl" -D "$place/data" -m immediate stop) >"$work/log" 2>&1
    else
        echo "no PostgreSQL server starts: $(tail -1 "$work/log")"
    fi
    rm -rf "$place"
}
postgres

# shellcheck disable=SC2086
"$python" "$SOURCE/tests/profile/names.py" "$work" $forms script-json report-json svg || failed=1
[ -n "$forms" ] || failed=1

# Names of the kernel's table, which has none with blanks.
demo=$SOURCE/tests/data/demo
cat >"$work/kernel.py" <<'END'
import sys
demo, work = sys.argv[1:]
names = {b"finish_task_switch.isra.0": b'a;b"c\'d<script>&\xff\\x41',
         b"handle_softirqs": b"x" * 10240, b"ktime_get_ts64": b"\xed\xa0\x80\xc3("}
table = open(demo + "/symfs/kallsyms", "rb").read()
for old, new in names.items():
    assert table.count(b" " + old + b"\n") == 1
    table = table.replace(b" " + old + b"\n", b" " + new + b"\n")
open(work + "/kallsyms", "wb").write(table)
END
python3 "$work/kernel.py" "$demo" "$work" || failed=1
for table in "$demo/symfs/kallsyms" "$work/kallsyms"; do
    "$PERFDATA" export folded -i "$demo/spin.data" --symfs "$demo/symfs" \
        --kallsyms "$table" |
        sed 's/finish_task_switch\.isra\.0/A/; s/a:b"c.d<script>&\\xff\\x5cx41/A/
            s/handle_softirqs/B/; s/x\{10240\}/B/
            s/ktime_get_ts64/C/; s/\\xed\\xa0\\x80\\xc3(/C/' | sort >"$work/folded"
    [ -f "$work/first" ] || cp "$work/folded" "$work/first"
done
grep -q 'A.*[0-9]$' "$work/folded" && cmp "$work/first" "$work/folded" || failed=1
[ -z "$missing" ] || echo "not there:$missing"
exit $failed

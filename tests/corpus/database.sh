#!/bin/sh
# SPDX-License-Identifier: MIT
# export sqlite beside perf's own exporter: the same tables and views, row by row.
set -u
recordings=${PERFDATA_CORPUS:-}/own-pt
[ -d "$recordings/rec" ] || { echo 'skipped: PERFDATA_CORPUS with own-pt is not set'; exit 77; }
exporter=$(perf --exec-path 2>/dev/null)/scripts/python/export-to-sqlite.py
python=/usr/bin/python3 # perf's scripts run in the system's
driver='from PySide2.QtSql import QSqlDatabase as db; assert db.isDriverAvailable("QSQLITE")'
if [ ! -f "$exporter" ] || ! $python -c "$driver" 2>/dev/null; then
    echo 'skipped: perf has no exporter here, or there is no python3-pyside2.qtsql with libqt5sql5-sqlite'
    exit 77
fi
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
cat >"$out/compare.py" <<'END'
import sqlite3, sys
theirs, ours = (sqlite3.connect(path) for path in sys.argv[1:3])
def names(db):
    names = db.execute("select name from sqlite_master where type in ('table', 'view')")
    return sorted(row[0] for row in names)
def rows(db, name):
    columns = [r[1] for r in db.execute("pragma table_info(%s)" % name)]
    return columns, sorted(map(repr, db.execute("select * from " + name)))
bad = 0
if names(theirs) != names(ours):
    print("  tables:", set(names(theirs)) ^ set(names(ours)))
    bad = 1
for name in names(theirs):
    if not bad and rows(theirs, name) != rows(ours, name):
        (a, x), (b, y) = rows(theirs, name), rows(ours, name)
        print("  %s: %d rows, %d of perf" % (name, len(y), len(x)), a == b or (a, b))
        for line in sorted(set(x) ^ set(y))[:6]:
            print("    ", "perf" if line in x else "ours", line)
        bad = 1
sys.exit(bad)
END
export PERF_CONFIG=/dev/null TZ=UTC HOME="$out"
failed=0
# compare RECORDING ITRACE MODE [OPTION]: MODE as perf's exporter has it.
compare() {
    rm -f "$out"/*.db
    options=
    case $3 in *branches*) options=--branches ;; esac
    case $3 in *calls*) options="$options --calls" ;; esac
    # shellcheck disable=SC2086
    perf script -i "$recordings/rec/$1" --symfs "$recordings/symfs" "--itrace=$2" ${4-} \
        -s "$exporter" "$out/theirs.db" $3 \
        >"$out/log" 2>&1 </dev/null
    # shellcheck disable=SC2086
    "$PERFDATA" export sqlite -i "$recordings/rec/$1" --symfs "$recordings/symfs" "--itrace=$2" \
        $options ${4-} \
        -o "$out/ours.db" >"$out/log2" 2>&1 </dev/null || { cat "$out/log2"; failed=1; return; }
    $python "$out/compare.py" "$out/theirs.db" "$out/ours.db" ||
        { echo "$1 --itrace=$2: $3 differs"; failed=1; }
}
if ! "$PERFDATA" export sqlite -i "$recordings/rec/t_tsx.data" -o "$out/probe.db" \
    2>"$out/log2"; then
    grep -q 'built without SQLite' "$out/log2" && { echo 'skipped: built without SQLite'; exit 77; }
fi
compare t_pwr.data bepw 'branches calls'
compare k_vmlinux.data bepw 'branches calls'
compare t_cyc.data bep 'all calls'
compare t_tsx.data bepwx 'branches calls'
compare t_event.data bepI 'all calls'
# calls of a thread that comes from a buffer that was entered in its middle
compare k_task bep 'branches calls' --time=60%-90%
compare k_poke bep 'branches calls' --time=30%-60%
exit $failed

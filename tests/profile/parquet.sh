#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: the Parquet tables, read by pyarrow and DuckDB, say what report says; several groups of
# rows, too. PERFDATA_PYTHON: an interpreter that has both; without it that of ./dev setup
# --oracles, or python3.
set -u
export LC_ALL=C.UTF-8 PERF_CONFIG=/dev/null TZ=UTC
totals=$1
python=$SOURCE/build-oracles/python/bin/python
[ -x "$python" ] || python=${PERFDATA_ORACLES:-/nowhere}/python/bin/python
[ -x "$python" ] || python=python3
python=${PERFDATA_PYTHON:-$python}
"$python" -c 'import pyarrow.parquet' 2>/dev/null ||
    { echo 'skipped: no pyarrow (./dev setup --oracles)'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# RECORDING SYMFS KALLSYMS [OPTION...]
compare() {
    name=$1 symfs=$2 kallsyms=$3
    "$totals" "$name" 0 "$symfs" "$kallsyms" >"$work/expected" || failed=1
    rm -rf "$work/tables"
    "$PERFDATA" export parquet -i "$name" --symfs "$symfs" --kallsyms "$kallsyms" \
        -o "$work/tables" || failed=1
    samples=$("$PERFDATA" script -G -F time -i "$name" --symfs "$symfs" --kallsyms "$kallsyms" \
        2>/dev/null | wc -l)
    "$python" "$SOURCE/tests/profile/parquet.py" "$work/expected" "$work/tables" "$samples" ||
        { echo "  $name"; failed=1; }
    "$PERFDATA" export parquet -i "$name" --symfs "$symfs" --kallsyms "$kallsyms" >"$work/samples"
    cmp -s "$work/samples" "$work/tables/samples.parquet" ||
        { echo "$name: standard output has another table"; failed=1; }
}

"$python" "$SOURCE/tests/profile/parquet_made.py" "$PERFDATA" "$work" || failed=1
demo=$SOURCE/tests/data/demo
compare "$demo/spin.data" "$demo/symfs" "$demo/symfs/kallsyms"
compare "$demo/shapes.data" "$demo/symfs" "$demo/symfs/kallsyms"
if [ -n "${PERFDATA_CORPUS-}" ]; then
    own=$PERFDATA_CORPUS/own
    for each in cpu-clock-fp kernel-callchains dwarf-cpp sys-wide; do
        compare "$own/rec/$each.data" "$own/symfs" "$own/symfs/kallsyms"
    done
fi
exit $failed

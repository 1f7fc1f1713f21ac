#!/bin/sh
# SPDX-License-Identifier: MIT
# Issue 27: the Python package says what the program says. PERFDATA_PYTHON: an interpreter; without
# it that of ./dev setup
# --oracles, which has pyarrow and DuckDB, or python3.
set -u
export LC_ALL=C.UTF-8 PERF_CONFIG=/dev/null TZ=UTC PYTHONDONTWRITEBYTECODE=1
[ -z "$SANITIZE" ] ||
    { echo 'skipped: a library with sanitizers needs an interpreter that has them, too'; exit 77; }
python=${PERFDATA_ORACLES:-$SOURCE/build-oracles}/python/bin/python
[ -x "$python" ] || python=python3
python=${PERFDATA_PYTHON:-$python}
command -v "$python" >/dev/null || { echo 'skipped: no python3'; exit 77; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
    { echo 'skipped: Python before 3.9'; exit 77; }
PYTHONPATH=$SOURCE/python PERFDATA_LIBRARY=$LIBPERFDATA exec "$python" -W error::ResourceWarning \
    "$SOURCE/tests/python/$1.py"

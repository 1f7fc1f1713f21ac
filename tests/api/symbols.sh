#!/bin/sh
# SPDX-License-Identifier: MIT
# Headers, symbol map and shared library name the same functions.
set -eu
"$SOURCE/scripts/update-map" --check
sed -n 's/^ *\(perfdata_[a-z0-9_]*\);$/\1/p' "$SOURCE/libperfdata.map" | LC_ALL=C sort >expected.$$
nm -D --defined-only "$LIBPERFDATA" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    LC_ALL=C sort >exported.$$
status=0
diff -u expected.$$ exported.$$ || status=1
rm -f expected.$$ exported.$$
exit $status

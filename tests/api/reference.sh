#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/api is what the headers say, and every public function has a heading with a text there.
set -eu
"$SOURCE/scripts/update-api-docs" --check
status=0
for name in $(sed -n 's/^ *\(perfdata_[a-z0-9_]*\);$/\1/p' "$SOURCE/libperfdata.map"); do
    grep -qF "$name(" "$SOURCE"/docs/api/*.md || {
        echo "$name is not in docs/api"
        status=1
    }
done
exit $status

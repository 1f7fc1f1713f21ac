#!/bin/sh
# SPDX-License-Identifier: MIT
# Standard error beside perf's over the corpus (issue 24, point 22); arguments as of stderr.py.
set -u
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
exec python3 "$SOURCE/tests/corpus/stderr.py" "$PERFDATA" "$@"

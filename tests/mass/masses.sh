#!/bin/sh
# SPDX-License-Identifier: MIT
# issue 24, points 6 and 7: what a verb takes for each of many things is what it takes for each of
# few, and never more than 1 GiB.   masses.sh KINDS VERBS MAKE_MASS
set -eu
export LC_ALL=C PERF_CONFIG=/dev/null
unset MALLOC_PERTURB_ # it touches memory that is never used
[ -z "${SANITIZE-}" ] || { echo 'skipped: a sanitizer takes memory and time of its own'; exit 77; }
command -v python3 >/dev/null || { echo 'skipped: python3 is not installed'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$SOURCE/tests/mass/measure.py" "$3" "$work" "$1" "$2"

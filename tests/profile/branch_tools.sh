# SPDX-License-Identifier: MIT
# Sourced by tests of the forms that are made of branches: $work is a folder for what the test
# writes, has TOOL names what is not installed, once.
set -u
export LC_ALL=C PERF_CONFIG=/dev/null TZ=UTC
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 count=0 missing=
fail() { echo "$*"; failed=1; }
[ "$(uname -m)" = x86_64 ] || { echo 'skipped: not x86-64'; exit 77; }
PATH=$PATH:/usr/lib/llvm-16/bin
needs() {
    for tool; do
        command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
    done
}
has() { command -v "$1" >/dev/null ||
    { case " $missing " in *" $1 "*) ;; *) missing="$missing $1" ;; esac; return 1; }; }

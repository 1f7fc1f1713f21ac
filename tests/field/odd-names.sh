#!/bin/sh
# SPDX-License-Identifier: MIT
# Names that a program may hold though no compiler makes them, in forms that are lines of words.
# Functions whose linkage name in DWARF is empty have the name of the source, each its own: they
# were one function without a name in export llvm. Names with spaces, colons, newlines, a leading
# digit and bytes that are no UTF-8 keep every line one line.
set -u
data=$SOURCE/tests/data/field/odd-names
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
failed=0
"$PERFDATA" assemble "$data/branches.pdt" -o "$t/branches.data" || exit 1
mkdir "$t/root"
for program in odd empty; do
    cp "$data/$program" "$t/root/program" || exit 1
    for form in llvm fdata; do
        "$PERFDATA" export $form --symfs "$t/root" --kallsyms /dev/null -i "$t/branches.data" \
            -o "$t/out" || failed=1
        cmp "$data/$program.$form" "$t/out" || { echo "FAIL: $form of $program"; failed=1; }
    done
done
exit $failed

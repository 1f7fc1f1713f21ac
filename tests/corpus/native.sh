#!/bin/sh
# SPDX-License-Identifier: MIT
# Recordings of other machines, compared with what perf printed on these machines. Left out are
# stacks that it unwound with files of its machine (clock-dwarf), headers of a recording that was
# changed before it read them (killed), and those in which a 32-bit perf prints a number that is
# none. Of the stacks that s390x unwound each chain is compared up to the first of these files.
set -u
if [ -z "${PERFDATA_CORPUS-}" ] || [ -z "${PERFDATA_TOOLS-}" ] ||
    [ ! -f "$PERFDATA_TOOLS/conform-native" ]; then
    echo 'skipped: PERFDATA_CORPUS or PERFDATA_TOOLS is not set'
    exit 77
fi
command -v python3 >/dev/null || { echo 'skipped: conform-native needs python3'; exit 77; }
failed=0
# check PROGRAM ARGUMENTS...
check() {
    program=$1
    shift
    python3 "$PERFDATA_TOOLS/conform-native" --perfdata "$program" --require 100 --show 5 "$@" ||
        failed=1
}
# perf trace writes to standard error, which conform-native reads of stat only.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
ln -s "$PERFDATA" "$work/perf"
printf '#!/bin/sh\nexec "%s" "$@" 2>&1\n' "$work/perf" >"$work/traced"
chmod +x "$work/traced"
for machine in s390x armhf aarch64; do
    folder=$PERFDATA_CORPUS/foreign/$machine
    refused=clock-dwarf
    check "$PERFDATA" --kinds script,full,all,addr,evlist,regs,events,stat --without $refused "$folder"
    if [ $machine = armhf ]; then
        refused=$refused,buildid-pipe,clockid
    fi
    check "$PERFDATA" --kinds header --without $refused,killed "$folder"
    check "$work/traced" --kinds trace "$folder"
done

# Its leaf functions keep registers of their callers in those for floating point.
to_files() {
    awk '/^$/ || !/^\t/ { behind = 0 } !behind { print } /\/ld64\.so|\/libc\.so/ { behind = 1 }'
}
folder=$PERFDATA_CORPUS/foreign/s390x
gzip -dc "$folder/native/clock-dwarf.script.txt.gz" | to_files >"$work/native"
(cd "$folder" && "$work/perf" script -i rec/clock-dwarf.data \
    -F comm,pid,tid,time,event,ip,sym,dso,period --symfs bin --kallsyms kallsyms --no-inline) \
    2>"$work/errors" | to_files >"$work/ours"
callers=$(grep -c ' main (/usr/bin/work)$' "$work/native")
if [ "$callers" -lt 10 ] || ! diff "$work/native" "$work/ours"; then
    echo "s390x/clock-dwarf: differs before files that are not there ($callers chains to main)"
    failed=1
fi
exit $failed

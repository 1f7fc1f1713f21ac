#!/bin/sh
# SPDX-License-Identifier: MIT
# make_fleet.sh FOLDER: a fleet of 20 recordings of 10 hosts to try queries on: work.c in two
# releases, the second with a slower parse(); on host-7 render() is slow. Runs `perfdata` (or
# PERFDATA), and loads the tables into FOLDER/tables.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
perfdata=${PERFDATA:-perfdata}
mkdir -p "$folder/recordings"
for release in 1 2; do
    ${CC:-cc} -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -Wl,--build-id \
        -DRELEASE=$release "$here/work.c" \
        -o "$folder/work-$release"
    for host in 0 1 2 3 4 5 6 7 8 9; do
        cost=2
        [ $host = 7 ] && cost=6
        "$perfdata" record -q -e cpu-clock:u -F 4000 \
            -g -o "$folder/recordings/r$release-h$host.data" \
            "$folder/work-$release" ${REQUESTS:-1500} $cost
        ${PYTHON:-python3} "$here/fleet.py" load "$folder/tables" --release "$release" \
            --host "host-$host" \
            "$folder/recordings/r$release-h$host.data" >/dev/null
    done
done

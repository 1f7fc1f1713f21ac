# SPDX-License-Identifier: MIT
# Sourced: recordings FIELD... prints a line for each recording of the manifests below
# $PERFDATA_CORPUS: its path, then the named columns, separated by tabs ("records" is also
# "record_counts", "tags" also "exercises").

if [ -z "${PERFDATA_CORPUS-}" ]; then
    echo 'skipped: PERFDATA_CORPUS is not set'
    exit 77
fi

recordings() {
    find "$PERFDATA_CORPUS" -name MANIFEST.tsv | LC_ALL=C sort | while read -r manifest; do
        awk -F '\t' -v wanted="$*" -v folder="${manifest%/*}" '
            NR == 1 {
                for (i = 1; i <= NF; i++) {
                    name = $i
                    if (name == "record_counts") name = "records"
                    if (name == "exercises") name = "tags"
                    column[name] = i
                }
                count = split(wanted, want, " ")
                next
            }
            {
                line = folder "/" $1
                for (i = 1; i <= count; i++)
                    line = line "\t" ((want[i] in column) && $column[want[i]] != "" ? \
                        $column[want[i]] : "-")
                print line
            }' "$manifest"
    done
}

# The options that say where the programs of a recording lie: symfs/ beside or above it.
symbols_of() {
    directory=${1%/*}
    while [ "$directory" != "$PERFDATA_CORPUS" ] && [ -n "$directory" ] && [ "$directory" != / ]; do
        if [ -d "$directory/symfs" ]; then
            printf '%s' "--symfs $directory/symfs"
            [ ! -f "$directory/symfs/kallsyms" ] ||
                printf ' %s' "--kallsyms $directory/symfs/kallsyms"
            return
        fi
        directory=${directory%/*}
    done
}

#!/bin/sh
# SPDX-License-Identifier: MIT
# Nothing of the format is listed twice: within a table each number and name is there once, and
# outside the tables neither names nor numbers of the format stand in the library's source.
set -u
cd "$SOURCE" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
failed=0
complain() {
    printf '%s\n' "$*"
    failed=1
}

# rows MACRO FILE: "number name" of each row
rows() {
    sed -n "s/^$1(\([0-9]*\), *\([A-Za-z0-9_]*\),.*/\1 \2/p" "src/format/$2"
}
for table in 'RECORD records.def' 'FEATURE features.def' 'ATTR_FLAG attr.def'; do
    # shellcheck disable=SC2086
    rows $table >"$work/rows"
    [ -s "$work/rows" ] || complain "$table: no rows found"
    for column in 1 2; do
        twice=$(cut -d' ' -f$column "$work/rows" | sort | uniq -d)
        [ -z "$twice" ] || complain "$table: twice: $twice"
    done
    sort -n -c "$work/rows" || complain "$table: rows are not in ascending order"
done
twice=$(sed -n 's/^SAMPLE_[A-Z]*(\([A-Z_]*\), *\([0-9]*\),.*/\2/p' src/format/sample.def | sort |
    uniq -d)
[ -z "$twice" ] || complain "sample.def: bits twice: $twice"
twice=$(sed -n 's/^ITEM(\([A-Z_]*\), \([A-Z0-9_]*\),.*/\1_\2/p' src/format/bits.def | sort |
    uniq -d)
[ -z "$twice" ] || complain "bits.def: twice: $twice"

# Names as literals. Short or everyday words may stand for other things: only telling ones are
# looked for.
{
    sed -n -E 's/^(RECORD|FEATURE)\([0-9]+, ([A-Z0-9_]+),.*/\2/p' src/format/records.def \
        src/format/features.def
    sed -n -E 's/^ATTR_FLAG\([0-9]+, [A-Z0-9_]+, ([a-z0-9_]+)\)/\1/p' src/format/attr.def
    sed -n -E 's/^ATTR_FIELD\([0-9]+, [a-z0-9]+, ([a-z0-9_]+),.*/\1/p' src/format/attr.def
    sed -n -E 's/^SAMPLE_[A-Z]+\(([A-Z_]+),.*/\1/p' src/format/sample.def
    sed -n -E 's/^ITEM\([^"]*"([^"]+)"\)/\1/p' src/format/bits.def
} | awk 'length($0) > 8 && /[-_]/' | sort -u >"$work/names"
[ "$(wc -l <"$work/names")" -gt 100 ] || complain "few names: $(wc -l <"$work/names")"
# Comments out; the option tables of src/tool are about options; attr_text.c says which fields perf
# shows otherwise, and api/event.c makes one number of precise_ip's two flags.
find src -name '*.[ch]' ! -path 'src/tool/*' ! -path src/format/attr_text.c \
    ! -path src/api/event.c | while read -r file; do
    sed -E 's,/\*.*\*/,,; /^[ \t]*\/?\*/d' "$file" | grep -noE '"[^"]+"' | sed "s,^,$file:,"
done >"$work/literals"
[ -s "$work/literals" ] || complain 'no literals were found'
awk 'NR == FNR { names["\"" $0 "\""] = 1; next }
     { literal = $0; sub(/^[^:]*:[0-9]*:/, "", literal); if (literal in names) print }' \
    "$work/names" "$work/literals" >"$work/found"
[ ! -s "$work/found" ] || complain "names of the format outside its tables:
$(cat "$work/found")"

# Numbers that are compared, masked or shifted out of a word of the format. 64, 128 and 256 bound
# tables. attr.c takes a cache event's config apart.
words='record|header|raw|feature|misc|sample_type|read_format|branch_sample_type|bp_type|prot'
words="$words|aux_action|cpumode"
find src -name '*.[ch]' ! -path 'src/tool/*' ! -path src/format/attr.c -exec grep -nE \
    "\b($words)(\.|->|_)?[a-z_]* *(==|!=|&|>>) *(0x[0-9a-f]+|[1-9][0-9]*)\b" {} + |
    grep -vE '^[^:]*:[0-9]*: *(/?\*|//)|& (63|255|7)\b|size == |/\*' >"$work/found"
[ ! -s "$work/found" ] || complain "numbers of the format outside its tables:
$(cat "$work/found")"
find src -name '*.[ch]' ! -path 'src/tool/*' ! -path src/format/enums.h -exec grep -nE \
    '(misc|mode) *& *7\b' {} + \
    >"$work/found"
[ ! -s "$work/found" ] || complain "the mask of cpumode is PD_MISC_CPUMODE_MASK:
$(cat "$work/found")"

# The same with the number first, or beside any word that ends with a type or mode: `9 == type`.
sources() { find src -name '*.[ch]' ! -path 'src/tool/*' ! -path 'src/format/*' "$@"; }
number='(0x[0-9a-f]+|[1-9][0-9]*)'
kind='(type|misc|cpumode)'
path='[a-z_]*((\.|->)[a-z_]+)*(\.|->|\b)'
{
    # compressed.type and a symbol's type have tables of their own.
    sources -exec grep -nE "\b$kind\)? *(==|!=) *$number\b" {} +
    sources -exec grep -nE "\b$number[uUlL]* *(==|!=) *$path$kind\b" {} +
} | grep -vE 'compressed\.type|symbol->type' >"$work/found"
# Bits that are shifted to their place, or taken from it. The last two are a text and a hash.
word='\b(sample_type|read_format|branch_sample_type|misc|cpumode|data_src)\b'
bit='(UINT64_C\(|\(?uint[0-9]+_t\)\(?)?(1[uUlL]*\)? *<<|0x|[1-9][0-9]*\b)'
{
    sources -exec grep -nE "$word *([&|^]=?|=) *~?\(*$bit" {} +
    sources -exec grep -nE '\b(flags|misc|data_src|read_format|sample_type)\b *>> *[1-9]' {} +
} | grep -vE ' misc=0x|flags \^ flags >> 5' >>"$work/found"
# Cases of a switch over a type. Packets of Intel PT are not of this format.
sources -exec awk '
    /(^|[^a-z_])switch \(/ { of_type = /switch \(([^()]*[.>_])?(type|misc|cpumode)\)/ }
    of_type && !/PD_PT_/ && /(^|[^a-z_])case (0x[0-9a-f]+|[0-9]+)[ :.]/ {
        print FILENAME ":" FNR ":" $0
    }' {} + >>"$work/found"
# Offsets of fields in records, which are PD_AT(record, field). Those of the header are below 8.
sources ! -path 'src/object/*' -exec grep -nE \
    'pd_(load|store)(16|32|64)\((record|raw)((\.|->)data)? \+ ([89]|[1-9][0-9]+)\b' {} + \
    >>"$work/found"
[ ! -s "$work/found" ] || complain "numbers of the format outside its tables:
$(cat "$work/found")"

# Constants that are given a number which a row of the same name has, as a value or as a bit:
# HW_INDEX = 17, READ_GROUP 8u. Forms of other tools (convert/, page/) have names and numbers of
# their own.
{
    sed -n -E 's/^ITEM\([A-Z0-9_]+, ([A-Z0-9_]+), ([0-9xA-Fa-f]+),.*/\1 \2/p' src/format/bits.def
    sed -n -E 's/^MISC\(([A-Z0-9_]+), (0x[0-9a-f]+),.*/\1 \2/p' src/format/misc.def
    sed -n -E 's/^(RECORD|FEATURE|ATTR_FLAG)\(([0-9]+), ([A-Z0-9_]+),.*/\3 \2/p' \
        src/format/records.def src/format/features.def src/format/attr.def
    sed -n -E 's/^SAMPLE_[A-Z]+\(([A-Z_]+), ([0-9]+),.*/\1 \2/p' src/format/sample.def
} >"$work/rows"
[ "$(wc -l <"$work/rows")" -gt 200 ] || complain "few rows: $(wc -l <"$work/rows")"
find src -name '*.[ch]' ! -path 'src/tool/*' ! -path 'src/format/*' ! -path 'src/convert/*' \
    ! -path 'src/page/*' |
    while read -r file; do
        grep -noE '\b[A-Z][A-Z0-9_]+ *(= *)?\(?(0x[0-9a-f]+|[0-9]+)[uUlL]*( *<< *[0-9]+)?' "$file" |
            sed "s,^,$file:,"
    done | sed -E -e 's/^([^:]*:[0-9]*):([A-Z0-9_]+)[ =(]*/\1 \2 /' \
        -e 's/ (0x[0-9a-f]+|[0-9]+)[uUlL]*( *<< *([0-9]+))?$/ \1 \3/' >"$work/numbers"
[ "$(wc -l <"$work/numbers")" -gt 200 ] || complain "few constants: $(wc -l <"$work/numbers")"
awk 'function number(text,    value, i) {
         if (text !~ /^0x/) return text + 0
         for (i = 3; i <= length(text); i++)
             value = value * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
         return value
     }
     NR == FNR { if (length($1) > 4) rows[$1, number($2)] = 1; next }
     {
         value = number($3) * ($4 == "" ? 1 : 2 ^ $4)
         for (name = $2; name != ""; name = name ~ /_/ ? substr(name, index(name, "_") + 1) : "")
             if ((name, value) in rows || (value > 4 && value < 63 && (name, 2 ^ value) in rows)) {
                 print $1 ": " $2 " = " $3 ($4 == "" ? "" : " << " $4)
                 break
             }
     }' "$work/rows" "$work/numbers" >"$work/found"
[ ! -s "$work/found" ] || complain "numbers of the format outside its tables:
$(cat "$work/found")"
exit $failed

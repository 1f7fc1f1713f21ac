#!/bin/sh
# SPDX-License-Identifier: MIT
# inject --vm-time-correlation: what the dry run says and the bytes after the real one, against the
# corpus' truth and, where perf is installed, against perf for other offsets.
. "$SOURCE/tests/itrace/common.sh"

fresh() {
    rm -rf "$work/rec"
    cp -r "$own/rec/$1" "$work/rec"
    chmod -R u+w "$work/rec"
}

sum() {
    sha256sum <"$work/rec/data" | cut -d' ' -f1
}

# The truth: "dry-run:", its lines, "after inject ...:", a checksum.
truth=$own/truth/v_tsc.inject.txt
fresh v_tsc
before=$(sum)
"$PERFDATA" inject -i "$work/rec" --vm-time-correlation=dry-run 2>"$work/said"
sed -n '/^dry-run/,/^after/p' "$truth" | grep -v -e '^dry-run' -e '^after' >"$work/truth"
diff "$work/truth" "$work/said" >&2 || complain 'the dry run says something else'
[ "$(sum)" = "$before" ] || complain 'the dry run changed the file'
offset=$(sed -n 's/.*--vm-time-correlation=\(0x[0-9a-f]*\).*/\1/p' "$truth")
"$PERFDATA" inject -i "$work/rec" "--vm-time-correlation=$offset" --force 2>/dev/null
[ "$(sum)" = "$(tail -n 1 "$truth")" ] || complain 'other bytes than in the truth'
# Found out by itself: the same.
fresh v_tsc
"$PERFDATA" inject -i "$work/rec" --vm-time-correlation --force 2>/dev/null
[ "$(sum)" = "$(tail -n 1 "$truth")" ] ||
    complain 'other bytes than in the truth, without an offset'

refused() {
    expected=$1
    shift
    if "$PERFDATA" inject "$@" >/dev/null 2>"$work/said"; then
        complain "accepted: $*"
    fi
    grep -q "$expected" "$work/said" ||
        { complain "$*: not '$expected' but:"; cat "$work/said" >&2; }
}
fresh v_tsc
before=$(sum)
refused 'the --force option is required' -i "$work/rec" --vm-time-correlation
refused 'Output file name must not be' -i "$work/rec" --vm-time-correlation=dry-run -o "$work/out"
refused 'Input file name required' --vm-time-correlation=dry-run -i - </dev/null
refused 'Failed to parse' -i "$work/rec" --vm-time-correlation='dry-run 5:'
refused 'Failed to parse' -i "$work/rec" --vm-time-correlation='dry-runs'
refused 'MTC packets must have been' -i "$own/rec/t_tsc.data" --vm-time-correlation=dry-run
refused 'no time information' -i "$own/rec/t_notsc.data" --vm-time-correlation=dry-run
[ "$(sum)" = "$before" ] || complain 'a refused run changed the file'

command -v perf >/dev/null || { echo 'without perf: the rest is skipped'; exit $failed; }
for name in v_tsc v_code; do
    for arguments in '' 5 0x10:0x10fdaa 0:0x10fdaa '0x7:0x5 9'; do
        fresh "$name"
        perf inject -i "$work/rec" --force "--vm-time-correlation${arguments:+=$arguments}" \
            >/dev/null 2>"$work/perf"
        expected=$(sum)
        fresh "$name"
        "$PERFDATA" inject -i "$work/rec" --force "--vm-time-correlation${arguments:+=$arguments}" \
            2>"$work/said"
        [ "$(sum)" = "$expected" ] || complain "$name '$arguments': other bytes than perf's"
        cmp -s "$work/perf" "$work/said" ||
            complain "$name '$arguments': says something else than perf"
    done
done

# Several guests: every third VMCS packet gets another number.
several() {
    fresh v_tsc
    "$PERFDATA" aux list --json -i "$work/rec" |
        sed 's/.*"nr":\([0-9]*\),.*"file_offset":\([0-9]*\).*/\1 \2/' >"$work/buffers"
    "$PERFDATA" aux dump --json -i "$work/rec" |
        sed -n 's/.*"buffer":\([0-9]*\),"offset":\([0-9]*\),.*"kind":"VMCS".*/\1 \2/p' |
        awk 'NR == FNR { at[$1] = $2; next } FNR % 3 == 0 { print at[$1] + $2 + 2 }' \
        "$work/buffers" - >"$work/places"
    [ -s "$work/places" ] || complain 'there are no VMCS packets'
    while read -r place; do # 0xaa becomes 0xa9
        printf '\251' | dd of="$work/rec/data" bs=1 seek="$place" conv=notrunc 2>/dev/null
    done <"$work/places"
}
for arguments in '' 5 0x10:0x10fdaa '0x10:0x10fda9 7:0x10fdaa' '0x7:0x10fdaa,0x10fda9'; do
    several
    perf inject -i "$work/rec" --force "--vm-time-correlation${arguments:+=$arguments}" >/dev/null \
        2>"$work/perf"
    expected=$(sum)
    several
    "$PERFDATA" inject -i "$work/rec" --force "--vm-time-correlation${arguments:+=$arguments}" \
        2>"$work/said"
    [ "$(sum)" = "$expected" ] || complain "several VMCS '$arguments': other bytes than perf's"
    cmp -s "$work/perf" "$work/said" ||
        complain "several VMCS '$arguments': says something else than perf"
    [ -n "$arguments" ] || [ "$(grep -c '^VMCS: ' "$work/said")" = 2 ] ||
        complain 'not two guests were found'
done
exit $failed

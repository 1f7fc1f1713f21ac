# SPDX-License-Identifier: MIT
# Sourced by tests of the traces in the corpus: $own is their folder, $work a folder for what the
# test writes.
set -eu
export LC_ALL=C TZ=UTC PERF_CONFIG=/dev/null
[ -n "${PERFDATA_CORPUS-}" ] || { echo 'skipped: PERFDATA_CORPUS is not set'; exit 77; }
own=$PERFDATA_CORPUS/own-pt
[ -d "$own/rec" ] || { echo 'skipped: the corpus has no own-pt'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 count=0

complain() {
    echo "$*" >&2
    failed=1
}

# FROM TO OPTION...: the trace of a recording, repeated. False: it cannot be, which has been told.
make_big=${PERFDATA_TOOLS:-/nowhere}/make-big-pt/make_big_pt.py
repeat_to() {
    python3 "$make_big" "$@" >"$work/log" 2>&1 ||
        { complain "$1 cannot be repeated: $(tail -n 1 "$work/log")"; return 1; }
}

needs() {
    command -v "$1" >/dev/null || { echo "skipped: $1 is not installed"; exit 77; }
}

# VERB OPTION...: perf prints something, and perfdata the same but for a report's tip.
same() {
    perf "$@" 2>/dev/null | sed '/^# (Tip: /d;/^# (Cannot load tips/d' >"$work/perf"
    "$PERFDATA" "$@" 2>/dev/null | sed '/^# (Tip: /d' >"$work/ours"
    count=$((count + 1))
    [ -s "$work/perf" ] || complain "perf prints nothing: $*"
    cmp -s "$work/perf" "$work/ours" || complain "differs from perf's: $*"
}

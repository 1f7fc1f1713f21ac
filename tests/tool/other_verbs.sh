#!/bin/sh
# SPDX-License-Identifier: MIT
# Each verb of perf is done, or refused by its name with what to use instead; none stands in both
# tables.
set -u
failed=0 count=0
for verb in annotate archive bench buildid-cache buildid-list c2c config daemon data diff evlist \
    ftrace inject iostat \
    kallsyms kmem kvm kwork list lock mem probe record report sched script stat test timechart top \
    trace version; do
    count=$((count + 1))
    done=no refused=no
    "$PERFDATA" help "$verb" >/dev/null 2>&1 && done=yes
    grep -q "OTHER_VERB(\"$verb\"," "$SOURCE/src/tool/other_verbs.def" && refused=yes
    [ $done != $refused ] || {
        echo "$verb: done $done, refused by name $refused"
        failed=1
    }
    [ $done = yes ] && continue
    "$PERFDATA" "$verb" >/dev/null 2>"${TMPDIR:-/tmp}/perfdata-other.$$"
    code=$?
    grep -q "perf's verb $verb is not" "${TMPDIR:-/tmp}/perfdata-other.$$" && [ $code -eq 2 ] || {
        echo "$verb: not refused by its name"
        failed=1
    }
done
rm -f "${TMPDIR:-/tmp}/perfdata-other.$$"
echo "$count verbs"
exit $failed

#!/bin/sh
# SPDX-License-Identifier: MIT
# damage.sh DAMAGE_TRACE COUNT: so many damaged traces (flipped bits, cuts, noise, reordered
# pieces). None ends perfdata or keeps it from ending; what goes wrong is told and counted; behind
# the damage the same branches are decoded as without it.
. "$SOURCE/tests/itrace/common.sh"
damage=$1 count=$2
done=0 told=0 resumed=0 guests=0

# A damaged packet that says that a guest runs holds until another says the opposite, and these
# traces have none.
in_guest() {
    "$PERFDATA" aux dump -i "$work/data" | grep -q 'NR=1' && guests=$((guests + 1))
}

# One queue each, so that branches are in the order of the trace: TSC only, CYC and MTC, none; PSBs
# close and far.
recordings='t_tsc t_cyc t_notsc t_psb256 t_noretcomp t_ipvar t_longtnt t_defer'
for name in $recordings; do
    "$PERFDATA" aux list --json -i "$own/rec/$name.data" |
        sed 's/.*"size":\([0-9]*\),.*"file_offset":\([0-9]*\).*/\2 \1/' >"$work/$name.buffers"
    "$PERFDATA" script -i "$own/rec/$name.data" --symfs "$own/symfs" --itrace=bZ -F ip,addr |
        tail -n 40 >"$work/$name.tail"
    [ -s "$work/$name.tail" ] || complain "$name: no branches"
done

seed=0
while [ "$done" -lt "$count" ]; do
    for name in $recordings; do
        for kind in flip cut noise reorder; do
            [ "$done" -lt "$count" ] || break 2
            done=$((done + 1)) seed=$((seed + 1))
            cp "$own/rec/$name.data" "$work/data"
            chmod u+w "$work/data"
            "$damage" $kind $seed "$work/data" <"$work/$name.buffers" ||
                complain "$name $kind $seed: not damaged"
            code=0
            timeout 60 "$PERFDATA" script -i "$work/data" --symfs "$own/symfs" --itrace=be \
                -F ip,addr >"$work/out" 2>"$work/said" || code=$?
            [ $code -le 1 ] || complain "$name $kind $seed: ends with $code"
            lines=$(grep -c '^ instruction trace error' "$work/out" || :)
            counted=$(sed -n -e 's/.*[^0-9]\([0-9][0-9]*\) instruction trace error.*/\1/p' \
                -e 's/^\([0-9][0-9]*\) instruction trace error.*/\1/p' "$work/said" | head -n 1)
            [ "${counted:-0}" = "$lines" ] ||
                complain "$name $kind $seed: $lines errors, ${counted:-0} counted"
            [ "$lines" = 0 ] || told=$((told + 1))
            # Not by time: a damaged time may lie behind the end of the process, of which nothing is
            # known then.
            timeout 60 "$PERFDATA" script -i "$work/data" --symfs "$own/symfs" --itrace=bZ \
                -F ip,addr 2>/dev/null | tail -n 40 | cmp -s - "$work/$name.tail" &&
                resumed=$((resumed + 1)) ||
                in_guest || complain "$name $kind $seed: does not go on behind the damage"
        done
    done
done
echo "$done damaged traces, $told with errors told and counted, $resumed go on behind the damage, $guests are in a guest since"
exit $failed

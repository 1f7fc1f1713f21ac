#!/bin/sh
# SPDX-License-Identifier: MIT
# The warning that samples may have the late times of large PEBS, where chains or branches of a
# trace are added to them: for events that may be that, and for no other.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export PERF_CONFIG=/dev/null
failed=0

complain() {
    echo "$*"
    failed=$((failed + 1))
}

# recording TYPE PERIOD SAMPLE_TYPE FLAGS [TSC_BIT]: a trace of one PSB, and one sample of such an
# event
recording() {
    mask=IP+TID+TIME+$3
    mask=$(echo "$mask" | tr + '|')
    flags=$(echo "$4" | tr + '|')
    cat >text <<EOF
perfdata-text 1
container file order=little header_size=104
attr intel_pt//u={type=8 size=128 config=${5:-0x601} sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME read_format=id flags=exclude_kernel|sample_id_all} ids=[1]
attr precise:u={type=$1 size=128 sample_period=$2 sample_type=$mask read_format=id flags=exclude_kernel|sample_id_all|$flags} ids=[2]
ids intel_pt//u
ids precise:u
attrs
data
record TIME_CONV {time_shift=31 time_mult=933688542 time_zero=17488726757321 time_mask=0xffffffffffffff cap_user_time_zero=1}
record AUXTRACE_INFO {auxtrace_type=intel_pt priv=[8 0x1f 0x37a6f4de 0xfe7e9588fc9 1 0x400 0x800 0 0 0 0x200 0x3c000 0xb8 2 2 0x17 0 0]}
record COMM misc=0x2000 {pid=70 tid=70 comm="program" sample_id={pid=70 tid=70 time=18000.000000500s}}
record SAMPLE misc=2 event=precise:u {ip=0x400200 pid=70 tid=70 time=18000.000000700s}
record AUXTRACE {data_size=40 reference=0x111cadd1aeb tid=70 cpu=-1}
gap x"0282028202820282028202820282028219af53ccca1101000273b143001300020317000223000000"
end
features EVENT_DESC AUXTRACE
feature EVENT_DESC {attr_size=128 events=[
    {attr={type=8 size=128 config=0x601} name="intel_pt//u" ids=[1]}
    {attr={type=$1 size=128} name="precise:u" ids=[2]}
  ]}
feature AUXTRACE {nr=1 entries=[{offset=0 size=48}]}
EOF
    "$PERFDATA" assemble text -o data || complain "no recording: $*"
}

# warns YES_OR_NO VERB OPTION...
warns() {
    expected=$1
    shift
    code=0
    "$PERFDATA" "$@" -i data >out 2>said || code=$?
    [ "$code" = 0 ] || complain "$* ends with $code: $(cat said)"
    found=no
    grep -q 'late-samples: precise:u may be large PEBS' said && found=yes
    [ "$found" = "$expected" ] || complain "of $what: $* warns: $found; $(cat said)"
}

both() { # EXPECTED WHAT RECORDING...
    expect=$1 what=$2
    shift 2
    recording "$@"
    warns "$expect" script --itrace=G
}

both yes 'a precise event with a period' raw 10000 IDENTIFIER precise_ip
for itrace in L iGe GL; do
    warns yes script --itrace=$itrace
done
warns yes report
warns no inject -o injected.data --itrace=GL # it adds nothing to recorded samples, as perf
for itrace in i e gl; do
    warns no script --itrace=$itrace
done
warns no script
warns no script --no-itrace
warns no report --no-itrace
code=0
"$PERFDATA" script --strict --itrace=G -i data >out 2>said || code=$?
[ $code = 3 ] && grep -q 'large PEBS' said || complain "--strict ends with $code"

all='IDENTIFIER+ADDR+ID+CPU+PERIOD+STREAM_ID+REGS_USER+DATA_SRC+TRANSACTION+REGS_INTR+PHYS_ADDR'
both yes 'all that it may hold' hardware 10000 $all precise_ip_high
both yes 'another PMU' 10 10000 IDENTIFIER precise_ip
for more in CALLCHAIN BRANCH_STACK STACK_USER WEIGHT READ AUX CODE_PAGE_SIZE; do
    both no "$more" raw 10000 IDENTIFIER+$more precise_ip
done
both no 'a frequency' raw 4000 IDENTIFIER precise_ip+freq
both no 'no precise event' raw 10000 IDENTIFIER inherit
both no 'PEBS via PT' raw 10000 IDENTIFIER precise_ip+aux_output
both no 'another clock' raw 10000 IDENTIFIER precise_ip+use_clockid
both no 'an event that only counts' raw 0 IDENTIFIER precise_ip
both no 'a software event' software 10000 IDENTIFIER precise_ip
both no 'a trace without TSCs' raw 10000 IDENTIFIER precise_ip 0x201
[ $failed -eq 0 ]

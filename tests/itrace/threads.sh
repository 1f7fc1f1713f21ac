#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces of which several threads make text, small ones sample by sample, others large enough that
# several threads decode parts of them: one and the same text with 1, 2, 3 and 8 threads. One queue
# and several, with CYCs, with MTCs, with neither, of processes that take turns, with errors,
# damaged.
. "$(dirname "$0")/common.sh"
[ -f "$make_big" ] || { echo 'skipped: PERFDATA_TOOLS is not set'; exit 77; }

# THREADS FILE OPTION...: of the recording $big; where messages come among the text is not said, how
# it ends is.
text() {
    threads=$1 to=$2
    shift 2
    ended=0 # 66 where a sanitizer has found something
    "$PERFDATA" "$@" --symfs "$own/symfs" -i "$big" -j "$threads" >"$to" 2>"$work/messages" ||
        ended=$?
    echo "exit $ended" >>"$work/messages"
    cat "$work/messages" >>"$to"
}

# OPTION...
alike() {
    text 1 "$work/one" "$@"
    count=$((count + 1))
    for threads in 2 3 8; do
        text $threads "$work/several" "$@"
        cmp -s "$work/one" "$work/several" || complain "$name: other text with $threads threads: $*"
    done
}

all_alike() {
    alike script --itrace=e
    alike script --itrace=qe
    alike script --itrace=qqxwIoe
    alike script --itrace=i50us -F +ipc,+flags
    alike script --itrace=Ai100usxwIe -F +ipc
    alike report --stdio --itrace=i20us
    alike script --itrace=i50us -F +ipc,+flags --time 20%-45%,60%-70%
    alike script --itrace=xwe --time 30%-95%
}

# Branches, which others walk up to now: taken from tapes.
branches_alike() {
    alike script --itrace=be -F +ipc,+flags
    alike script --itrace=cr --call-trace
    alike script --itrace=bi20usxwpoIe -F +ipc --time 20%-45%,60%-90%
    alike script --itrace=i30usl8e
    alike script --itrace=qbe
    alike report --stdio --itrace=i10usg
}

damage() {
    python3 "$SOURCE/tests/itrace/flip_bits.py" "$1" 20
}

# MB CHUNK_MB CHECK NAME...: of recordings repeated to that size, and of some of them damaged
repeated() {
    mb=$1 chunk=$2 check=$3
    shift 3
    for name; do
        big=$work/big.data
        repeat_to "$own/rec/$name.data" "$big" --mb "$mb" --chunk-mb "$chunk" || continue
        $check
        case $name in t_cyc | t_mtc | c_fork)
            damage "$big"
            name="$name, damaged"
            $check ;;
        esac
    done
}

# Kernel and user space of three threads, without times.
kernel_alike() {
    big=$work/kernel name='k_thread, damaged'
    mkdir "$big"
    ln -s "$own/rec/k_thread/kcore_dir" "$big/kcore_dir"
    python3 "$SOURCE/tests/itrace/repeat_trace.py" "$own/rec/k_thread/data" "$big/data" 60
    damage "$big/data"
    alike script --itrace=e
    alike script --itrace=xwIe -F +ipc
    alike script --itrace=qe
}

# Samples one by one, of the recording as it is: they go from thread to thread packed, between
# records, errors and samples that are not.
packed_alike() {
    big=$own/rec/$name
    [ -e "$big" ] || big=$big.data
    alike script --itrace=b
    alike script --itrace=i7ibepwx -F +ipc,+flags,+insn
    alike script --itrace=be --deltatime
    alike script --itrace=cri100i --show-mmap-events --show-switch-events
    alike report --stdio --itrace=i1i
}

for name in t_tsc t_cyc t_ovf t_pebs t_event c_dyn c_fork c_switch2 c_tracepoint d_flip d_noise \
    k_cpu k_poke v_code; do
    packed_alike
done

kernel_alike

repeated 1.5 0.7 all_alike t_tsc t_cyc t_mtc t_ovfmtc t_pebs t_event t_tsx t_psb16k c_dyn c_fork \
    c_switch2 c_threads4 \
    c_tracepoint k_vmlinux
# Smaller, for there is much text. With exec and fork other code is there than was walked.
repeated 0.5 0.25 branches_alike t_tsc t_cyc t_mtc t_ovfmtc t_ptw t_tsx c_dyn c_fork c_ovf \
    c_switch2 c_threads4
[ $count -gt 0 ] || complain 'nothing was compared'
[ $failed = 0 ] && echo "$count texts do not depend on the number of threads"
exit $failed

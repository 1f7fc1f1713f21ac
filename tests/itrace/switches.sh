#!/bin/sh
# SPDX-License-Identifier: MIT
# Kernel and user space of whole CPUs, where threads change at a certain branch in the kernel:
# whoever asks for samples by time has them of the same threads as who sees each branch, recordings
# whole, repeated and damaged.
. "$(dirname "$0")/common.sh"

# Lines of the samples, but for the branches themselves.
samples() {
    status=0 kernel=
    case $name in k_vmlinux*) kernel='-k boot/vmlinux-tp' ;; esac # the others have a copy of theirs
    "$PERFDATA" script "--itrace=$1" --symfs . $kernel -F comm,tid,time,cpu,ip,sym,event -i "$2" \
        -j "$3" \
        2>"$work/messages" >"$work/all" || status=$?
    [ $status = 0 ] ||
        complain "$name: --itrace=$1 -j $3 ends with $status: $(tail -n 1 "$work/messages")"
    grep -v branches: "$work/all" >"$4" || true
}

alike() {
    for what in i1us i20us i5000i xwpIe qi20us qxwpIe; do
        samples "${what}b" "$1" 1 "$work/seen"
        [ -s "$work/seen" ] || [ "${what#*i}" = "$what" ] || complain "$name: no samples with $what"
        for threads in 1 3; do
            samples $what "$1" $threads "$work/unseen"
            count=$((count + 1))
            cmp -s "$work/seen" "$work/unseen" ||
                complain "$name: $what differs from ${what}b, $threads threads"
        done
    done
}

# Longer ones are cut into more buffers, and runs end at other places.
repeated() {
    [ -f "$make_big" ] ||
        { echo 'without make_big_pt.py of PERFDATA_TOOLS: no longer traces are compared'; return 0;
          }
    for name in k_cpu k_task; do
        big=$work/$name
        mkdir "$big"
        ln -s "$own/rec/$name/kcore_dir" "$big/kcore_dir"
        repeat_to "$own/rec/$name/data" "$big/data" --mb 0.3 --chunk-mb 0.1 || continue
        alike "$big"
        python3 "$SOURCE/tests/itrace/flip_bits.py" "$big/data" 12
        name="$name, damaged"
        alike "$big"
    done
}

cd "$own/symfs"
for name in k_cpu k_vmlinux.data k_konly k_uonly k_task k_ipvar k_poke; do
    alike "$own/rec/$name"
done
repeated
[ $failed = 0 ] && echo "$count times the same samples of the same threads"
exit $failed

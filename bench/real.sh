# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# shellcheck disable=SC2154 # perf, perfdata, recordings, pairs...: set by run, which reads this
# file Rows over recordings of what really ran: this project compiled from scratch by two jobs,
# recorded system-wide, and a C++ compiler and a Rust program with DWARF stacks. Recordings are made
# once and kept in $recordings. Traces of Intel PT are made by a walk by chance through this program
# and the C library, since not every machine can record one.

# NAME, recording, least ratio of CPU time, arguments. What is compared with is perf, of rows `walk`
# bench/walk, a program on the crate linux-perf-data. `.2` and `.10` behind a recording's name: one
# of so many MB.
real_table() {
    cat <<'END'
script:fp fp 10 script
script:flat flat 10 script
script:sched sched 10 script
script:syscalls syscalls 12 script
graph:fp fp 20 report --stdio
self:fp fp 8 report --stdio --no-children -g none
self:flat flat 8 report --stdio --no-children -g none
self:sched sched 8 report --stdio --no-children -g none
no-inline:cxx cxx 15 script --no-inline
no-inline:rust rust 15 script --no-inline
dwarf-graph:cxx cxx 25 report --stdio --no-inline
dwarf-self:cxx cxx 8 report --stdio --no-children -g none --no-inline
inline:cxx cxx.10 40 script
inline:rust rust.10 40 script
srcline:rust rust.2 40 script -F +srcline
script:fp.10 fp.10 10 script
graph:fp.10 fp.10 20 report --stdio
self:flat.10 flat.10 8 report --stdio --no-children -g none
script:sched.10 sched.10 10 script
script:syscalls.10 syscalls.10 12 script
no-inline:cxx.10 cxx.10 15 script --no-inline
no-inline:rust.10 rust.10 15 script --no-inline
script:fp.2 fp.2 4 script
graph:fp.2 fp.2 4 report --stdio
script:flat.2 flat.2 4 script
script:sched.2 sched.2 4 script
script:syscalls.2 syscalls.2 4 script
no-inline:cxx.2 cxx.2 4 script --no-inline
no-inline:rust.2 rust.2 4 script --no-inline
walk:fp fp 6 dump --checksum
walk:flat flat 6 dump --checksum
walk:sched sched 6 dump --checksum
pt-errors:cyc pt-cyc 8 script --itrace=e
pt-errors:tsc pt-tsc 12 script --itrace=e
pt-i1ms:cyc pt-cyc 8 report --stdio --itrace=i1ms
pt-branches:cyc.20 pt-cyc.20 8 script --itrace=b
pt-insn-trace:cyc.3 pt-cyc.3 12 script --insn-trace
END
}

# real_compile DIRECTORY: this project, configured and not built yet. What meson was ended in is
# made anew.
real_compile() {
    ninja -C "$1" build.ninja >"$build/bench.log" 2>&1 &&
        ninja -C "$1" -t clean >>"$build/bench.log" 2>&1 && return 0
    rm -rf "$1"
    CC=gcc meson setup "$1" . >"$build/bench.log" 2>&1
}

# real_load SHAPE: what runs while it is recorded.
real_load() {
    case $1 in
    cxx)
        # shellcheck disable=SC2016 # for the shell that is recorded
        echo 'n=0; while [ $n -lt 200 ]; do n=$((n + 1)); g++ -std=c++17 -O2 -DSEED=$n -c bench/cxx_load.cc -o /dev/null; done'
        ;;
    rust) echo "'$build/bench-rust' 120" ;;
    *) echo "CCACHE_DISABLE=1 exec ninja -C '$build/bench-compile' -j2" ;;
    esac
}

real_events() {
    case $1 in
    fp) echo '-a -e cpu-clock -F 10000 -g' ;;
    flat) echo '-a -e cpu-clock -F 20000' ;;
    sched) echo '-a -e sched:*' ;;
    syscalls) echo '-a -e raw_syscalls:sys_enter,raw_syscalls:sys_exit' ;;
    cxx | rust) echo '-e cpu-clock -F 2000 --call-graph dwarf,8192' ;;
    esac
}

# real_trace SHAPE MEGABYTES: what was traced is kept beside.
real_trace() {
    library=$(ldd "$perfdata" | awk '$1 == "libc.so.6" { print $3 }')
    [ -n "$library" ] || return 1
    ninja -C "$build" bench/bench_pt_make >"$build/bench.log" 2>&1 ||
        { cat "$build/bench.log"; return 1; }
    "$build/bench/bench_pt_make" "$target.new" "$2" "${1#pt-}" "$perfdata" "$library" \
        >"$target.facts" || return 1
    mv "$target.new" "$target"
}

# real_record SHAPE[.MEGABYTES]: false where it cannot be made here.
real_record() {
    target=$recordings/real-$1.data
    [ ! -f "$target" ] || return 0
    [ -n "$have_perf" ] || return 1
    shape=${1%%.*} limit=$megabytes
    [ "$shape" = "$1" ] || limit=${1#*.}
    case $shape in
    pt-*)
        real_trace "$shape" "$limit"
        return
        ;;
    cxx) command -v g++ >/dev/null || return 1 ;;
    rust)
        command -v rustc >/dev/null || return 1
        HOME=$user_home rustc -g -O bench/rust_load.rs -o "$build/bench-rust" >"$build/bench.log" \
            2>&1 || return 1
        ;;
    *) real_compile "$build/bench-compile" || return 1 ;;
    esac
    echo "bench: recording $1, at most $limit MB"
    # Perf ends the load when the file has its size, and then says that it was killed.
    whole=yes
    set -f
    # shellcheck disable=SC2046
    "$perf" record -q -N -m 2M --max-size "${limit}M" -o "$target.new" $(real_events "$shape") -- \
        sh -c "$(real_load "$shape")" >"$build/bench.log" 2>&1 || whole=
    set +f
    [ -n "$whole" ] || [ "$(wc -c <"$target.new")" -ge $((limit * 1000000)) ] || whole=failed
    if [ "$whole" = failed ] ||
        ! "$perf" report --header-only -i "$target.new" >/dev/null 2>&1; then
        cat "$build/bench.log"
        return 1
    fi
    mv "$target.new" "$target"
}

# real_facts SHAPE: of the recording, once.
real_facts() {
    case " $told " in
    *" $1 "*) return 0 ;;
    esac
    told="$told $1"
    case $1 in
    pt-*)
        echo "-- $1: $(($(wc -c <"$recordings/real-$1.data") / 1000000)) MB, $(cat \
            "$recordings/real-$1.data.facts")"
        return 0
        ;;
    esac
    echo "-- $1: $("$build/bench/bench_facts" "$recordings/real-$1.data" 2>/dev/null)"
}

# real_row NAME SHAPE LEAST ARGUMENTS...: CPU time and memory beside perf; two threads beside one.
real_row() {
    title=$1 on=$2 least=$3
    shift 3
    if ! real_record "$on"; then
        echo "$title: skipped, no such recording can be made here"
        return 0
    fi
    real_facts "$on"
    input=$recordings/real-$on.data
    case $title in
    walk:*)
        real_walk "$title" "$least" "$@"
        return 0
        ;;
    esac
    "$measure" "$pairs" "$perf" "$@" -i "$input" -- "$perfdata" "$@" -j 1 -i "$input" \
        >"$build/bench.out" ||
        { echo "$title: a command fails"; failed=1; return 0; }
    judge "$title" cpu "$least" "$build/bench.out"
    judge "$title" memory 3 "$build/bench.out"
    case $on in
    *.2) judge "$title" wall 4 "$build/bench.out" ;;
    *.*) ;;
    *) [ "$(nproc)" -lt 2 ] || real_threads "$title" "$@" ;;
    esac
}

# real_walk NAME LEAST ARGUMENTS...: CPU time beside a walk of the crate's over all fields.
real_walk() {
    title=$1 least=$2
    shift 2
    if ! command -v cargo >/dev/null || ! HOME=$user_home CARGO_TARGET_DIR=$build/bench-walk cargo \
        build -q --release --manifest-path bench/walk/Cargo.toml >"$build/bench.log" 2>&1; then
        echo "$title: skipped, linux-perf-data cannot be built here"
        return 0
    fi
    "$measure" "$pairs" "$build/bench-walk/release/walk" "$input" -- \
        "$perfdata" "$@" -j 1 -i "$input" >"$build/bench.out" ||
        { echo "$title: a command fails"; failed=1; return 0; }
    judge "$title" cpu "$least" "$build/bench.out"
}

real_threads() {
    title=$1
    shift
    "$measure" "$pairs" "$perfdata" "$@" -j 1 -i "$input" -- "$perfdata" "$@" -j 2 -i "$input" \
        >"$build/bench.out" ||
        { echo "$title, two threads: a command fails"; failed=1; return 0; }
    judge "$title, 1 : 2 threads" wall 1.8 "$build/bench.out"
}

# real_rows PATTERN: those of the table whose name matches; false: none.
real_rows() {
    found=
    real_table >"$build/bench.rows"
    while read -r name rest <&3; do
        # shellcheck disable=SC2254 # a pattern is wanted
        case $name in
        $1)
            found=yes
            # shellcheck disable=SC2086
            real_row "$name" $rest
            ;;
        esac
    done 3<"$build/bench.rows"
    [ -n "$found" ]
}

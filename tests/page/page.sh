#!/bin/sh
# SPDX-License-Identifier: MIT
# flame: the page in a headless browser, by clicks and keys; its sums against report's; names that
# attack; SVG. page.sh PART: walk, reader, served, slices, range, threads, code, calls, call-sums,
# diff, totals, names, issues, svg
set -u
demo=$SOURCE/tests/data/demo
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PERF_CONFIG=/dev/null HOME="$work"

browser() {
    ORACLES=${PERFDATA_ORACLES:-$SOURCE/build-oracles}
    CHROMIUM=$(command -v chromium || true)
    export ORACLES CHROMIUM
    [ -n "$CHROMIUM" ] || { echo 'skipped: no chromium'; exit 77; }
    command -v node >/dev/null || { echo 'skipped: no node'; exit 77; }
    [ -d "$ORACLES/node_modules/playwright-core" ] && [ -d "$ORACLES/node_modules/axe-core" ] ||
        { echo 'skipped: no playwright-core and axe-core (./dev setup --oracles installs them)';
          exit 77; }
}

demo_page() {
    "$PERFDATA" flame --symfs "$demo/symfs" --kallsyms "$demo/symfs/kallsyms" \
        -i "$demo/spin.data" "$@"
}

case $1 in
walk)
    browser
    demo_page -o "$work/page.html" || exit 1
    [ "$(wc -c <"$work/page.html")" -le 200000 ] ||
        { echo 'the page itself is over 200 KB'; exit 1; }
    node "$SOURCE/tests/page/walk.mjs" "$work/page.html"
    ;;
served)
    browser
    "$PERFDATA" version --build-options | grep -q 'libmicrohttpd: \[ on ' ||
        { echo 'built without libmicrohttpd'; exit 77; }
    # Large enough to be shown in parts; a function of its own comes in the second half.
    awk -v samples=240000 -f "$SOURCE/tests/tool/halves.awk" >"$work/big.pdt"
    "$PERFDATA" assemble "$work/big.pdt" -o "$work/big.data" || exit 1
    [ "$(wc -c <"$work/big.data")" -gt 9000000 ] ||
        { echo 'the recording is too small for parts'; exit 1; }
    node "$SOURCE/tests/page/served.mjs" "$PERFDATA" "$work/big.data"
    ;;
slices)
    "$PERFDATA" version --build-options | grep -q 'libmicrohttpd: \[ on ' ||
        { echo 'built without libmicrohttpd'; exit 77; }
    grow=${PERFDATA_TOOLS-}/make-big-pt/make_big_pt.py
    [ -n "${PERFDATA_CORPUS-}" ] && [ -r "$grow" ] ||
        { echo 'skipped: PERFDATA_CORPUS and PERFDATA_TOOLS are not set'; exit 77; }
    traces=$PERFDATA_CORPUS/own-pt
    # One that says when its samples begin and end, and one that does not.
    "$PERFDATA" dump --pdt -i "$traces/rec/c_dyn.data" |
        sed -e '/^feature SAMPLE_TIME/d' -e '/^features/s/ SAMPLE_TIME//' \
        >"$work/plain.pdt"
    "$PERFDATA" assemble "$work/plain.pdt" -o "$work/plain.data" || exit 1
    for from in "$traces/rec/c_dyn.data" "$work/plain.data"; do
        python3 "$grow" "$from" "$work/big.data" --mb 16 >/dev/null || exit 1
        python3 "$SOURCE/tests/page/slices.py" "$PERFDATA" "$traces/symfs" "$work/big.data" ||
            exit 1
    done
    ;;
range)
    browser
    "$PERFDATA" version --build-options | grep -q 'libmicrohttpd: \[ on ' ||
        { echo 'built without libmicrohttpd'; exit 77; }
    grow=${PERFDATA_TOOLS-}/make-big-pt/make_big_pt.py
    [ -n "${PERFDATA_CORPUS-}" ] && [ -r "$grow" ] ||
        { echo 'skipped: PERFDATA_CORPUS and PERFDATA_TOOLS are not set'; exit 77; }
    traces=$PERFDATA_CORPUS/own-pt
    python3 "$grow" "$traces/rec/c_dyn.data" "$work/big.data" --mb 2 >/dev/null || exit 1
    node "$SOURCE/tests/page/range.mjs" "$PERFDATA" "$traces/symfs" "$work/big.data"
    ;;
reader)
    browser
    demo_page -o "$work/page.html" || exit 1
    node "$SOURCE/tests/page/reader.mjs" "$work/page.html"
    ;;
threads)
    browser
    awk 'BEGIN {
        print "perfdata-text 1\ncontainer file order=little header_size=104"
        fields = "IP|TID|TIME|CPU|PERIOD flags=mmap|comm|task|sample_id_all"
        print "attr cycles:HG={size=128 sample_type=" fields "} ids=[7]"
        print "ids cycles:HG\nattrs\ndata"
        for (pid = 100; pid < 400; pid++) {
            printf "record COMM {pid=%d tid=%d comm=\"t%d\" ", pid, pid, pid
            printf "sample_id={pid=%d tid=%d time=1.000000000s cpu=1}}\n", pid, pid
            for (i = 0; i < 1 + (pid == 399); i++) {
                printf "record SAMPLE misc=0x2 {ip=0x400800 pid=%d tid=%d ", pid, pid
                printf "time=%.9fs cpu=1 period=10}\n", 2 + pid / 1000
            }
        }
        print "end" }' >"$work/many.pdt"
    "$PERFDATA" assemble "$work/many.pdt" -o "$work/many.data" &&
        "$PERFDATA" flame -i "$work/many.data" -o "$work/page.html" || exit 1
    # Of two events the first one has one sample in two hundred, in another recording one in two.
    for every in 200 2; do
        awk -v every=$every 'BEGIN {
            print "perfdata-text 1\ncontainer file order=little header_size=104"
            fields = "IDENTIFIER|IP|TID|TIME|PERIOD"
            for (id = 7; id < 9; id++)
                printf "attr %s={size=128 config=%d sample_type=%s} ids=[%d]\n",
                    id == 7 ? "a" : "b", id - 7, fields, id
            print "ids a\nids b\nattrs\ndata"
            for (i = 0; i < 400; i++) {
                printf "record SAMPLE misc=0x2 {identifier=%d ip=0x400800 ", i % every ? 8 : 7
                printf "pid=5 tid=5 time=%.9fs period=1}\n", 2 + i / 1000
            }
            print "end" }' >"$work/events.pdt"
        "$PERFDATA" assemble "$work/events.pdt" -o "$work/events.data" &&
            "$PERFDATA" flame -i "$work/events.data" -o "$work/events$every.html" || exit 1
    done
    node "$SOURCE/tests/page/threads.mjs" "$work/page.html" "$work/events200.html" \
        "$work/events2.html"
    ;;
code)
    browser
    command -v objdump >/dev/null || { echo 'skipped: no objdump'; exit 77; }
    data=$SOURCE/tests/data/annotate
    set -- "$work"
    # Source is shown where it is at hand: of a program that is made here.
    if command -v cc >/dev/null; then
        cp "$SOURCE/tests/page/code.c" "$work/code.c"
        cc -g -O1 -fno-inline -fcf-protection=none -static -nostdlib -no-pie -Wl,--build-id=none \
            -o "$work/code" "$work/code.c" || exit 1
        address=$(nm "$work/code" | sed -n 's/ T spin$//p')
        sed -e "s|@PROGRAM@|$work/code|" -e "s|@SPIN@|0x$address|" "$SOURCE/tests/page/code.pdt" \
            >"$work/code.pdt"
        "$PERFDATA" assemble "$work/code.pdt" -o "$work/code.data" &&
            "$PERFDATA" flame --code -i "$work/code.data" -o "$work/source.html" || exit 1
    fi
    "$PERFDATA" flame --code --symfs "$data/symfs" -i "$data/inline.data" -o "$work/inline.html" &&
        "$PERFDATA" flame --code --symfs "$data/symfs" -i "$data/group-read.data" \
        -o "$work/group.html" &&
        demo_page --code -o "$work/spin.html" && demo_page --code -j 8 -o "$work/8.html" &&
        demo_page --code -j 1 -o "$work/1.html" &&
        cmp "$work/1.html" "$work/8.html" || exit 1
    "$PERFDATA" flame --code -o "$work/pipe.html" - <"$demo/spin.data" 2>"$work/err" &&
        { echo '--code of a stream is not refused'; exit 1; }
    grep -q 'standard input' "$work/err" ||
        { echo "--code of a stream: $(cat "$work/err")"; exit 1; }
    node "$SOURCE/tests/page/code.mjs" "$work"
    ;;
calls)
    browser
    itrace=$SOURCE/tests/data/itrace
    "$PERFDATA" flame --symfs "$itrace/symfs" -i "$itrace/t_eptw.data" -o "$work/page.html" ||
        exit 1
    node "$SOURCE/tests/page/calls.mjs" "$work/page.html"
    ;;
call-sums)
    "$PERFDATA" version --build-options | grep -q 'sqlite: \[ on ' ||
        { echo 'built without SQLite'; exit 77; }
    set -- "$SOURCE/tests/data/itrace/symfs" "$work"
    for name in c_forkbid t_eptw t_tsx t_ptwfup t_tracestop; do
        set -- "$@" "$SOURCE/tests/data/itrace/$name.data"
    done
    python3 "$SOURCE/tests/page/calls.py" "$PERFDATA" "$@" || exit 1
    for jobs in 1 8; do
        "$PERFDATA" flame -j $jobs --symfs "$1" -i "$SOURCE/tests/data/itrace/c_forkbid.data" \
            -o "$work/$jobs.html" 2>/dev/null
    done
    cmp "$work/1.html" "$work/8.html" || exit 1
    [ -n "${PERFDATA_CORPUS-}" ] || exit 0
    traces=$PERFDATA_CORPUS/own-pt
    set -- "$traces/symfs" "$work"
    for name in t_cyc c_threads d_cut c_switch2 t_mtc t_jit c_threads4; do
        set -- "$@" "$traces/rec/$name.data"
    done
    python3 "$SOURCE/tests/page/calls.py" "$PERFDATA" "$@"
    ;;
diff)
    browser
    "$PERFDATA" slice -i "$demo/spin.data" --first 45 -o "$work/old.data" || exit 1
    demo_page --diff "$work/old.data" -o "$work/page.html" || exit 1
    node "$SOURCE/tests/page/diff.mjs" "$work/page.html"
    ;;
totals)
    # What the page holds is what report says, function by function: columns of the page, read here
    # without a browser.
    set -- "$demo/spin.data" "$demo/shapes.data"
    if [ -n "${PERFDATA_CORPUS-}" ]; then
        for name in cpu-clock-fp cpp-fp dwarf forkexec group-read kernel-callchains sys-wide jit \
            inline; do
            set -- "$@" "$PERFDATA_CORPUS/own/rec/$name.data"
        done
    fi
    python3 "$SOURCE/tests/page/totals.py" "$PERFDATA" "$demo" "${PERFDATA_CORPUS-}" "$work" "$@"
    ;;
names)
    browser
    "$PERFDATA" assemble "$SOURCE/tests/page/names.pdt" -o "$work/names.data" || exit 1
    "$PERFDATA" flame -i "$work/names.data" -o "$work/page.html" || exit 1
    if grep -q '<script>alert' "$work/page.html"; then
        echo 'a name of the recording stands in the page as markup'
        exit 1
    fi
    # No record holds a name of 10 KB: a program's table of symbols does.
    set -- "$work/page.html"
    if command -v cc >/dev/null; then
        name=$(awk 'BEGIN { while (n++ < 10240) printf "n" }')
        printf '.globl _start\n.globl %s\n.type %s, @function\n_start:\n%s: nop\n nop\n.size %s, 2\n' \
            "$name" "$name" "$name" "$name" >"$work/long.s"
        cc -static -nostdlib -no-pie -Wl,--build-id=none -Wl,-Ttext=0x401000 -o "$work/long" \
            "$work/long.s" || exit 1
        sed -n -e '1,/^data/p' "$SOURCE/tests/page/names.pdt" >"$work/long.pdt"
        at='pid=9 tid=9 time=1.000000000s cpu=1'
        cat >>"$work/long.pdt" <<END
record MMAP2 misc=0x2 {pid=9 tid=9 addr=0x401000 len=0x1000 pgoff=0x1000 maj=8 min=1 ino=1 prot=READ|EXEC flags=PRIVATE filename="$work/long" sample_id={$at}}
record SAMPLE misc=0x2 {ip=0x401000 $at period=1000}
end
END
        "$PERFDATA" assemble "$work/long.pdt" -o "$work/long.data" &&
            "$PERFDATA" flame -i "$work/long.data" -o "$work/long.html" || exit 1
        set -- "$@" "$work/long.html"
    fi
    node "$SOURCE/tests/page/names.mjs" "$@"
    ;;
issues)
    # Each issue is told once, as by script, and the page lists it.
    head -c 9000 "$demo/spin.data" >"$work/cut.data"
    "$PERFDATA" script -i "$work/cut.data" 2>&1 >/dev/null |
        sed 's/^perfdata script: //' >"$work/script"
    "$PERFDATA" flame -i "$work/cut.data" -o "$work/page.html" 2>&1 |
        sed 's/^perfdata flame: //' >"$work/flame"
    [ -s "$work/script" ] || { echo 'nothing is wrong with a cut recording'; exit 1; }
    diff "$work/script" "$work/flame" || { echo 'flame tells of other issues than script'; exit 1; }
    python3 - "$work/page.html" <<END || { echo 'the page does not list what is wrong'; exit 1; }
import base64, json, re, sys, zlib
data = zlib.decompress(base64.b64decode(re.search(r'id="data"[^>]*>([^<]*)<', open(sys.argv[1]).read()).group(1)), -15)
header = json.loads(data[4:4 + int.from_bytes(data[:4], 'little')])
sys.exit(not any(line.startswith('file: ') for line in header['warnings']))
END
    ;;
svg)
    demo_page --svg -o "$work/a.svg" && demo_page --svg --icicle --count -o "$work/b.svg" || exit 1
    "$PERFDATA" assemble "$SOURCE/tests/page/names.pdt" -o "$work/names.data" &&
        "$PERFDATA" flame --svg -i "$work/names.data" -o "$work/c.svg" || exit 1
    for file in a b c; do
        python3 -c 'import sys, xml.dom.minidom as m; d = m.parse(sys.argv[1])
assert len(d.getElementsByTagName("title")) > 1 and not d.getElementsByTagName("script")' \
    "$work/$file.svg" ||
            { echo "$file.svg is not what it should be"; exit 1; }
    done
    grep -q 'gamma_leaf (/own/bin/spin): 61.11 %, 55165495, self 53159477' "$work/a.svg" ||
        { echo 'no gamma_leaf in alpha_top of 61.11 %'; exit 1; }
    # A graph higher than a screen begins at its root, unless it is to stand on it.
    for rows in 39 40; do
        awk -v rows=$rows 'BEGIN {
            print "perfdata-text 1\ncontainer file order=little header_size=104"
            print "attr cycles={size=128 sample_type=IP|TID|CALLCHAIN|PERIOD} ids=[7]"
            print "ids cycles\nattrs\ndata"
            printf "record SAMPLE misc=0x2 {ip=0x400800 pid=5 tid=5 period=10 ips=[0xfffffffffffffe00"
            for (i = 0; i < rows; i++) printf " 0x%x", 4196352 + 16 * i
            print "]}\nend" }' >"$work/deep.pdt"
        "$PERFDATA" assemble "$work/deep.pdt" -o "$work/deep.data" || exit 1
        for way in '' --icicle --upward; do
            # shellcheck disable=SC2086
            "$PERFDATA" flame --svg $way -i "$work/deep.data" -o "$work/deep.svg" || exit 1
            grep -o '<title>all.* y="[0-9]*"' "$work/deep.svg" |
                sed "s/.* y=/$rows$way /"
        done
    done >"$work/roots"
    printf '%s\n' '39 "670"' '39--icicle "46"' '39--upward "670"' '40 "46"' '40--icicle "46"' \
        '40--upward "686"' | diff - "$work/roots" || { echo 'where the root of an SVG is'; exit 1; }
    demo_page --svg --icicle --upward -o "$work/both.svg" 2>/dev/null &&
        { echo 'both ways at once'; exit 1; }
    # Of an address in no map there is no object to name.
    cat >"$work/unknown.pdt" <<'END'
perfdata-text 1
container file order=little header_size=104
attr cycles={size=128 sample_type=IP|TID|TIME|PERIOD flags=mmap|comm} ids=[7]
ids cycles
attrs
data
record SAMPLE misc=0x2 {ip=0x400800 pid=5 tid=5 time=2.000000000s period=10}
end
END
    "$PERFDATA" assemble "$work/unknown.pdt" -o "$work/unknown.data" &&
        "$PERFDATA" flame --svg -i "$work/unknown.data" -o "$work/unknown.svg" || exit 1
    grep -q '<title>\[unknown\]: 100.00 %' "$work/unknown.svg" ||
        { echo 'a title of an unknown object'; exit 1; }
    demo_page --svg -j 1 -o "$work/1.svg" && demo_page --svg -j 8 -o "$work/8.svg" &&
        cmp "$work/1.svg" "$work/8.svg" && demo_page -j 1 -o "$work/1.html" &&
        demo_page -j 8 -o "$work/8.html" &&
        cmp "$work/1.html" "$work/8.html"
    ;;
esac

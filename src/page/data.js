// SPDX-License-Identifier: MIT
// The bytes that the page carries -> typed columns. The layout is described in docs/page-data.md.
import { count, visible } from './format.js';

function inflate(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    return new Response(stream).arrayBuffer().then((buffer) => new Uint8Array(buffer));
}

function bytesOfBase64(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
}

// One column: numbers as variable-length groups of seven bits, low group first. 'd' columns hold the
// difference to the number before, its sign in the lowest bit. Numbers above 31 bits need doubles.
function readColumn(bytes, at, column) {
    const end = at + column.bytes;
    // Groups end where the eighth bit is clear: a column whose last byte has it ends early.
    let whole = 0;
    for (let i = at; i < end; i++) whole += bytes[i] < 0x80 ? 1 : 0;
    if (end > bytes.length || whole < column.count)
        throw new Error(`column ${column.name} ends early`);
    if (column.type.endsWith('64')) return readWide(bytes, at, column);
    const out = new Int32Array(column.count);
    for (let i = 0; i < out.length; i++) {
        let byte = bytes[at++];
        let value = byte & 0x7f;
        for (let shift = 7; byte & 0x80; shift += 7) {
            byte = bytes[at++];
            value |= (byte & 0x7f) << shift;
        }
        out[i] = value;
    }
    return out;
}

function readWide(bytes, at, column) {
    const out = new Float64Array(column.count);
    const delta = column.type[0] === 'd';
    let last = 0;
    for (let i = 0; i < out.length; i++) {
        let byte = bytes[at++];
        let value = byte & 0x7f;
        for (let scale = 128; byte & 0x80; scale *= 128) {
            byte = bytes[at++];
            value += (byte & 0x7f) * scale;
        }
        if (delta) {
            value = value % 2 ? -(value + 1) / 2 : value / 2;
            value += last;
            last = value;
        }
        out[i] = value;
    }
    return out;
}

// Offset of the first number in sorted column `numbers`, or in a part of it, that is not below `value`.
export function lowerBound(numbers, value, from = 0, to = numbers.length) {
    let low = from;
    let high = to;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (numbers[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

// How often each thread is in `column`, and those that are, from the one that is most often.
export function threadsByCount(column, threads) {
    const counts = new Float64Array(threads);
    for (let i = 0; i < column.length; i++) counts[column[i]]++;
    const order = [...counts.keys()].filter((thread) => counts[thread]);
    return { counts, order: order.sort((a, b) => counts[b] - counts[a]) };
}

// Times are told in a unit of some nanoseconds. The column itself is changed.
function scale(times, unit) {
    if (unit !== 1) for (let i = 0; i < times.length; i++) times[i] *= unit;
    return times;
}

// CPUs are told as one more than they are; -1: unknown.
function cpus(column) {
    for (let i = 0; i < column.length; i++) column[i]--;
    return column;
}

function isSorted(times) {
    for (let i = 1; i < times.length; i++) if (times[i] < times[i - 1]) return false;
    return true;
}

// Calls as a trace tells them, in the order in which they end, and what each function's add up to.
function readCalls(columns, header, unit) {
    const sums = Array.from(columns.cs_fn, (fn, i) => ({
        fn,
        count: columns.cs_count[i],
        total: columns.cs_total[i],
        all: columns.cs_sum[i],
        self: columns.cs_self[i],
        least: columns.cs_least[i],
        most: columns.cs_most[i],
        insns: columns.cs_insns[i],
        cycles: columns.cs_cycles[i],
    }));
    return {
        time: scale(columns.ca_time, unit),
        length: scale(columns.ca_length, unit),
        thread: columns.ca_thread,
        fn: columns.ca_fn,
        depth: columns.ca_depth,
        flags: columns.ca_flags,
        insns: columns.ca_insns,
        cycles: columns.ca_cycles,
        sums,
        leftOut: header.calls_left_out,
        shorterThan: header.calls_shorter_than,
    };
}

const LINE_KINDS = ['code', 'source', 'where'];

// Functions with the lines that are kept of their code; what lies on a line, by event.
function readCode(columns, header) {
    const { strings } = header;
    const functions = [];
    let at = 0;
    for (let i = 0; i < columns.co_name.length; i++) {
        const end = at + columns.co_lines[i];
        const lines = [];
        for (; at < end; at++)
            lines.push({
                place: columns.cl_place[at] - 1,
                text: strings[columns.cl_text[at]],
                kind: LINE_KINDS[columns.cl_kind[at]] || 'source',
                indent: columns.cl_indent[at],
                gap: columns.cl_gap[at],
                cells: [],
            });
        functions.push({
            name: strings[columns.co_name[i]],
            object: strings[columns.co_object[i]],
            address: columns.co_address[i],
            lines,
        });
    }
    const all = functions.flatMap((one) => one.lines);
    for (let i = 0; i < columns.cc_line.length; i++)
        all[columns.cc_line[i]].cells.push({
            event: columns.cc_event[i],
            count: columns.cc_count[i],
            weight: columns.cc_weight[i],
        });
    return { functions, leftOut: header.code_left_out, limit: header.code_limit };
}

export function parseProfile(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const headerLength = view.getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headerLength)));
    const columns = {};
    let at = 4 + headerLength;
    for (const column of header.columns) {
        columns[column.name] = readColumn(bytes, at, column);
        at += column.bytes;
    }
    return new Profile(header, columns);
}

export async function readProfile(deflated) {
    return parseProfile(await inflate(deflated));
}

// What the page itself carries; null: it has a server that it asks.
export async function loadProfile() {
    const element = document.getElementById('data');
    const text = element.textContent.trim();
    element.textContent = '';
    return text ? readProfile(bytesOfBase64(text)) : null;
}

// Everything that the page knows of a recording. Stack 0 is the empty stack.
export class Profile {
    constructor(header, columns) {
        this.header = header;
        this.events = header.events;
        this.threads = header.threads;
        this.strings = header.strings;
        this.fnName = columns.fn_name;
        this.fnObject = columns.fn_object;
        this.fnFile = columns.fn_file;
        this.fnKind = columns.fn_kind;
        this.frFn = columns.fr_fn;
        this.frLine = columns.fr_line;
        this.stParent = columns.st_parent;
        for (let i = 1; i < this.stParent.length; i++) this.stParent[i] = i - this.stParent[i];
        this.stFrame = columns.st_frame;
        const unit = header.time_unit;
        this.time = scale(columns.sa_time, unit);
        this.stack = columns.sa_stack;
        this.thread = columns.sa_thread;
        this.cpu = cpus(columns.sa_cpu);
        this.event = columns.sa_event;
        this.period = columns.sa_weight;
        this.counts = columns.sa_count || null; // null: each row is one sample
        this.side = columns.sa_side || null;
        this.switches = columns.sw_time
            ? {
                  time: scale(columns.sw_time, unit),
                  thread: columns.sw_thread,
                  cpu: cpus(columns.sw_cpu),
                  kind: columns.sw_kind,
                  leftOut: header.switches_left_out || 0,
                  shorterThan: header.switches_shorter_than,
              }
            : null;
        this.calls = columns.cs_fn ? readCalls(columns, header, unit) : null;
        this.code = columns.co_name ? readCode(columns, header) : null;
        this.marks = columns.mk_time
            ? {
                  time: columns.mk_time.map((time) => (time ? (time - 1) * unit : -1)),
                  kind: columns.mk_kind,
                  tid: columns.mk_tid,
                  count: columns.mk_count,
                  text: Array.from(columns.mk_text, (text) => this.strings[text]),
              }
            : null;
        this.sampleCount = this.stack.length;
        this.hasTime = header.has_time !== false && this.sampleCount > 0;
        [this.start, this.end] = this.span();
        this.sorted = isSorted(this.time);
        // Events whose weights mean one thing can be added up.
        this.sameWeights = new Set(this.events.map((event) => event.unit || event.name)).size <= 1;
    }

    span() {
        let start = Infinity;
        let end = -Infinity;
        for (const times of [
            this.time,
            this.switches && this.switches.time,
            this.calls && this.calls.time,
            this.calls && this.calls.time.map((time, i) => time + this.calls.length[i]),
        ]) {
            if (!times) continue;
            for (let i = 0; i < times.length; i++) {
                if (times[i] < start) start = times[i];
                if (times[i] > end) end = times[i];
            }
        }
        return start <= end ? [start, end] : [0, 0];
    }

    busyThreads() {
        if (!this.busy) this.busy = threadsByCount(this.thread, this.threads.length);
        return this.busy;
    }

    // The event of all samples; -1: there are several.
    onlyEvent() {
        if (this.oneEvent !== undefined) return this.oneEvent;
        this.oneEvent = this.event[0];
        for (let i = 0; i < this.event.length; i++)
            if (this.event[i] !== this.event[0]) {
                this.oneEvent = -1;
                break;
            }
        return this.oneEvent;
    }

    // The first event that has samples; where the recording's own have none (a trace), the one that weighs most.
    firstEvent() {
        const sums = new Float64Array(this.events.length);
        for (let i = 0; i < this.sampleCount; i++) sums[this.event[i]] += this.period[i];
        if (sums[0]) return 0;
        let best = 0;
        for (let i = 0; i < sums.length; i++)
            if (!this.events[i].mark && sums[i] > sums[best]) best = i;
        return best;
    }

    // Losses, errors, and samples of events that have no weight, in order of time.
    allMarks() {
        if (this.markList) return this.markList;
        const out = [];
        const { marks } = this;
        for (let i = 0; marks && i < marks.time.length; i++) {
            if (marks.time[i] < 0) continue;
            const [time, tid] = [marks.time[i], marks.tid[i]];
            const text = visible(marks.text[i]);
            if (marks.kind[i] === 2) {
                out.push({ time, tid, text, name: text.split(':')[0], bad: false });
                continue;
            }
            const what = marks.kind[i] === 1 ? `${count(marks.count[i])} lost` : `error: ${text}`;
            out.push({ time, tid, text: what, name: what, bad: true });
        }
        // Those of a trace have come with their values.
        const isMark = this.events.map((event) => !!event.mark && !event.told);
        for (let i = 0; isMark.includes(true) && i < this.sampleCount; i++)
            if (isMark[this.event[i]])
                out.push({
                    time: this.time[i],
                    thread: this.thread[i],
                    text: visible(this.events[this.event[i]].name),
                    name: visible(this.events[this.event[i]].name),
                    bad: false,
                });
        this.markList = out.sort((x, y) => x.time - y.time);
        return this.markList;
    }

    // A function without a name is shown with its object: each object's unknown code is one row.
    functionName(fn) {
        const name = this.strings[this.fnName[fn]];
        if (name !== '[unknown]') return name;
        return `[unknown] ${this.objectName(fn).replace(/^.*\//, '')}`.trim();
    }
    objectName(fn) {
        return this.strings[this.fnObject[fn]];
    }
    fileName(fn) {
        return this.strings[this.fnFile[fn]];
    }
    threadName(thread) {
        const { comm, pid, tid } = this.threads[thread];
        return pid === tid ? `${comm} (${tid})` : `${comm} (${pid}/${tid})`;
    }

    // For each stack, 1 where it holds a function for which `test(function)` is true.
    stacksWith(test) {
        const yes = new Uint8Array(this.fnName.length);
        for (let fn = 0; fn < yes.length; fn++) yes[fn] = test(fn) ? 1 : 0;
        const out = new Uint8Array(this.stParent.length);
        for (let s = 1; s < out.length; s++)
            out[s] = out[this.stParent[s]] | yes[this.frFn[this.stFrame[s]]];
        return out;
    }
}

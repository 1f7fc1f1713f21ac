// SPDX-License-Identifier: MIT
// The bytes that the page carries -> typed columns. The layout is described in docs/page-data.md.
import { Columns } from './columns.js';
import { count, visible } from './format.js';

async function inflate(bytes) {
    const stream = new DecompressionStream('deflate-raw');
    const writer = stream.writable.getWriter();
    const written = writer.write(bytes).then(() => writer.close());
    const [buffer] = await Promise.all([new Response(stream.readable).arrayBuffer(), written]);
    return new Uint8Array(buffer);
}

function bytesOfBase64(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
}

// Offset of the first number in sorted column `numbers`, or in a part of it, that is not below
// `value`.
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

const FEW = 0.01; // of the samples of the event that has most

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
    const [count, total, all, self, least, most, insns, cycles] = [
        'count',
        'total',
        'sum',
        'self',
        'least',
        'most',
        'insns',
        'cycles',
    ].map((name) => columns.get(`cs_${name}`));
    const sums = Array.from(columns.get('cs_fn'), (fn, i) => ({
        fn,
        count: count[i],
        total: total[i],
        all: all[i],
        self: self[i],
        least: least[i],
        most: most[i],
        insns: insns[i],
        cycles: cycles[i],
    }));
    return {
        time: scale(columns.get('ca_time'), unit),
        length: scale(columns.get('ca_length'), unit),
        thread: columns.get('ca_thread'),
        fn: columns.get('ca_fn'),
        depth: columns.get('ca_depth'),
        flags: columns.get('ca_flags'),
        insns: columns.get('ca_insns'),
        cycles: columns.get('ca_cycles'),
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
    const [name, object, address, lineCount] = ['name', 'object', 'address', 'lines'].map((one) =>
        columns.get(`co_${one}`),
    );
    const [place, text, kind, indent, gap] = ['place', 'text', 'kind', 'indent', 'gap'].map((one) =>
        columns.get(`cl_${one}`),
    );
    let at = 0;
    for (let i = 0; i < name.length; i++) {
        const end = at + lineCount[i];
        const lines = [];
        for (; at < end; at++)
            lines.push({
                place: place[at] - 1,
                text: strings[text[at]],
                kind: LINE_KINDS[kind[at]] || 'source',
                indent: indent[at],
                gap: gap[at],
                cells: [],
            });
        functions.push({
            name: strings[name[i]],
            object: strings[object[i]],
            address: address[i],
            lines,
        });
    }
    const all = functions.flatMap((one) => one.lines);
    const [line, event, samples, weight] = ['line', 'event', 'count', 'weight'].map((one) =>
        columns.get(`cc_${one}`),
    );
    for (let i = 0; i < line.length; i++)
        all[line[i]].cells.push({ event: event[i], count: samples[i], weight: weight[i] });
    return { functions, leftOut: header.code_left_out, limit: header.code_limit };
}

export function parseProfile(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const headerLength = view.getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headerLength)));
    const columns = new Columns(bytes, 4 + headerLength, header.columns);
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

// Numbers less their places -> parents of stacks, which have smaller numbers.
function parents(column) {
    const out = new Int32Array(column.length);
    for (let i = 1; i < out.length; i++) out[i] = i - column[i];
    return out;
}

// Everything that the page knows of a recording. Stack 0 is the empty stack. What the first picture
// does not need is read when somebody asks for it.
export class Profile {
    constructor(header, columns) {
        this.header = header;
        this.columns = columns;
        this.events = header.events;
        this.threads = header.threads;
        this.strings = header.strings;
        this.fnName = columns.get('fn_name');
        this.fnObject = columns.get('fn_object');
        this.fnFile = columns.get('fn_file');
        this.fnKind = columns.get('fn_kind');
        this.frFn = columns.get('fr_fn');
        this.frLine = columns.get('fr_line');
        this.stParent = parents(columns.get('st_parent'));
        this.stFrame = columns.get('st_frame');
        this.stack = columns.get('sa_stack');
        this.event = columns.get('sa_event');
        this.period = columns.get('sa_weight');
        this.counts = columns.get('sa_count') || null; // null: each row is one sample
        this.side = columns.get('sa_side') || null;
        this.sampleCount = this.stack.length;
        this.hasTime = header.has_time !== false && this.sampleCount > 0;
        this.hasSwitches = columns.has('sw_time');
        this.hasCalls = columns.has('cs_fn');
        this.hasCode = columns.has('co_name');
        this.made = {};
        // Events whose weights mean one thing can be added up.
        this.sameWeights = new Set(this.events.map((event) => event.unit || event.name)).size <= 1;
    }

    // What `make` gives, which is asked for it once.
    once(name, make) {
        if (!(name in this.made)) this.made[name] = make();
        return this.made[name];
    }

    // Reads what views of times need, in pieces.
    *pieces() {
        yield* this.columns.pieces();
        if (!this.hasTime) return;
        yield this.time;
        yield this.start;
        yield this.sorted;
        yield this.busyThreads();
    }

    get time() {
        return this.once('time', () => scale(this.columns.get('sa_time'), this.header.time_unit));
    }
    get thread() {
        return this.columns.get('sa_thread');
    }
    get cpu() {
        return this.once('cpu', () => cpus(this.columns.get('sa_cpu')));
    }
    get sorted() {
        return this.once('sorted', () => isSorted(this.time));
    }
    get start() {
        return this.once('span', () => this.span())[0];
    }
    get end() {
        return this.once('span', () => this.span())[1];
    }
    get switches() {
        return this.once('switches', () => (this.hasSwitches ? this.readSwitches() : null));
    }
    get calls() {
        return this.once('calls', () =>
            this.hasCalls ? readCalls(this.columns, this.header, this.header.time_unit) : null,
        );
    }
    get code() {
        return this.once('code', () => (this.hasCode ? readCode(this.columns, this.header) : null));
    }
    get marks() {
        return this.once('marks', () => (this.columns.has('mk_time') ? this.readMarks() : null));
    }

    readSwitches() {
        const { columns, header } = this;
        return {
            time: scale(columns.get('sw_time'), header.time_unit),
            thread: columns.get('sw_thread'),
            cpu: cpus(columns.get('sw_cpu')),
            kind: columns.get('sw_kind'),
            leftOut: header.switches_left_out || 0,
            shorterThan: header.switches_shorter_than,
        };
    }

    readMarks() {
        const { columns, header } = this;
        return {
            time: columns.get('mk_time').map((time) => (time ? (time - 1) * header.time_unit : -1)),
            kind: columns.get('mk_kind'),
            tid: columns.get('mk_tid'),
            count: columns.get('mk_count'),
            text: Array.from(columns.get('mk_text'), (text) => this.strings[text]),
        };
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
        return this.once('busy', () => threadsByCount(this.thread, this.threads.length));
    }

    // The event of all samples; -1: there are several.
    onlyEvent() {
        const events = this.usedEvents();
        return events.length === 1 ? events[0] : -1;
    }

    // Those that have samples.
    usedEvents() {
        return this.once('events', () => {
            const { event } = this;
            const used = new Uint8Array(this.events.length);
            for (let i = 0; i < event.length; i++) used[event[i]] = 1;
            return [...used.keys()].filter((one) => used[one]);
        });
    }

    // The first event with samples that weigh something, unless it has hardly any: of thirty
    // tracepoints the first one may have three.
    firstEvent() {
        const { event, period, events } = this;
        const samples = new Float64Array(events.length);
        for (let i = 0; i < this.sampleCount; i++)
            if (period[i]) samples[event[i]] += this.counts ? this.counts[i] : 1;
        const of = (i) => (events[i].mark ? 0 : samples[i]);
        const most = samples.reduce((sum, _, i) => Math.max(sum, of(i)), 0);
        return Math.max(0, events.findIndex((_, i) => most && of(i) >= most * FEW));
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

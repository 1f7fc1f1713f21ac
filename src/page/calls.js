// SPDX-License-Identifier: MIT
// Calls that a trace tells, each thread's over time, with marks of what happened; what each
// function's calls add up to.
import { count, duration, make, replaceChildren, visible } from './format.js';
import { threadsByCount } from './data.js';
import { Chart, CALL_HEIGHT } from './chart.js';
import { drawMarks, marksText, MARK_LANE } from './timeline.js';

const CALL_ROWS = 500;
const LONGEST_CALLS = 100;
const MARKS_TOLD = 50;
// By bit, as in include/perfdata/profile.h.
const CALL_NOTES = ['entered before the trace', 'not seen to return', 'a tail call'];
const CALL_RECURSIVE = 8;

const ipcText = (insns, cycles) => (insns && cycles ? (insns / cycles).toFixed(2) : '');

const CALL_COLUMNS = [
    { id: 'name', label: 'Function', text: (row) => visible(row.name) },
    { id: 'count', label: 'Calls', text: (row) => count(row.count) },
    { id: 'total', label: 'Total', text: (row) => duration(row.total) },
    { id: 'self', label: 'Self', text: (row) => duration(row.self) },
    { id: 'least', label: 'Shortest', text: (row) => duration(row.least) },
    { id: 'mean', label: 'Mean', text: (row) => duration(row.mean) },
    { id: 'most', label: 'Longest', text: (row) => duration(row.most) },
    { id: 'ipc', label: 'IPC', text: (row) => ipcText(row.insns, row.cycles) },
];

export class Calls extends Chart {
    constructor(element, profile, hooks) {
        super(element, profile, hooks);
        this.marks = profile.allMarks();
        this.sort = { id: 'total', down: true };
        this.tableBox = make('div', { class: 'scroll', tabindex: '0' });
        this.markList = make('ol', { class: 'visually-hidden', 'aria-label': 'Marks' });
        this.oneBox = make('div', { class: 'part' });
        element.append(this.markList, this.tableBox, this.oneBox);
        this.functions = {
            functionOf: (key) => key,
            name: (key) => profile.functionName(key),
        };
    }

    busyThreads() {
        return threadsByCount(this.profile.calls.thread, this.profile.threads.length);
    }

    threadText(thread, calls) {
        return `${visible(this.profile.threadName(thread))}: ${count(calls)} calls`;
    }

    label() {
        return 'Calls over time';
    }

    noteText() {
        const { calls } = this.profile;
        const left = calls.leftOut
            ? ` ${count(calls.leftOut)} calls shorter than ${duration(calls.shorterThan)} are only in the table.`
            : '';
        return `Each box is a call, from its entry to its return.${left}`;
    }

    makeBoxes() {
        const { calls } = this.profile;
        const levels = [];
        for (let i = 0; i < calls.time.length; i++) {
            if (calls.thread[i] !== this.thread) continue;
            const depth = calls.depth[i];
            while (levels.length <= depth) levels.push({ start: [], end: [], key: [], call: [] });
            const level = levels[depth];
            level.start.push(calls.time[i]);
            level.end.push(calls.time[i] + calls.length[i]);
            level.key.push(calls.fn[i]);
            level.call.push(i);
        }
        return levels;
    }

    // `chosen`: the function whose calls are listed, -1: none; `ranges`: in which calls begin;
    // none: all.
    showCalls(colors, chosen, ranges, place) {
        this.chosenFn = chosen;
        this.ranges = ranges;
        this.placeAt(place);
        this.show(this.functions, colors, null);
        this.showTable();
        this.showOne();
    }

    describe(found) {
        const { calls } = this.profile;
        const i = found.call;
        const ipc = ipcText(calls.insns[i], calls.cycles[i]);
        const notes = CALL_NOTES.filter((_, bit) => calls.flags[i] & (1 << bit));
        const insns = calls.insns[i] ? `, ${count(calls.insns[i])} instructions` : '';
        return `${super.describe(found)}${insns}${ipc ? `, IPC ${ipc}` : ''}${notes.length ? ` (${notes.join(', ')})` : ''}`;
    }

    // ---- marks ----

    marksInSight() {
        const [a, b] = this.window;
        const { tid } = this.profile.threads[this.thread];
        return this.marks.filter(
            (mark) =>
                mark.time >= a &&
                mark.time <= b &&
                (mark.thread === undefined
                    ? mark.tid === tid || mark.tid >= 0x80000000
                    : mark.thread === this.thread),
        );
    }

    topHeight() {
        return CALL_HEIGHT + (this.marks.length ? MARK_LANE : 0);
    }

    drawHead(context, width) {
        super.drawHead(context, width);
        const [a, b] = this.window;
        const marks = this.marksInSight();
        this.shownMarks = marks.map((mark) => ({
            ...mark,
            x: ((mark.time - a) * width) / (b - a),
        }));
        drawMarks(context, this.shownMarks, this.topHeight() - 1);
        this.note.textContent = `${this.noteText()}${marks.length ? ` Marks in sight: ${marksText(marks)}.` : ''}`;
        replaceChildren(
            this.markList,
            ...marks.slice(0, MARKS_TOLD).map((mark) => make('li', {}, this.markText(mark))),
        );
    }

    markText(mark) {
        return `${mark.text} at ${duration(mark.time - this.profile.start)}`;
    }

    tipText(event, found) {
        const [x, y] = this.sheet.place(event);
        const marks =
            y < this.topHeight() && this.shownMarks
                ? this.shownMarks.filter((mark) => Math.abs(mark.x - x) < 5).slice(0, 3)
                : [];
        if (marks.length) return marks.map((mark) => this.markText(mark)).join('; ');
        return super.tipText(event, found);
    }

    // ---- table ----

    inRanges(time) {
        return !this.ranges.length || this.ranges.some(([a, b]) => time >= a && time <= b);
    }

    // Of all calls the recording's own sums, which know also those that are not drawn.
    rows() {
        const { calls } = this.profile;
        const rows = this.ranges.length ? this.sumRanges() : calls.sums;
        for (const row of rows) {
            row.name = this.profile.functionName(row.fn);
            row.mean = row.count ? row.all / row.count : 0;
            row.ipc = row.cycles ? row.insns / row.cycles : 0;
        }
        const { id, down } = this.sort;
        const order = (x, y) => (x[id] < y[id] ? -1 : x[id] > y[id] ? 1 : x.fn - y.fn);
        return rows.sort((x, y) => (down ? order(y, x) : order(x, y)));
    }

    // Calls come inner ones first: what those below took is known when one ends.
    sumRanges() {
        const { calls } = this.profile;
        const rows = new Map();
        const below = new Map();
        for (let i = 0; i < calls.time.length; i++) {
            const [fn, depth, time] = [calls.fn[i], calls.depth[i], calls.length[i]];
            let inner = below.get(calls.thread[i]);
            if (!inner) below.set(calls.thread[i], (inner = []));
            const self = Math.max(0, time - (inner[depth + 1] || 0));
            inner[depth + 1] = 0;
            inner[depth] = (inner[depth] || 0) + time;
            if (!this.inRanges(calls.time[i])) continue;
            let row = rows.get(fn);
            if (!row)
                rows.set(
                    fn,
                    (row = {
                        fn,
                        count: 0,
                        total: 0,
                        self: 0,
                        all: 0,
                        least: Infinity,
                        most: 0,
                        insns: 0,
                        cycles: 0,
                    }),
                );
            row.count++;
            row.all += time;
            row.self += self;
            row.least = Math.min(row.least, time);
            row.most = Math.max(row.most, time);
            if (calls.flags[i] & CALL_RECURSIVE) continue;
            row.total += time;
            row.insns += calls.insns[i];
            row.cycles += calls.cycles[i];
        }
        return [...rows.values()];
    }

    showTable() {
        const rows = this.rows();
        const shown = rows.slice(0, CALL_ROWS);
        const heads = CALL_COLUMNS.map(({ id, label }) => {
            const active = this.sort.id === id;
            const down = active ? !this.sort.down : id !== 'name';
            return make(
                'th',
                {
                    scope: 'col',
                    'aria-sort': active ? (this.sort.down ? 'descending' : 'ascending') : 'none',
                },
                make(
                    'button',
                    {
                        class: 'plain',
                        onclick: () => {
                            this.sort = { id, down };
                            this.showTable();
                        },
                    },
                    `${label}${active ? (this.sort.down ? ' ▾' : ' ▴') : ''}`,
                ),
            );
        });
        const line = (row) =>
            make(
                'tr',
                { class: row.fn === this.chosenFn ? 'chosen' : null },
                ...CALL_COLUMNS.map(({ id, text }) =>
                    id === 'name'
                        ? make(
                              'th',
                              { scope: 'row' },
                              make(
                                  'button',
                                  { class: 'plain', onclick: () => this.choose(row.fn) },
                                  text(row),
                              ),
                          )
                        : make('td', {}, text(row)),
                ),
            );
        const where = this.ranges.length ? ' that begin in the chosen time' : '';
        const left = rows.length - shown.length;
        const caption = `Calls${where}: ${count(rows.length)} functions${left > 0 ? `, the first ${CALL_ROWS} are shown` : ''}`;
        this.tableBox.setAttribute('aria-label', caption);
        this.tableBox.setAttribute('role', 'region');
        this.tableBox.replaceChildren(
            make(
                'table',
                { class: 'calls' },
                make('caption', {}, caption),
                make('thead', {}, make('tr', {}, ...heads)),
                make('tbody', {}, ...shown.map(line)),
            ),
        );
    }

    choose(fn) {
        this.chosenFn = fn;
        this.hooks.pick(fn);
        this.showTable();
        this.showOne();
    }

    // ---- one function ----

    showOne() {
        const fn = this.chosenFn;
        const { calls } = this.profile;
        const own = [];
        for (let i = 0; fn >= 0 && i < calls.time.length; i++)
            if (calls.fn[i] === fn && this.inRanges(calls.time[i])) own.push(i);
        if (!own.length) {
            this.oneBox.replaceChildren();
            return;
        }
        const longest = own
            .slice()
            .sort((x, y) => calls.length[y] - calls.length[x] || calls.time[x] - calls.time[y])
            .slice(0, LONGEST_CALLS);
        this.oneBox.replaceChildren(
            make('h2', {}, `Calls of ${visible(this.profile.functionName(fn))} by length`),
            make('table', { class: 'calls' }, ...this.distribution(own)),
            make('h2', {}, 'The longest'),
            make('ol', {}, ...longest.map((i) => make('li', {}, this.callButton(i)))),
        );
    }

    // Powers of two of nanoseconds.
    distribution(own) {
        const bins = [];
        for (const i of own) {
            const bin = Math.floor(Math.log2(Math.max(1, this.profile.calls.length[i])));
            bins[bin] = (bins[bin] || 0) + 1;
        }
        const most = bins.reduce((all, n) => Math.max(all, n || 0), 0);
        const first = bins.findIndex((n) => n);
        const head = make(
            'thead',
            {},
            make(
                'tr',
                {},
                ...['From', 'Calls', 'Share'].map((text) => make('th', { scope: 'col' }, text)),
            ),
        );
        const rows = [];
        for (let bin = first; bin < bins.length; bin++)
            rows.push(
                make(
                    'tr',
                    {},
                    make('th', { scope: 'row' }, duration(bin ? 2 ** bin : 0)),
                    make('td', {}, count(bins[bin] || 0)),
                    make(
                        'td',
                        {},
                        make('meter', {
                            min: 0,
                            max: most,
                            value: bins[bin] || 0,
                            'aria-label': `${count(bins[bin] || 0)} of ${count(own.length)}`,
                        }),
                    ),
                ),
            );
        return [head, make('tbody', {}, ...rows)];
    }

    callButton(i) {
        const { calls, start } = this.profile;
        const ipc = ipcText(calls.insns[i], calls.cycles[i]);
        return make(
            'button',
            { class: 'plain', onclick: () => this.goTo(i) },
            `${duration(calls.length[i])} from ${duration(calls.time[i] - start)}${ipc ? `, IPC ${ipc}` : ''}`,
        );
    }

    goTo(i) {
        const { calls } = this.profile;
        if (this.thread !== calls.thread[i]) {
            this.thread = calls.thread[i];
            this.refresh();
        }
        const margin = Math.max(10, calls.length[i] * 0.2);
        this.setWindow(calls.time[i] - margin, calls.time[i] + calls.length[i] + margin);
        this.box.focus();
    }
}

// SPDX-License-Identifier: MIT
// Samples and switches -> density over time, a row a thread or CPU, and a heat map; ranges are chosen here.
import {
    axisText,
    count,
    duration,
    roundDuration,
    make,
    cssColor,
    fit,
    visible,
    exactButton,
} from './format.js';
import { Sheet } from './sheet.js';
import { PIECE } from './columns.js';
import { lowerBound } from './data.js';
import { joinRanges } from './state.js';

const LANE = 22;
const LANE_LABEL = 170; // pixels; less where the window is narrow
const NARROW = 600;
const NARROW_LABEL = 110;
export const MARK_LANE = 10; // below the axis, where there are marks
const MOST_ROWS = 20000;
const PRINTED_ROWS = 400;
const SCALE_ROWS = 20;
const TOLD_ROWS = 50; // as text
const PIECES_A_FRAME = 3; // of the work before the first picture

// After each piece of a long loop.
const isEnd = (i) => i % PIECE === PIECE - 1;

// Numbers -> places in a list of those that there are, and that list.
function numbered(column) {
    const places = new Map();
    const of = new Int32Array(column.length);
    for (let i = 0; i < column.length; i++) {
        let place = places.get(column[i]);
        if (place === undefined) places.set(column[i], (place = places.size));
        of[i] = place;
    }
    return [of, [...places.keys()]];
}

// Triangles that stand on `y`; what went wrong lies above the rest.
export function drawMarks(context, marks, y) {
    for (const bad of [false, true]) {
        context.fillStyle = cssColor(bad ? '--error' : '--mark');
        for (const mark of marks)
            if (mark.bad === bad) {
                context.beginPath();
                context.moveTo(mark.x, y);
                context.lineTo(mark.x - 4, y - 8);
                context.lineTo(mark.x + 4, y - 8);
                context.fill();
            }
    }
}

// How many there are of each.
export function marksText(marks) {
    const kinds = new Map();
    for (const { name } of marks) kinds.set(name, (kinds.get(name) || 0) + 1);
    return [...kinds].map(([name, n]) => `${count(n)} ${name}`).join(', ');
}

export class Timeline {
    // `hooks`: ranges(list); signal: nothing is listened to any more; exact(): reads a range, or null
    constructor(element, profile, hooks) {
        this.profile = profile;
        this.hooks = hooks;
        this.by = 'thread';
        this.window = [profile.start, profile.end];
        this.ranges = [];
        this.sheet = new Sheet(() => this.chosen && this.drawNow(), hooks.signal);
        this.canvas = this.sheet.canvas;
        this.note = make('p', { class: 'note', role: 'status' });
        this.list = make('ul', { class: 'visually-hidden', 'aria-label': 'Rows of the timeline' });
        this.box = make(
            'div',
            {
                class: 'timeline',
                tabindex: '0',
                role: 'application',
                'aria-label':
                    'Timeline: drag or Shift with arrow keys chooses a time range, plus and minus zoom, Escape clears',
            },
            this.sheet.element,
            this.list,
        );
        element.append(this.tools(), this.note, this.box);
        this.cursor = profile.start;
        this.listen();
    }

    tools() {
        const by = make(
            'select',
            {
                'aria-label': 'Rows',
                onchange: (event) => {
                    this.by = event.target.value;
                    this.draw();
                },
            },
            make('option', { value: 'thread' }, 'threads'),
            make('option', { value: 'process' }, 'processes'),
            make('option', { value: 'cpu' }, 'CPUs'),
            make('option', { value: 'heat' }, 'heat map'),
        );
        this.bySelect = by;
        const button = (text, action) => make('button', { onclick: action }, text);
        return make(
            'div',
            { class: 'tools' },
            make('label', {}, 'Rows ', by),
            button('Zoom to range', () => this.zoomToRange()),
            button('Whole', () => this.setWindow(this.profile.start, this.profile.end)),
            button('Clear ranges', () => this.setRanges([])),
            this.hooks.exact() ? exactButton(this.hooks.exact, this.note, () => this.window) : null,
        );
    }

    listen() {
        const { box } = this;
        box.addEventListener('pointerdown', (event) => {
            const at = this.timeAt(event);
            if (event.offsetX < this.label && this.by !== 'heat') return;
            box.setPointerCapture(event.pointerId);
            this.drag = { at, add: event.ctrlKey || event.metaKey, heat: this.by === 'heat' };
        });
        box.addEventListener('pointermove', (event) => {
            if (!this.drag) {
                this.tell(event);
                return;
            }
            this.drag.to = this.timeAt(event);
            this.draw();
        });
        box.addEventListener('pointerup', () => this.endDrag());
        box.addEventListener(
            'wheel',
            (event) => {
                if (!event.ctrlKey && !event.altKey && !event.shiftKey) return;
                event.preventDefault();
                const at = this.timeAt(event);
                const [a, b] = this.window;
                if (event.shiftKey) {
                    const step = (b - a) * 0.1 * Math.sign(event.deltaY || event.deltaX);
                    this.setWindow(a + step, b + step);
                    return;
                }
                const factor = event.deltaY > 0 ? 1.3 : 1 / 1.3;
                this.setWindow(at - (at - a) * factor, at + (b - at) * factor);
            },
            { passive: false },
        );
        box.addEventListener('keydown', (event) => this.key(event));
        box.addEventListener('scroll', () => this.draw());
        new ResizeObserver(() => this.draw()).observe(box);
    }

    key(event) {
        const [a, b] = this.window;
        const step = (b - a) / 50;
        const side = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
        if (side && event.shiftKey) {
            const from = this.anchor === undefined ? this.cursor : this.anchor;
            this.anchor = from;
            this.cursor = Math.min(b, Math.max(a, this.cursor + side * step));
            this.setRanges([[Math.min(from, this.cursor), Math.max(from, this.cursor)]]);
        } else if (side) {
            this.anchor = undefined;
            this.cursor = Math.min(b, Math.max(a, this.cursor + side * step));
            this.draw();
        } else if (event.key === '+' || event.key === '-') {
            const factor = event.key === '+' ? 0.5 : 2;
            this.setWindow(
                this.cursor - (this.cursor - a) * factor,
                this.cursor + (b - this.cursor) * factor,
            );
        } else if (event.key === 'Escape' && this.ranges.length) this.setRanges([]);
        else if (event.key === 'Enter') this.zoomToRange();
        else return;
        event.preventDefault();
    }

    setWindow(from, to) {
        const { start, end } = this.profile;
        const size = Math.min(end - start, Math.max(to - from, 100));
        const first = Math.min(Math.max(start, from), end - size);
        this.window = [first, first + size];
        this.draw();
    }

    zoomToRange() {
        if (this.ranges.length)
            this.setWindow(this.ranges[0][0], this.ranges[this.ranges.length - 1][1]);
    }

    setRanges(ranges) {
        this.ranges = joinRanges(ranges);
        this.hooks.ranges(this.ranges);
        this.draw();
    }

    endDrag() {
        const { drag } = this;
        this.drag = null;
        if (!drag || drag.to === undefined || drag.to === drag.at) return;
        this.cursor = drag.to;
        this.setRanges(drag.add ? [...this.ranges, [drag.at, drag.to]] : [[drag.at, drag.to]]);
    }

    timeAt(event) {
        const area = this.box.getBoundingClientRect();
        const x = event.clientX - area.left;
        if (this.by === 'heat')
            return this.heatTime(x, event.clientY - area.top + this.box.scrollTop);
        return this.toTime(Math.max(this.label, x));
    }

    toTime(x) {
        const [a, b] = this.window;
        return a + ((b - a) * (x - this.label)) / Math.max(1, this.box.clientWidth - this.label);
    }

    toX(time) {
        const [a, b] = this.window;
        return this.label + ((time - a) / Math.max(1, b - a)) * (this.box.clientWidth - this.label);
    }

    tell(event) {
        this.note.textContent = `${duration(this.timeAt(event) - this.profile.start)} from the beginning${this.rangeText()}`;
    }

    rangeText() {
        const sum = this.ranges.reduce((all, [a, b]) => all + b - a, 0);
        return this.ranges.length
            ? `; ${this.ranges.length} range${this.ranges.length > 1 ? 's' : ''}, ${duration(sum)}`
            : '';
    }

    // `weights` as the trees count; `marked`: for each stack 1 where the chosen function is in it.
    show(chosen, weights, marked) {
        this.chosen = chosen;
        this.weights = weights;
        this.markedStacks = marked;
        this.draw();
    }

    // The row of each sample, as a place in `ids`. A heat map is of one row.
    places() {
        const { profile, by } = this;
        if (!this.known) this.known = {};
        if (this.known[by]) return this.known[by];
        let of = profile.thread;
        let ids = profile.threads.map((_, i) => i);
        if (by === 'cpu') [of, ids] = numbered(profile.cpu);
        if (by === 'process') {
            const [own, pids] = numbered(profile.threads.map((thread) => thread.pid));
            of = Int32Array.from(profile.thread, (thread) => own[thread]);
            ids = pids;
        }
        if (by === 'heat') [of, ids] = [new Int8Array(profile.sampleCount), [0]];
        this.known = { [by]: { of, ids } };
        return this.known[by];
    }

    rowName(row) {
        if (this.by === 'cpu') return `CPU ${row}`;
        return this.by === 'process' ? `process ${row}` : this.profile.threadName(row);
    }

    // The chosen samples of each row in order of time, and sums of what they weigh: those of row r are
    // at starts[r] to starts[r + 1].
    index() {
        this.prepare(Infinity);
        return this.indexed;
    }

    // Works on the index for some pieces of time; whether it is done.
    prepare(pieces) {
        const { chosen, weights } = this;
        const key = `${this.by} ${chosen.key()}`;
        if (!this.indexed || this.indexed.key !== key || this.indexed.weights !== weights) {
            this.indexed = { key, weights };
            this.work = this.makeIndex(this.indexed);
        }
        for (let i = 0; this.work && i < pieces; i++) if (this.work.next().done) this.work = null;
        return !this.work;
    }

    *makeIndex(out) {
        const { profile, chosen, weights } = this;
        yield* profile.columns.pieces();
        const { of, ids } = this.places();
        const { sampleCount, time } = profile;
        const takes = (i) => chosen.takesAll || chosen.testAll(i);
        const starts = new Int32Array(ids.length + 1);
        for (let i = 0; i < sampleCount; i++) {
            if (takes(i)) starts[of[i] + 1]++;
            if (isEnd(i)) yield;
        }
        for (let row = 0; row < ids.length; row++) starts[row + 1] += starts[row];
        const list = new Int32Array(starts[ids.length]);
        const next = starts.slice();
        for (let i = 0; i < sampleCount; i++) {
            if (takes(i)) list[next[of[i]]++] = i;
            if (isEnd(i)) yield;
        }
        if (!profile.sorted)
            for (let row = 0; row < ids.length; row++)
                list.subarray(starts[row], starts[row + 1]).sort((x, y) => time[x] - time[y]);
        const times = new Float64Array(list.length);
        const sums = new Float64Array(list.length + 1); // of those before each
        for (let k = 0; k < list.length; k++) {
            times[k] = time[list[k]];
            sums[k + 1] = sums[k] + (weights ? weights[list[k]] : 1);
            if (isEnd(k)) yield;
        }
        Object.assign(out, { ids, starts, list, times, sums });
    }

    markedSums(index) {
        const { markedStacks, profile } = this;
        if (!markedStacks) return null;
        if (index.marked !== markedStacks) {
            index.marked = markedStacks;
            const { list } = index;
            const { weights } = this;
            const { stack } = profile;
            const sums = new Float64Array(list.length + 1);
            for (let k = 0; k < list.length; k++)
                sums[k + 1] =
                    sums[k] + (markedStacks[stack[list[k]]] ? (weights ? weights[list[k]] : 1) : 0);
            index.markedSums = sums;
        }
        return index.markedSums;
    }

    // Rows with what they weigh, heaviest first.
    collect() {
        const { ids, starts, times, sums } = this.index();
        const [a, b] = this.window;
        const rows = [];
        let whole = 0;
        for (let row = 0; row < ids.length; row++) {
            const from = lowerBound(times, a, starts[row], starts[row + 1]);
            const to = lowerBound(times, b + 0.5, from, starts[row + 1]);
            if (from === to) continue;
            const weight = sums[to] - sums[from];
            whole += weight;
            rows.push({ id: ids[row], weight, from, to });
        }
        rows.sort((x, y) => y.weight - x.weight || x.id - y.id);
        const most = this.sheet.printing ? PRINTED_ROWS : MOST_ROWS;
        return { rows: rows.slice(0, most), count: rows.length, whole };
    }

    // Gives rows their bins over the window; the greatest of these.
    fillBins(rows, width) {
        const index = this.index();
        const markedSums = this.markedSums(index);
        let most = 0;
        for (const row of rows) {
            row.bins = this.binsOf(row, index.times, index.sums, width);
            row.marked = markedSums && this.binsOf(row, index.times, markedSums, width);
            for (let x = 0; x < width; x++) if (row.bins[x] > most) most = row.bins[x];
        }
        return most;
    }

    // Of many samples only those are looked at between which a bin ends.
    binsOf({ from, to }, times, sums, width) {
        const [a, b] = this.window;
        const scale = width / Math.max(1, b - a);
        const bins = new Float64Array(width);
        if (to - from < 8 * width) {
            for (let k = from; k < to; k++)
                bins[Math.min(width - 1, Math.floor((times[k] - a) * scale))] +=
                    sums[k + 1] - sums[k];
            return bins;
        }
        let at = from;
        for (let x = 0; x < width; x++) {
            const end = x === width - 1 ? to : lowerBound(times, a + (x + 1) / scale, at, to);
            bins[x] = sums[end] - sums[at];
            at = end;
        }
        return bins;
    }

    draw() {
        if (this.pending || !this.chosen) return;
        this.pending = requestAnimationFrame(() => {
            this.pending = 0;
            this.drawNow();
        });
    }

    drawNow() {
        const width = this.box.clientWidth;
        this.label = width < NARROW ? NARROW_LABEL : LANE_LABEL;
        if (width <= this.label) return;
        if (!this.prepare(this.sheet.printing ? Infinity : PIECES_A_FRAME)) {
            this.note.textContent = 'Samples are being counted.';
            this.draw();
            return;
        }
        if (this.by === 'heat') {
            this.drawHeat(width);
            return;
        }
        const found = this.collect();
        const marks = this.marksInSight();
        const first = LANE + (marks.length ? MARK_LANE : 0);
        const height = first + found.rows.length * LANE;
        const { context, top, bottom } = this.sheet.prepare(this.box, width, height);
        context.font = '12px system-ui, sans-serif';
        context.textBaseline = 'middle';
        this.drawAxis(context, width);
        drawMarks(context, marks, first - 1);
        const from = Math.max(0, Math.floor((top - first) / LANE));
        const to = Math.ceil((bottom - first) / LANE);
        // The heaviest are there for the scale, which then seldom changes while one scrolls.
        const most = this.fillBins(
            found.rows.filter((_, i) => i < SCALE_ROWS || (i >= from && i < to)),
            Math.floor(width - this.label),
        );
        const places = new Map();
        found.rows.slice(from, to).forEach((row, i) => {
            const y = first + (from + i) * LANE;
            this.drawRow(context, row, y, most);
            places.set(row.id, y);
        });
        this.drawSwitches(context, places);
        this.drawRanges(context, height);
        this.tellRows(found, marks);
    }

    // A recording can have more switches than a page.
    leftOutText() {
        const { switches } = this.profile;
        return switches && switches.leftOut
            ? `; ${count(switches.leftOut)} switches are left out, of runs shorter than ${roundDuration(switches.shorterThan)}`
            : '';
    }

    tellRows({ rows, count: all, whole }, marks) {
        const left = all - rows.length;
        this.note.textContent = `${count(all)} rows${left > 0 ? `, the ${count(rows.length)} heaviest are shown` : ''}${this.rangeText()}${this.leftOutText()}${marks.length ? `; marks: ${marksText(marks)}` : ''}`;
        const texts = rows
            .slice(0, TOLD_ROWS)
            .map(
                (row) =>
                    `${visible(this.rowName(row.id))}: ${((100 * row.weight) / (whole || 1)).toFixed(2)} %`,
            );
        while (this.list.children.length > texts.length) this.list.lastChild.remove();
        texts.forEach((text, i) => {
            const item = this.list.children[i];
            if (!item) this.list.append(make('li', {}, text));
            else if (item.firstChild.data !== text) item.firstChild.data = text;
        });
    }

    marksInSight() {
        const [a, b] = this.window;
        return this.profile
            .allMarks()
            .filter((mark) => mark.time >= a && mark.time <= b)
            .map((mark) => ({ ...mark, x: this.toX(mark.time) }));
    }

    drawAxis(context, width) {
        const [a, b] = this.window;
        const apart = width < NARROW ? 80 : 110;
        const step = niceStep((b - a) / Math.max(1, Math.floor((width - this.label) / apart)));
        context.fillStyle = cssColor('--ink');
        const origin = this.profile.start;
        for (let time = origin + Math.ceil((a - origin) / step) * step; time <= b; time += step) {
            const x = this.toX(time);
            context.globalAlpha = 0.3;
            context.fillRect(x, 0, 1, LANE);
            context.globalAlpha = 1;
            axisText(context, time - origin, x + 3, LANE / 2, width);
        }
    }

    drawRow(context, row, y, most) {
        context.fillStyle = cssColor('--ink');
        context.fillText(fit(visible(this.rowName(row.id)), this.label - 8, 6.2), 4, y + LANE / 2);
        const paint = (bins, color) => {
            context.fillStyle = color;
            const heightAt = (x) =>
                bins[x] ? Math.max(2, Math.round(Math.sqrt(bins[x] / most) * (LANE - 4))) : 0;
            // Neighbours of one height are one rectangle.
            let from = 0;
            let height = heightAt(0);
            for (let x = 1; x <= bins.length; x++) {
                const next = x < bins.length ? heightAt(x) : -1;
                if (next === height) continue;
                if (height)
                    context.fillRect(this.label + from, y + LANE - 2 - height, x - from, height);
                [from, height] = [x, next];
            }
        };
        paint(row.bins, cssColor('--density'));
        if (this.markedStacks) paint(row.marked, cssColor('--mark'));
    }

    // A line below a thread's density where it runs; a thinner one where it was preempted and waits for a CPU.
    drawSwitches(context, places) {
        const { switches } = this.profile;
        if (!switches || this.by === 'process') return;
        const open = new Map();
        const [a, b] = this.window;
        const colors = [cssColor('--running'), cssColor('--waiting')];
        const bar = (row, from, to, kind) => {
            const y = places.get(row);
            if (y === undefined || to < a || from > b) return;
            context.fillStyle = colors[kind];
            const x = Math.max(this.label, this.toX(from));
            context.fillRect(x, y + LANE - 2, Math.max(0.5, this.toX(to) - x), kind ? 1 : 2);
        };
        for (let i = 0; i < switches.time.length; i++) {
            const row = this.by === 'cpu' ? switches.cpu[i] : switches.thread[i];
            const before = open.get(row);
            if (before) bar(row, before.time, switches.time[i], before.kind);
            // kind 0: switched in, 1: preempted, 2: went to sleep
            open.set(
                row,
                switches.kind[i] === 2 ? null : { time: switches.time[i], kind: switches.kind[i] },
            );
        }
        for (const [row, before] of open)
            if (before) bar(row, before.time, this.profile.end, before.kind);
    }

    drawRanges(context, height) {
        const ranges =
            this.drag && this.drag.to !== undefined
                ? [...(this.drag.add ? this.ranges : []), [this.drag.at, this.drag.to]]
                : this.ranges;
        context.fillStyle = cssColor('--range');
        for (const [p, q] of ranges) {
            const [x, y] = [this.toX(Math.min(p, q)), this.toX(Math.max(p, q))];
            context.fillRect(
                Math.max(this.label, x),
                0,
                Math.max(1, y - Math.max(this.label, x)),
                height,
            );
        }
        context.fillStyle = cssColor('--focus');
        context.fillRect(this.toX(this.cursor), 0, 1, height);
    }

    // A column a second (or a fiftieth of the window), from top to bottom within it.
    heatShape() {
        const [a, b] = this.window;
        const column = niceStep(Math.max(1, (b - a) / 60));
        return { a, column, columns: Math.max(1, Math.ceil((b - a) / column)), rows: 50 };
    }

    heatTime(x, y) {
        const { a, column, columns, rows } = this.heatShape();
        const i = Math.min(
            columns - 1,
            Math.max(0, Math.floor(x / (this.box.clientWidth / columns))),
        );
        return a + i * column + (Math.min(rows, Math.max(0, (y - LANE) / 6)) / rows) * column;
    }

    drawHeat(width) {
        const { a, column, columns, rows } = this.heatShape();
        const { times, sums } = this.index();
        const cells = new Float64Array(columns * rows);
        let at = lowerBound(times, a);
        for (let i = 0; i < cells.length; i++) {
            const end = lowerBound(times, a + ((i + 1) / rows) * column, at);
            cells[i] = sums[end] - sums[at];
            at = end;
        }
        const most = cells.reduce((m, cell) => Math.max(m, cell), 0);
        const height = rows * 6 + LANE;
        const { context } = this.sheet.prepare(this.box, width, height);
        const size = width / columns;
        context.font = '12px system-ui, sans-serif';
        for (let x = 0; x < columns; x++) {
            for (let y = 0; y < rows; y++) {
                const share = most ? Math.sqrt(cells[x * rows + y] / most) : 0;
                const from = a + x * column + (y / rows) * column;
                const inside = this.ranges.some(([p, q]) => from >= p && from < q);
                context.fillStyle = share
                    ? `hsl(${inside ? 212 : 30} 90% ${Math.round(92 - share * 60)}%)`
                    : cssColor(inside ? '--range' : '--panel');
                context.fillRect(x * size, LANE + y * 6, Math.max(0.5, size - 0.5), 5.5);
            }
        }
        context.fillStyle = cssColor('--ink');
        context.fillText(`a column is ${roundDuration(column)}, time goes down, then right`, 4, 14);
        this.note.textContent = `heat map of ${duration(this.window[1] - this.window[0])}${this.rangeText()}`;
    }
}

export function niceStep(least) {
    const base = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    return [1, 2, 5, 10].map((factor) => factor * base).find((step) => step >= least);
}

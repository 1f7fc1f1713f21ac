// SPDX-License-Identifier: MIT
// Samples and switches -> density over time, a row a thread or CPU, and a heat map; ranges are
// chosen here.
import {
    count,
    percent,
    duration,
    roundDuration,
    make,
    replaceChildren,
    cssColor,
    fit,
    visible,
    exactButton,
} from './format.js';
import { drawAxis, niceStep, NARROW } from './axis.js';
import { Sheet } from './sheet.js';
import { Picture, MANY } from './picture.js';
import { Rows } from './rows.js';
import { lowerBound } from './data.js';
import { joinRanges } from './state.js';

const LANE = 22;
const LANE_LABEL = 170; // pixels; less where the window is narrow
const NARROW_LABEL = 110;
export const MARK_LANE = 10; // below the axis, where there are marks
const MOST_ROWS = 20000;
const PRINTED_ROWS = 400;
const SCALE_ROWS = 20;
const TOLD_ROWS = 50; // as text
const HEAT_COLUMNS = 60;
const HEAT_ROWS = 50; // of each column
const HEAT_CELL = 6; // pixels

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

export class Timeline extends Picture {
    // `hooks`: ranges(list); moved(rows, window); signal: nothing is listened to any more; exact():
    // reads a range, or null
    constructor(element, profile, hooks) {
        super();
        this.profile = profile;
        this.hooks = hooks;
        this.by = 'thread';
        this.rows = new Rows(profile);
        this.width = 0; // of the picture, as it was drawn last
        this.window = [profile.start, profile.end];
        this.ranges = [];
        this.sheet = new Sheet(() => this.drawWhole(), hooks.signal);
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
                    this.work = null;
                    this.moved();
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
        this.window = this.withinRecording(from, to);
        this.moved();
    }

    withinRecording(from, to) {
        const { start, end } = this.profile;
        const size = Math.min(end - start, Math.max(to - from, 100));
        const first = Math.min(Math.max(start, from), end - size);
        return [first, first + size];
    }

    moved() {
        const { start, end } = this.profile;
        const [a, b] = this.window;
        this.hooks.moved(this.by, a === start && b === end ? null : this.window);
        this.draw();
    }

    // Shows what an address names.
    goTo(by, window) {
        const { start, end } = this.profile;
        this.by = by;
        this.bySelect.value = by;
        this.window = window ? this.withinRecording(...window) : [start, end];
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
        return a + ((b - a) * (x - this.label)) / Math.max(1, this.width - this.label);
    }

    toX(time) {
        const [a, b] = this.window;
        return this.label + ((time - a) / Math.max(1, b - a)) * (this.width - this.label);
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
        this.drawAnew();
    }

    rowName(row) {
        if (this.by === 'cpu') return `CPU ${row}`;
        return this.by === 'process' ? `process ${row}` : this.profile.threadName(row);
    }

    // Rows with what they weigh, heaviest first.
    *collect() {
        const { ids, starts, times, sums } = this.rows.index;
        const [a, b] = this.window;
        const rows = [];
        let whole = 0;
        for (let row = 0; row < ids.length; row++) {
            if (row % MANY === 0) yield;
            const from = lowerBound(times, a, starts[row], starts[row + 1]);
            const to = lowerBound(times, b + 0.5, from, starts[row + 1]);
            if (from === to) continue;
            const weight = sums[to] - sums[from];
            whole += weight;
            rows.push({ row, id: ids[row], weight, from, to });
        }
        rows.sort((x, y) => y.weight - x.weight || x.id - y.id);
        const most = this.sheet.printing ? PRINTED_ROWS : MOST_ROWS;
        return { rows: rows.slice(0, most), count: rows.length, whole };
    }

    // Gives rows their bins over the window; the greatest of these.
    *fillBins(rows, width) {
        const { times, sums, markedSums } = this.rows.index;
        let most = 0;
        for (const row of rows) {
            row.bins = this.binsOf(row, times, sums, width);
            row.marked = markedSums && this.binsOf(row, times, markedSums, width);
            for (let x = 0; x < width; x++) if (row.bins[x] > most) most = row.bins[x];
            yield;
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

    canDraw() {
        return !!this.chosen;
    }

    wanted() {
        const { by, chosen, weights, markedStacks } = this;
        return { by, chosen, weights, marked: markedStacks };
    }

    drawNow() {
        super.drawNow();
        if (this.rows.work) this.note.textContent = 'Samples are being counted.';
    }

    *paint() {
        const width = this.box.clientWidth;
        this.width = width; // to ask the box for each bar would lay out the page each time
        this.label = width < NARROW ? NARROW_LABEL : LANE_LABEL;
        if (width <= this.label) return;
        while (!this.rows.prepare(this.wanted())) yield;
        if (this.by === 'heat') yield* this.paintHeat(width);
        else yield* this.paintRows(width);
    }

    *paintRows(width) {
        const found = yield* this.collect();
        const marks = this.marksInSight();
        const first = LANE + (marks.length ? MARK_LANE : 0);
        const height = first + found.rows.length * LANE;
        const inSight = this.sheet.inSight(this.box, height);
        const from = Math.max(0, Math.floor((inSight.top - first) / LANE));
        const to = Math.ceil((inSight.bottom - first) / LANE);
        // The heaviest are there for the scale, which then seldom changes while one scrolls.
        const most = yield* this.fillBins(
            found.rows.filter((_, i) => i < SCALE_ROWS || (i >= from && i < to)),
            Math.floor(width - this.label),
        );
        const { context } = this.sheet.prepare(this.box, width, height);
        context.font = '12px system-ui, sans-serif';
        context.textBaseline = 'middle';
        drawAxis(context, {
            window: this.window,
            origin: this.profile.start,
            left: this.label,
            right: width,
            height: LANE,
        });
        drawMarks(context, marks, first - 1);
        for (let i = from; i < Math.min(to, found.rows.length); i++) {
            yield;
            const y = first + i * LANE;
            this.drawRow(context, found.rows[i], y, most);
            this.drawSwitches(context, found.rows[i].row, y);
        }
        this.drawRanges(context, height);
        yield;
        yield* this.tellRows(found, marks);
    }

    // A recording can have more switches than a page.
    leftOutText() {
        const { switches } = this.profile;
        return switches && switches.leftOut
            ? `; ${count(switches.leftOut)} switches are left out, of runs shorter than ${roundDuration(switches.shorterThan)}`
            : '';
    }

    *tellRows({ rows, count: all, whole }, marks) {
        const left = all - rows.length;
        const shown = left > 0 ? `, the ${count(rows.length)} heaviest are shown` : '';
        const marked = marks.length ? `; marks: ${marksText(marks)}` : '';
        this.note.textContent =
            `${count(all)} rows${shown}${this.rangeText()}${this.leftOutText()}${marked}`;
        const texts = rows
            .slice(0, TOLD_ROWS)
            .map(
                (row) =>
                    `${visible(this.rowName(row.id))}: ${((100 * row.weight) / (whole || 1)).toFixed(2)} %`,
            );
        while (this.list.children.length > texts.length) this.list.lastChild.remove();
        for (const [i, text] of texts.entries()) {
            const item = this.list.children[i];
            if (!item) this.list.append(make('li', {}, text));
            else if (item.firstChild.data !== text) item.firstChild.data = text;
            yield;
        }
    }

    marksInSight() {
        const [a, b] = this.window;
        return this.profile
            .allMarks()
            .filter((mark) => mark.time >= a && mark.time <= b)
            .map((mark) => ({ ...mark, x: this.toX(mark.time) }));
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
        if (row.marked) paint(row.marked, cssColor('--mark'));
    }

    // A line below a thread's density where it runs; a thinner one where it was preempted and waits
    // for a CPU. Bars that touch are one, and those between two pixels are passed over: a million
    // bars are drawn as quickly as some.
    drawSwitches(context, row, y) {
        const { bars } = this.rows;
        if (!bars) return;
        const colors = [cssColor('--running'), cssColor('--waiting')];
        const [a, b] = this.window;
        const end = bars.starts[row + 1];
        let [from, to, kind] = [0, -1, 0];
        const draw = () => {
            if (to < from) return;
            context.fillStyle = colors[kind];
            context.fillRect(from, y + LANE - 2, Math.max(0.5, to - from), kind ? 1 : 2);
        };
        let k = lowerBound(bars.to, a, bars.starts[row], end);
        while (k < end && bars.from[k] <= b) {
            const x = Math.max(this.label, this.toX(bars.from[k]));
            const right = Math.min(this.width, this.toX(bars.to[k]));
            if (bars.kind[k] !== kind || x > to + 1) {
                draw();
                [from, kind] = [x, bars.kind[k]];
            }
            to = Math.max(x, right);
            k = right - x < 1 ? lowerBound(bars.to, this.toTime(x + 0.5), k + 1, end) : k + 1;
        }
        draw();
    }

    // With the one that is being drawn.
    shownRanges() {
        const { drag, ranges } = this;
        if (!drag || drag.to === undefined) return ranges;
        return joinRanges([...(drag.add ? ranges : []), [drag.at, drag.to]]);
    }

    drawRanges(context, height) {
        context.fillStyle = cssColor('--range');
        for (const [p, q] of this.shownRanges()) {
            const [x, y] = [this.toX(p), this.toX(q)];
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

    // How much of what is in sight is of the marked function, and in which cells that lies.
    markedText(sums, markedSums) {
        if (!markedSums) return '';
        const { times } = this.rows.index;
        const from = lowerBound(times, this.window[0]);
        const to = lowerBound(times, this.window[1] + 0.5, from);
        const share = percent(markedSums[to] - markedSums[from], sums[to] - sums[from]);
        return `; marked: ${share}, a bar in each cell as wide as its share of it`;
    }

    // Columns of a round time, as many as are well seen, each from top to bottom within it.
    heatShape() {
        const [a, b] = this.window;
        const column = niceStep(Math.max(1, (b - a) / HEAT_COLUMNS));
        return { a, column, columns: Math.max(1, Math.ceil((b - a) / column)) };
    }

    heatTime(x, y) {
        const { a, column, columns } = this.heatShape();
        const at = Math.floor(x / (this.box.clientWidth / columns));
        const i = Math.min(columns - 1, Math.max(0, at));
        const row = Math.min(HEAT_ROWS, Math.max(0, (y - LANE) / HEAT_CELL));
        return a + (i + row / HEAT_ROWS) * column;
    }

    // What each cell weighs by `sums`, column by column.
    *heatCells(sums) {
        const { a, column, columns } = this.heatShape();
        const { times } = this.rows.index;
        const cells = new Float64Array(columns * HEAT_ROWS);
        let at = lowerBound(times, a);
        for (let i = 0; i < cells.length; i++) {
            const end = lowerBound(times, a + ((i + 1) / HEAT_ROWS) * column, at);
            cells[i] = sums[end] - sums[at];
            at = end;
            if (i % MANY === 0) yield;
        }
        return cells;
    }

    *paintHeat(width) {
        const { a, column, columns } = this.heatShape();
        const { sums, markedSums } = this.rows.index;
        const cells = yield* this.heatCells(sums);
        const marked = markedSums && (yield* this.heatCells(markedSums));
        const most = cells.reduce((m, cell) => Math.max(m, cell), 0);
        const { context } = this.sheet.prepare(this.box, width, HEAT_ROWS * HEAT_CELL + LANE);
        const size = width / columns;
        context.font = '12px system-ui, sans-serif';
        context.textBaseline = 'middle';
        drawAxis(context, {
            window: [a, a + columns * column],
            origin: this.profile.start,
            left: 0,
            right: width,
            height: LANE,
        });
        const [least, greatest] = ['--heat-least', '--heat-most'].map((name) =>
            parseFloat(cssColor(name)),
        );
        const ranges = this.shownRanges();
        for (let i = 0; i < cells.length; i++) {
            if (i % MANY === 0) yield;
            const from = a + (i / HEAT_ROWS) * column;
            const inside = ranges.some(([p, q]) => from >= p && from < q);
            const light = least + (greatest - least) * Math.sqrt(cells[i] / most);
            context.fillStyle = cells[i]
                ? `hsl(${inside ? 212 : 30} 90% ${Math.round(light)}%)`
                : cssColor(inside ? '--range' : '--panel');
            const [x, y] = [Math.floor(i / HEAT_ROWS), i % HEAT_ROWS];
            context.fillRect(
                x * size,
                LANE + y * HEAT_CELL,
                Math.max(0.5, size - 0.5),
                HEAT_CELL - 0.5,
            );
            if (!marked || !marked[i]) continue;
            // As wide as its share of the cell.
            context.fillStyle = cssColor('--mark');
            context.fillRect(
                x * size,
                LANE + y * HEAT_CELL + 1,
                Math.max(1, (size - 0.5) * (marked[i] / cells[i])),
                HEAT_CELL - 2.5,
            );
        }
        this.drawHeatCursor(context, size);
        this.note.textContent = `heat map of ${duration(this.window[1] - this.window[0])}: a column is ${roundDuration(column)}, time goes down, then right; the strongest cell weighs ${count(most)}${this.rangeText()}${this.markedText(sums, markedSums)}`;
        replaceChildren(this.list);
    }

    drawHeatCursor(context, size) {
        const { a, column, columns } = this.heatShape();
        const place = (this.cursor - a) / column;
        if (place < 0 || place > columns) return;
        const x = Math.min(columns - 1, Math.floor(place));
        const y = Math.min(HEAT_ROWS - 1, Math.floor((place - x) * HEAT_ROWS));
        context.strokeStyle = cssColor('--focus');
        context.lineWidth = 2;
        context.strokeRect(x * size, LANE + y * HEAT_CELL, size, HEAT_CELL);
    }
}

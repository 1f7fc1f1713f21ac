// SPDX-License-Identifier: MIT
// Samples and switches -> density over time, a row a thread or CPU, and a heat map; ranges are chosen here.
import {
    count,
    duration,
    make,
    replaceChildren,
    prepareCanvas,
    cssColor,
    fit,
    visible,
} from './format.js';
import { lowerBound } from './data.js';
import { joinRanges } from './state.js';

const LANE = 22;
const LANE_LABEL = 170;
const MOST_ROWS = 400;

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
    for (const { text } of marks) kinds.set(text, (kinds.get(text) || 0) + 1);
    return [...kinds].map(([text, n]) => `${count(n)} ${text}`).join(', ');
}

export class Timeline {
    // `hooks`: ranges(list), pick(row)
    constructor(element, profile, hooks) {
        this.profile = profile;
        this.hooks = hooks;
        this.by = 'thread';
        this.window = [profile.start, profile.end];
        this.ranges = [];
        this.canvas = make('canvas', { 'aria-hidden': 'true' });
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
            this.canvas,
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
        );
    }

    listen() {
        const { box } = this;
        box.addEventListener('pointerdown', (event) => {
            const at = this.timeAt(event);
            if (event.offsetX < LANE_LABEL && this.by !== 'heat') return;
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
        return this.toTime(Math.max(LANE_LABEL, x));
    }

    toTime(x) {
        const [a, b] = this.window;
        return a + ((b - a) * (x - LANE_LABEL)) / Math.max(1, this.box.clientWidth - LANE_LABEL);
    }

    toX(time) {
        const [a, b] = this.window;
        return LANE_LABEL + ((time - a) / Math.max(1, b - a)) * (this.box.clientWidth - LANE_LABEL);
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

    rowOf(sample) {
        if (this.by === 'cpu') return this.profile.cpu[sample];
        return this.by === 'process'
            ? this.processes[this.profile.thread[sample]]
            : this.profile.thread[sample];
    }

    rowName(row) {
        if (this.by === 'cpu') return `CPU ${row}`;
        return this.by === 'process' ? `process ${row}` : this.profile.threadName(row);
    }

    // Rows with what they weigh, heaviest first, and bins over the window for each.
    collect(width) {
        const { profile } = this;
        if (this.by === 'process' && !this.processes)
            this.processes = profile.threads.map((thread) => thread.pid);
        const [a, b] = this.window;
        const scale = width / Math.max(1, b - a);
        const rows = new Map();
        const [from, to] = profile.sorted
            ? [lowerBound(profile.time, a), lowerBound(profile.time, b + 1)]
            : [0, profile.sampleCount];
        for (let i = from; i < to; i++) {
            if (profile.time[i] < a || profile.time[i] > b || !this.chosen.testAll(i)) continue;
            const id = this.rowOf(i);
            let row = rows.get(id);
            if (!row)
                rows.set(
                    id,
                    (row = {
                        id,
                        weight: 0,
                        bins: new Float64Array(width),
                        marked: new Float64Array(width),
                        most: 0,
                    }),
                );
            const bin = Math.min(width - 1, Math.floor((profile.time[i] - a) * scale));
            const weight = this.weights ? this.weights[i] : 1;
            row.weight += weight;
            row.bins[bin] += weight;
            if (this.markedStacks && this.markedStacks[profile.stack[i]]) row.marked[bin] += weight;
        }
        return [...rows.values()].sort((x, y) => y.weight - x.weight || x.id - y.id);
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
        if (width <= LANE_LABEL) return;
        if (this.by === 'heat') {
            this.drawHeat(width);
            return;
        }
        const rows = this.collect(Math.floor(width - LANE_LABEL));
        const shown = rows.slice(0, MOST_ROWS);
        const height = (shown.length + 1) * LANE;
        this.canvas.style.height = `${height}px`;
        const context = prepareCanvas(this.canvas, width, height);
        context.font = '12px system-ui, sans-serif';
        context.textBaseline = 'middle';
        this.drawAxis(context, width);
        const marks = this.marksInSight();
        drawMarks(context, marks, LANE - 1);
        const most = shown.reduce(
            (all, row) => row.bins.reduce((m, bin) => (bin > m ? bin : m), all),
            0,
        );
        shown.forEach((row, i) => this.drawRow(context, row, (i + 1) * LANE, most));
        this.drawSwitches(context, shown);
        this.drawRanges(context, height);
        const left = rows.length - shown.length;
        this.note.textContent = `${count(rows.length)} rows${left > 0 ? `, the ${MOST_ROWS} heaviest are shown` : ''}${this.rangeText()}${marks.length ? `; marks: ${marksText(marks)}` : ''}`;
        const whole = rows.reduce((sum, row) => sum + row.weight, 0);
        replaceChildren(
            this.list,
            ...shown
                .slice(0, 50)
                .map((row) =>
                    make(
                        'li',
                        {},
                        `${visible(this.rowName(row.id))}: ${((100 * row.weight) / (whole || 1)).toFixed(2)} %`,
                    ),
                ),
        );
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
        const step = niceStep((b - a) / Math.max(1, Math.floor((width - LANE_LABEL) / 110)));
        context.fillStyle = cssColor('--ink');
        const origin = this.profile.start;
        for (let time = origin + Math.ceil((a - origin) / step) * step; time <= b; time += step) {
            const x = this.toX(time);
            context.globalAlpha = 0.3;
            context.fillRect(x, 0, 1, LANE);
            context.globalAlpha = 1;
            context.fillText(duration(time - origin), x + 3, LANE / 2);
        }
    }

    drawRow(context, row, y, most) {
        context.fillStyle = cssColor('--ink');
        context.fillText(fit(visible(this.rowName(row.id)), LANE_LABEL - 8, 6.2), 4, y + LANE / 2);
        const paint = (bins, color) => {
            context.fillStyle = color;
            for (let x = 0; x < bins.length; x++) {
                if (!bins[x]) continue;
                const height = Math.max(2, Math.round(Math.sqrt(bins[x] / most) * (LANE - 4)));
                context.fillRect(LANE_LABEL + x, y + LANE - 2 - height, 1, height);
            }
        };
        paint(row.bins, cssColor('--density'));
        if (this.markedStacks) paint(row.marked, cssColor('--mark'));
    }

    // A line below a thread's density where it runs; a thinner one where it was preempted and waits for a CPU.
    drawSwitches(context, rows) {
        const { switches } = this.profile;
        if (!switches || this.by === 'process') return;
        const places = new Map(rows.map((row, i) => [row.id, (i + 1) * LANE]));
        const open = new Map();
        const [a, b] = this.window;
        const colors = [cssColor('--running'), cssColor('--waiting')];
        const bar = (row, from, to, kind) => {
            const y = places.get(row);
            if (y === undefined || to < a || from > b) return;
            context.fillStyle = colors[kind];
            const x = Math.max(LANE_LABEL, this.toX(from));
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
                Math.max(LANE_LABEL, x),
                0,
                Math.max(1, y - Math.max(LANE_LABEL, x)),
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
        const { profile } = this;
        const { a, column, columns, rows } = this.heatShape();
        const cells = new Float64Array(columns * rows);
        for (let i = 0; i < profile.sampleCount; i++) {
            const at = (profile.time[i] - a) / column;
            const x = Math.floor(at);
            if (x < 0 || x >= columns || !this.chosen.testAll(i)) continue;
            cells[x * rows + Math.min(rows - 1, Math.floor((at - x) * rows))] += this.weights
                ? this.weights[i]
                : 1;
        }
        const most = cells.reduce((m, cell) => Math.max(m, cell), 0);
        const height = rows * 6 + LANE;
        this.canvas.style.height = `${height}px`;
        const context = prepareCanvas(this.canvas, width, height);
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
        context.fillText(`a column is ${duration(column)}, time goes down, then right`, 4, 14);
        this.note.textContent = `heat map of ${duration(this.window[1] - this.window[0])}${this.rangeText()}`;
    }
}

export function niceStep(least) {
    const base = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    return [1, 2, 5, 10].map((factor) => factor * base).find((step) => step >= least);
}

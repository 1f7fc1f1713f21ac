// SPDX-License-Identifier: MIT
// Samples of one thread in order of time -> boxes of the frames that neighbours share, deeper ones
// below.
import { KEY_GROUP } from './tree.js';
import {
    count,
    duration,
    make,
    replaceChildren,
    cssColor,
    fit,
    offerThreads,
    chooseThread,
    exactButton,
    visible,
} from './format.js';
import { Sheet } from './sheet.js';
import { Picture, MANY } from './picture.js';
import { drawAxis } from './axis.js';

export const CALL_HEIGHT = 17;
const TOLD_BOXES = 50;
const TOLD_AFTER = 150; // ms without another drawing

// Samples of one thread: frames that neighbours share are one box, which ends where the last of
// them is.
function boxesOfSamples(profile, tree, chosen, thread) {
    const levels = [];
    let open = [];
    let last = 0;
    const close = (from, end) => {
        for (let depth = open.length - 1; depth >= from; depth--)
            levels[depth].end[open[depth].at] = end;
        open = open.slice(0, from);
    };
    const { time, thread: threads, sampleCount } = profile;
    for (let i = 0; i < sampleCount; i++) {
        if (threads[i] !== thread) continue;
        const node = tree.sampleNode[i];
        if (node < 0 || !chosen.testAll(i)) continue;
        const path = [];
        for (let at = node; at > 0; at = tree.parentOf(at)) path.push(tree.keyOf(at));
        path.reverse();
        let same = 0;
        while (same < path.length && same < open.length && open[same].key === path[same]) same++;
        close(same, time[i]);
        for (let depth = same; depth < path.length; depth++) {
            const level = levels[depth] || (levels[depth] = { start: [], end: [], key: [] });
            level.start.push(time[i]);
            level.end.push(time[i]);
            level.key.push(path[depth]);
            open.push({ key: path[depth], at: level.start.length - 1 });
        }
        last = time[i];
    }
    close(0, last);
    return levels;
}

export class Chart extends Picture {
    // `hooks`: pick(function), moved(thread, window)
    constructor(element, profile, hooks) {
        super();
        this.profile = profile;
        this.hooks = hooks;
        this.window = [profile.start, profile.end];
        this.threadSelect = make('select', {
            'aria-label': 'Thread',
            onchange: () => {
                this.thread = Number(this.threadSelect.value);
                this.refresh();
                this.setWindow(...this.window);
            },
        });
        this.note = make('p', { class: 'note' }, this.noteText());
        this.sheet = new Sheet(() => this.drawWhole(), hooks.signal);
        this.tip = make('div', { class: 'tip', hidden: true });
        this.said = make('p', { class: 'visually-hidden', role: 'status' });
        this.selected = null; // the box that keys have come to
        this.reader = make('ol', { class: 'visually-hidden', 'aria-label': 'The longest in sight' });
        this.box = make(
            'div',
            {
                class: 'flame chart',
                tabindex: '0',
                role: 'application',
                'aria-label': `${this.label()}: left and right arrows move, plus and minus zoom, up and down choose a box, with Shift left and right its neighbours, Enter goes to it`,
            },
            this.sheet.element,
            this.reader,
            this.said,
            this.tip,
        );
        const whole = make(
            'button',
            { onclick: () => this.setWindow(profile.start, profile.end) },
            'Whole',
        );
        element.append(
            make(
                'div',
                { class: 'tools' },
                make('label', {}, 'Thread ', this.threadSelect),
                whole,
                hooks.exact && hooks.exact()
                    ? exactButton(hooks.exact, this.note, () => this.window)
                    : null,
            ),
            this.note,
            this.box,
        );
        this.fillThreads();
        this.listen();
    }

    label() {
        return 'Samples in order of time';
    }

    noteText() {
        return 'Frames that neighbouring samples share are one box; what happened between is not known.';
    }

    busyThreads() {
        return this.profile.busyThreads();
    }

    threadText(thread, samples) {
        return `${visible(this.profile.threadName(thread))}: ${count(samples)} samples`;
    }

    makeBoxes() {
        return boxesOfSamples(this.profile, this.tree, this.chosen, this.thread);
    }

    fillThreads() {
        const { counts, order } = this.busyThreads();
        this.thread = order.length ? order[0] : 0;
        const text = (i) => this.threadText(i, counts[i]);
        offerThreads(this.threadSelect, () => order, text);
    }

    listen() {
        const { box } = this;
        box.addEventListener(
            'wheel',
            (event) => {
                if (!event.ctrlKey && !event.altKey && !event.shiftKey) return;
                event.preventDefault();
                const [a, b] = this.window;
                if (event.shiftKey) {
                    const step = (b - a) * 0.1 * Math.sign(event.deltaY || event.deltaX);
                    this.setWindow(a + step, b + step);
                    return;
                }
                const at = a + ((b - a) * event.offsetX) / box.clientWidth;
                const factor = event.deltaY > 0 ? 1.3 : 1 / 1.3;
                this.setWindow(at - (at - a) * factor, at + (b - at) * factor);
            },
            { passive: false },
        );
        box.addEventListener('pointerdown', (event) => {
            this.drag = { x: event.clientX, window: this.window.slice() };
        });
        box.addEventListener('pointermove', (event) => this.move(event));
        for (const end of ['pointerup', 'pointerleave', 'pointercancel'])
            box.addEventListener(end, () => {
                this.drag = null;
            });
        box.addEventListener('dblclick', (event) => {
            const found = this.at(event);
            if (found) this.goToBox(found);
        });
        box.addEventListener('click', (event) => {
            const found = this.at(event);
            if (found) this.pickBox(found);
        });
        box.addEventListener('keydown', (event) => {
            const [a, b] = this.window;
            const step = (b - a) * 0.1;
            if (this.selectBy(event)) this.draw();
            else if (event.key === 'ArrowLeft') this.setWindow(a - step, b - step);
            else if (event.key === 'ArrowRight') this.setWindow(a + step, b + step);
            else if (event.key === '+') this.setWindow(a + (b - a) / 4, b - (b - a) / 4);
            else if (event.key === '-') this.setWindow(a - (b - a) / 2, b + (b - a) / 2);
            else return;
            event.preventDefault();
        });
        box.addEventListener('scroll', () => this.draw());
        new ResizeObserver(() => this.draw()).observe(box);
    }

    // ---- one box, by keys ----

    boxOf(depth, i) {
        const level = this.levels[depth];
        if (!level || i < 0 || i >= level.start.length) return null;
        const [start, end, key] = [level.start[i], level.end[i], level.key[i]];
        return { depth, i, start, end, key, call: level.call && level.call[i] };
    }

    // The box of a level that has most of a time.
    widest(depth, from, to) {
        const level = this.levels[depth];
        if (!level) return null;
        let [best, most] = [-1, -1];
        for (let i = firstEndingAfter(level.end, from); i < level.start.length; i++) {
            if (level.start[i] > to) break;
            const size = Math.min(to, level.end[i]) - Math.max(from, level.start[i]);
            if (size > most) [best, most] = [i, size];
        }
        return this.boxOf(depth, best);
    }

    neighbourBy(event) {
        const [a, b] = this.window;
        const one = this.selected;
        const side = event.shiftKey ? { ArrowLeft: -1, ArrowRight: 1 }[event.key] : 0;
        const deeper = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (!side && !deeper) return undefined;
        if (!one) return this.widest(0, a, b);
        if (side) return this.boxOf(one.depth, one.i + side);
        if (one.end < a || one.start > b)
            return this.widest(one.depth + deeper, one.start, one.end);
        return this.widest(one.depth + deeper, Math.max(a, one.start), Math.min(b, one.end));
    }

    // Whether the key was one for boxes.
    selectBy(event) {
        if (event.key === 'Enter' && this.selected) {
            this.goToBox(this.selected);
            this.pickBox(this.selected);
            return true;
        }
        const found = this.neighbourBy(event);
        if (found === undefined) return false;
        if (!found) return true; // there is none: all stays
        this.selected = found;
        const [a, b] = this.window;
        const middle = (found.start + found.end) / 2;
        if (found.end < a || found.start > b)
            this.setWindow(middle - (b - a) / 2, middle + (b - a) / 2);
        this.said.textContent = `level ${found.depth + 1}: ${this.describe(found)}`;
        const y = this.topHeight() + found.depth * CALL_HEIGHT;
        const { scrollTop, clientHeight } = this.box;
        if (y < scrollTop || y + CALL_HEIGHT > scrollTop + clientHeight)
            this.box.scrollTop = y - clientHeight / 2;
        return true;
    }

    goToBox({ start, end }) {
        this.setWindow(start - (end - start) * 0.05, end + (end - start) * 0.05);
    }

    pickBox({ key }) {
        if (key >= 0 && key < KEY_GROUP) this.hooks.pick(this.tree.functionOf(key));
    }

    // Its frame, and what it is, as the mouse would show it.
    drawSelected(context, width) {
        const [a, b] = this.window;
        const one = this.selected;
        const there = one && one.end >= a && one.start <= b;
        if (there) {
            const [x, right] = [one.start, one.end].map((time) =>
                Math.min(width - 1, Math.max(1, ((time - a) * width) / (b - a))),
            );
            const y = this.topHeight() + one.depth * CALL_HEIGHT;
            context.strokeStyle = cssColor('--focus');
            context.lineWidth = 2;
            context.strokeRect(x, y, Math.max(1, right - x), CALL_HEIGHT - 1);
            this.showTip(this.describe(one), x, y + CALL_HEIGHT);
        } else if (one) this.tip.hidden = true;
    }

    showTip(text, x, y) {
        this.tip.hidden = false;
        this.tip.textContent = text;
        const most = Math.max(0, this.box.clientWidth - this.tip.offsetWidth - 4);
        this.tip.style.transform = `translate(${Math.min(x + 12, most)}px, ${y + 16}px)`;
    }

    move(event) {
        if (this.drag && Math.abs(event.clientX - this.drag.x) > 3) {
            const [a, b] = this.drag.window;
            const step = ((event.clientX - this.drag.x) / this.box.clientWidth) * (b - a);
            this.setWindow(a - step, b - step);
            return;
        }
        const text = this.tipText(event, this.at(event));
        this.tip.hidden = !text;
        if (!text) return;
        const area = this.box.getBoundingClientRect();
        this.showTip(
            text,
            event.clientX - area.left,
            event.clientY - area.top + this.box.scrollTop,
        );
    }

    name(key) {
        return visible(this.tree.name(key));
    }

    tipText(event, found) {
        return found ? this.describe(found) : '';
    }

    describe(found) {
        const { start } = this.profile;
        return `${this.name(found.key)}: ${duration(found.end - found.start)} from ${duration(found.start - start)}`;
    }

    withinRecording(from, to) {
        const { start, end } = this.profile;
        const size = Math.min(Math.max(1, end - start), Math.max(to - from, 20));
        const first = Math.min(Math.max(start, from), Math.max(start, end - size));
        return [first, first + size];
    }

    setWindow(from, to) {
        this.window = this.withinRecording(from, to);
        this.hooks.moved(this.thread, this.window);
        this.draw();
    }

    // Goes to a thread and times that an address names, once.
    placeAt(place) {
        if (place && !this.placed && this.busyThreads().counts[place.thread]) {
            this.thread = place.thread;
            this.window = this.withinRecording(place.from, place.to);
        }
        this.placed = true;
    }

    show(tree, colors, chosen) {
        this.texts = new Map();
        this.tree = tree;
        this.colors = colors;
        this.chosen = chosen;
        this.refresh();
    }

    refresh() {
        if (!this.tree) return;
        chooseThread(this.threadSelect, this.thread);
        this.levels = this.makeBoxes();
        this.selected = null;
        this.drawAnew();
    }

    canDraw() {
        return !!this.levels;
    }

    *paint() {
        const width = this.box.clientWidth;
        if (!width) return;
        const height = Math.max(120, this.topHeight() + this.levels.length * CALL_HEIGHT + 4);
        const { context, top, bottom } = this.sheet.prepare(this.box, width, height);
        context.font = '11px ui-monospace, "DejaVu Sans Mono", monospace';
        context.textBaseline = 'middle';
        const [a, b] = this.window;
        const scale = width / (b - a);
        this.drawHead(context, width);
        const boxes = [];
        for (const [depth, level] of this.levels.entries()) {
            yield;
            const y = this.topHeight() + depth * CALL_HEIGHT;
            if (y < bottom && y + CALL_HEIGHT > top)
                yield* this.drawLevel(context, level, y, { a, b, scale, width, depth, boxes });
        }
        this.boxes = boxes;
        this.drawSelected(context, width);
        clearTimeout(this.telling);
        this.telling = setTimeout(() => this.tell(), TOLD_AFTER);
    }

    // What the picture says, for screen readers: its longest boxes, in order of time and from
    // callers to callees.
    tell() {
        const size = (box) => box.end - box.start;
        const longest = this.boxes.slice().sort((x, y) => size(y) - size(x));
        const told = longest
            .slice(0, TOLD_BOXES)
            .sort((x, y) => x.start - y.start || x.depth - y.depth);
        replaceChildren(
            this.reader,
            ...told.map((box) => make('li', {}, `level ${box.depth + 1}: ${this.describe(box)}`)),
        );
    }

    // Of what stands above the boxes.
    topHeight() {
        return CALL_HEIGHT;
    }

    drawHead(context, width) {
        drawAxis(context, {
            window: this.window,
            origin: this.profile.start,
            left: 0,
            right: width,
            height: CALL_HEIGHT - 3,
        });
    }

    // Boxes narrower than half a pixel are passed over at once by a search for the next pixel;
    // texts come behind all boxes, so that the colour seldom changes.
    *drawLevel(context, level, y, { a, b, scale, width, depth, boxes }) {
        const texts = [];
        let i = firstEndingAfter(level.end, a);
        while (i < level.start.length && level.start[i] <= b) {
            const x = Math.max(0, (level.start[i] - a) * scale);
            const right = Math.min(width, (level.end[i] - a) * scale);
            const size = Math.max(0.5, right - x);
            context.fillStyle =
                size < 1 ? cssColor('--small') : this.colors.ofKey(this.tree, level.key[i], -1);
            context.fillRect(x, y, Math.max(0.5, size - (size > 2 ? 0.5 : 0)), CALL_HEIGHT - 1);
            if (size > 18) texts.push([fit(this.textOf(level.key[i]), size - 4, 6.1), x + 3]);
            if (boxes.length % MANY === 0) yield;
            boxes.push({
                x,
                right: x + size,
                y,
                depth,
                start: level.start[i],
                end: level.end[i],
                key: level.key[i],
                call: level.call && level.call[i],
            });
            const next = firstEndingAfter(level.end, a + (Math.max(right, x) + 0.5) / scale, i + 1);
            i = size >= 1 ? i + 1 : Math.max(i + 1, next);
        }
        context.fillStyle = '#111';
        for (const [text, x] of texts) context.fillText(text, x, y + CALL_HEIGHT / 2);
    }

    textOf(key) {
        let text = this.texts.get(key);
        if (text === undefined) this.texts.set(key, (text = this.name(key)));
        return text;
    }

    at(event) {
        if (!this.boxes) return null;
        const [x, y] = this.sheet.place(event);
        return (
            this.boxes.find(
                (box) => x >= box.x && x <= box.right && y >= box.y && y < box.y + CALL_HEIGHT,
            ) || null
        );
    }
}

function firstEndingAfter(ends, time, from = 0) {
    let low = from;
    let high = ends.length;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (ends[middle] < time) low = middle + 1;
        else high = middle;
    }
    return low;
}

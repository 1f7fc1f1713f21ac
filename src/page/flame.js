// SPDX-License-Identifier: MIT
// A tree of stacks -> flame graph, icicle or callers on a canvas, with zoom, keys and a tree for
// screen readers.
import { KEY_GROUP } from './tree.js';
import {
    percent,
    count,
    make,
    replaceChildren,
    cssColor,
    fit,
    visible,
} from './format.js';
import { Sheet } from './sheet.js';
import { Picture, MANY } from './picture.js';

const FRAME_HEIGHT = 18;
const FRAME_FONT = 12;
const CHARACTER = 6.6;
const SMALLEST = 0.4; // pixels; narrower frames are drawn as one grey piece

export class Flame extends Picture {
    // `hooks`: select(node), zoom(node), menu(node, x, y), describe(node) -> text
    constructor(element, hooks, options = {}) {
        super();
        this.hooks = hooks;
        this.label = options.label || 'Flame graph';
        this.sheet = new Sheet(() => this.drawWhole(), hooks.signal);
        this.tip = make('div', { class: 'tip', hidden: true });
        this.reader = make('div', {
            class: 'visually-hidden',
            role: 'tree',
            'aria-label': this.label,
        });
        this.box = make(
            'div',
            {
                class: 'flame',
                tabindex: '0',
                role: 'application',
                'aria-label': `${this.label}: arrow keys move, Enter zooms, Backspace goes back`,
            },
            this.sheet.element,
            this.reader,
            this.tip,
        );
        element.append(this.box);
        this.zoomed = 0;
        this.selected = 0;
        this.boxes = [];
        this.marks = null;
        this.listen();
    }

    listen() {
        const { box } = this;
        box.addEventListener('mousemove', (event) => this.hover(event));
        box.addEventListener('mouseleave', () => {
            this.tip.hidden = true;
            this.hot = -1;
            this.draw();
        });
        box.addEventListener('click', (event) => this.click(event));
        box.addEventListener('contextmenu', (event) => {
            const node = this.at(event);
            if (node < 0) return;
            event.preventDefault();
            this.select(node);
            this.hooks.menu(node, event.clientX, event.clientY);
        });
        box.addEventListener('keydown', (event) => this.key(event));
        box.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
        box.addEventListener('pointerdown', (event) => {
            this.drag = { x: event.clientX, view: this.view.slice() };
        });
        box.addEventListener('pointermove', (event) => this.pan(event));
        for (const end of ['pointerup', 'pointercancel', 'pointerleave'])
            box.addEventListener(end, () => {
                this.drag = null;
            });
        box.addEventListener('scroll', () => this.draw());
        new ResizeObserver(() => this.draw()).observe(box);
    }

    // `view` is the part of the zoomed frame that is seen, 0 to 1.
    show(tree, colors, options) {
        const same = this.tree === tree;
        const turned = this.options && this.options.upward !== options.upward;
        if (!same) this.texts = new Map();
        this.tree = tree;
        this.colors = colors;
        this.options = options;
        if (!same) {
            this.zoomed = 0;
            this.selected = 0;
            this.view = [0, 1];
        }
        this.wholeNew = tree.totalOf(0);
        this.wholeOld = tree.oldOf(0);
        this.drawAnew();
        this.read();
        // Where stacks grow upward, their roots lie at the lower end.
        if (!same || turned) this.reveal();
    }

    // Width of a node: its share; of two recordings the mean of both shares.
    share(node) {
        const share = this.wholeNew ? this.tree.totalOf(node) / this.wholeNew : 0;
        if (!this.options.diff) return share;
        return (share + (this.wholeOld ? this.tree.oldOf(node) / this.wholeOld : 0)) / 2;
    }

    change(node) {
        const now = this.wholeNew ? this.tree.totalOf(node) / this.wholeNew : 0;
        const old = this.wholeOld ? this.tree.oldOf(node) / this.wholeOld : 0;
        return (this.options.reversed ? -1 : 1) * (now - old);
    }

    path(node) {
        const path = [];
        for (let at = node; at > 0; at = this.tree.parentOf(at)) path.unshift(at);
        return [0, ...path];
    }

    canDraw() {
        return !!this.tree;
    }

    *paint() {
        const width = this.box.clientWidth;
        if (!width) return;
        const boxes = yield* this.collect(width);
        const rows = boxes.reduce((most, one) => Math.max(most, one.row), 0) + 1;
        this.height = Math.max(rows * FRAME_HEIGHT + 2, 120);
        const { context, top, bottom } = this.sheet.prepare(this.box, width, this.height);
        context.font = `${FRAME_FONT}px ui-monospace, "DejaVu Sans Mono", monospace`;
        context.textBaseline = 'middle';
        this.boxes = boxes;
        const seen = boxes.filter(({ row }) => {
            const y = this.top(row);
            return y < bottom && y + FRAME_HEIGHT > top;
        });
        for (const [i, one] of seen.entries()) {
            this.drawBox(context, one, width);
            if (i % MANY === 0) yield;
        }
        // All texts behind all boxes: to change the colour for each takes longer than to draw it.
        context.globalAlpha = 1;
        context.fillStyle = '#111';
        for (const [i, one] of seen.entries()) {
            this.drawText(context, one, width);
            if (i % MANY === 0) yield;
        }
        this.outline(context, boxes);
        if (this.revealing) this.scrollToSelected();
    }

    top(row) {
        return this.options.upward
            ? this.height - (row + 1) * FRAME_HEIGHT - 1
            : row * FRAME_HEIGHT + 1;
    }

    // Boxes of all frames wider than SMALLEST, level by level, without recursion.
    *collect(width) {
        const boxes = [];
        const path = this.path(this.zoomed);
        path.slice(0, -1).forEach((node, row) =>
            boxes.push({ node, row, x: 0, width, above: true, group: path[1] }),
        );
        const scale = width / (this.view[1] - this.view[0]);
        const whole = this.share(this.zoomed) || 1;
        const todo = [
            {
                node: this.zoomed,
                row: path.length - 1,
                x: -this.view[0] * scale,
                width: scale,
                group: path[1],
            },
        ];
        while (todo.length) {
            const one = todo.pop();
            if (one.x + one.width < 0 || one.x > width) continue;
            boxes.push(one);
            if (boxes.length % MANY === 0) yield;
            let x = one.x;
            let small = 0;
            for (const child of this.tree.childrenOf(one.node)) {
                const childWidth = (this.share(child) / whole) * scale;
                if (childWidth <= 0) continue;
                if (childWidth < SMALLEST) {
                    small += childWidth;
                    x += childWidth;
                    continue;
                }
                todo.push({
                    node: child,
                    row: one.row + 1,
                    x,
                    width: childWidth,
                    group: one.group === undefined || one.node === 0 ? child : one.group,
                });
                x += childWidth;
            }
            if (small >= 1)
                boxes.push({ node: -1, row: one.row + 1, x: x - small, width: small });
        }
        return boxes;
    }

    drawBox(context, one, width) {
        const y = this.top(one.row);
        const left = Math.max(0, one.x);
        const right = Math.min(width, one.x + one.width);
        if (one.node < 0) {
            context.globalAlpha = 1;
            context.fillStyle = cssColor('--small');
            context.fillRect(left, y, right - left, FRAME_HEIGHT - 1);
            return;
        }
        const { tree } = this;
        const key = tree.keyOf(one.node);
        const marked = this.marks && this.marked(one.node);
        context.globalAlpha = one.above ? 0.65 : this.marks && !marked ? 0.35 : 1;
        context.fillStyle =
            this.options.diff && key >= 0
                ? this.colors.ofChange(this.change(one.node))
                : this.colors.ofKey(tree, key, one.group > 0 ? tree.keyOf(one.group) : -1);
        context.fillRect(
            left,
            y,
            Math.max(right - left - (one.width > 3 ? 0.5 : 0), SMALLEST),
            FRAME_HEIGHT - 1,
        );
        if (marked) {
            context.globalAlpha = 1;
            context.fillStyle = cssColor('--mark');
            context.fillRect(left, y + FRAME_HEIGHT - 4, right - left, 3);
        }
    }

    drawText(context, one, width) {
        const left = Math.max(0, one.x);
        const room = Math.min(width, one.x + one.width) - left;
        if (one.node < 0 || room <= 18) return;
        const text = fit(this.textOf(one.node), room - 4, CHARACTER);
        if (text) context.fillText(text, left + 3, this.top(one.row) + FRAME_HEIGHT / 2);
    }

    textOf(node) {
        const key = this.tree.keyOf(node);
        let text = this.texts.get(key);
        if (text === undefined) this.texts.set(key, (text = visible(this.tree.name(key))));
        return text;
    }

    outline(context, boxes) {
        for (const one of boxes) {
            if (one.node < 0 || (one.node !== this.selected && one.node !== this.hot)) continue;
            context.strokeStyle = cssColor(one.node === this.selected ? '--focus' : '--ink');
            context.lineWidth = one.node === this.selected ? 2 : 1;
            const left = Math.max(1, one.x);
            context.strokeRect(
                left,
                this.top(one.row),
                Math.max(1, Math.min(this.box.clientWidth - 1, one.x + one.width) - left),
                FRAME_HEIGHT - 1,
            );
        }
    }

    marked(node) {
        const key = this.tree.keyOf(node);
        return key >= 0 && key < KEY_GROUP && this.marks[this.tree.functionOf(key)];
    }

    mark(flags) {
        this.marks = flags;
        this.draw();
    }

    at(event) {
        const [x, y] = this.sheet.place(event);
        let best = -1;
        for (const one of this.boxes)
            if (
                one.node >= 0 &&
                x >= one.x &&
                x <= one.x + Math.max(one.width, 1) &&
                y >= this.top(one.row) &&
                y < this.top(one.row) + FRAME_HEIGHT
            )
                best = one.node;
        return best;
    }

    hover(event) {
        const node = this.at(event);
        if (node !== this.hot) {
            this.hot = node;
            this.draw();
        }
        this.tip.hidden = node < 0 || !!(this.drag && this.drag.moved);
        if (node < 0) return;
        this.tip.textContent = this.hooks.describe(node);
        const area = this.box.getBoundingClientRect();
        const x = Math.min(
            event.clientX - area.left + 12,
            Math.max(0, area.width - this.tip.offsetWidth - 4),
        );
        this.tip.style.transform = `translate(${x}px, ${event.clientY - area.top + this.box.scrollTop + 16}px)`;
    }

    click(event) {
        if (this.moved) {
            this.moved = false;
            return;
        }
        const node = this.at(event);
        if (node < 0) return;
        this.select(node);
        this.zoom(node);
    }

    select(node) {
        this.selected = node;
        this.hooks.select(node);
        this.draw();
        this.read();
    }

    zoom(node) {
        if (node === this.zoomed && this.view[0] === 0 && this.view[1] === 1) return;
        this.zoomed = node;
        this.view = [0, 1];
        this.hooks.zoom(node);
        this.draw();
        this.reveal();
    }

    // The selected frame is brought into sight, when it is known where it lies.
    reveal() {
        this.revealing = true;
        this.draw();
    }

    scrollToSelected() {
        this.revealing = this.stale; // what has changed meanwhile may move it
        const one = this.boxes.find((box) => box.node === this.selected);
        if (!one) return;
        const { scrollTop, clientHeight } = this.box;
        const y = this.top(one.row);
        if (y < scrollTop) this.box.scrollTop = y;
        else if (y + FRAME_HEIGHT > scrollTop + clientHeight)
            this.box.scrollTop = y + FRAME_HEIGHT - clientHeight;
    }

    setView(from, to) {
        const size = Math.min(1, Math.max(1e-6, to - from));
        const start = Math.min(Math.max(0, from), 1 - size);
        this.view = [start, start + size];
        this.draw();
    }

    wheel(event) {
        if (!event.ctrlKey && !event.altKey && !event.shiftKey) return;
        event.preventDefault();
        const [from, to] = this.view;
        if (event.shiftKey) {
            const step = (to - from) * Math.sign(event.deltaY || event.deltaX) * 0.1;
            this.setView(from + step, to + step);
            return;
        }
        const at =
            from +
            ((to - from) * (event.clientX - this.box.getBoundingClientRect().left)) /
                this.box.clientWidth;
        const factor = event.deltaY > 0 ? 1.25 : 0.8;
        this.setView(at - (at - from) * factor, at + (to - at) * factor);
    }

    pan(event) {
        if (!this.drag || this.view[1] - this.view[0] >= 1) return;
        const moved = event.clientX - this.drag.x;
        if (Math.abs(moved) < 3 && !this.drag.moved) return;
        this.drag.moved = this.moved = true;
        const step = (moved / this.box.clientWidth) * (this.drag.view[1] - this.drag.view[0]);
        this.setView(this.drag.view[0] - step, this.drag.view[1] - step);
    }

    // Children that weigh something.
    kids(node) {
        return [...this.tree.childrenOf(node)].filter((child) => this.share(child) > 0);
    }

    neighbour(step) {
        const parent = this.tree.parentOf(this.selected);
        if (parent < 0) return this.selected;
        const kids = this.kids(parent);
        return kids[Math.min(kids.length - 1, Math.max(0, kids.indexOf(this.selected) + step))];
    }

    heaviest(node) {
        return this.kids(node).reduce(
            (best, one) => (best < 0 || this.share(one) > this.share(best) ? one : best),
            -1,
        );
    }

    key(event) {
        const deeper = this.options.upward ? 'ArrowUp' : 'ArrowDown';
        const back = this.options.upward ? 'ArrowDown' : 'ArrowUp';
        let node = this.selected;
        if (event.key === deeper) node = Math.max(this.heaviest(node), -1);
        else if (event.key === back) node = this.tree.parentOf(node);
        else if (event.key === 'ArrowLeft') node = this.neighbour(-1);
        else if (event.key === 'ArrowRight') node = this.neighbour(1);
        else if (event.key === 'Home') node = 0;
        else if (event.key === 'Enter') {
            this.zoom(node);
            event.preventDefault();
            return;
        } else if (event.key === 'Backspace') {
            this.back();
            event.preventDefault();
            return;
        } else if (event.key === 'ContextMenu' || (event.key === 'm' && !event.ctrlKey)) {
            this.menuAtSelected();
            event.preventDefault();
            return;
        } else if (event.key === '+' || event.key === '-') {
            this.zoomView(event.key === '+' ? 0.5 : 2);
            return;
        } else return;
        event.preventDefault();
        if (node >= 0) {
            this.select(node);
            this.intoView(node);
            this.reveal();
        }
    }

    zoomView(factor) {
        const middle = (this.view[0] + this.view[1]) / 2;
        const half = ((this.view[1] - this.view[0]) / 2) * factor;
        this.setView(middle - half, middle + half);
    }

    // Zooms out until the node lies below what is zoomed.
    intoView(node) {
        const path = this.path(node);
        while (this.zoomed && !path.includes(this.zoomed))
            this.zoomed = this.tree.parentOf(this.zoomed);
    }

    back() {
        const parent = this.tree.parentOf(this.zoomed);
        if (parent >= 0) {
            this.select(this.zoomed);
            this.zoom(parent);
        }
    }

    menuAtSelected() {
        const one = this.boxes.find((box) => box.node === this.selected);
        const area = this.sheet.element.getBoundingClientRect();
        this.hooks.menu(
            this.selected,
            area.left + Math.max(8, one ? one.x : 0),
            area.top + (one ? this.top(one.row) : 0) + FRAME_HEIGHT,
        );
    }

    // What the picture says, as a tree: the way to the selected frame and what it calls.
    read() {
        const path = this.path(this.selected);
        const item = (node, level, current) =>
            make(
                'div',
                {
                    role: 'treeitem',
                    'aria-level': level,
                    'aria-selected': current ? 'true' : 'false',
                    'aria-current': current ? 'true' : undefined,
                },
                this.hooks.describe(node),
            );
        const kids = this.kids(this.selected)
            .sort((a, b) => this.share(b) - this.share(a))
            .slice(0, 50);
        replaceChildren(
            this.reader,
            ...path.map((node, level) => item(node, level + 1, node === this.selected)),
            ...kids.map((node) => item(node, path.length + 1, false)),
        );
    }
}

export function describe(tree, node, weight, whole) {
    const name = visible(tree.name(tree.keyOf(node)));
    const key = tree.keyOf(node);
    const object =
        key >= 0 && key < KEY_GROUP ? visible(tree.profile.objectName(tree.functionOf(key))) : '';
    const where = object ? ` (${object})` : '';
    const self = tree.selfOf(node);
    let text = `${name}${where}: ${percent(tree.totalOf(node), whole)}, ${count(tree.totalOf(node))} ${weight}, self ${percent(self, whole)}`;
    if (tree.profile.side) {
        const old = tree.oldOf(0) ? tree.oldOf(node) / tree.oldOf(0) : 0;
        const now = whole ? tree.totalOf(node) / whole : 0;
        const word =
            old === 0
                ? 'new'
                : now === 0
                  ? 'gone'
                  : `${now >= old ? '+' : ''}${(100 * (now - old)).toFixed(2)} points`;
        text += `; before ${(100 * old).toFixed(2)} %, ${word}`;
    }
    return text;
}

// SPDX-License-Identifier: MIT
// Rows of functions, lines, objects or files -> a sorted, filtered table; only the rows in sight
// are elements.
import { KEY_GROUP } from './tree.js';
import { onPrinting } from './sheet.js';
import { percent, count, make, replaceChildren, visible } from './format.js';

const TABLE_ROW = 22;
const MOST_PRINTED = 1000; // rows

export const GROUPS = {
    function: {
        label: 'Function',
        of: (tree) => (key) => (key >= 0 && key < KEY_GROUP ? tree.functionOf(key) : null),
        name: (tree, value) => tree.profile.functionName(value),
        more: (tree, value) => tree.profile.objectName(value),
    },
    line: {
        label: 'Line',
        of: (tree) => (key) => (key >= 0 && key < KEY_GROUP ? lineOf(tree, key) : null),
        name: (tree, value) => value,
        more: () => '',
    },
    object: {
        label: 'Object',
        of: (tree) => (key) =>
            key >= 0 && key < KEY_GROUP ? tree.profile.fnObject[tree.functionOf(key)] : null,
        name: (tree, value) => tree.profile.strings[value],
        more: () => '',
    },
    file: {
        label: 'File',
        of: (tree) => (key) =>
            key >= 0 && key < KEY_GROUP ? tree.profile.fnFile[tree.functionOf(key)] : null,
        name: (tree, value) => tree.profile.strings[value] || '[unknown file]',
        more: () => '',
    },
};

function lineOf(tree, key) {
    const fn = tree.functionOf(key);
    const file = tree.profile.fileName(fn);
    const line = tree.byLine ? tree.profile.frLine[key] : 0;
    return file && line ? `${file}:${line}` : `${tree.profile.functionName(fn)} (no line)`;
}

const COLUMNS = [
    { id: 'self', label: 'Self', value: (row) => row.self },
    { id: 'total', label: 'Total', value: (row) => row.total },
    { id: 'change', label: 'Change', value: (row) => Math.abs(row.change), diff: true },
    { id: 'before', label: 'Before', value: (row) => row.totalOld, diff: true },
    { id: 'name', label: '', value: (row) => row.name },
    { id: 'more', label: 'Object', value: (row) => row.more },
];

export class Table {
    // `hooks`: choose(row), open(row); signal: nothing is listened to any more
    constructor(element, hooks) {
        this.hooks = hooks;
        this.filter = make('input', {
            type: 'search',
            'aria-label': 'Filter the rows',
            placeholder: 'filter rows',
            oninput: () => this.update(),
        });
        this.copyButton = make('button', { onclick: () => this.copy() }, 'Copy rows');
        this.note = make('span', { class: 'note', role: 'status' });
        this.head = make('div', { role: 'row', class: 'row head' });
        this.body = make('div', { role: 'rowgroup', class: 'rows' });
        this.scroll = make(
            'div',
            { class: 'scroll', role: 'table', tabindex: '0', 'aria-label': 'Functions' },
            make('div', { role: 'rowgroup', class: 'headgroup' }, this.head),
            this.body,
        );
        element.append(
            make('div', { class: 'tools' }, this.filter, this.copyButton, this.note),
            this.scroll,
        );
        // What a first look is for: the largest, of two recordings the largest change.
        this.sort = null;
        this.scroll.addEventListener('scroll', () => this.draw());
        this.scroll.addEventListener('keydown', (event) => this.key(event));
        new ResizeObserver(() => this.draw()).observe(this.scroll);
        onPrinting((printing) => {
            this.printing = printing;
            this.draw();
        }, { signal: hooks.signal });
        this.selected = -1;
    }

    // `diff`: two recordings; `reversed`: the change is told from the new one to the old one
    show(tree, grouping, diff, reversed = false) {
        if (!this.sort) this.sort = { id: diff ? 'change' : 'self', down: true };
        this.tree = tree;
        this.reversed = reversed;
        this.grouping = GROUPS[grouping];
        this.diff = diff;
        const rows = tree.rows(this.grouping.of(tree));
        const [now, old] = [tree.totalOf(0), tree.oldOf(0)];
        for (const row of rows) {
            row.name = this.grouping.name(tree, row.value);
            row.more = this.grouping.more(tree, row.value);
            row.change = (now ? row.total / now : 0) - (old ? row.totalOld / old : 0);
            if (reversed) row.change = -row.change;
        }
        this.rows = rows;
        this.whole = now;
        this.wholeOld = old;
        this.drawHead();
        this.update();
    }

    columns() {
        return COLUMNS.filter(
            (column) =>
                (!column.diff || this.diff) &&
                (column.id !== 'more' || this.grouping === GROUPS.function),
        );
    }

    labelOf({ id, label }) {
        if (id === 'change' && this.reversed) return 'Reverse';
        return label || this.grouping.label;
    }

    drawHead() {
        const cells = this.columns().map((column) => {
            const active = this.sort.id === column.id;
            return make(
                'div',
                {
                    role: 'columnheader',
                    class: `cell ${column.id}`,
                    'aria-sort': active ? (this.sort.down ? 'descending' : 'ascending') : 'none',
                },
                make(
                    'button',
                    { onclick: () => this.sortBy(column.id) },
                    `${this.labelOf(column)}${active ? (this.sort.down ? ' ▾' : ' ▴') : ''}`,
                ),
            );
        });
        replaceChildren(this.head, ...cells);
    }

    sortBy(id) {
        this.sort = {
            id,
            down: this.sort.id === id ? !this.sort.down : id !== 'name' && id !== 'more',
        };
        this.drawHead();
        this.update();
    }

    update() {
        if (!this.rows) return;
        const wanted = this.filter.value.toLowerCase();
        const { value } = COLUMNS.find((column) => column.id === this.sort.id);
        const sign = this.sort.down ? -1 : 1;
        this.shown = this.rows.filter(
            (row) =>
                !wanted ||
                row.name.toLowerCase().includes(wanted) ||
                row.more.toLowerCase().includes(wanted),
        );
        this.shown.sort((a, b) => {
            const [x, y] = [value(a), value(b)];
            return (x < y ? -1 : x > y ? 1 : 0) * sign || (a.name < b.name ? -1 : 1);
        });
        this.scroll.setAttribute('aria-rowcount', this.shown.length + 1);
        this.selected = -1;
        this.draw();
    }

    // The rows that are elements: those on the screen, or on paper.
    inSight() {
        if (this.printing) return [0, Math.min(this.shown.length, MOST_PRINTED)];
        const first = Math.max(0, Math.floor(this.scroll.scrollTop / TABLE_ROW) - 5);
        const seen = Math.ceil(this.scroll.clientHeight / TABLE_ROW) + 12;
        return [first, Math.min(this.shown.length, first + seen)];
    }

    draw() {
        if (!this.shown) return;
        const [first, last] = this.inSight();
        const there = this.printing ? last : this.shown.length;
        this.body.style.height = `${there * TABLE_ROW}px`;
        this.note.textContent = `${count(there)} of ${count(this.rows.length)} rows`;
        const rows = [];
        for (let i = first; i < last; i++) rows.push(this.makeRow(i));
        replaceChildren(this.body, ...rows);
    }

    cellText(row, id) {
        if (id === 'self') return percent(row.self, this.whole);
        if (id === 'total') return percent(row.total, this.whole);
        if (id === 'before') return percent(row.totalOld, this.wholeOld);
        if (id === 'change') return this.changeText(row);
        return visible(row[id]);
    }

    changeText({ total, totalOld, change }) {
        const [from, to] = this.reversed ? [total, totalOld] : [totalOld, total];
        if (!from) return 'new';
        if (!to) return 'gone';
        return `${change >= 0 ? '+' : ''}${(100 * change).toFixed(2)}`;
    }

    makeRow(i) {
        const row = this.shown[i];
        const cells = this.columns().map(({ id }) => {
            const text = this.cellText(row, id);
            const cell = make(
                'div',
                {
                    role: 'cell',
                    class: `cell ${id}`,
                    title: id === 'self' || id === 'total' ? count(row[id]) : visible(text),
                },
                text,
            );
            if (id === 'self')
                cell.style.setProperty(
                    '--share',
                    `${this.whole ? (100 * row.self) / this.whole : 0}%`,
                );
            if (id === 'total')
                cell.style.setProperty(
                    '--share',
                    `${this.whole ? (100 * row.total) / this.whole : 0}%`,
                );
            return cell;
        });
        const element = make(
            'div',
            {
                role: 'row',
                class: i === this.selected ? 'row chosen' : 'row',
                'aria-rowindex': i + 2,
                onclick: () => this.choose(i),
                ondblclick: () => this.hooks.open(row),
            },
            ...cells,
        );
        element.style.transform = `translateY(${i * TABLE_ROW}px)`;
        return element;
    }

    choose(i) {
        this.selected = Math.min(this.shown.length - 1, Math.max(0, i));
        const y = this.selected * TABLE_ROW;
        if (y < this.scroll.scrollTop) this.scroll.scrollTop = y;
        else if (y + 2 * TABLE_ROW > this.scroll.scrollTop + this.scroll.clientHeight)
            this.scroll.scrollTop = y + 2 * TABLE_ROW - this.scroll.clientHeight;
        this.draw();
        if (this.shown[this.selected]) this.hooks.choose(this.shown[this.selected]);
    }

    key(event) {
        const page = Math.max(1, Math.floor(this.scroll.clientHeight / TABLE_ROW) - 2);
        const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
        if (event.key in steps) this.choose(this.selected + steps[event.key]);
        else if (event.key === 'Home') this.choose(0);
        else if (event.key === 'End') this.choose(this.shown.length - 1);
        else if (event.key === 'Enter' && this.shown[this.selected])
            this.hooks.open(this.shown[this.selected]);
        else return;
        event.preventDefault();
    }

    // Tab-separated, exact numbers.
    text() {
        const columns = this.columns();
        const head = columns.map((column) => column.label || this.grouping.label).join('\t');
        const cell = (row, id) =>
            id === 'change' ? row.change : id === 'before' ? row.totalOld : row[id];
        return [
            head,
            ...this.shown.map((row) =>
                columns.map(({ id }) => String(cell(row, id)).replace(/[\t\n]/g, ' ')).join('\t'),
            ),
        ].join('\n');
    }

    async copy() {
        await copyText(this.text());
        this.note.textContent = `${count(this.shown.length)} rows copied`;
    }
}

export async function copyText(text) {
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        // A page of a file may have no clipboard of its own.
        const area = make('textarea', { class: 'visually-hidden', 'aria-hidden': 'true' });
        area.value = text;
        document.body.append(area);
        area.select();
        document.execCommand('copy');
        area.remove();
    }
}

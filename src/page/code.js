// SPDX-License-Identifier: MIT
// Source and instructions of the chosen function, each line with its share.
import { make, replaceChildren, percent, count, visible } from './format.js';
import { copyText } from './table.js';

const INLINED = 4; // as the column fn_kind has it

// What a function goes by: functions of one name in one object may be several.
function codeOf(profile, name, object) {
    return profile.code.functions.filter((one) => one.name === name && one.object === object);
}

export function profileHasCode(profile, fn) {
    return (
        profile.hasCode &&
        fn >= 0 &&
        codeOf(profile, profile.functionName(fn), profile.objectName(fn)).some(
            (one) => one.lines.length,
        )
    );
}

// What lies on it in the events that are looked at.
function weightOf(line, state) {
    let sum = 0;
    for (const cell of line.cells)
        if (state.event < 0 || cell.event === state.event)
            sum += state.weight === 'samples' ? cell.count : cell.weight;
    return sum;
}

export class CodeView {
    // `hooks`: pick({ name, object })
    constructor(element, profile, hooks) {
        this.profile = profile;
        this.hooks = hooks;
        this.title = make('h2', {});
        this.picker = make('select', { id: 'code-function', onchange: () => this.pick() });
        this.lines = make(
            'select',
            { id: 'code-lines', onchange: () => this.draw() },
            make('option', { value: 'all' }, 'source and instructions'),
            make('option', { value: 'code' }, 'instructions'),
            make('option', { value: 'source' }, 'source'),
        );
        this.note = make('p', { class: 'note' });
        this.scroll = make('div', {
            class: 'scroll',
            tabindex: '0',
            role: 'region',
            'aria-label': 'Source and instructions',
        });
        element.append(
            make(
                'div',
                { class: 'tools' },
                make('label', {}, 'Function ', this.picker),
                make('label', {}, 'Lines ', this.lines),
                make('button', { onclick: () => this.hottest() }, 'Hottest line'),
                make('button', { onclick: () => copyText(this.text()) }, 'Copy lines'),
            ),
            this.title,
            this.note,
            this.scroll,
        );
    }

    // All samples of the recording, whatever is chosen: so are those on the lines.
    wholeOf(state) {
        const { profile } = this;
        let sum = 0;
        for (let i = 0; i < profile.sampleCount; i++) {
            if (state.event >= 0 && profile.event[i] !== state.event) continue;
            if (profile.side && profile.side[i]) continue;
            if (state.weight !== 'samples') sum += profile.period[i];
            else sum += profile.counts ? profile.counts[i] : 1;
        }
        return sum;
    }

    // Those with code, the heaviest first; one row for those of one name.
    fillPicker() {
        const sums = new Map();
        for (const one of this.profile.code.functions) {
            const key = JSON.stringify([one.name, one.object]);
            const own = one.lines.reduce((sum, line) => sum + weightOf(line, this.state), 0);
            if (one.lines.length) sums.set(key, (sums.get(key) || 0) + own);
        }
        const options = [...sums]
            .sort((a, b) => b[1] - a[1])
            .map(([key, sum]) => {
                const name = visible(JSON.parse(key)[0]);
                const short = name.length > 60 ? `${name.slice(0, 59)}…` : name;
                return make('option', { value: key }, `${percent(sum, this.whole)} ${short}`);
            });
        replaceChildren(this.picker, ...options);
    }

    pick() {
        const [name, object] = JSON.parse(this.picker.value);
        this.hooks.pick({ name, object });
    }

    show(fn, state, unit) {
        const { profile } = this;
        this.state = state;
        this.unit = unit;
        this.whole = this.wholeOf(state);
        this.fillPicker();
        const first = this.picker.options.length ? JSON.parse(this.picker.options[0].value) : null;
        const [name, object] =
            fn >= 0 ? [profile.functionName(fn), profile.objectName(fn)] : first || ['', ''];
        this.parts = codeOf(profile, name, object).filter((one) => one.lines.length);
        this.picker.value = this.parts.length ? JSON.stringify([name, object]) : '';
        this.title.textContent = name ? `${visible(name)} in ${visible(object)}` : 'Code';
        this.note.textContent = this.explain(fn, name, object);
        this.draw();
        this.hottest();
    }

    explain(fn, name, object) {
        const { profile, parts, state } = this;
        const { limit, leftOut } = profile.code;
        if (!parts.length) {
            if (fn >= 0 && profile.fnKind[fn] === INLINED)
                return 'It is inlined: its instructions are in the functions that call it.';
            if (!profile.code.functions.some((one) => one.lines.length))
                return 'No code of any function could be read when the page was made.';
            if (codeOf(profile, name, object).length) return 'Its code could not be read when the page was made.';
            const room = leftOut ? `, and ${count(leftOut)} functions that had no room` : '';
            return `There is no code of it here: of functions with less than ${limit} % of the samples${room} the page has none.`;
        }
        const own = parts.reduce(
            (sum, part) => sum + part.lines.reduce((all, line) => all + weightOf(line, state), 0),
            0,
        );
        return (
            `${percent(own, this.whole)} of all ${this.unit} of the recording lie in it itself, ` +
            'whatever time, thread or step is chosen. Shares of lines are of the function.'
        );
    }

    rowsOf(part) {
        const wanted = this.lines.value;
        const own = part.lines.reduce((sum, line) => sum + weightOf(line, this.state), 0);
        const rows = [];
        let gap = 0;
        for (const line of part.lines) {
            gap += line.gap;
            const isCode = line.place >= 0;
            if ((wanted === 'code' && !isCode) || (wanted === 'source' && isCode)) continue;
            if (gap) rows.push({ gap });
            gap = 0;
            rows.push({ line, isCode, weight: weightOf(line, this.state), own });
        }
        return rows;
    }

    // In the view of source alone a line has what its instructions have: those behind it, up to the
    // next line of source.
    sourceRows(part) {
        const rows = this.rowsOf(part);
        if (this.lines.value !== 'source') return rows;
        const byLine = new Map(rows.filter((row) => row.line).map((row) => [row.line, row]));
        let last = null;
        for (const line of part.lines) {
            if (line.place < 0) last = byLine.get(line) || last;
            else if (last) last.weight += weightOf(line, this.state);
        }
        return rows;
    }

    draw() {
        this.drawn = this.parts.map((part) => ({ part, rows: this.sourceRows(part) }));
        this.best = null;
        const tables = this.drawn.map(({ part, rows }) => {
            const body = make('tbody', {}, ...rows.map((row) => this.makeRow(part, row)));
            const head = ['Share', 'Address', 'Text'].map((text, i) =>
                make('th', { scope: 'col', class: i === 2 ? 'text' : null }, text),
            );
            return make(
                'table',
                { class: 'listing' },
                make('thead', {}, make('tr', {}, ...head)),
                body,
            );
        });
        replaceChildren(this.scroll, ...tables);
        if (this.best) this.best.element.classList.add('hottest');
    }

    makeRow(part, row) {
        if (row.gap)
            return make(
                'tr',
                { class: 'gap' },
                make('td', { colspan: 3, class: 'text' }, `… ${count(row.gap)} ${row.gap > 1 ? 'lines' : 'line'} without samples`),
            );
        const { line, isCode, weight, own } = row;
        const share = make(
            'td',
            { class: 'share', title: weight ? `${count(weight)} ${this.unit}` : null },
            weight ? percent(weight, own) : '',
        );
        share.style.setProperty('--share', `${own ? (100 * weight) / own : 0}%`);
        const place = isCode ? (part.address + line.place).toString(16) : '';
        const element = make(
            'tr',
            { class: line.kind },
            share,
            make('td', { class: 'place' }, place),
            make('td', { class: 'text' }, ' '.repeat(Math.min(line.indent, 80)) + visible(line.text)),
        );
        if (weight && (!this.best || weight > this.best.weight)) this.best = { element, weight };
        return element;
    }

    hottest() {
        if (this.best) this.best.element.scrollIntoView({ block: 'center' });
    }

    // Tab-separated, exact numbers.
    text() {
        return this.drawn
            .flatMap(({ part, rows }) =>
                rows
                    .filter((row) => row.line)
                    .map(({ line, isCode, weight }) => {
                        const place = isCode ? (part.address + line.place).toString(16) : '';
                        const text = ' '.repeat(Math.min(line.indent, 80)) + line.text;
                        return [weight, place, text].join('\t');
                    }),
            )
            .join('\n');
    }
}

// SPDX-License-Identifier: MIT
// A text or expression -> the functions that match, their share, and a way from hit to hit.
import { make, count, percent } from './format.js';
import { matcher, KEY_GROUP } from './tree.js';

export class Search {
    constructor(app) {
        this.app = app;
        this.hit = -1;
        this.marks = null;
        this.input = make('input', {
            type: 'search',
            id: 'search',
            placeholder: 'search functions  ( / )',
            'aria-label': 'Search functions',
            oninput: () => app.set({ search: this.input.value }),
            onkeydown: (event) => this.key(event),
        });
        this.regexBox = make('input', {
            type: 'checkbox',
            id: 'regex',
            onchange: () => app.set({ regex: this.regexBox.checked }),
        });
        this.hits = make('output', { class: 'hits', 'aria-label': 'Hits' });
        const step = (by, label, text) =>
            make('button', { onclick: () => this.next(by), 'aria-label': label }, text);
        this.element = make(
            'div',
            { class: 'search', role: 'search' },
            this.input,
            make('label', { title: 'regular expression' }, this.regexBox, ' regex'),
            this.hits,
            step(-1, 'Previous hit', '‹'),
            step(1, 'Next hit', '›'),
        );
    }

    update() {
        const { state, profile } = this.app;
        if (document.activeElement !== this.input) this.input.value = state.search;
        this.regexBox.checked = state.regex;
        this.marks = null;
        this.hitNodes = null;
        this.hits.textContent = '';
        if (!state.search) {
            this.app.flame.mark(null);
            return;
        }
        let test;
        try {
            test = matcher(state.search, state.regex);
        } catch {
            this.hits.textContent = 'not an expression';
            this.app.flame.mark(null);
            return;
        }
        const flags = new Uint8Array(profile.fnName.length);
        for (let fn = 0; fn < flags.length; fn++)
            flags[fn] =
                test(profile.functionName(fn)) ||
                (profile.objectName(fn) && test(profile.objectName(fn)))
                    ? 1
                    : 0;
        this.marks = flags;
        this.app.flame.mark(flags);
        const { weight, nodes } = this.sumMarked(flags);
        this.hitNodes = nodes;
        this.hits.textContent = `${count(nodes.length)} hits, ${percent(weight, this.app.tree.totalOf(0))}`;
    }

    sumMarked(flags) {
        const { tree } = this.app;
        const inside = new Uint8Array(tree.count);
        const nodes = [];
        let weight = 0;
        for (let node = 1; node < tree.count; node++) {
            const key = tree.keys[node];
            const hit = key < KEY_GROUP && flags[tree.functionOf(key)];
            const above = inside[tree.parents[node]];
            inside[node] = above || hit ? 1 : 0;
            if (hit && !above) weight += tree.total[node];
            if (hit && tree.total[node]) nodes.push(node);
        }
        nodes.sort((a, b) => tree.total[b] - tree.total[a]);
        return { weight, nodes };
    }

    next(step) {
        if (!this.hitNodes || !this.hitNodes.length) return;
        if (this.app.state.shape === 'callers') this.app.set({ shape: 'icicle' });
        this.hit = (this.hit + step + this.hitNodes.length) % this.hitNodes.length;
        if (this.app.state.view !== 'flame') this.app.set({ view: 'flame' });
        const node = this.hitNodes[this.hit];
        this.app.flame.intoView(node);
        this.app.flame.select(node);
        this.app.flame.reveal();
        this.app.say(
            `${this.hit + 1} of ${this.hitNodes.length}: ${this.app.describe(this.app.tree, node)}`,
        );
    }

    key(event) {
        if (event.key === 'Enter') this.next(event.shiftKey ? -1 : 1);
        else if (event.key === 'Escape') {
            this.input.value = '';
            this.app.set({ search: '' });
            this.input.blur();
        }
    }
}

// SPDX-License-Identifier: MIT
// The page: one state, the views that show it, and the controls that change it.
import { loadProfile, lowerBound } from './data.js';
import { Tree, MergedTree, matcher } from './tree.js';
import { Colors, KIND_NAMES } from './color.js';
import { Flame, describe } from './flame.js';
import { Table, copyText } from './table.js';
import { Timeline } from './timeline.js';
import { Chart, callTable } from './chart.js';
import { showCode } from './code.js';
import { make, replaceChildren, percent, count, duration, visible } from './format.js';
import { DEFAULTS, encodeState, decodeState } from './state.js';

const VIEWS = [
    ['flame', 'Flame graph'],
    ['table', 'Table'],
    ['sandwich', 'Callers and callees'],
    ['time', 'Timeline'],
    ['order', 'Order of time'],
    ['calls', 'Calls'],
    ['code', 'Code'],
    ['about', 'About'],
];

const KEYS = [
    ['/', 'search'],
    ['n, N', 'next, previous hit'],
    ['1 … 8', 'the views'],
    ['arrows', 'move in the picture or the table'],
    ['Enter', 'zoom to the selected frame'],
    ['Backspace', 'zoom out one frame'],
    ['m', 'what can be done with the selected frame'],
    ['+ -', 'zoom in and out'],
    ['Ctrl or Alt with wheel', 'zoom in and out'],
    ['Shift with wheel', 'move sideways'],
    ['u', 'undo the last step'],
    ['i', 'flame graph, icicle, callers'],
    ['r', 'differences: change sides'],
    ['t', 'light, dark, by system'],
    ['?', 'this help'],
    ['Escape', 'close, clear'],
];

// Which samples are counted.
class Chosen {
    constructor(profile, state) {
        this.profile = profile;
        this.event = state.event;
        this.threads = state.threads && state.threads.length ? new Set(state.threads) : null;
        this.ranges = state.ranges;
        const whole = [[0, profile.sampleCount]];
        this.spans =
            this.ranges.length && profile.sorted
                ? this.ranges.map(([a, b]) => [
                      lowerBound(profile.time, a),
                      lowerBound(profile.time, b + 0.5),
                  ])
                : whole;
        this.checkTime = this.ranges.length > 0 && !profile.sorted;
    }

    // All but the time.
    testAll(i) {
        return (
            (this.event < 0 || this.profile.event[i] === this.event) &&
            (!this.threads || this.threads.has(this.profile.thread[i]))
        );
    }

    test(i) {
        if (
            this.checkTime &&
            !this.ranges.some(([a, b]) => this.profile.time[i] >= a && this.profile.time[i] <= b)
        )
            return false;
        return this.testAll(i);
    }
}

class App {
    constructor(profile) {
        this.profile = profile;
        profile.sorted = isSorted(profile.time);
        this.state = decodeState(location.hash.slice(1));
        if (profile.events.length > 1 && this.state.event < 0 && !sameWeights(profile))
            this.state.event = 0;
        this.hit = -1;
        this.views = {};
        this.build();
        this.listen();
        this.update();
    }

    // ---- what is there ----

    available(id) {
        const { profile } = this;
        if (id === 'time' || id === 'order') return profile.hasTime;
        if (id === 'calls') return !!profile.calls;
        if (id === 'code') return !!profile.code;
        return true;
    }

    build() {
        const main = document.getElementById('app');
        this.live = make('div', {
            class: 'visually-hidden',
            role: 'status',
            'aria-live': 'polite',
        });
        this.chipBox = make('ul', { class: 'chips', 'aria-label': 'Steps' });
        this.summary = make('p', { class: 'summary' });
        this.panels = {};
        this.tabs = {};
        const tabs = make('div', {
            class: 'tabs',
            role: 'tablist',
            'aria-label': 'Views',
            onkeydown: (event) => this.tabKey(event),
        });
        const stage = make('main', { id: 'stage' });
        for (const [id, label] of VIEWS.filter(([one]) => this.available(one))) {
            this.tabs[id] = make(
                'button',
                {
                    role: 'tab',
                    id: `tab-${id}`,
                    'aria-controls': `panel-${id}`,
                    onclick: () => this.set({ view: id }),
                },
                label,
            );
            this.panels[id] = make('section', {
                role: 'tabpanel',
                id: `panel-${id}`,
                'aria-labelledby': `tab-${id}`,
                class: `panel ${id}`,
                hidden: true,
            });
            tabs.append(this.tabs[id]);
            stage.append(this.panels[id]);
        }
        main.replaceChildren(this.header(), tabs, this.chipBox, this.summary, stage, this.live);
        this.makeViews();
        this.menuBox = make('div', {
            class: 'menu',
            role: 'menu',
            hidden: true,
            onkeydown: (event) => this.menuKey(event),
        });
        this.dialog = this.helpDialog();
        document.body.append(this.menuBox, this.dialog);
    }

    header() {
        const { profile } = this;
        const title = make('h1', {}, visible(profile.header.title || 'perf.data'));
        this.searchBox = make('input', {
            type: 'search',
            id: 'search',
            placeholder: 'search functions  ( / )',
            'aria-label': 'Search functions',
            oninput: () => this.set({ search: this.searchBox.value }),
            onkeydown: (event) => this.searchKey(event),
        });
        this.regexBox = make('input', {
            type: 'checkbox',
            onchange: () => this.set({ regex: this.regexBox.checked }),
        });
        this.hits = make('output', { class: 'hits', 'aria-label': 'Hits' });
        const search = make(
            'div',
            { class: 'search', role: 'search' },
            this.searchBox,
            make('label', {}, this.regexBox, ' .*'),
            this.hits,
            make('button', { onclick: () => this.nextHit(-1), 'aria-label': 'Previous hit' }, '‹'),
            make('button', { onclick: () => this.nextHit(1), 'aria-label': 'Next hit' }, '›'),
        );
        return make('header', {}, title, search, this.controls());
    }

    controls() {
        const { profile } = this;
        this.selects = {};
        const select = (name, label, choices) => {
            const element = make(
                'select',
                {
                    id: `set-${name}`,
                    onchange: () =>
                        this.set({
                            [name]: name === 'event' ? Number(element.value) : element.value,
                        }),
                },
                ...choices.map(([value, text]) => make('option', { value }, text)),
            );
            this.selects[name] = element;
            return make('label', {}, `${label} `, element);
        };
        const events = profile.events.map((event, i) => [i, visible(event.name)]);
        if (sameWeights(profile)) events.unshift([-1, 'all events']);
        return make(
            'div',
            { class: 'controls' },
            profile.events.length > 1 ? select('event', 'Event', events) : null,
            select('weight', 'Weight', [
                ['period', 'period'],
                ['samples', 'samples'],
            ]),
            select('shape', 'Shape', [
                ['icicle', 'icicle'],
                ['flame', 'flame'],
                ['callers', 'callers'],
            ]),
            select('group', 'By', [
                ['none', 'all'],
                ['process', 'process'],
                ['thread', 'thread'],
                ['cpu', 'CPU'],
                ['event', 'event'],
            ]),
            select('level', 'Frames', [
                ['function', 'functions'],
                ['line', 'lines'],
            ]),
            select('color', 'Colour', [
                ['kind', 'kind of code'],
                ['object', 'object'],
                ['module', 'module'],
                ['thread', 'thread'],
            ]),
            this.stepMenu(),
            this.threadMenu(),
            make('button', { onclick: () => this.nextTheme(), id: 'theme' }, 'Theme'),
            make(
                'button',
                { onclick: () => this.set({ safe: !this.state.safe }), id: 'safe' },
                'Safe colours',
            ),
            make('button', { onclick: () => this.copyAddress(), id: 'link' }, 'Copy link'),
            make('button', { onclick: () => this.dialog.showModal(), id: 'help' }, 'Help'),
        );
    }

    stepMenu() {
        const element = make(
            'select',
            {
                id: 'add-step',
                onchange: () => {
                    const op = element.value;
                    element.value = '';
                    this.addStep({ op });
                },
            },
            make('option', { value: '' }, 'add…'),
            make('option', { value: 'recursion' }, 'collapse recursion'),
            make('option', { value: 'wrappers' }, 'leave out call wrappers'),
            make('option', { value: 'objects' }, 'collapse objects'),
            make('option', { value: 'search-only' }, 'only samples with the search'),
            make('option', { value: 'search-drop' }, 'without samples with the search'),
            make('option', { value: 'search-hide' }, 'hide frames of the search'),
        );
        return make('label', {}, 'Steps ', element);
    }

    threadMenu() {
        const { profile } = this;
        const counts = new Float64Array(profile.threads.length);
        for (let i = 0; i < profile.sampleCount; i++) counts[profile.thread[i]]++;
        const order = [...counts.keys()]
            .filter((i) => counts[i])
            .sort((a, b) => counts[b] - counts[a])
            .slice(0, 1000);
        const element = make(
            'select',
            {
                id: 'set-threads',
                onchange: () =>
                    this.set({ threads: element.value === '' ? null : [Number(element.value)] }),
            },
            make('option', { value: '' }, 'all'),
            ...order.map((i) => make('option', { value: i }, visible(profile.threadName(i)))),
        );
        this.threadSelect = element;
        return make('label', {}, 'Thread ', element);
    }

    helpDialog() {
        const dialog = make(
            'dialog',
            { 'aria-label': 'Keys' },
            make('h2', {}, 'Keys'),
            make(
                'dl',
                {},
                ...KEYS.flatMap(([key, text]) => [
                    make('dt', {}, make('kbd', {}, key)),
                    make('dd', {}, text),
                ]),
            ),
            make('button', { onclick: () => dialog.close() }, 'Close'),
        );
        return dialog;
    }

    makeViews() {
        const hooks = {
            select: (node) => this.chooseNode(this.mainTree(), node),
            zoom: (node) => {
                this.state.zoom = this.pathNames(this.mainTree(), node);
                this.save();
            },
            menu: (node, x, y) => this.openMenu(this.mainTree(), node, x, y),
            describe: (node) => this.describe(this.mainTree(), node),
        };
        this.flame = new Flame(this.panels.flame, hooks);
        this.tableGroup = make(
            'select',
            {
                'aria-label': 'Rows of the table',
                onchange: () => this.set({ table: this.tableGroup.value }),
            },
            ...['function', 'line', 'object', 'file'].map((value) =>
                make('option', { value }, `by ${value}`),
            ),
        );
        this.panels.table.append(make('div', { class: 'tools' }, this.tableGroup));
        this.table = new Table(this.panels.table, {
            choose: (row) => {
                if (this.state.table === 'function') this.chooseFunction(row.value);
            },
            open: (row) => {
                if (this.state.table === 'function') {
                    this.chooseFunction(row.value);
                    this.set({ view: 'sandwich' });
                }
            },
        });
        this.makeSandwich();
        if (this.panels.time)
            this.timeline = new Timeline(this.panels.time, this.profile, {
                ranges: (ranges) => this.set({ ranges }),
            });
        if (this.panels.order)
            this.orderChart = new Chart(
                this.panels.order,
                Object.assign(Object.create(this.profile), { calls: null }),
                { pick: (fn) => this.chooseFunction(fn) },
            );
        if (this.panels.calls) {
            this.callChart = new Chart(this.panels.calls, this.profile, {
                pick: (fn) => this.chooseFunction(fn),
            });
            this.callRows = make('div', {
                class: 'scroll small',
                tabindex: '0',
                role: 'region',
                'aria-label': 'Calls by function',
            });
            this.panels.calls.append(this.callRows);
        }
        this.fillAbout();
    }

    makeSandwich() {
        const panel = this.panels.sandwich;
        this.sandwichTitle = make('h2', {});
        this.sandwichLists = make('div', { class: 'columns' });
        const part = (label) => {
            const box = make('div', { class: 'part' }, make('h3', {}, label));
            panel.append(box);
            return box;
        };
        panel.append(this.sandwichTitle, this.sandwichLists);
        const hooks = (tree) => ({
            select: () => {},
            zoom: () => {},
            menu: (node, x, y) => this.openMenu(tree(), node, x, y),
            describe: (node) => describe(tree(), node, this.weightName(), this.tree.totalOf(0)),
        });
        this.callersFlame = new Flame(
            part('Callers'),
            hooks(() => this.callersTree),
            { label: 'Callers' },
        );
        this.calleesFlame = new Flame(
            part('Callees'),
            hooks(() => this.calleesTree),
            { label: 'Callees' },
        );
    }

    fillAbout() {
        const { header } = this.profile;
        const rows = (list) =>
            make(
                'dl',
                { class: 'facts' },
                ...list.flatMap(([name, value]) => [
                    make('dt', {}, visible(name)),
                    make('dd', {}, visible(String(value))),
                ]),
            );
        const warnings = header.warnings || [];
        replaceChildren(
            this.panels.about,
            make('h2', {}, 'The recording'),
            rows(header.facts || []),
            make('h2', {}, 'Losses and warnings'),
            warnings.length
                ? make(
                      'ul',
                      { class: 'warnings' },
                      ...warnings.map((text) => make('li', {}, visible(text))),
                  )
                : make('p', {}, 'none'),
            make('h2', {}, 'Colours of the kinds of code'),
            make('p', {}, KIND_NAMES.join(', ')),
        );
    }

    // ---- state ----

    set(change) {
        if (change.chips) this.history = [...(this.history || []), this.state.chips];
        Object.assign(this.state, change);
        this.save();
        this.update();
    }

    save() {
        const hash = encodeState(this.state);
        try {
            history.replaceState(null, '', hash ? `#${hash}` : location.pathname + location.search);
        } catch {
            location.hash = hash;
        }
    }

    addStep(chip) {
        const { search, regex } = this.state;
        if (!chip.op) return;
        if (chip.op.startsWith('search-')) {
            if (!search) {
                this.say('Search for something first.');
                return;
            }
            chip = { op: chip.op.slice(7), text: search, regex };
        }
        this.set({ chips: [...this.state.chips, chip], zoom: [] });
    }

    undo() {
        if (this.state.chips.length) this.set({ chips: this.state.chips.slice(0, -1), zoom: [] });
    }

    weightName() {
        if (this.state.weight === 'samples') return 'samples';
        const event = this.profile.events[this.state.event < 0 ? 0 : this.state.event];
        return event && event.unit ? event.unit : 'events';
    }

    treeKey() {
        return JSON.stringify([this.state.chips, this.state.group, this.state.level]);
    }
    chosenKey() {
        return JSON.stringify([
            this.state.event,
            this.state.threads,
            this.state.ranges,
            this.state.weight,
        ]);
    }

    update() {
        const { state, profile } = this;
        if (!this.panels[state.view]) state.view = 'flame';
        this.applyTheme();
        const structure = this.treeKey();
        if (structure !== this.lastStructure) {
            this.tree = this.makeTree();
            this.lastStructure = structure;
            this.lastChosen = null;
        }
        const chosenKey = this.chosenKey();
        if (chosenKey !== this.lastChosen) {
            this.chosen = new Chosen(profile, state);
            const began = performance.now();
            this.tree.weigh(this.chosen, state.weight === 'period' ? profile.period : null);
            this.weighTime = performance.now() - began;
            this.lastChosen = chosenKey;
            this.inverted = null;
        }
        this.colors = new Colors(profile, { by: state.color, safe: state.safe, dark: this.dark });
        this.updateControls();
        this.updateSearch();
        this.showView();
    }

    // A step whose expression does not parse is told and left out.
    makeTree() {
        const { state, profile } = this;
        const chips = state.chips.filter((chip) => {
            try {
                if (chip.regex) new RegExp(chip.text);
                return true;
            } catch {
                this.say(`Not an expression: ${chip.text}`);
                return false;
            }
        });
        return new Tree(profile, { chips, group: state.group, level: state.level });
    }

    mainTree() {
        if (this.state.shape !== 'callers') return this.tree;
        if (!this.inverted) this.inverted = new MergedTree(this.tree, 'callers');
        return this.inverted;
    }

    updateControls() {
        const { state } = this;
        for (const [name, element] of Object.entries(this.selects))
            element.value = String(state[name]);
        this.threadSelect.value =
            state.threads && state.threads.length ? String(state.threads[0]) : '';
        this.tableGroup.value = state.table;
        if (document.activeElement !== this.searchBox) this.searchBox.value = state.search;
        this.regexBox.checked = state.regex;
        for (const [id, tab] of Object.entries(this.tabs)) {
            tab.setAttribute('aria-selected', String(id === state.view));
            tab.tabIndex = id === state.view ? 0 : -1;
            this.panels[id].hidden = id !== state.view;
        }
        this.updateChips();
        const parts = [`${count(this.tree.totalOf(0))} ${this.weightName()}`];
        if (this.profile.side)
            parts.push(
                `before: ${count(this.tree.oldOf(0))}; ${state.reversed ? 'colours: old against new' : 'orange grew, blue shrank'}`,
            );
        if (state.ranges.length)
            parts.push(
                `in ${state.ranges.map(([a, b]) => `${duration(a - this.profile.start)} to ${duration(b - this.profile.start)}`).join(', ')}`,
            );
        this.summary.textContent = parts.join('; ');
        document.documentElement.dataset.total = String(this.tree.totalOf(0));
    }

    updateChips() {
        const { state } = this;
        const words = {
            hide: 'without frames',
            drop: 'without samples with',
            only: 'only samples with',
            from: 'from',
            recursion: 'recursion collapsed',
            wrappers: 'wrappers left out',
            objects: 'objects collapsed',
        };
        const chip = (text, remove) =>
            make(
                'li',
                {},
                make(
                    'button',
                    { class: 'chip', onclick: remove, 'aria-label': `Remove: ${text}` },
                    `${text} ×`,
                ),
            );
        const chips = state.chips.map((one, i) =>
            chip(visible(`${words[one.op] || one.op} ${one.text || ''}`.trim()), () =>
                this.set({ chips: state.chips.filter((_, at) => at !== i), zoom: [] }),
            ),
        );
        if (state.ranges.length)
            chips.push(
                chip(
                    `${state.ranges.length} time range${state.ranges.length > 1 ? 's' : ''}`,
                    () => {
                        if (this.timeline) this.timeline.setRanges([]);
                        else this.set({ ranges: [] });
                    },
                ),
            );
        if (state.threads) chips.push(chip('one thread', () => this.set({ threads: null })));
        replaceChildren(this.chipBox, ...chips);
    }

    updateSearch() {
        const { state, profile } = this;
        this.marks = null;
        this.hits.textContent = '';
        if (!state.search) {
            this.flame.mark(null);
            return;
        }
        let test;
        try {
            test = matcher(state.search, state.regex);
        } catch {
            this.hits.textContent = 'not an expression';
            this.flame.mark(null);
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
        this.flame.mark(flags);
        const { weight, nodes } = this.sumMarked(flags);
        this.hitNodes = nodes;
        this.hits.textContent = `${count(nodes.length)} hits, ${percent(weight, this.tree.totalOf(0))}`;
    }

    // What samples with a marked frame weigh, each once, also where the frame is hidden or too small to see.
    sumMarked(flags) {
        const { tree } = this;
        const inside = new Uint8Array(tree.count);
        const nodes = [];
        let weight = 0;
        for (let node = 1; node < tree.count; node++) {
            const key = tree.keys[node];
            const hit = key < 0x40000000 && flags[tree.functionOf(key)];
            const above = inside[tree.parents[node]];
            inside[node] = above || hit ? 1 : 0;
            if (hit && !above) weight += tree.total[node];
            if (hit && tree.total[node]) nodes.push(node);
        }
        nodes.sort((a, b) => tree.total[b] - tree.total[a]);
        return { weight, nodes };
    }

    nextHit(step) {
        if (!this.hitNodes || !this.hitNodes.length) return;
        if (this.state.shape === 'callers') this.set({ shape: 'icicle' });
        this.hit = (this.hit + step + this.hitNodes.length) % this.hitNodes.length;
        if (this.state.view !== 'flame') this.set({ view: 'flame' });
        const node = this.hitNodes[this.hit];
        this.flame.intoView(node);
        this.flame.select(node);
        this.flame.reveal();
        this.say(`${this.hit + 1} of ${this.hitNodes.length}: ${this.describe(this.tree, node)}`);
    }

    // ---- views ----

    showView() {
        const { state, profile } = this;
        const diff = !!profile.side;
        if (state.view === 'flame') this.showFlame(diff);
        else if (state.view === 'table') this.table.show(this.tree, state.table, diff);
        else if (state.view === 'sandwich') this.showSandwich(diff);
        else if (state.view === 'time') this.showTimeline();
        else if (state.view === 'order') this.orderChart.show(this.tree, this.colors, this.chosen);
        else if (state.view === 'calls') this.showCalls();
        else if (state.view === 'code')
            showCode(this.panels.code, profile, this.chosenFunction(), (fn) => {
                this.chooseFunction(fn);
                this.showView();
            });
    }

    showFlame(diff) {
        const tree = this.mainTree();
        const fresh = this.flame.tree !== tree;
        this.flame.show(tree, this.colors, {
            upward: this.state.shape === 'flame',
            diff,
            reversed: this.state.reversed,
        });
        if (fresh) this.restoreZoom(tree);
    }

    pathNames(tree, node) {
        const names = [];
        for (let at = node; at > 0; at = tree.parentOf(at))
            names.unshift(tree.name(tree.keyOf(at)));
        return names;
    }

    restoreZoom(tree) {
        let node = 0;
        for (const name of this.state.zoom) {
            const next = [...tree.childrenOf(node)].find(
                (child) => tree.name(tree.keyOf(child)) === name,
            );
            if (next === undefined) break;
            node = next;
        }
        this.flame.zoomed = node;
        this.flame.selected = node;
        this.flame.draw();
    }

    chosenFunction() {
        const { chosen } = this.state;
        if (!chosen) return -1;
        for (let fn = 0; fn < this.profile.fnName.length; fn++)
            if (
                this.profile.functionName(fn) === chosen.name &&
                this.profile.objectName(fn) === chosen.object
            )
                return fn;
        return -1;
    }

    chooseFunction(fn) {
        this.state.chosen = {
            name: this.profile.functionName(fn),
            object: this.profile.objectName(fn),
        };
        this.save();
    }

    chooseNode(tree, node) {
        const key = tree.keyOf(node);
        if (key >= 0 && key < 0x40000000) this.chooseFunction(tree.functionOf(key));
    }

    describe(tree, node) {
        return describe(tree, node, this.weightName(), this.tree.totalOf(0));
    }

    heaviestFunction() {
        const rows = this.tree.rows((key) =>
            key >= 0 && key < 0x40000000 ? this.tree.functionOf(key) : null,
        );
        return rows.reduce((best, row) => (!best || row.self > best.self ? row : best), null);
    }

    showSandwich(diff) {
        let fn = this.chosenFunction();
        if (fn < 0) {
            const row = this.heaviestFunction();
            if (!row) {
                this.sandwichTitle.textContent = 'No samples are chosen.';
                return;
            }
            fn = row.value;
        }
        const tree =
            this.state.level === 'function' && this.state.group === 'none'
                ? this.tree
                : this.functionTree();
        this.callersTree = new MergedTree(tree, 'callers', fn);
        this.calleesTree = new MergedTree(tree, 'callees', fn);
        const name = visible(this.profile.functionName(fn));
        this.sandwichTitle.textContent = `${name}: ${percent(this.callersTree.totalOf(0), tree.totalOf(0))}`;
        this.callersFlame.show(this.callersTree, this.colors, { upward: true, diff });
        this.calleesFlame.show(this.calleesTree, this.colors, { upward: false, diff });
        const list = (title, merged) =>
            make(
                'div',
                {},
                make('h3', {}, title),
                make(
                    'ol',
                    {},
                    ...[...merged.childrenOf(0)].slice(0, 20).map((id) =>
                        make(
                            'li',
                            {},
                            make(
                                'button',
                                {
                                    class: 'plain',
                                    onclick: () => {
                                        this.chooseFunction(merged.functionOf(merged.keyOf(id)));
                                        this.showView();
                                    },
                                },
                                `${percent(merged.totalOf(id), merged.totalOf(0))} ${visible(merged.name(merged.keyOf(id)))}`,
                            ),
                        ),
                    ),
                ),
            );
        replaceChildren(
            this.sandwichLists,
            list('Called by', this.callersTree),
            list('Calls', this.calleesTree),
        );
    }

    // The tree of functions, where lines or groups are shown otherwise.
    functionTree() {
        const tree = new Tree(this.profile, {
            chips: this.state.chips,
            group: 'none',
            level: 'function',
        });
        tree.weigh(this.chosen, this.state.weight === 'period' ? this.profile.period : null);
        return tree;
    }

    showTimeline() {
        const fn = this.chosenFunction();
        const marked = this.marks
            ? this.profile.stacksWith((one) => this.marks[one])
            : fn >= 0
              ? this.profile.stacksWith((one) => one === fn)
              : null;
        this.timeline.ranges = this.state.ranges;
        this.timeline.show(
            this.chosen,
            this.state.weight === 'period' ? this.profile.period : null,
            marked,
        );
    }

    showCalls() {
        this.callChart.show(this.tree, this.colors, this.chosen);
        const rows = callTable(this.profile, this.state.ranges).slice(0, 500);
        const head = ['Function', 'Calls', 'Total', 'Min', 'Median', '99 %', 'Max', 'IPC'];
        const cell = (text) => make('td', {}, text);
        replaceChildren(
            this.callRows,
            make(
                'table',
                {},
                make(
                    'thead',
                    {},
                    make('tr', {}, ...head.map((text) => make('th', { scope: 'col' }, text))),
                ),
                make(
                    'tbody',
                    {},
                    ...rows.map((row) =>
                        make(
                            'tr',
                            {},
                            make(
                                'th',
                                { scope: 'row' },
                                visible(this.profile.functionName(row.fn)),
                            ),
                            cell(count(row.count)),
                            cell(duration(row.total)),
                            cell(duration(row.min)),
                            cell(duration(row.median)),
                            cell(duration(row.high)),
                            cell(duration(row.max)),
                            cell(row.cycles ? (row.instructions / row.cycles).toFixed(2) : ''),
                        ),
                    ),
                ),
            ),
        );
    }

    // ---- menu of a frame ----

    openMenu(tree, node, x, y) {
        const key = tree.keyOf(node);
        const entries = [];
        const entry = (text, action) =>
            entries.push(
                make(
                    'button',
                    {
                        role: 'menuitem',
                        onclick: () => {
                            this.closeMenu();
                            action();
                        },
                    },
                    text,
                ),
            );
        if (key >= 0 && key < 0x40000000) {
            const fn = tree.functionOf(key);
            const exact = {
                text: this.profile.functionName(fn),
                object: this.profile.objectName(fn),
                exact: true,
            };
            entry('Callers and callees', () => {
                this.chooseFunction(fn);
                this.set({ view: 'sandwich' });
            });
            entry('Only samples with it', () => this.addStep({ op: 'only', ...exact }));
            entry('Stacks from here', () => this.addStep({ op: 'from', ...exact }));
            entry('Hide this frame', () => this.addStep({ op: 'hide', ...exact }));
            entry('Without samples with it', () => this.addStep({ op: 'drop', ...exact }));
            if (this.profile.code)
                entry('Code', () => {
                    this.chooseFunction(fn);
                    this.set({ view: 'code' });
                });
            entry('Mark on the timeline', () => {
                this.chooseFunction(fn);
                this.set({ view: this.panels.time ? 'time' : 'flame', search: '' });
            });
        }
        entry('Copy name', () => copyText(tree.name(key)));
        entry('Copy stack', () => copyText(this.pathNames(tree, node).join(';')));
        replaceChildren(this.menuBox, ...entries);
        this.menuBox.hidden = false;
        this.menuBox.style.left = `${Math.min(x, window.innerWidth - this.menuBox.offsetWidth - 4)}px`;
        this.menuBox.style.top = `${Math.min(y, window.innerHeight - this.menuBox.offsetHeight - 4)}px`;
        this.before = document.activeElement;
        entries[0].focus();
    }

    closeMenu() {
        this.menuBox.hidden = true;
        if (this.before) this.before.focus();
    }

    menuKey(event) {
        const items = [...this.menuBox.children];
        const at = items.indexOf(document.activeElement);
        if (event.key === 'ArrowDown') items[(at + 1) % items.length].focus();
        else if (event.key === 'ArrowUp') items[(at + items.length - 1) % items.length].focus();
        else if (event.key === 'Escape' || event.key === 'Tab') this.closeMenu();
        else return;
        event.preventDefault();
        event.stopPropagation();
    }

    // ---- keys, theme, address ----

    tabKey(event) {
        const ids = Object.keys(this.tabs);
        const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        if (!step) return;
        const id = ids[(ids.indexOf(this.state.view) + step + ids.length) % ids.length];
        this.set({ view: id });
        this.tabs[id].focus();
        event.preventDefault();
    }

    searchKey(event) {
        if (event.key === 'Enter') this.nextHit(event.shiftKey ? -1 : 1);
        else if (event.key === 'Escape') {
            this.searchBox.value = '';
            this.set({ search: '' });
            this.searchBox.blur();
        }
    }

    listen() {
        document.addEventListener('keydown', (event) => this.key(event));
        document.addEventListener('pointerdown', (event) => {
            if (!this.menuBox.hidden && !this.menuBox.contains(event.target)) this.closeMenu();
        });
        window.addEventListener('hashchange', () => {
            this.state = decodeState(location.hash.slice(1));
            this.flame.tree = null;
            this.update();
        });
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.update());
    }

    key(event) {
        if (
            event.ctrlKey ||
            event.metaKey ||
            event.altKey ||
            /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) ||
            this.dialog.open
        )
            return;
        const views = Object.keys(this.tabs);
        const shapes = ['icicle', 'flame', 'callers'];
        const number = Number(event.key);
        if (event.key === '/') this.searchBox.focus();
        else if (event.key === 'n') this.nextHit(1);
        else if (event.key === 'N') this.nextHit(-1);
        else if (event.key === '?') this.dialog.showModal();
        else if (event.key === 'u') this.undo();
        else if (event.key === 'i')
            this.set({ shape: shapes[(shapes.indexOf(this.state.shape) + 1) % 3], zoom: [] });
        else if (event.key === 'r' && this.profile.side)
            this.set({ reversed: !this.state.reversed });
        else if (event.key === 't') this.nextTheme();
        else if (number >= 1 && number <= views.length) this.set({ view: views[number - 1] });
        else return;
        event.preventDefault();
    }

    nextTheme() {
        const themes = ['system', 'light', 'dark'];
        const theme = themes[(themes.indexOf(this.state.theme) + 1) % 3];
        this.set({ theme });
        this.say(`Theme: ${theme}`);
    }

    applyTheme() {
        const { theme } = this.state;
        this.dark =
            theme === 'dark' ||
            (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
        document.documentElement.dataset.theme = this.dark ? 'dark' : 'light';
    }

    async copyAddress() {
        await copyText(location.href);
        this.say('The address of this view was copied.');
    }

    say(text) {
        this.live.textContent = '';
        this.live.textContent = text;
    }
}

function isSorted(times) {
    for (let i = 1; i < times.length; i++) if (times[i] < times[i - 1]) return false;
    return true;
}

// Events whose weights mean the same can be added up.
function sameWeights(profile) {
    return new Set(profile.events.map((event) => event.unit || event.name)).size <= 1;
}

const began = performance.now();
loadProfile()
    .then((profile) => {
        window.perfdataPage = new App(profile);
        window.perfdataPage.readyTime = performance.now() - began;
        document.documentElement.dataset.ready = 'yes';
    })
    .catch((error) => {
        document.getElementById('app').textContent =
            `This page's data cannot be read: ${error.message}`;
        document.documentElement.dataset.ready = 'failed';
    });

export { App, DEFAULTS };

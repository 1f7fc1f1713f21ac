// SPDX-License-Identifier: MIT
// The page: one state, the views that show it, and the controls that change it.
import { loadProfile } from './data.js';
import { Feed } from './feed.js';
import { Chosen } from './chosen.js';
import { Tree, MergedTree, KEY_GROUP } from './tree.js';
import { Colors } from './color.js';
import { Flame, describe } from './flame.js';
import { Table, copyText } from './table.js';
import { Timeline } from './timeline.js';
import { Chart } from './chart.js';
import { Calls } from './calls.js';
import { CodeView, profileHasCode } from './code.js';
import { make, replaceChildren, percent, visible } from './format.js';
import { encodeState, decodeState, carryState } from './state.js';
import { onPrinting } from './sheet.js';
import { Search } from './search.js';
import { Controls } from './controls.js';
import { FrameMenu } from './menu.js';
import { showAbout } from './about.js';

const VIEWS = [
    ['flame', 'Flame graph'],
    ['table', 'Table'],
    ['sandwich', 'Callers and callees'],
    ['code', 'Code'],
    ['time', 'Timeline'],
    ['calls', 'Calls'],
    ['order', 'Order of time'],
    ['about', 'About'],
];

class App {
    // `feed`: where the profile comes from and newer ones may; null: it is all there is
    constructor(profile, feed) {
        this.profile = profile;
        this.feed = feed;
        this.news = feed && feed.element;
        this.gone = new AbortController();
        this.state = decodeState(location.hash.slice(1), this.profile);
        this.build();
        this.listen();
        this.update();
    }

    // ---- what is there ----

    available(id) {
        const { profile } = this;
        if (id === 'time' || id === 'order') return profile.hasTime;
        if (id === 'calls') return profile.hasCalls;
        if (id === 'code') return profile.hasCode;
        return true;
    }

    build() {
        const main = document.getElementById('app');
        this.live = make('div', {
            class: 'visually-hidden',
            role: 'status',
            'aria-live': 'polite',
        });
        this.panels = {};
        this.tabs = {};
        const tabs = make('div', {
            class: 'tabs',
            role: 'tablist',
            'aria-label': 'Views',
            onkeydown: (event) => this.tabKey(event),
        });
        const stage = make('div', { id: 'stage' });
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
        const title = visible(this.profile.header.title || 'perf.data');
        document.title = `${title}: perfdata`;
        this.search = new Search(this);
        this.controls = new Controls(this);
        replaceChildren(
            main,
            this.news,
            make(
                'header',
                {},
                make('h1', {}, title),
                this.search.element,
                this.controls.fold,
                this.controls.element,
            ),
            make('main', {}, tabs, this.controls.chipBox, this.controls.summary, this.controls.legend,
                stage),
            this.live,
        );
        this.makeViews();
        this.menu = new FrameMenu(this);
    }

    makeViews() {
        this.views = {};
        const hooks = {
            select: (node) => this.chooseNode(this.mainTree(), node),
            zoom: (node) => {
                this.state.zoom = this.pathNames(this.mainTree(), node);
                this.save();
            },
            menu: (node, x, y) => this.menu.open(this.mainTree(), node, x, y),
            describe: (node) => this.describe(this.mainTree(), node),
            signal: this.gone.signal,
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
            signal: this.gone.signal,
        });
        this.makeSandwich();
        showAbout(this.panels.about, this.profile);
    }

    // Views of times are made when somebody looks at them: they need columns that are not read
    // before.
    view(name, panel, make) {
        if (!this.views[name] && panel) this.views[name] = make(panel);
        return this.views[name];
    }

    get timeline() {
        return this.view('timeline', this.panels.time, (panel) =>
            new Timeline(panel, this.profile, {
                ranges: (ranges) => this.set({ ranges }),
                moved: (rows, window) => this.keep({ rows, window }),
                signal: this.gone.signal,
                exact: () => this.exact(),
            }),
        );
    }

    get orderChart() {
        return this.view('order', this.panels.order, (panel) =>
            new Chart(panel, this.profile, {
                pick: (fn) => this.chooseFunction(fn),
                signal: this.gone.signal,
                moved: (thread, [from, to]) => this.keep({ order: { thread, from, to } }),
            }),
        );
    }

    get callChart() {
        return this.view('calls', this.panels.calls, (panel) =>
            new Calls(panel, this.profile, {
                pick: (fn) => this.chooseFunction(fn),
                signal: this.gone.signal,
                exact: () => this.exact(),
                moved: (thread, [from, to]) => this.keep({ calls: { thread, from, to } }),
            }),
        );
    }

    get codeView() {
        return this.view('code', this.panels.code, (panel) =>
            new CodeView(panel, this.profile, { pick: (chosen) => this.set({ chosen }) }),
        );
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
            menu: (node, x, y) => this.menu.open(tree(), node, x, y),
            describe: (node) => describe(tree(), node, this.weightName(), this.tree.totalOf(0)),
            signal: this.gone.signal,
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

    // ---- state ----

    set(change) {
        if (change.chips) this.history = [...(this.history || []), this.state.chips];
        Object.assign(this.state, change);
        this.save();
        this.update();
    }

    // What changes with each movement, and no other view shows: the address follows when it rests.
    keep(change) {
        Object.assign(this.state, change);
        clearTimeout(this.saving);
        this.saving = setTimeout(() => this.save(), 200);
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

    // What each row weighs; null: 1.
    weights() {
        return this.state.weight === 'period' ? this.profile.period : this.profile.counts;
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
            this.tree = this.makeTree(state.group, state.level);
            this.lastStructure = structure;
            this.lastChosen = null;
        }
        const chosenKey = this.chosenKey();
        if (chosenKey !== this.lastChosen) {
            this.chosen = new Chosen(profile, state);
            const began = performance.now();
            this.tree.weigh(this.chosen, this.weights());
            this.weighTime = performance.now() - began;
            this.lastChosen = chosenKey;
            this.inverted = null;
        }
        this.colors = new Colors(profile, { by: state.color, safe: state.safe, dark: this.dark });
        this.updateTabs();
        this.controls.update();
        this.search.update();
        this.showView();
    }

    // A step whose expression does not parse is told and left out.
    steps() {
        return this.state.chips.filter((chip) => {
            try {
                if (chip.regex) new RegExp(chip.text);
                return true;
            } catch {
                this.say(`Not an expression: ${chip.text}`);
                return false;
            }
        });
    }

    makeTree(group, level) {
        return new Tree(this.profile, { chips: this.steps(), group, level });
    }

    mainTree() {
        if (this.state.shape !== 'callers') return this.tree;
        if (!this.inverted) this.inverted = new MergedTree(this.tree, 'callers');
        return this.inverted;
    }

    updateTabs() {
        const { state } = this;
        document.documentElement.dataset.total = String(this.tree.totalOf(0));
        this.tableGroup.value = state.table;
        for (const [id, tab] of Object.entries(this.tabs)) {
            tab.setAttribute('aria-selected', String(id === state.view));
            tab.tabIndex = id === state.view ? 0 : -1;
            this.panels[id].hidden = id !== state.view;
        }
    }

    // ---- views ----

    showView() {
        const { state, profile } = this;
        const diff = !!profile.side;
        if (state.view === 'flame') this.showFlame(diff);
        else if (state.view === 'table') this.table.show(this.tree, state.table, diff, state.reversed);
        else if (state.view === 'sandwich') this.showSandwich(diff);
        else if (state.view === 'code')
            this.codeView.show(this.chosenFunction(), state, this.weightName());
        else if (state.view === 'time') this.showTimeline();
        else if (state.view === 'calls')
            this.callChart.showCalls(
                this.colors,
                this.chosenFunction(),
                state.ranges,
                state.calls,
            );
        else if (state.view === 'order') {
            this.orderChart.placeAt(state.order);
            this.orderChart.show(this.tree, this.colors, this.chosen);
        }
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
        this.flame.reveal();
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
        if (key >= 0 && key < KEY_GROUP) this.chooseFunction(tree.functionOf(key));
    }

    describe(tree, node) {
        return describe(tree, node, this.weightName(), this.tree.totalOf(0));
    }

    heaviestFunction() {
        const rows = this.tree.rows((key) =>
            key >= 0 && key < KEY_GROUP ? this.tree.functionOf(key) : null,
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
        replaceChildren(
            this.sandwichTitle,
            `${name}: ${percent(this.callersTree.totalOf(0), tree.totalOf(0))} `,
            profileHasCode(this.profile, fn)
                ? make('button', { onclick: () => this.showCode(fn) }, 'Code')
                : null,
        );
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

    showCode(fn) {
        this.chooseFunction(fn);
        this.set({ view: 'code' });
    }

    // The tree of functions, where lines or groups are shown otherwise.
    functionTree() {
        const tree = this.makeTree('none', 'function');
        tree.weigh(this.chosen, this.weights());
        return tree;
    }

    showTimeline() {
        const fn = this.chosenFunction();
        const marked = this.search.marks
            ? this.profile.stacksWith((one) => this.search.marks[one])
            : fn >= 0
              ? this.profile.stacksWith((one) => one === fn)
              : null;
        this.timeline.ranges = this.state.ranges;
        this.timeline.goTo(this.state.rows, this.state.window);
        this.timeline.show(this.chosen, this.weights(), marked);
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

    listen() {
        const { signal } = this.gone;
        for (const [name, pressed] of [
            ['pointerdown', true],
            ['pointerup', false],
            ['pointercancel', false],
        ])
            document.addEventListener(name, () => (this.pressed = pressed), { signal });
        document.addEventListener('keydown', (event) => this.key(event), { signal });
        // Paper is light; what is drawn on it is drawn after this.
        onPrinting((printing) => {
            this.printing = printing;
            this.update();
        }, { signal, capture: true });
        window.addEventListener(
            'hashchange',
            () => {
                this.state = decodeState(location.hash.slice(1), this.profile);
                this.flame.tree = null;
                for (const view of [this.views.calls, this.views.order])
                    if (view) view.placed = false;
                this.update();
            },
            { signal },
        );
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.update(), {
            signal,
        });
    }

    // Nobody is in the middle of something that another picture would take away.
    isFree() {
        return !this.controls.help.open && this.menu.box.hidden && !this.pressed;
    }

    // What the recording has between two times, where the server can tell.
    exact() {
        if (!this.feed || !this.feed.ranges) return null;
        return async ([from, to]) => {
            this.say('Reading …');
            const problem = await this.feed.showRange(this.profile, from, to);
            if (problem) this.say(problem);
            return problem;
        };
    }

    // What the views of times need is read while nobody waits for anything, a little at a time.
    readAhead() {
        const work = this.profile.pieces();
        const more = () => {
            if (!this.gone.signal.aborted && !work.next().done) requestIdleCallback(more);
        };
        if (window.requestIdleCallback) requestIdleCallback(more);
    }

    // Another takes its place: what stands or listens outside of #app goes.
    leave() {
        this.gone.abort();
        clearTimeout(this.saving);
        this.save();
        this.menu.box.remove();
        this.controls.help.remove();
    }

    key(event) {
        if (
            event.ctrlKey ||
            event.metaKey ||
            event.altKey ||
            /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) ||
            this.controls.help.open
        )
            return;
        const views = Object.keys(this.tabs);
        const shapes = ['icicle', 'flame', 'callers'];
        const number = Number(event.key);
        if (event.key === '/') this.search.input.focus();
        else if (event.key === 'n') this.search.next(1);
        else if (event.key === 'N') this.search.next(-1);
        else if (event.key === '?') this.controls.help.showModal();
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
        const dark = matchMedia('(prefers-color-scheme: dark)').matches;
        this.dark = !this.printing && (theme === 'dark' || (theme === 'system' && dark));
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

const began = performance.now();

function show(profile, feed) {
    const before = window.perfdataPage;
    const focused = document.activeElement && document.activeElement.id;
    if (before) {
        before.state = carryState(before.state, before.profile, profile);
        before.leave();
    }
    window.perfdataPage = new App(profile, feed);
    if (before && focused && document.getElementById(focused))
        document.getElementById(focused).focus();
    if (!before) window.perfdataPage.readyTime = performance.now() - began;
    window.perfdataPage.readAhead();
    document.documentElement.dataset.ready = 'yes';
}

loadProfile()
    .then((profile) => {
        if (profile) {
            show(profile, null);
            return null;
        }
        const feed = new Feed(
            (one) => show(one, feed),
            () => window.perfdataPage.isFree(),
        );
        document.getElementById('app').replaceChildren(feed.element);
        return feed.run();
    })
    .catch((error) => {
        document.getElementById('app').textContent =
            `This page's data cannot be read: ${error.message}`;
        document.documentElement.dataset.ready = 'failed';
    });

// SPDX-License-Identifier: MIT
// The choices above the views: event, weight, shape, steps, threads; and what they are set to now.
import { KIND_NAMES } from './color.js';
import {
    make,
    replaceChildren,
    offerThreads,
    chooseThread,
    visible,
    count,
    duration,
    roundDuration,
} from './format.js';

const KEYS = [
    ['/', 'search'],
    ['n, N', 'next, previous hit'],
    ['1 … 9', 'the views'],
    ['arrows', 'move in the picture or the table'],
    ['Shift and arrows', 'choose a time in the timeline, a neighbour in boxes over time'],
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

// To find which threads have samples takes longer than to draw them.
const MANY_THREADS = 1000;
const MANY_SAMPLES = 200000;

let unfolded = false; // in a narrow window; kept when a newer picture takes this one's place

// Views whose boxes have the colours of their functions.
const COLORED = ['flame', 'sandwich', 'calls', 'order'];

const STEP_WORDS = {
    hide: 'without frames',
    drop: 'without samples with',
    only: 'only samples with',
    from: 'from',
    recursion: 'recursion collapsed',
    wrappers: 'wrappers left out',
    objects: 'objects collapsed',
};

export class Controls {
    constructor(app) {
        this.app = app;
        this.help = this.makeHelp();
        this.chipBox = make('ul', { class: 'chips', 'aria-label': 'Steps' });
        this.summary = make('p', { class: 'summary' });
        this.legend = make('ul', { class: 'legend', 'aria-label': 'Colours' });
        this.element = this.make();
        this.fold = this.makeFold();
        document.body.append(this.help);
    }

    make() {
        const { profile } = this.app;
        this.selects = {};
        const select = (name, label, choices) => {
            const element = make(
                'select',
                {
                    id: `set-${name}`,
                    onchange: () =>
                        this.app.set({
                            [name]: name === 'event' ? Number(element.value) : element.value,
                        }),
                },
                ...choices.map(([value, text]) => make('option', { value }, text)),
            );
            this.selects[name] = element;
            return make('label', {}, `${label} `, element);
        };
        const used = profile.usedEvents();
        const events = used.map((i) => [i, visible(profile.events[i].name)]);
        if (profile.sameWeights) events.unshift([-1, 'all events']);
        return make(
            'div',
            { class: 'controls', id: 'controls' },
            used.length > 1 ? select('event', 'Event', events) : null,
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
            make('button', { onclick: () => this.app.nextTheme(), id: 'theme' }, 'Theme'),
            make(
                'button',
                { onclick: () => this.app.set({ safe: !this.app.state.safe }), id: 'safe' },
                'Safe colours',
            ),
            make('button', { onclick: () => this.app.copyAddress(), id: 'link' }, 'Copy link'),
            make('button', { onclick: () => this.help.showModal(), id: 'help' }, 'Help'),
        );
    }

    // A narrow window has no room for the choices and a picture: there this button shows them.
    makeFold() {
        const button = make(
            'button',
            {
                class: 'fold',
                'aria-controls': 'controls',
                onclick: () => {
                    unfolded = !unfolded;
                    show();
                },
            },
            'Options',
        );
        const show = () => {
            button.setAttribute('aria-expanded', String(unfolded));
            this.element.classList.toggle('open', unfolded);
        };
        show();
        return button;
    }

    stepMenu() {
        const element = make(
            'select',
            {
                id: 'add-step',
                onchange: () => {
                    const op = element.value;
                    element.value = '';
                    this.app.addStep({ op });
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
        const { profile } = this.app;
        const element = make(
            'select',
            {
                id: 'set-threads',
                onchange: () =>
                    this.app.set({
                        threads: element.value === '' ? null : [Number(element.value)],
                    }),
            },
            make('option', { value: '' }, 'all'),
        );
        offerThreads(
            element,
            () => profile.busyThreads().order,
            (i) => visible(profile.threadName(i)),
            profile.threads.length > MANY_THREADS || profile.sampleCount > MANY_SAMPLES,
        );
        this.threadSelect = element;
        return make('label', {}, 'Thread ', element);
    }

    updateChips() {
        const { state } = this.app;
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
            chip(visible(`${STEP_WORDS[one.op] || one.op} ${one.text || ''}`.trim()), () =>
                this.app.set({ chips: state.chips.filter((_, at) => at !== i), zoom: [] }),
            ),
        );
        if (state.ranges.length)
            chips.push(
                chip(
                    `${state.ranges.length} time range${state.ranges.length > 1 ? 's' : ''}`,
                    () => {
                        if (this.app.views.timeline) this.app.timeline.setRanges([]);
                        else this.app.set({ ranges: [] });
                    },
                ),
            );
        if (state.threads) chips.push(chip('one thread', () => this.app.set({ threads: null })));
        replaceChildren(this.chipBox, ...chips);
    }

    makeHelp() {
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

    update() {
        const { state, profile, tree } = this.app;
        for (const [name, element] of Object.entries(this.selects))
            element.value = String(state[name]);
        const [thread] = state.threads || [];
        chooseThread(this.threadSelect, thread === undefined ? '' : thread);
        this.updateChips();
        const parts = [this.totalText()];
        if (profile.side) {
            parts.push(`before: ${count(tree.oldOf(0))}`);
            parts.push(state.reversed ? 'orange shrank, blue grew' : 'orange grew, blue shrank');
        }
        const span = ([a, b]) => `${duration(a - profile.start)} to ${duration(b - profile.start)}`;
        if (state.ranges.length) parts.push(`in ${state.ranges.map(span).join(', ')}`);
        if (state.view === 'flame')
            parts.push('a click zooms, the right button or m does more, ? tells the keys');
        this.summary.textContent = parts.join('; ');
        this.updateLegend();
    }

    totalText() {
        const total = this.app.tree.totalOf(0);
        const unit = this.app.weightName();
        const { state, profile } = this.app;
        const event = profile.events[state.event < 0 ? profile.onlyEvent() : state.event];
        const named = state.weight === 'period' && event && event.name !== unit;
        const of = named ? ` of ${visible(event.name)}` : '';
        return `${count(total)} ${unit}${unit === 'ns' ? ` (${roundDuration(total)})` : ''}${of}`;
    }

    // What colours mean, of those that there are: pairs of a text and a colour.
    legendOf() {
        const { state, profile, colors } = this.app;
        if (state.view === 'time' && profile.hasSwitches)
            return [
                ['samples', 'var(--density)'],
                ['runs', 'var(--running)'],
                ['was preempted and waits for a CPU', 'var(--waiting)'],
            ];
        if (state.color !== 'kind' || !COLORED.includes(state.view) || profile.side) return [];
        if (!this.kinds) this.kinds = [...new Set(profile.fnKind)].sort();
        return this.kinds.map((kind) => [KIND_NAMES[kind], colors.ofKind(kind)]);
    }

    updateLegend() {
        const legend = this.legendOf();
        this.legend.hidden = !legend.length;
        const swatch = (color) => {
            const box = make('span', { class: 'swatch', 'aria-hidden': 'true' });
            box.style.background = color;
            return box;
        };
        replaceChildren(
            this.legend,
            ...legend.map(([text, color]) => make('li', {}, swatch(color), text)),
        );
    }
}

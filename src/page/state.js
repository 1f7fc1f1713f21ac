// SPDX-License-Identifier: MIT
// What is seen <-> the address behind #, so that a view can be sent; defaults are left out.

export const DEFAULTS = {
    view: 'flame',
    shape: 'icicle',
    weight: 'period',
    event: -1,
    group: 'none',
    level: 'function',
    color: 'kind',
    table: 'function',
    theme: 'system',
    safe: false,
    search: '',
    regex: false,
    threads: null,
    ranges: [],
    chips: [],
    zoom: [],
    chosen: null,
    reversed: false,
    calls: null, // { thread, from, to }: what of the calls is in sight
    order: null, // the same of the samples in order of time
    rows: 'thread', // of the timeline
    window: null, // [from, to]: what of the timeline is in sight; null: all
};

export function encodeState(state) {
    const out = {};
    for (const [name, value] of Object.entries(DEFAULTS))
        if (JSON.stringify(state[name]) !== JSON.stringify(value)) out[name] = state[name];
    return Object.keys(out).length ? encodeURIComponent(JSON.stringify(out)) : '';
}

// A state of one profile -> of another one of the same recording, which begins at another time and
// numbers its threads otherwise.
export function carryState(state, before, profile) {
    const begins = [before, profile].map((one) => BigInt(one.header.begin || 0));
    const shift = Number(begins[0] - begins[1]);
    const name = ({ pid, tid, comm }) => `${pid} ${tid} ${comm}`;
    const numbers = new Map(profile.threads.map((thread, i) => [name(thread), i]));
    const other = (thread) => numbers.get(name(before.threads[thread]));
    const threads = (state.threads || []).map(other).filter((thread) => thread !== undefined);
    const inside = ([a, b]) => b >= profile.start && a <= profile.end;
    const carry = (place) => {
        const thread = place ? other(place.thread) : undefined;
        if (thread === undefined || !inside([place.from + shift, place.to + shift])) return null;
        return { thread, from: place.from + shift, to: place.to + shift };
    };
    const ranges = state.ranges.map(([a, b]) => [a + shift, b + shift]).filter(inside);
    const window = state.window && state.window.map((time) => time + shift);
    return {
        ...state,
        threads: threads.length ? threads : null,
        ranges,
        calls: carry(state.calls),
        order: carry(state.order),
        window: window && inside(window) ? window : null,
    };
}

// What the controls can be set to.
const CHOICES = {
    view: ['flame', 'table', 'sandwich', 'code', 'time', 'calls', 'order', 'about'],
    shape: ['icicle', 'flame', 'callers'],
    weight: ['period', 'samples'],
    group: ['none', 'process', 'thread', 'cpu', 'event'],
    level: ['function', 'line'],
    color: ['kind', 'object', 'module', 'thread'],
    table: ['function', 'line', 'object', 'file'],
    theme: ['system', 'light', 'dark'],
    rows: ['thread', 'process', 'cpu', 'heat'],
};
const STEPS_WITH_TEXT = ['hide', 'drop', 'only', 'from'];
const STEPS = ['recursion', 'wrappers', 'objects'];

// Ranges in order; those that overlap are one, so that no sample counts twice.
export function joinRanges(ranges) {
    const sorted = ranges
        .map(([a, b]) => [Math.min(a, b), Math.max(a, b)])
        .sort((x, y) => x[0] - y[0]);
    const joined = [];
    for (const range of sorted) {
        const last = joined[joined.length - 1];
        if (last && range[0] <= last[1]) last[1] = Math.max(last[1], range[1]);
        else joined.push(range);
    }
    return joined;
}

function fits(name, wanted) {
    const usual = DEFAULTS[name];
    if (name in CHOICES) return CHOICES[name].includes(wanted);
    if (usual === null) return wanted === null || typeof wanted === 'object';
    if (Array.isArray(usual)) return Array.isArray(wanted);
    return typeof wanted === typeof usual;
}

const isRange = (range) =>
    Array.isArray(range) && range.length === 2 && range.every(Number.isFinite);
const isStep = (step) =>
    step &&
    (STEPS.includes(step.op) ||
        (STEPS_WITH_TEXT.includes(step.op) && typeof step.text === 'string'));

// What comes from an address is checked: whatever does not fit `profile` is left as it is without
// an address.
export function decodeState(text, profile) {
    const state = structuredClone(DEFAULTS);
    let given;
    try {
        given = JSON.parse(decodeURIComponent(text));
    } catch {
        given = null;
    }
    for (const name of Object.keys(DEFAULTS))
        if (given && typeof given === 'object' && name in given && fits(name, given[name]))
            state[name] = given[name];
    state.ranges = joinRanges(state.ranges.filter(isRange));
    state.chips = state.chips.filter(isStep);
    state.zoom = state.zoom.filter((name) => typeof name === 'string');
    const known = (list, index) => Number.isInteger(index) && index >= 0 && index < list.length;
    if (!known(profile.events, state.event))
        state.event = profile.sameWeights ? -1 : profile.firstEvent();
    if (
        !Array.isArray(state.threads) ||
        !state.threads.every((thread) => known(profile.threads, thread))
    )
        state.threads = null;
    for (const name of ['calls', 'order']) {
        const place = state[name];
        if (place && !(isRange([place.from, place.to]) && known(profile.threads, place.thread)))
            state[name] = null;
    }
    if (state.window && !isRange(state.window)) state.window = null;
    if (state.chosen && typeof state.chosen.name !== 'string') state.chosen = null;
    return state;
}

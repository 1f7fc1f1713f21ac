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
};

export function encodeState(state) {
    const out = {};
    for (const [name, value] of Object.entries(DEFAULTS))
        if (JSON.stringify(state[name]) !== JSON.stringify(value)) out[name] = state[name];
    return Object.keys(out).length ? encodeURIComponent(JSON.stringify(out)) : '';
}

// What comes from an address is checked: only known names, only values of the default's kind.
export function decodeState(text) {
    const state = structuredClone(DEFAULTS);
    if (!text) return state;
    let given;
    try {
        given = JSON.parse(decodeURIComponent(text));
    } catch {
        return state;
    }
    for (const [name, value] of Object.entries(DEFAULTS)) {
        if (!given || !(name in given)) continue;
        const wanted = given[name];
        const fits =
            value === null
                ? wanted === null || typeof wanted === 'object'
                : Array.isArray(value)
                  ? Array.isArray(wanted)
                  : typeof wanted === typeof value;
        if (fits) state[name] = wanted;
    }
    state.ranges = state.ranges.filter(
        (range) => Array.isArray(range) && range.length === 2 && range.every(Number.isFinite),
    );
    state.chips = state.chips.filter(
        (chip) =>
            chip &&
            typeof chip.op === 'string' &&
            (chip.text === undefined || typeof chip.text === 'string'),
    );
    if (state.threads && !(Array.isArray(state.threads) && state.threads.every(Number.isInteger)))
        state.threads = null;
    if (state.chosen && typeof state.chosen.name !== 'string') state.chosen = null;
    return state;
}

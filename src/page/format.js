// SPDX-License-Identifier: MIT
// Numbers -> text for people, and the small helpers that make elements.

export function percent(part, whole) {
    return whole ? `${((100 * part) / whole).toFixed(2)} %` : '0.00 %';
}

const GROUPED = new Intl.NumberFormat('en-US'); // made once: to make one takes longer than to use it

export function count(value) {
    return GROUPED.format(Math.round(value));
}

export function duration(ns) {
    const size = Math.abs(ns);
    if (size < 1e3) return `${Math.round(ns)} ns`;
    if (size < 1e6) return `${(ns / 1e3).toFixed(3)} µs`;
    if (size < 1e9) return `${(ns / 1e6).toFixed(3)} ms`;
    return `${(ns / 1e9).toFixed(6)} s`;
}

// An element with attributes, listeners (on...) and children. Text is always text, never markup.
export function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else if (value === true) element.setAttribute(name, '');
        else if (value !== false && value !== undefined && value !== null)
            element.setAttribute(name, value);
    }
    for (const child of children) if (child !== null) element.append(child);
    return element;
}

export function replaceChildren(element, ...children) {
    element.replaceChildren(...children.filter((child) => child !== null));
}

const MOST_OPTIONS = 2000; // more would make the list slow; the last line says how many are missing

// Options of a list of threads.
export function threadOptions(threads, text) {
    const shown = threads
        .slice(0, MOST_OPTIONS)
        .map((thread) => make('option', { value: thread }, text(thread)));
    const left = threads.length - shown.length;
    if (left > 0)
        shown.push(make('option', { disabled: true }, `${count(left)} more, with fewer samples`));
    return shown;
}

// Bytes that are not UTF-8 come as lone surrogates: they are shown as the bytes that they were.
// Right-to-left marks and control characters would reorder or hide what stands beside them.
const HIDDEN = new RegExp(
    '[\\u0000-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ufeff]|' +
        '(?<![\\ud800-\\udbff])[\\udc80-\\udcff]',
    'g',
);

export function visible(text) {
    return text.replace(HIDDEN, (c) => {
        const code = c.charCodeAt(0);
        if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code & 0xff).toString(16)}`;
        return `\\u${code.toString(16).padStart(4, '0')}`;
    });
}

// A canvas as large as its element, in device pixels, its context scaled to CSS pixels.
export function prepareCanvas(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [
        Math.max(1, Math.round(width * ratio)),
        Math.max(1, Math.round(height * ratio)),
    ];
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
}

export function cssColor(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// As much of `text` as fits, with a mark where it is cut. `unit` is the width of a character.
export function fit(text, width, unit) {
    const room = Math.floor(width / unit);
    if (room < 3) return '';
    return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}

// SPDX-License-Identifier: MIT
// Numbers -> text for people, and the small helpers that make elements.

export function percent(part, whole) {
    return whole ? `${((100 * part) / whole).toFixed(2)} %` : '0.00 %';
}

// Made once: to make one takes longer than to use it.
const GROUPED = new Intl.NumberFormat('en-US');

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

// For the marks of an axis: without the noughts at the end.
export function roundDuration(ns) {
    const text = duration(ns);
    return text.includes('.') ? text.replace(/\.?0+(?= )/, '') : text;
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

// Shows all that the recording has of the time in sight, where `exact()` gives what does that.
export function exactButton(exact, note, inSight) {
    const button = make('button', {}, 'Exact');
    button.addEventListener('click', async () => {
        const read = exact();
        note.textContent = read ? 'Reading …' : 'All that there is of this time is shown.';
        const problem = read ? await read(inSight()) : '';
        if (problem) note.textContent = problem;
    });
    return button;
}

const FEW_OPTIONS = 200;
const MOST_OPTIONS = 20000; // the last line says how many are missing

// A list of threads for a menu, behind the options that it has. A long one, and one whose threads
// take long to find (`later`), is filled when somebody goes to it: a thousand options take longer
// than all else that the page begins with.
export function offerThreads(select, list, text, later = false) {
    const option = (thread) => make('option', { value: thread }, text(thread));
    const fill = () => {
        if (!select.offered) return;
        const { value } = select;
        const { extra } = select.offered;
        select.offered = null;
        if (extra) extra.remove();
        const threads = list();
        const left = threads.length - MOST_OPTIONS;
        select.append(...threads.slice(0, MOST_OPTIONS).map(option));
        if (left > 0)
            select.append(
                make('option', { disabled: true }, `${count(left)} more, with fewer samples`),
            );
        select.value = value;
    };
    select.offered = { extra: null, option };
    if (!later && list().length <= FEW_OPTIONS) fill();
    else for (const name of ['pointerdown', 'focus', 'keydown']) select.addEventListener(name, fill);
}

// Chooses a thread also where the menu has not been filled yet.
export function chooseThread(select, thread) {
    const { offered } = select;
    if (offered && thread !== '') {
        if (offered.extra) offered.extra.remove();
        offered.extra = offered.option(thread);
        select.append(offered.extra);
    }
    select.value = thread;
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
    drawingColors.clear();
    return context;
}

// Asked for each of thousands of boxes: looked up once a drawing.
const drawingColors = new Map();

export function cssColor(name) {
    let color = drawingColors.get(name);
    if (color === undefined) {
        color = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
        drawingColors.set(name, color);
    }
    return color;
}

// As much of `text` as fits, with a mark where it is cut. `unit` is the width of a character.
export function fit(text, width, unit) {
    const room = Math.floor(width / unit);
    if (room < 3) return '';
    return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}

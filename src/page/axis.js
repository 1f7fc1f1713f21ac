// SPDX-License-Identifier: MIT
// A window of time -> the marks above what is drawn of it.
import { cssColor } from './format.js';

const APART = 110; // pixels from mark to mark; less where the picture is narrow
export const NARROW = 600;
const NARROW_APART = 80;
const GAP = 3; // from a mark to its text
const BETWEEN = 8; // from a text to the next one

export function niceStep(least) {
    const base = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    return [1, 2, 5, 10].map((factor) => factor * base).find((step) => step >= least);
}

const UNITS = [
    [1e9, 's'],
    [1e6, 'ms'],
    [1e3, 'µs'],
    [1, 'ns'],
];

// With as many digits as times that are `step` apart differ in, without the noughts at the end.
export function axisText(ns, step) {
    const [size, unit] = UNITS.find(([one]) => Math.abs(ns) >= one) || UNITS[3];
    const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
    return `${Number((ns / size).toFixed(Math.min(9, digits)))} ${unit}`;
}

// `axis`: window, its first and last time; origin, the time that is called 0; left and right, where
// the window lies; height. A text that the right edge would cut stands before its mark, where the
// text before it leaves room.
export function drawAxis(context, { window: [a, b], origin, left, right, height }) {
    const apart = right < NARROW ? NARROW_APART : APART;
    const step = niceStep((b - a) / Math.max(1, Math.floor((right - left) / apart)));
    context.fillStyle = cssColor('--ink');
    let end = left; // of the text before
    for (let i = Math.ceil((a - origin) / step); origin + i * step <= b; i++) {
        const x = left + ((origin + i * step - a) * (right - left)) / Math.max(1, b - a);
        context.globalAlpha = 0.3;
        context.fillRect(x, 0, 1, height);
        context.globalAlpha = 1;
        const text = axisText(i * step, step);
        const { width } = context.measureText(text);
        const at = x + GAP + width <= right ? x + GAP : x - GAP - width;
        if (at < end) continue;
        context.fillText(text, at, height / 2);
        end = at + width + BETWEEN;
    }
}

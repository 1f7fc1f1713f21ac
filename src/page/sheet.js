// SPDX-License-Identifier: MIT
// A picture higher than the element that scrolls it -> a canvas for what is seen of it; all of it
// where it is printed.
import { make, prepareCanvas } from './format.js';

// Calls `tell` with true before and with false after printing.
export function onPrinting(tell, options) {
    window.addEventListener('beforeprint', () => tell(true), options);
    window.addEventListener('afterprint', () => tell(false), options);
}

export class Sheet {
    // `redraw` is called before and after printing, until `signal` (or none) says that nobody looks
    // any more.
    constructor(redraw, signal) {
        this.canvas = make('canvas', { 'aria-hidden': 'true' });
        this.element = make('div', { class: 'sheet' }, this.canvas);
        this.printing = false;
        onPrinting((printing) => {
            this.printing = printing;
            redraw();
        }, { signal });
    }

    // The part of a picture of this height that is seen in `box`, which then scrolls over all of
    // it.
    inSight(box, height) {
        this.element.style.height = `${height}px`;
        if (this.printing) return { top: 0, bottom: height };
        const top = Math.max(0, Math.min(box.scrollTop, height - box.clientHeight));
        return { top, bottom: top + Math.min(height, box.clientHeight) };
    }

    // A context whose coordinates are the picture's, empty, and the part of it that is seen in
    // `box`.
    prepare(box, width, height) {
        const { top, bottom } = this.inSight(box, height);
        this.canvas.style.height = `${bottom - top}px`;
        const context = prepareCanvas(this.canvas, width, bottom - top);
        context.translate(0, -top);
        return { context, top, bottom };
    }

    // Where the mouse is in the picture.
    place(event) {
        const area = this.element.getBoundingClientRect();
        return [event.clientX - area.left, event.clientY - area.top];
    }
}

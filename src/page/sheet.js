// SPDX-License-Identifier: MIT
// A picture higher than the element that scrolls it -> a canvas for what is seen of it; all of it where it is printed.
import { make, prepareCanvas } from './format.js';

// Calls `tell` with true before and with false after printing.
export function onPrinting(tell, options) {
    window.addEventListener('beforeprint', () => tell(true), options);
    window.addEventListener('afterprint', () => tell(false), options);
}

export class Sheet {
    // `redraw` is called before and after printing, until `signal` (or none) says that nobody looks any more.
    constructor(redraw, signal) {
        this.canvas = make('canvas', { 'aria-hidden': 'true' });
        this.element = make('div', { class: 'sheet' }, this.canvas);
        this.printing = false;
        onPrinting((printing) => {
            this.printing = printing;
            redraw();
        }, { signal });
    }

    // A context whose coordinates are the picture's, and the part of it that is seen in `box`.
    prepare(box, width, height) {
        this.element.style.height = `${height}px`;
        const seen = this.printing ? height : Math.min(height, box.clientHeight);
        this.canvas.style.height = `${seen}px`;
        const top = this.printing
            ? 0
            : Math.max(0, Math.min(box.scrollTop, height - box.clientHeight));
        const context = prepareCanvas(this.canvas, width, seen);
        context.translate(0, -top);
        return { context, top, bottom: top + seen };
    }

    // Where the mouse is in the picture.
    place(event) {
        const area = this.element.getBoundingClientRect();
        return [event.clientX - area.left, event.clientY - area.top];
    }
}

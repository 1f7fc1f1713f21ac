// SPDX-License-Identifier: MIT
// A drawing -> pieces of it, as many a frame as a frame has time for.
//
// A picture is usually drawn within one frame. The first one takes longer, since the browser has
// not yet translated the code that draws it, and so does one of very many rows: what is left is
// drawn in the next frame, and the page answers between.

// Milliseconds; the rest of a frame belongs to the browser, which shows what was drawn.
const TIME_A_FRAME = 6;
// Boxes, rows or cells from one place to the next where a drawing may be interrupted.
export const MANY = 64;

// What extends it has a `sheet`, `canDraw()`, and `*paint()`, which draws and yields wherever it
// may be interrupted.
export class Picture {
    // In the next frame. A drawing under way is finished first, so that pictures that follow each
    // other quickly are all seen.
    draw() {
        if (!this.canDraw()) return;
        this.stale = true;
        this.ask();
    }

    // What a drawing under way reads has changed: it is given up.
    drawAnew() {
        this.work = null;
        this.draw();
    }

    ask() {
        if (this.pending) return;
        this.pending = requestAnimationFrame(() => {
            this.pending = 0;
            this.drawNow();
        });
    }

    // As much of it as a frame has time for.
    drawNow() {
        this.drawUntil(performance.now() + TIME_A_FRAME);
        if (this.work || this.stale) this.ask();
    }

    // All of it, however long that takes.
    drawWhole() {
        this.work = null;
        if (this.canDraw()) this.drawUntil(Infinity);
    }

    drawUntil(deadline) {
        if (!this.work) {
            this.stale = false;
            this.work = this.paint();
        }
        do if (this.work.next().done) this.work = null;
        while (this.work && performance.now() < deadline);
    }
}

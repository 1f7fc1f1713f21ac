// SPDX-License-Identifier: MIT
// A page that is served asks its server for data: of the first part of a recording, then of larger ones, then of the whole.
import { readProfile } from './data.js';
import { make, percent, count } from './format.js';

const EVERY = 400; // milliseconds between questions

const wait = (time) => new Promise((done) => setTimeout(done, time));

async function ask(name) {
    const answer = await fetch(name, { cache: 'no-store' });
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    return answer;
}

export class Feed {
    // `show(profile)` comes for each picture, once `free()` is true or there was none before.
    constructor(show, free) {
        this.show = show;
        this.free = free;
        this.bar = make('progress', { max: 1, 'aria-label': 'Recording that has been read' });
        this.text = make('span', { role: 'status' });
        this.element = make('div', { class: 'news' }, this.bar, this.text);
        this.shown = 0;
    }

    tell(news) {
        this.bar.value = news.share;
        const read = `${percent(news.share, 1)} of the recording has been read (${count(news.records)} records).`;
        this.text.textContent = this.shown
            ? `${read} ${this.whatIsShown()}`
            : read;
        this.element.hidden = news.whole && this.shown === news.picture;
    }

    whatIsShown() {
        const part = percent(this.part, 1);
        return this.slices
            ? `What is shown are ${count(this.slices)} slices of it, ${part} of its time.`
            : `What is shown is its first ${part}.`;
    }

    async take(news) {
        const profile = await readProfile(await (await ask('data')).arrayBuffer());
        this.shown = news.picture;
        this.part = news.part;
        this.slices = news.slices;
        this.show(profile);
    }

    async run() {
        for (;;) {
            let news;
            try {
                news = await (await ask('progress')).json();
                if (news.picture > this.shown && (!this.shown || this.free()))
                    await this.take(news);
            } catch {
                this.bar.hidden = true;
                this.element.hidden = false;
                this.text.textContent = 'perfdata view has ended: nothing more comes from it.';
                return;
            }
            this.tell(news);
            if (news.whole && this.shown === news.picture) return;
            await wait(EVERY);
        }
    }
}

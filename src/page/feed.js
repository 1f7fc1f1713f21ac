// SPDX-License-Identifier: MIT
// A page that is served asks its server for data: of the first part of a recording, then of larger
// ones, then of the whole.
import { readProfile } from './data.js';
import { make, percent, count, duration } from './format.js';

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
        this.back = make('button', { hidden: true, onclick: () => this.leaveRange() }, 'Back');
        this.element = make('div', { class: 'news' }, this.bar, this.text, this.back);
        this.shown = 0;
        this.ranges = false; // the server makes them
        this.range = null; // what is shown in place of the newest picture
    }

    tell(news) {
        this.bar.value = news.share;
        const read = `${percent(news.share, 1)} of the recording has been read (${count(news.records)} records).`;
        this.text.textContent = this.shown
            ? `${read} ${this.whatIsShown()}`
            : read;
        this.news = news;
        const done = news.whole && this.shown === news.picture;
        this.bar.hidden = done;
        this.back.hidden = !this.range;
        if (this.range) this.text.textContent = this.range;
        this.element.hidden = done && !this.range;
    }

    // All that the recording has between two times of a profile. Why there is nothing, or ''.
    async showRange(profile, from, to) {
        const begin = BigInt(profile.header.begin);
        const ends = [Math.floor(from), Math.ceil(to)].map((time) => begin + BigInt(time));
        let answer;
        try {
            answer = await fetch(`range/${ends.join('-')}`, { cache: 'no-store' });
        } catch {
            return 'perfdata view has ended.';
        }
        if (!answer.ok) return answer.status === 413 ? 'Zoom in: so much takes long.' : 'It cannot be read.';
        const exact = await readProfile(await answer.arrayBuffer());
        if (!this.range) this.before = profile;
        this.range = `What is shown is all of ${duration(to - from)} from ${duration(Number(ends[0] - BigInt(this.before.header.begin)))} on.`;
        this.show(exact);
        this.tell(this.news);
        return '';
    }

    leaveRange() {
        this.range = null;
        this.show(this.before);
        this.before = null;
        this.tell(this.news);
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
                this.ranges = news.ranges === true;
                if (news.picture > this.shown && (!this.shown || (this.free() && !this.range)))
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

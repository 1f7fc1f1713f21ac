// SPDX-License-Identifier: MIT
// Samples and switches -> those of each row of the timeline, in order of time.
//
// To order a million samples takes longer than a drawing may: all of it is done in pieces.
import { PIECE } from './columns.js';

// After each piece of a long loop.
const isEnd = (i) => i % PIECE === PIECE - 1;

// Numbers -> places in a list of those that there are, which go into `of`; that list.
function* numbered(column, of) {
    const places = new Map();
    for (let i = 0; i < column.length; i++) {
        let place = places.get(column[i]);
        if (place === undefined) places.set(column[i], (place = places.size));
        of[i] = place;
        if (isEnd(i)) yield;
    }
    return [...places.keys()];
}

export class Rows {
    constructor(profile) {
        this.profile = profile;
        this.by = '';
        this.places = null; // the row of each sample as a place in `ids`
        this.bars = null;
        this.rooms = {};
    }

    // Room for numbers, one for each name. Each index takes the place of the one before: the
    // browser would stop for longer than a drawing may take to clear new memory for a million
    // numbers and to find the old one again.
    room(name, Kind, count) {
        const { rooms, profile } = this;
        if (!rooms[name]) rooms[name] = new Kind(profile.sampleCount + 1);
        return rooms[name].subarray(0, count);
    }

    // `what`: by, one of thread, process, cpu and heat, which is one row; chosen, the samples;
    // weights as the trees count, or null; marked, for each stack 1 where the chosen function is in
    // it, or null. Does a piece of the work; whether that was all.
    prepare(what) {
        const { by, chosen, weights, marked } = what;
        const key = `${by} ${chosen.key()}`;
        if (this.key !== key || this.weights !== weights) {
            Object.assign(this, { key, weights, chosen, marked: null, index: null });
            if (this.by !== by) Object.assign(this, { by, places: null, bars: null });
            this.work = this.makeIndex();
        }
        if (this.work && this.work.next().done) this.work = null;
        if (!this.work && this.marked !== marked) {
            this.marked = marked;
            this.work = this.makeMarkedSums();
        }
        return !this.work;
    }

    *makePlaces() {
        const { profile, by } = this;
        let of = profile.thread;
        let ids = profile.threads.map((_, i) => i);
        if (by === 'cpu') {
            of = this.room('of', Int32Array, profile.sampleCount);
            ids = yield* numbered(profile.cpu, of);
        }
        if (by === 'process') {
            const own = new Int32Array(profile.threads.length);
            ids = yield* numbered(
                profile.threads.map((thread) => thread.pid),
                own,
            );
            const threads = of;
            of = this.room('of', Int32Array, profile.sampleCount);
            for (let i = 0; i < of.length; i++) {
                of[i] = own[threads[i]];
                if (isEnd(i)) yield;
            }
        }
        if (by === 'heat') [of, ids] = [this.room('none', Int8Array, profile.sampleCount), [0]];
        return { of, ids };
    }

    // The chosen samples of each row, and sums of what they weigh: those of row r are at starts[r]
    // to starts[r + 1].
    *makeIndex() {
        const { profile, chosen, weights } = this;
        yield* profile.columns.pieces();
        if (!this.places) this.places = yield* this.makePlaces();
        const { of, ids } = this.places;
        const { sampleCount, time } = profile;
        const takes = (i) => chosen.takesAll || chosen.testAll(i);
        const starts = new Int32Array(ids.length + 1);
        for (let i = 0; i < sampleCount; i++) {
            if (takes(i)) starts[of[i] + 1]++;
            if (isEnd(i)) yield;
        }
        for (let row = 0; row < ids.length; row++) starts[row + 1] += starts[row];
        const list = this.room('list', Int32Array, starts[ids.length]);
        const next = starts.slice();
        for (let i = 0; i < sampleCount; i++) {
            if (takes(i)) list[next[of[i]]++] = i;
            if (isEnd(i)) yield;
        }
        if (!profile.sorted)
            for (let row = 0; row < ids.length; row++) {
                list.subarray(starts[row], starts[row + 1]).sort((x, y) => time[x] - time[y]);
                yield;
            }
        const times = this.room('times', Float64Array, list.length);
        const sums = this.room('sums', Float64Array, list.length + 1); // of those before each
        for (let k = 0; k < list.length; k++) {
            times[k] = time[list[k]];
            sums[k + 1] = sums[k] + (weights ? weights[list[k]] : 1);
            if (isEnd(k)) yield;
        }
        if (!this.bars) this.bars = yield* this.makeBars(ids);
        this.index = { ids, starts, list, times, sums, markedSums: null };
    }

    *makeMarkedSums() {
        const { marked, weights, index } = this;
        index.markedSums = null;
        if (!marked) return;
        const { list } = index;
        const { stack } = this.profile;
        const sums = this.room('marked', Float64Array, list.length + 1);
        for (let k = 0; k < list.length; k++) {
            const i = list[k];
            sums[k + 1] = sums[k] + (marked[stack[i]] ? (weights ? weights[i] : 1) : 0);
            if (isEnd(k)) yield;
        }
        index.markedSums = sums;
    }

    // From each switch of a row to its next one, unless it went to sleep between; those of row r
    // are at starts[r] to starts[r + 1]. They are the same whatever samples are chosen.
    *makeBars(ids) {
        const { by } = this;
        const { switches, end } = this.profile;
        if (!switches || (by !== 'cpu' && by !== 'thread')) return null;
        const { time, kind } = switches; // 0: came, 1: was preempted, 2: went to sleep
        const rows = new Map(ids.map((id, row) => [id, row]));
        const rowOf = by === 'cpu' ? switches.cpu : switches.thread;
        const starts = new Int32Array(ids.length + 1);
        for (let i = 0; i < time.length; i++) {
            const row = rows.get(rowOf[i]);
            if (row !== undefined && kind[i] !== 2) starts[row + 1]++;
            if (isEnd(i)) yield;
        }
        for (let row = 0; row < ids.length; row++) starts[row + 1] += starts[row];
        const next = starts.slice();
        const open = new Uint8Array(ids.length);
        const out = {
            starts,
            from: new Float64Array(starts[ids.length]),
            to: new Float64Array(starts[ids.length]).fill(end),
            kind: new Uint8Array(starts[ids.length]),
        };
        for (let i = 0; i < time.length; i++) {
            if (isEnd(i)) yield;
            const row = rows.get(rowOf[i]);
            if (row === undefined) continue;
            if (open[row]) out.to[next[row] - 1] = time[i];
            open[row] = kind[i] === 2 ? 0 : 1;
            if (!open[row]) continue;
            out.from[next[row]] = time[i];
            out.kind[next[row]++] = kind[i];
        }
        return out;
    }
}

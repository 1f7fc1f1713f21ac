// SPDX-License-Identifier: MIT
// Packed columns of numbers -> typed arrays, each when it is asked for (docs/page-data.md).

// Numbers that are read at once while somebody may be waiting: a millisecond or two.
export const PIECE = 1 << 16;

// One column: numbers as variable-length groups of seven bits, low group first. 'd' columns hold
// the difference to the number before, its sign in the lowest bit; of an 's' column one number is
// there, which all are. Numbers above 31 bits need doubles.
class Reader {
    constructor(bytes, at, column) {
        this.bytes = bytes;
        this.at = at;
        this.end = at + column.bytes;
        this.column = column;
        this.read = 0;
        this.last = 0;
        if (this.end > bytes.length || column.bytes < (this.isSame() ? 1 : column.count))
            this.fail();
        this.out = null;
    }

    fail() {
        throw new Error(`column ${this.column.name} ends early`);
    }

    isSame() {
        return this.column.type[0] === 's';
    }

    // All of them, however much has been read.
    finish() {
        while (!this.step(Infinity));
        return this.out;
    }

    // Reads `most` more; whether that was the last one.
    step(most) {
        const { count, type, bytes } = this.column;
        const wide = type.endsWith('64');
        if (!this.out) {
            if (this.isSame()) return this.fill(wide);
            if (!wide && bytes === count) return this.copy();
            this.out = wide ? new Float64Array(count) : new Int32Array(count);
        }
        const to = Math.min(count, this.read + most);
        if (!wide) this.narrow(to);
        else if (type[0] === 'd') this.differences(to);
        else for (; this.read < to; this.read++) this.out[this.read] = this.wide();
        if (this.at > this.end) this.fail();
        return this.read === count;
    }

    fill(wide) {
        const value = this.wide();
        if (this.at > this.end) this.fail();
        const Kind = wide ? Float64Array : value < 0x80 ? Int8Array : Int32Array;
        this.out = new Kind(this.column.count).fill(value);
        return true;
    }

    // Each number is one byte.
    copy() {
        this.out = new Int8Array(this.bytes.slice(this.at, this.end).buffer);
        for (let i = 0; i < this.out.length; i++) if (this.out[i] < 0) this.fail();
        return true;
    }

    wide() {
        const { bytes } = this;
        let byte = bytes[this.at++];
        let value = byte & 0x7f;
        for (let scale = 128; byte & 0x80; scale *= 128) {
            byte = bytes[this.at++];
            value += (byte & 0x7f) * scale;
        }
        return value;
    }

    narrow(to) {
        const { bytes, out } = this;
        let { at } = this;
        for (let i = this.read; i < to; i++) {
            let byte = bytes[at++];
            let value = byte & 0x7f;
            for (let shift = 7; byte & 0x80; shift += 7) {
                byte = bytes[at++];
                value |= (byte & 0x7f) << shift;
            }
            out[i] = value;
        }
        this.at = at;
        this.read = to;
    }

    // Most of them have three bytes or less.
    differences(to) {
        const { bytes, out } = this;
        let { last } = this;
        for (let i = this.read; i < to; i++) {
            const one = bytes[this.at];
            const two = bytes[this.at + 1];
            const three = bytes[this.at + 2];
            let value = one;
            if (one < 0x80) this.at++;
            else if (two < 0x80) {
                value = (one & 0x7f) | (two << 7);
                this.at += 2;
            } else if (three < 0x80) {
                value = (one & 0x7f) | ((two & 0x7f) << 7) | (three << 14);
                this.at += 3;
            } else value = this.wide();
            last += value % 2 ? -(value + 1) / 2 : value / 2;
            out[i] = last;
        }
        this.last = last;
        this.read = to;
    }
}

// Columns by name, each read when it is asked for: most of them are not what a page shows first.
export class Columns {
    constructor(bytes, at, list) {
        this.readers = new Map();
        this.values = new Map();
        for (const column of list) {
            this.readers.set(column.name, new Reader(bytes, at, column));
            at += column.bytes;
        }
    }

    has(name) {
        return this.readers.has(name) || this.values.has(name);
    }

    // Undefined: there is none.
    get(name) {
        const reader = this.readers.get(name);
        if (reader) this.keep(name, reader.finish());
        return this.values.get(name);
    }

    keep(name, values) {
        this.values.set(name, values);
        this.readers.delete(name);
    }

    // Reads all, in pieces; others may ask for a column meanwhile.
    *pieces() {
        let room = PIECE;
        for (const [name, reader] of this.readers)
            while (this.readers.has(name)) {
                const before = reader.read;
                if (reader.step(room)) this.keep(name, reader.out);
                room -= reader.read - before;
                if (room > 0) continue;
                room = PIECE;
                yield;
            }
    }
}

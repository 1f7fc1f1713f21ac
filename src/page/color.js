// SPDX-License-Identifier: MIT
// What a frame is -> its colour, in a light and a dark palette, and one that colour-blind people
// tell apart.
import { KEY_GROUP } from './tree.js';

function hashOf(text) {
    let value = 2166136261;
    for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
    return (value >>> 8) / 0x1000000;
}

// Okabe and Ito's colours, lightened so that black text can be read on them.
const SAFE = [
    '#f0c060',
    '#8fcdf2',
    '#66c8a6',
    '#f3e76b',
    '#7fb0dc',
    '#e8956a',
    '#dfa8c6',
    '#c8c8c8',
];
// By number, as src/page/page.h has them.
export const KIND_NAMES = ['user', 'kernel', 'generated code', 'unknown', 'inlined'];
const KIND_HUES = [38, 10, 130, 210, 190];

export function moduleOf(name) {
    const cut = name.replace(/[<(].*$/, '').split(/::|\.|\//);
    return cut.length > 1 ? cut[0] : name.split('_')[0];
}

export class Colors {
    constructor(profile, options) {
        this.profile = profile;
        this.by = options.by;
        this.safe = options.safe;
        this.dark = options.dark;
        this.memo = new Map();
    }

    ofHue(seed, spread) {
        if (this.safe) return SAFE[Math.floor(seed * SAFE.length) % SAFE.length];
        const hue = Math.round(spread === undefined ? seed * 330 : spread + seed * 26 - 13);
        const light = (this.dark ? 58 : 70) + Math.round(((seed * 7919) % 1) * 8);
        return `hsl(${(hue + 360) % 360} ${this.dark ? 45 : 62}% ${light}%)`;
    }

    // `group` is the key of the first level above, for colours by thread.
    ofKey(tree, key, group) {
        const memoKey = this.by === 'thread' ? group : key;
        let color = this.memo.get(memoKey);
        if (!color) this.memo.set(memoKey, (color = this.make(tree, key, group)));
        return color;
    }

    make(tree, key, group) {
        if (key < 0 || key >= KEY_GROUP) return this.dark ? '#8d99a6' : '#c4ced8';
        const { profile } = this;
        const fn = tree.functionOf(key);
        if (this.by === 'thread') return this.ofHue(hashOf(tree.name(group)));
        if (this.by === 'object') return this.ofHue(hashOf(profile.objectName(fn)));
        if (this.by === 'module') return this.ofHue(hashOf(moduleOf(profile.functionName(fn))));
        return this.ofKind(profile.fnKind[fn], hashOf(profile.functionName(fn)));
    }

    // Functions of a kind differ a little; 0.5 is the middle of them.
    ofKind(kind, seed = 0.5) {
        return this.safe ? SAFE[kind] : this.ofHue(seed, KIND_HUES[kind]);
    }

    // Change of share, -1 to 1: blue for less, orange for more; both differ in lightness, too.
    ofChange(change) {
        const strength = Math.min(1, Math.sqrt(Math.abs(change)) * 2.2);
        if (strength < 0.02) return this.dark ? '#9aa0a6' : '#e3e3e3';
        const light = (this.dark ? 68 : 88) - strength * (this.dark ? 18 : 30);
        return `hsl(${change > 0 ? 26 : 212} ${Math.round(45 + 45 * strength)}% ${Math.round(light)}%)`;
    }
}

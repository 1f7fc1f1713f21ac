// SPDX-License-Identifier: MIT
// Stacks of the chosen samples -> trees that can be drawn: from the root down, from the leaves up,
// around one function.

// (parent, key) -> node, both below 2^31; open addressing.
class PairTable {
    constructor(expected) {
        let size = 1024;
        while (size < expected * 2) size *= 2;
        this.mask = size - 1;
        this.slots = new Int32Array(size).fill(-1);
        this.used = 0;
    }

    place(parent, key, parents, keys) {
        let at = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(key + 1, 0x85ebca6b)) & this.mask;
        for (;;) {
            const node = this.slots[at];
            if (node < 0 || (parents[node] === parent && keys[node] === key)) return at;
            at = (at + 1) & this.mask;
        }
    }
}

// What turns a stack into the frames that are shown. `chips` are the user's steps, in order:
//   hide    frames that match are left out, what they cost goes to their caller
//   drop    samples with a matching frame are left out
//   only    samples without a matching frame are left out
//   from    stacks begin at the first matching frame; samples without one are left out
//   recursion   a function that calls itself is one frame
//   wrappers    frames of call glue are left out
//   objects     frames in a row of one object are one frame
const WRAPPERS = new RegExp(
    '(^|::)(__invoke(_impl|_r)?|invoke|__call|_M_invoke|call_once|call_mut|call|' +
        '__rust_begin_short_backtrace|catch_unwind|do_call|_Function_handler.*|function::operator\\(\\).*)(<|\\(|$)',
);

export function matcher(text, regex) {
    if (regex) {
        const expression = new RegExp(text, 'i');
        return (name) => expression.test(name);
    }
    const lower = text.toLowerCase();
    return (name) => name.toLowerCase().includes(lower);
}

function flagsOf(profile, chip) {
    const flags = new Uint8Array(profile.fnName.length);
    const test = chip.exact
        ? (name) => name === chip.text
        : chip.op === 'wrappers'
          ? (name) => WRAPPERS.test(name)
          : matcher(chip.text, chip.regex);
    for (let fn = 0; fn < flags.length; fn++) {
        const name = profile.functionName(fn);
        flags[fn] =
            test(name) && (chip.object === undefined || chip.object === profile.objectName(fn))
                ? 1
                : 0;
    }
    return flags;
}

const PARTS = 4; // of the samples, for time ranges

// Keys from here on are groups (threads, processes, CPUs), not functions.
export const KEY_GROUP = 0x40000000;

// Nodes by rank, those of one by number. Ranks are below their number.
function byRank(rank) {
    const next = new Int32Array(rank.length + 1);
    for (const one of rank) next[one + 1]++;
    for (let one = 0; one < rank.length; one++) next[one + 1] += next[one];
    const out = new Int32Array(rank.length);
    for (let node = 0; node < rank.length; node++) out[next[rank[node]]++] = node;
    return out;
}

// Nodes of all stacks under the chips; what each weighs is counted by weigh(). Node 0 is the root.
export class Tree {
    constructor(profile, options) {
        this.profile = profile;
        this.byLine = options.level === 'line';
        this.group = options.group || 'none';
        this.recursion = options.chips.some((chip) => chip.op === 'recursion');
        this.objects = options.chips.some((chip) => chip.op === 'objects');
        this.hide = this.merged(options.chips, ['hide', 'wrappers']);
        this.drop = this.merged(options.chips, ['drop']);
        this.froms = options.chips
            .filter((chip) => chip.op === 'from')
            .map((chip) => flagsOf(profile, chip));
        this.onlys = options.chips
            .filter((chip) => chip.op === 'only')
            .map((chip) => flagsOf(profile, chip));
        this.build();
        this.order();
    }

    merged(chips, operations) {
        const flags = new Uint8Array(this.profile.fnName.length);
        for (const chip of chips.filter((one) => operations.includes(one.op)))
            flagsOf(this.profile, chip).forEach((value, fn) => {
                flags[fn] |= value;
            });
        return flags;
    }

    groupKey(sample) {
        const { profile } = this;
        if (this.group === 'thread') return profile.thread[sample];
        if (this.group === 'process') return this.processOf[profile.thread[sample]];
        if (this.group === 'cpu') return profile.cpu[sample];
        if (this.group === 'event') return profile.event[sample];
        return -1;
    }

    groupName(key) {
        const { profile } = this;
        const value = key - KEY_GROUP - 1; // -1: unknown CPU
        if (this.group === 'thread') return profile.threadName(value);
        if (this.group === 'process') {
            const { pid } = profile.threads[value];
            const leader =
                profile.threads.find((thread) => thread.tid === pid) || profile.threads[value];
            return `${leader.comm} (${pid})`;
        }
        return this.group === 'cpu'
            ? value < 0
                ? 'CPU unknown'
                : `CPU ${value}`
            : profile.events[value].name;
    }

    node(parent, key) {
        const at = this.table.place(parent, key, this.parents, this.keys);
        if (this.table.slots[at] >= 0) return this.table.slots[at];
        const node = this.count++;
        if (node === this.parents.length) this.widen();
        this.parents[node] = parent;
        this.keys[node] = key;
        this.table.slots[at] = node;
        if (++this.table.used * 2 > this.table.mask) this.grow();
        return node;
    }

    // Groups have more nodes than there are stacks.
    widen() {
        for (const name of ['parents', 'keys']) {
            const wider = new Int32Array(2 * this[name].length);
            wider.set(this[name]);
            this[name] = wider;
        }
    }

    grow() {
        const table = new PairTable(this.table.mask + 2);
        for (let node = 1; node < this.count; node++)
            table.slots[table.place(this.parents[node], this.keys[node], this.parents, this.keys)] =
                node;
        table.used = this.count;
        this.table = table;
    }

    // Node of each stack; -1: its samples are left out.
    mapStacks() {
        const { profile } = this;
        const count = profile.stParent.length;
        const nodes = new Int32Array(count);
        const begun = new Uint8Array(count); // how many of the "from" steps are fulfilled
        const seen = this.onlys.map(() => new Uint8Array(count));
        const out = new Uint8Array(count);
        const { stParent, stFrame, frFn } = profile;
        for (let s = 1; s < count; s++) {
            const parent = stParent[s];
            const frame = stFrame[s];
            const fn = frFn[frame];
            nodes[s] = nodes[parent];
            out[s] = out[parent] | this.drop[fn];
            for (let i = 0; i < seen.length; i++)
                seen[i][s] = seen[i][parent] | this.onlys[i][fn];
            begun[s] = begun[parent];
            let first = false;
            while (begun[s] < this.froms.length && this.froms[begun[s]][fn]) {
                begun[s]++;
                first = true;
            }
            if (begun[s] < this.froms.length) continue;
            if (first) nodes[s] = 0;
            if (this.hide[fn]) continue;
            nodes[s] = this.step(nodes[s], this.byLine ? frame : fn);
        }
        for (let s = 0; s < count; s++)
            if (out[s] || begun[s] < this.froms.length || seen.some((flags) => !flags[s]))
                nodes[s] = -1;
        return nodes;
    }

    step(parent, key) {
        if (parent > 0 && (this.recursion || this.objects)) {
            const above = this.functionOf(this.keys[parent]);
            const fn = this.functionOf(key);
            if (this.recursion && above === fn) return parent;
            if (this.objects && this.profile.fnObject[above] === this.profile.fnObject[fn])
                return parent;
        }
        return this.node(parent, key);
    }

    build() {
        const { profile } = this;
        this.clear();
        const nodes = this.mapStacks();
        this.sampleNode = new Int32Array(profile.sampleCount);
        if (this.group === 'none') {
            const { sampleNode } = this;
            const { stack } = profile;
            for (let i = 0; i < sampleNode.length; i++) sampleNode[i] = nodes[stack[i]];
        } else {
            this.buildGroups(nodes, this.parents, this.keys);
        }
        this.parents = this.parents.slice(0, this.count);
        this.keys = this.keys.slice(0, this.count);
        this.table = null;
    }

    clear() {
        const stacks = this.profile.stParent.length;
        this.parents = new Int32Array(stacks + 1);
        this.keys = new Int32Array(stacks + 1);
        this.parents[0] = this.keys[0] = -1;
        this.count = 1;
        this.table = new PairTable(stacks);
    }

    // Each group has its own copy of the nodes that its samples reach.
    buildGroups(nodes, parents, keys) {
        const { profile } = this;
        this.clear();
        if (this.group === 'process') this.processOf = this.leaders();
        const maps = new Map();
        for (let i = 0; i < profile.sampleCount; i++) {
            const plain = nodes[profile.stack[i]];
            const group = this.groupKey(i);
            if (!maps.has(group))
                maps.set(group, new Map([[0, this.node(0, KEY_GROUP + group + 1)]]));
            this.sampleNode[i] =
                plain < 0 ? -1 : this.groupNode(maps.get(group), plain, parents, keys);
        }
    }

    groupNode(map, plain, parents, keys) {
        const path = [];
        let node;
        for (let at = plain; (node = map.get(at)) === undefined; at = parents[at]) path.push(at);
        while (path.length) {
            const at = path.pop();
            node = this.node(node, keys[at]);
            map.set(at, node);
        }
        return node;
    }

    // For each thread the first one of its process.
    leaders() {
        const first = new Map();
        return this.profile.threads.map((thread, i) => {
            if (!first.has(thread.pid)) first.set(thread.pid, i);
            return first.get(thread.pid);
        });
    }

    functionOf(key) {
        return this.byLine ? this.profile.frFn[key] : key;
    }

    name(key) {
        if (key < 0) return 'all';
        if (key >= KEY_GROUP) return this.groupName(key);
        const name = this.profile.functionName(this.functionOf(key));
        return this.byLine && this.profile.frLine[key]
            ? `${name}:${this.profile.frLine[key]}`
            : name;
    }

    // Children of each node by name, so that a place in the picture stays when weights change.
    order() {
        const { count, parents } = this;
        const starts = new Int32Array(count + 1);
        for (let node = 1; node < count; node++) starts[parents[node] + 1]++;
        for (let node = 0; node < count; node++) starts[node + 1] += starts[node];
        const list = new Int32Array(count);
        const fill = starts.slice();
        const rank = this.ranks();
        for (const node of byRank(rank)) if (node) list[fill[parents[node]]++] = node;
        this.starts = starts;
        this.list = list;
        this.depths = new Int32Array(count);
        for (let node = 1; node < count; node++) this.depths[node] = this.depths[parents[node]] + 1;
    }

    // Rank of each node's name among all names; one comparison of strings for each name, not for
    // each node.
    ranks() {
        const numbers = new Map();
        const rank = new Int32Array(this.count);
        for (let node = 0; node < this.count; node++) {
            let number = numbers.get(this.keys[node]);
            if (number === undefined) numbers.set(this.keys[node], (number = numbers.size));
            rank[node] = number;
        }
        const keys = [...numbers.keys()];
        const names = keys.map((key) => this.name(key));
        const order = [...keys.keys()].sort((a, b) =>
            names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : keys[a] - keys[b],
        );
        const place = new Int32Array(keys.length);
        order.forEach((number, i) => {
            place[number] = i;
        });
        for (let node = 0; node < this.count; node++) rank[node] = place[rank[node]];
        return rank;
    }

    // Sums of all nodes. Their memory is kept from one time range to the next: the browser would
    // stop now and then to clear and to collect it.
    sums(name) {
        this.kept ||= {};
        return (this.kept[name] ||= new Float64Array(this.count));
    }
    noSums(name) {
        return this.sums(name).fill(0);
    }

    // Counts the samples for which `chosen` holds; `weights`: what each counts, or null for 1.
    weigh(chosen, weights) {
        this.selfOld = null;
        if (this.profile.side) this.weighSides(chosen, weights);
        else if (!chosen.ranges.length) this.weighWhole(chosen, weights);
        else if (!this.weighBetween(chosen, weights)) {
            this.self = this.noSums('self');
            for (const span of chosen.spans) this.weighSpan(span, chosen, weights, 1);
        }
        this.total = this.sumUp(this.self, 'total');
        this.totalOld = this.selfOld ? this.sumUp(this.selfOld, 'totalOld') : null;
    }

    weighSides(chosen, weights) {
        const { profile, sampleNode } = this;
        this.self = this.noSums('self');
        this.selfOld = this.noSums('selfOld');
        for (const [from, to] of chosen.spans) {
            for (let i = from; i < to; i++) {
                const node = sampleNode[i];
                if (node < 0 || !chosen.test(i)) continue;
                (profile.side[i] ? this.selfOld : this.self)[node] += weights ? weights[i] : 1;
            }
        }
    }

    // What had been counted after each part is kept: a time range is the difference of two of them,
    // and a few samples.
    weighWhole(chosen, weights) {
        const { sampleCount } = this.profile;
        const kept = [];
        this.self = this.noSums('self');
        for (let part = 0; part <= PARTS; part++) {
            const place = (one) => Math.floor((one * sampleCount) / PARTS);
            const [from, to] = [place(part - 1), place(part)];
            if (part) this.weighSpan([from, to], chosen, weights, 1);
            kept.push({ at: to, self: this.self.slice() });
        }
        let sum = 0;
        for (let node = 0; node < this.count; node++) sum += this.self[node];
        this.whole = { key: chosen.key(), weights, kept, isExact: sum < Number.MAX_SAFE_INTEGER };
    }

    weighSpan([from, to], chosen, weights, sign) {
        const { sampleNode, self } = this;
        const all = chosen.takesAll && !chosen.checkTime;
        for (let i = from; i < to; i++) {
            const node = sampleNode[i];
            if (node < 0 || !(all || chosen.test(i))) continue;
            self[node] += weights ? sign * weights[i] : sign;
        }
    }

    addSelf(self, sign) {
        for (let node = 0; node < this.count; node++) this.self[node] += sign * self[node];
    }

    // False: nothing is kept of these samples, or to count them is less, or they weigh so much that
    // differences are not exact.
    weighBetween(chosen, weights) {
        const { whole } = this;
        if (!whole || whole.weights !== weights || whole.key !== chosen.key() || chosen.checkTime)
            return false;
        const nearest = (at) =>
            whole.kept.reduce((best, one) =>
                Math.abs(one.at - at) < Math.abs(best.at - at) ? one : best,
            );
        const ends = chosen.spans.flatMap(([from, to]) => [
            { at: from, sign: -1, near: nearest(from) },
            { at: to, sign: 1, near: nearest(to) },
        ]);
        const direct = chosen.spans.reduce((sum, [from, to]) => sum + to - from, 0);
        const steps = ends.reduce((sum, { at, near }) => sum + Math.abs(at - near.at), 0);
        if (steps + (ends.length * this.count) / 4 > direct || !whole.isExact) return false;
        this.self = this.noSums('self');
        for (const { at, sign, near } of ends) {
            if (near.at && !(ends.length === 2 && ends[0].near === ends[1].near))
                this.addSelf(near.self, sign);
            if (at > near.at) this.weighSpan([near.at, at], chosen, weights, sign);
            else this.weighSpan([at, near.at], chosen, weights, -sign);
        }
        return true;
    }

    sumUp(self, name) {
        const total = this.sums(name);
        const { parents } = this;
        total.set(self);
        for (let node = this.count - 1; node > 0; node--) total[parents[node]] += total[node];
        return total;
    }

    childrenOf(node) {
        return this.list.subarray(this.starts[node], this.starts[node + 1]);
    }
    parentOf(node) {
        return this.parents[node];
    }
    keyOf(node) {
        return this.keys[node];
    }
    totalOf(node) {
        return this.total[node];
    }
    selfOf(node) {
        return this.self[node];
    }
    oldOf(node) {
        return this.totalOld ? this.totalOld[node] : 0;
    }

    // Nodes with no node of the same value of `of` above them: what they weigh is a function's
    // total.
    outermost(of) {
        const outer = new Uint8Array(this.count);
        const open = new Map();
        const stack = [0];
        while (stack.length) {
            const node = stack.pop();
            if (node < 0) {
                const value = of(this.keys[~node]);
                open.set(value, open.get(value) - 1);
                continue;
            }
            const value = of(this.keys[node]);
            const depth = open.get(value) || 0;
            outer[node] = depth ? 0 : 1;
            open.set(value, depth + 1);
            stack.push(~node);
            for (const child of this.childrenOf(node)) stack.push(child);
        }
        return outer;
    }

    // Rows {value, self, total, selfOld, totalOld} of the values that `of` gives of keys.
    rows(of) {
        const rows = new Map();
        const outer = this.outermost(of);
        for (let node = 1; node < this.count; node++) {
            if (!this.total[node] && !(this.totalOld && this.totalOld[node])) continue;
            const value = of(this.keys[node]);
            if (value === null) continue;
            let row = rows.get(value);
            if (!row)
                rows.set(
                    value,
                    (row = {
                        value,
                        self: 0,
                        total: 0,
                        selfOld: 0,
                        totalOld: 0,
                        key: this.keys[node],
                    }),
                );
            row.self += this.self[node];
            if (outer[node]) row.total += this.total[node];
            if (this.totalOld) {
                row.selfOld += this.selfOld[node];
                if (outer[node]) row.totalOld += this.totalOld[node];
            }
        }
        return [...rows.values()];
    }
}

// A tree whose nodes stand for many nodes of another tree, made when they are looked at. 'callers':
// from the leaves or from one function up; 'callees': from one function down.
export class MergedTree {
    constructor(tree, kind, key) {
        this.base = tree;
        this.profile = tree.profile;
        this.up = kind === 'callers';
        this.nodes = [];
        const seeds = key === undefined ? this.leaves() : this.around(key);
        this.add(-1, key === undefined ? -1 : key, seeds);
        if (key === undefined) this.makeChildren(0, seeds.members);
    }

    // All nodes with a weight of their own.
    leaves() {
        const { base } = this;
        const members = [];
        for (let node = 1; node < base.count; node++)
            if (base.self[node] || (base.selfOld && base.selfOld[node]))
                members.push({
                    node,
                    weight: base.self[node],
                    old: base.selfOld ? base.selfOld[node] : 0,
                });
        return { members };
    }

    around(key) {
        const { base } = this;
        const outer = base.outermost((one) => one);
        const members = [];
        for (let node = 1; node < base.count; node++)
            if (base.keys[node] === key && outer[node] && (base.total[node] || base.oldOf(node)))
                members.push({ node, weight: base.total[node], old: base.oldOf(node) });
        return { members };
    }

    add(parent, key, { members }) {
        let total = 0;
        let old = 0;
        for (const member of members) {
            total += member.weight;
            old += member.old;
        }
        this.nodes.push({
            parent,
            key,
            members,
            total,
            old,
            children: null,
            depth: parent < 0 ? 0 : this.nodes[parent].depth + 1,
        });
        return this.nodes.length - 1;
    }

    // Members one step further: callers of each, or what each calls.
    steps(members) {
        const { base } = this;
        const out = [];
        for (const member of members) {
            if (this.up) {
                const parent = base.parents[member.node];
                if (parent > 0) out.push({ node: parent, weight: member.weight, old: member.old });
                continue;
            }
            for (const child of base.childrenOf(member.node))
                if (base.total[child] || base.oldOf(child))
                    out.push({ node: child, weight: base.total[child], old: base.oldOf(child) });
        }
        return out;
    }

    makeChildren(id, members) {
        const groups = new Map();
        for (const member of members) {
            const key = this.base.keys[member.node];
            if (!groups.has(key)) groups.set(key, []);
            groups.get(key).push(member);
        }
        const ids = [...groups].map(([key, group]) => this.add(id, key, { members: group }));
        ids.sort(
            (a, b) =>
                this.nodes[b].total + this.nodes[b].old - this.nodes[a].total - this.nodes[a].old,
        );
        this.nodes[id].children = ids;
    }

    childrenOf(id) {
        if (!this.nodes[id].children) this.makeChildren(id, this.steps(this.nodes[id].members));
        return this.nodes[id].children;
    }

    name(key) {
        return this.base.name(key);
    }
    functionOf(key) {
        return this.base.functionOf(key);
    }
    parentOf(id) {
        return this.nodes[id].parent;
    }
    keyOf(id) {
        return this.nodes[id].key;
    }
    totalOf(id) {
        return this.nodes[id].total;
    }
    oldOf(id) {
        return this.nodes[id].old;
    }
    selfOf(id) {
        let rest = this.nodes[id].total;
        for (const child of this.childrenOf(id)) rest -= this.nodes[child].total;
        return Math.max(0, rest);
    }
}

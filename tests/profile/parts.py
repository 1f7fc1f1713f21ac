# SPDX-License-Identifier: MIT
"""parts.py FORMAT WHOLE PARTS: an export in parts says what one in a single part says: of each
stack, event and group the same samples, once they are added up. Prints how many samples both have
as messages. Checks what a reader demands: numbers that exist and are given once, a value for each
type."""
import collections, gzip, sys
from protobuf import fields, packed

def one(message, number, default=0):
    return next((value for field, value in fields(message, fixed=True) if field == number), default)

def each(message, number):
    return [value for field, value in fields(message, fixed=True) if field == number]

def pprof(path):
    message = collections.defaultdict(list)
    for field, value in fields(gzip.open(path).read()):
        message[field].append(value)
    text = [bytes(s).decode() for s in message[6]]
    assert len(set(text)) == len(text) and not text[0], "texts"
    types = [text[one(t, 1)] + "/" + text[one(t, 2)] for t in message[1]]
    # Of a single event they are called "samples", unless others might still have had some.
    names = [types[i + 1] + " samples" if i % 2 == 0 else name for i, name in enumerate(types)]
    def table(field):
        made = {one(entry, 1): entry for entry in message[field]}
        assert len(made) == len(message[field]), "a number of table %d is there twice" % field
        return made
    functions = {i: (text[one(f, 2)], text[one(f, 4)]) for i, f in table(5).items()}
    mappings = {i: (one(m, 2), one(m, 3), one(m, 4), text[one(m, 5)], text[one(m, 6)],
                    [one(m, k) for k in (7, 8, 9, 10)].__repr__()) for i, m in table(3).items()}
    locations = {i: (mappings[one(l, 2)] if one(l, 2) else None, one(l, 3),
                     tuple((functions[one(line, 1)], one(line, 2)) for line in each(l, 4)))
                 for i, l in table(4).items()}
    sums = collections.Counter()
    for sample in message[2]:
        values = list(packed(one(sample, 2)))
        assert len(values) == len(types), "%d values of %d" % (len(values), len(types))
        key = (tuple(locations[i] for i in packed(one(sample, 1))),
               tuple((text[one(label, 1)], text[one(label, 2)], one(label, 3))
                     for label in each(sample, 3)))
        for name, value in zip(names, values):
            if value:
                sums[key, name] += value
    first = mappings[one(message[3][0], 1)] if message[3] else None
    tail = (first, message[10], sorted(functions.values()), sorted(mappings.values()))
    return sums, len(message[2]), tail, len(locations)

def otlp(path):
    data = open(path, "rb").read()
    d = collections.defaultdict(list)
    for field, value in fields(one(data, 2)):
        d[field].append(value)
    for number in (1, 3, 5, 6):
        entries = [bytes(entry) for entry in d[number]]
        assert len(set(entries)) == len(entries), "table %d has an entry twice" % number
    for number in range(1, 8):
        assert len(d[number][0]) == 0, "table %d does not begin with an empty entry" % number
    text = [bytes(s).decode() for s in d[5]]
    used = {n: {0} for n in range(1, 8)}
    def use(table, i):
        assert i < len(d[table]), "no entry %d in table %d" % (i, table)
        used[table].add(i)
        return i
    def attribute(i):
        a = d[6][use(6, i)]
        return text[use(5, one(a, 1))], bytes(one(a, 2))
    def mapping(i):
        m = d[1][use(1, i)]
        return (one(m, 1), one(m, 2), one(m, 3), text[use(5, one(m, 4))],
                tuple(attribute(k) for k in packed(one(m, 5, b""))))
    def function(i):
        f = d[3][use(3, i)]
        return text[use(5, one(f, 1))], text[use(5, one(f, 3))]
    def location(i):
        l = d[2][use(2, i)]
        return (mapping(one(l, 1)), one(l, 2),
                tuple((function(one(line, 1)), one(line, 2)) for line in each(l, 3)))
    known = {}
    def stack(i):
        use(7, i)
        if i not in known:
            known[i] = tuple(location(k) for k in packed(one(d[7][i], 1, b"")))
        return known[i]
    sums, count, tail = collections.Counter(), 0, []
    for scope in each(one(data, 1), 2):
        for profile in each(scope, 2):
            kind = one(profile, 1)
            name = text[use(5, one(kind, 1))], text[use(5, one(kind, 2))]
            tail.append((name, one(profile, 3), one(profile, 4)))
            for sample in each(profile, 2):
                count += 1
                key = (name, stack(one(sample, 1)),
                       tuple(attribute(i) for i in packed(one(sample, 2, b""))))
                sums[key] += sum(packed(one(sample, 4)))
    for number in (1, 2, 3, 5, 6, 7):
        assert len(used[number]) == len(d[number]), "table %d: entries nobody uses" % number
    return sums, count, (bytes(one(one(data, 1), 1)), tail), len(d[2])

read = {"pprof": pprof, "otlp": otlp}[sys.argv[1]]
whole, parts = read(sys.argv[2]), read(sys.argv[3])
if not whole[0] or whole[0] != parts[0]:
    difference = list(((whole[0] - parts[0]) + (parts[0] - whole[0])).items())[:2]
    sys.exit("%d sums against %d: %s" % (len(whole[0]), len(parts[0]), difference))
if whole[2] != parts[2]:
    sys.exit("beside the samples: %s against %s" % (whole[2], parts[2]))
print(whole[1], parts[1], whole[3], parts[3])

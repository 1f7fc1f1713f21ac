# SPDX-License-Identifier: MIT
# Self and total of each function in a page against those of report: totals.py PERFDATA DEMO CORPUS
# WORK RECORDING... Reads the page as docs/page-data.md describes it.
import collections
import os
import re
import subprocess
import sys

from page_data import columns_of_page

perfdata, demo, corpus, work, *recordings = sys.argv[1:]


def read_page(path):
    return columns_of_page(open(path, encoding='utf-8').read())


def sums(header, c, event):
    strings = header['strings']
    names = [(strings[n], os.path.basename(strings[o]))
             for n, o in zip(c['fn_name'], c['fn_object'])]
    parent = [i - p for i, p in enumerate(c['st_parent'])]
    function = [c['fr_fn'][f] if c['fr_fn'] else 0 for f in c['st_frame']]
    own, total = collections.Counter(), collections.Counter()
    for which, stack, weight in zip(c['sa_event'], c['sa_stack'], c['sa_weight']):
        if which != event or not stack:
            continue
        own[names[function[stack]][0]] += weight
        seen = set()
        while stack:
            seen.add(names[function[stack]][0])
            stack = parent[stack]
        for name in seen:
            total[name] += weight
    return own, total


def report(where, recording, *options):
    text = subprocess.run(
        [perfdata, 'report', '--stdio', *where, '-i', recording, '-g', 'none', '--sort', 'sym',
         '-F', 'overhead,period,sym', '-t', '\t', '--percent-limit', '0', '--no-group', *options],
        capture_output=True, text=True, errors='replace').stdout
    events = []
    for line in text.splitlines():
        if line.startswith('# Samples:'):
            events.append(collections.Counter())
        cells = line.split('\t')
        if events and len(cells) >= 3 and not line.startswith('#'):
            name = re.sub(r'^\[.\] ', '', cells[-1].strip())
            events[-1][re.sub(r'^0x[0-9a-f]{4,}$|^[0-9a-f]{16}$', '[unknown]',
                              name)] += int(cells[-2])
    return [event for event in events if event]


compared = failed = 0
for recording in recordings:
    symfs = os.path.join(demo if recording.startswith(demo) else os.path.join(corpus, 'own'),
                         'symfs')
    where = ['--symfs', symfs, '--kallsyms', os.path.join(symfs, 'kallsyms')]
    page = os.path.join(work, 'page.html')
    subprocess.run([perfdata, 'flame', *where, '-i', recording, '-o', page], capture_output=True)
    header, columns = read_page(page)
    wanted = report(where, recording, '--no-children')
    used = sorted(set(columns['sa_event']))
    for number, event in enumerate(used):
        own, _ = sums(header, columns, event)
        if number >= len(wanted):
            print(f'{recording}: report has fewer events')
            failed += 1
            continue
        known = {n: w for n, w in wanted[number].items() if n != '[unknown]'}
        got = {n: w for n, w in own.items() if n != '[unknown]' and w}
        compared += len(known)
        if sum(own.values()) != sum(wanted[number].values()):
            print(f'{recording}: {sum(own.values())} in all, report {sum(wanted[number].values())}')
            failed += 1
        for name in set(known) | set(got):
            if known.get(name, 0) != got.get(name, 0):
                print(f'{recording}: {name}: self {got.get(name, 0)}, report {known.get(name, 0)}')
                failed += 1
print(f'{compared} functions compared, {failed} differ')
sys.exit(1 if failed or not compared else 0)

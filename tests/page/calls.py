# SPDX-License-Identifier: MIT
"""The calls of a page against those of `export sqlite`, function by function: calls.py PERFDATA
SYMFS WORK RECORDING...

How many calls there are, the shortest and the longest, and their time in all must be the same: both
    pair as perf does. Where
traces break off, a call may have no function in one of them: recordings here are whole."""
import sqlite3
import subprocess
import sys

from page_data import columns_of_page

perfdata, symfs, work, *recordings = sys.argv[1:]


def columns(path):
    return columns_of_page(open(path, encoding='utf-8').read())


def of_page(recording):
    page = f'{work}/page.html'
    subprocess.run([perfdata, 'flame', '--symfs', symfs, '-i', recording, '-o', page], check=True,
                   stderr=subprocess.DEVNULL)
    header, c = columns(page)
    strings = header['strings']
    sums, drawn = {}, {}
    for i, fn in enumerate(c['cs_fn']):
        name = strings[c['fn_name'][fn]]
        row = (c['cs_count'][i], c['cs_least'][i], c['cs_most'][i], c['cs_sum'][i])
        if name in sums:  # of another object
            old = sums[name]
            row = (old[0] + row[0], min(old[1], row[1]), max(old[2], row[2]), old[3] + row[3])
        sums[name] = row
    for i, fn in enumerate(c['ca_fn']):
        drawn.setdefault(strings[c['fn_name'][fn]], []).append(c['ca_length'][i])
    boxes = {name: (len(times), min(times), max(times), sum(times))
             for name, times in drawn.items()}
    return sums, boxes, header['calls_left_out']


def of_database(recording):
    path = f'{work}/calls.db'
    subprocess.run(['rm', '-f', path], check=True)
    subprocess.run([perfdata, 'export', 'sqlite', '--symfs', symfs, '--itrace=cr', '--calls', '-i',
                    recording, '-o', path], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rows = sqlite3.connect(path).execute(
        'select s.name, count(*), '
        'min(c.return_time - c.call_time), max(c.return_time - c.call_time), '
        'sum(c.return_time - c.call_time) from calls c join call_paths p on c.call_path_id = p.id '
        'join symbols s on p.symbol_id = s.id where c.id > 0 and s.id > 0 group by s.name')
    return {name: tuple(rest) for name, *rest in rows}


failed = compared = 0
for recording in recordings:
    sums, boxes, left_out = of_page(recording)
    wanted = of_database(recording)
    for name in sorted(set(sums) | set(wanted)):
        compared += 1
        if sums.get(name) != wanted.get(name):
            failed += 1
            print(f'{recording}: {name}: page {sums.get(name)}, database {wanted.get(name)}')
    if not left_out and boxes != sums:
        failed += 1
        print(f'{recording}: the boxes do not add up to the sums')
print(f'{compared} functions compared, {failed} differ')
sys.exit(failed > 0 or not compared)

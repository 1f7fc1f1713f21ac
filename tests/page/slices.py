#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""slices.py PERFDATA SYMFS RECORDING: view of a trace shows pieces that lie all over its time
before the whole."""
import json, signal, subprocess, sys, time, urllib.error, urllib.request

from page_data import columns_of, columns_of_page

perfdata, symfs, recording = sys.argv[1:]
SLICES = 48
failed = []


def check(ok, what):
    if not ok:
        failed.append(what)


def ask(name):
    with urllib.request.urlopen(address + name, timeout=60) as answer:
        return answer.read()


began = time.monotonic()
view = subprocess.Popen([perfdata, 'view', '--symfs', symfs, '-i', recording],
                        stdout=subprocess.PIPE, text=True,
                        stderr=subprocess.DEVNULL)
address = view.stdout.readline().strip()
pictures = {}
while True:
    news = json.loads(ask('progress'))
    if news['picture'] and news['picture'] not in pictures:
        pictures[news['picture']] = (news, columns_of(ask('data')))
    if news['whole'] or time.monotonic() - began > 250:
        break
    time.sleep(0.01)


def flame(*options):
    command = [perfdata, 'flame', '--symfs', symfs, '-i', recording, '-o', '-', *options]
    page = subprocess.run(command, capture_output=True, text=True)
    return columns_of_page(page.stdout)


def refused(name):
    try:
        ask(name)
    except urllib.error.HTTPError as error:
        return error.code
    return 200


# A millisecond, exact: what flame makes of it.
begin = int(pictures[max(pictures)][1][0]['begin'])
for at in (begin + 3000000, begin + 40000000):
    began = time.monotonic()
    _, got = columns_of(ask('range/%d-%d' % (at, at + 1000000)))
    took = time.monotonic() - began
    text = ','.join('%d.%09d' % divmod(one, 10**9) for one in (at, at + 1000000))
    _, wanted = flame('--time', text)
    check(got == wanted and len(got['ca_time']) > 10,
          'a range is what flame --time %s makes of it' % text)
    check(took < 20, 'a range takes %.1f s' % took)
for name in ['range/', 'range/1', 'range/1-', 'range/-1-2', 'range/1-2x', 'range/a-b',
             'range/1-99999999999999999999999', 'range']:
    check(refused(name) == 404, name + ': %d' % refused(name))
check(refused('range/0-%d' % (10**18)) == 413, 'a range that is too long')
check(refused('range/2-1') == 413, 'a range that ends before it begins')
view.send_signal(signal.SIGTERM)
check(view.wait(30) == 0, 'SIGTERM ends it with 0')

news, (header, first) = pictures[min(pictures)]
last_news, (last_header, last) = pictures[max(pictures)]
check(news['slices'] == SLICES and 0.1 < news['part'] < 0.5,
      'the first picture is of slices: %s' % news)
check(last_news['slices'] == 0 and last_news['part'] == 1,
      'the last one is of the whole: %s' % last_news)
# Where samples lie that slices have found: in each piece of the time.
times = sorted(first['sa_time'])
span = times[-1] - times[0]
met = {min(SLICES - 1, (t - times[0]) * SLICES // span) for t in times}
check(len(met) > SLICES * 0.9, 'slices lie all over the time: in %d of %d' % (len(met), SLICES))
share = len(times) / len(last['sa_time'])
check(0.3 * news['part'] < share < 3 * news['part'],
      '%.3f of the samples in %.3f of the time' % (share, news['part']))
_, wanted = flame()
for name in ['sa_stack', 'sa_time', 'sa_weight', 'ca_time', 'ca_fn', 'cs_count']:
    check(last[name] == wanted[name], 'the whole is what flame shows: ' + name)
print('\n'.join(failed))
sys.exit(1 if failed else 0)

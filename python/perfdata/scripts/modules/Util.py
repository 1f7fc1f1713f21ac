# SPDX-License-Identifier: MIT
"""Helpers that scripts made for perf import: perf-script-python(1), "Util.py Module". Used where
perf's own are not installed."""
import errno
import os

NSECS_PER_SEC = 1000000000


def avg(total, n):
    return total / n


def nsecs(secs, nsecs):
    return secs * NSECS_PER_SEC + nsecs


def nsecs_secs(nsecs):
    return nsecs // NSECS_PER_SEC


def nsecs_nsecs(nsecs):
    return nsecs % NSECS_PER_SEC


def nsecs_str(nsecs):
    return "%5u.%09u" % (nsecs_secs(nsecs), nsecs_nsecs(nsecs))


def add_stats(stats, key, value):
    """(least, greatest, running mean, how many) of a key."""
    if key not in stats:
        stats[key] = (value, value, value, 1)
        return
    least, greatest, mean, count = stats[key]
    stats[key] = (min(least, value), max(greatest, value), (mean + value) / 2, count + 1)


def clear_term():
    print("\x1b[H\x1b[2J")


def syscall_name(number):
    """The number itself: names need a table of the machine that recorded."""
    return str(number)


def strerror(number):
    number = abs(number)
    return errno.errorcode[number] if number in errno.errorcode else "Unknown %d errno" % number

# SPDX-License-Identifier: MIT
"""Reads what a page shows, as docs/page-data.md describes it."""
import base64
import json
import os
import re
import sys
import zlib

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../profile"))
from protobuf import varint  # a page's numbers are written as protobuf writes them


def numbers_of(data, at, kind, count):
    """The numbers of a column, and where it ends."""
    out, last = [], 0
    while len(out) < (1 if kind[0] == 's' else count):
        value, at = varint(data, at)
        if kind[0] == 'd':
            value = last = last + ((value >> 1) ^ -(value & 1))
        out.append(value)
    return (out * count if kind[0] == 's' else out), at


def columns_of(deflated):
    """Header and columns by name."""
    data = zlib.decompress(deflated, -15)
    at = 4 + int.from_bytes(data[:4], 'little')
    header, columns = json.loads(data[4:at]), {}
    for one in header['columns']:
        end = at + one['bytes']
        columns[one['name']], at = numbers_of(data, at, one['type'], one['count'])
        assert at == end, 'bytes behind the numbers of ' + one['name']
    assert at == len(data), 'bytes behind the columns'
    return header, columns


def columns_of_page(text):
    packed = re.search(r'id="data"[^>]*>([^<]*)<', text).group(1)
    return columns_of(base64.b64decode(packed))

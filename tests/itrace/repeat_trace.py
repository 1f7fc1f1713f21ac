#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""repeat_trace.py IN OUT TIMES: a recording without times whose buffers of one queue are one, so
many times over."""
import struct
import sys

AUXTRACE, FEATURE_AUXTRACE = 71, 18
recording = open(sys.argv[1], 'rb').read()
times = int(sys.argv[3])
data_at, data_size = struct.unpack_from('<QQ', recording, 40)
queues, records, at = {}, [], data_at
while at < data_at + data_size:
    kind, _, size = struct.unpack_from('<IHH', recording, at)
    record = recording[at:at + size]
    at += size
    if kind != AUXTRACE:
        records.append((record, None))
        continue
    length, = struct.unpack_from('<Q', record, 8)
    queue, = struct.unpack_from('<I', record, 32)
    if queue not in queues:
        queues[queue] = b''
        records.append((record, queue))
    queues[queue] += recording[at:at + length]
    at += length

data, index = b'', b''
for record, queue in records:
    if queue is not None:
        trace = queues[queue] * times
        index += struct.pack('<QQ', data_at + len(data), len(record))
        record = record[:8] + struct.pack('<QQ', len(trace), 0) + record[24:] + trace
    data += record

bits = [i for i in range(256) if recording[72 + i // 8] >> i % 8 & 1]
places, features = [], b''
begin = data_at + len(data) + 16 * len(bits)
for i, bit in enumerate(bits):
    offset, size = struct.unpack_from('<QQ', recording, data_at + data_size + 16 * i)
    feature = recording[offset:offset + size]
    if bit == FEATURE_AUXTRACE:
        feature = struct.pack('<Q', len(index) // 16) + index
    places.append(struct.pack('<QQ', begin + len(features), len(feature)))
    features += feature
head = recording[:48] + struct.pack('<Q', len(data)) + recording[56:data_at]
open(sys.argv[2], 'wb').write(head + data + b''.join(places) + features)

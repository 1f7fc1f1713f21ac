# SPDX-License-Identifier: MIT
"""A recording whose stacks all differ, whose addresses are of any size and whose times go back and
forth in bulk, so that columns are stored as differences of up to 64 bits: pyarrow reads from its
tables what was recorded.

parquet_made.py PERFDATA FOLDER"""
import random
import subprocess
import sys

import pyarrow.parquet as parquet

perfdata, folder = sys.argv[1:]
chance = random.Random(27)
for addresses in ("any", "few"):
    rows = []
    for depth in range(1, 121):
        ip = chance.getrandbits(64) >> chance.randrange(60) if addresses == "any" \
            else chance.choice((16, 1 << 62))
        rows.append((ip, 100 + depth % 3, 10 + depth ** 3 * (depth % 7), depth))
    rows.sort(key=lambda row: row[2])  # as they are delivered
    samples = "\n".join(
        f"record SAMPLE misc=0x2 {{ip={ip:#x} pid={pid} tid={pid} time={time} period={depth} "
        f"ips=[0xfffffffffffffe00 {ip:#x}{' 0x1000' * (depth - 1)}]}}"
        for ip, pid, time, depth in rows)
    text = f"""perfdata-text 1
container file order=little header_size=104
attr cycles={{size=128 sample_type=IP|TID|TIME|CALLCHAIN|PERIOD flags=comm}} ids=[7]
ids cycles
attrs
data
{samples}
end
"""
    subprocess.run([perfdata, "assemble", "-", "-o", f"{folder}/made.data"], input=text.encode(),
                   check=True)
    subprocess.run([perfdata, "export", "parquet", "-f", "-i", f"{folder}/made.data", "-o",
                    f"{folder}/made.{addresses}"], check=True)
    read = parquet.read_table(f"{folder}/made.{addresses}/samples.parquet").to_pydict()
    got = [(ip % (1 << 64), pid, time, period) for ip, pid, time, period in
           zip(read["address"], read["pid"], read["time"], read["period"], strict=True)]
    assert got == rows, [pair for pair in zip(got, rows) if pair[0] != pair[1]][:3]
    stacks = parquet.read_table(f"{folder}/made.{addresses}/stacks.parquet").to_pydict()
    lengths = dict(zip(stacks["stack_hash"], map(len, stacks["frames"]), strict=True))
    depths = [lengths[stack] for stack in read["stack_hash"]]
    assert depths == [row[3] for row in rows], (depths[:9], rows[:9])
    encodings = {column.path_in_schema: column.encodings for column in (
        parquet.ParquetFile(f"{folder}/made.{addresses}/samples.parquet").metadata.row_group(0)
        .column(at) for at in range(9))}
    assert "DELTA_BINARY_PACKED" in encodings["stack_hash"], encodings
    assert ("DELTA_BINARY_PACKED" in encodings["address"]) == (addresses == "any"), encodings
    assert "RLE_DICTIONARY" in encodings["pid"], encodings

# SPDX-License-Identifier: MIT
"""Prints the data of a flame graph, as d3-flame-graph takes them. flame_data.py perf.data [SYMFS
[KALLSYMS]]"""
import json
import sys

import perfdata


def main(path, symfs=None, kallsyms=None):
    with perfdata.open(path, symfs=symfs, kallsyms=kallsyms) as recording:
        nodes = recording.profile(samples=False).tree()
    made = [{"name": node.name, "value": node.total_period, "children": []} for node in nodes]
    for node, own in zip(nodes, made):
        if node.parent is not None:
            made[node.parent]["children"].append(own)
    roots = [own for node, own in zip(nodes, made) if node.parent is None]
    json.dump({"name": "all", "value": sum(own["value"] for own in roots), "children": roots},
              sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])

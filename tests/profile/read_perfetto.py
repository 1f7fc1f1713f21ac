# SPDX-License-Identifier: MIT
"""read_perfetto.py EXPECTED FILE: a trace as Perfetto's own classes read it: own weights by
function as profile_totals has them; what is referred to is interned before, and once."""
import collections, sys
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

want = collections.Counter()
for line in open(sys.argv[1], errors="surrogateescape"):
    cells = line.rstrip("\n").split("|")
    if int(cells[2]):
        want[cells[0], "|".join(cells[5:]).replace(" (inlined)", "")] += int(cells[1])
trace = perfetto_trace_pb2.Trace()
trace.ParseFromString(open(sys.argv[2], "rb").read())
tables = collections.defaultdict(dict)
got, names, last = collections.Counter(), {}, 0
for number, packet in enumerate(trace.packet):
    assert packet.trusted_packet_sequence_id == 1
    assert packet.first_packet_on_sequence == (number == 0)
    assert bool(packet.sequence_flags & 1) == (number == 0)
    for field, entries in packet.interned_data.ListFields():
        for entry in entries:
            known = tables[field.name]
            assert entry.iid and entry.iid not in known, "%s %d twice" % (field.name, entry.iid)
            tables[field.name][entry.iid] = entry
    for process in packet.process_tree.processes:
        names[process.pid] = process.cmdline[0]
    if not packet.HasField("stack_sample"):
        continue
    sample = packet.stack_sample
    stack = tables["callstacks"][sample.callstack_iid]
    for iid in stack.frame_ids:
        frame = tables["frames"][iid]
        tables["function_names"][frame.function_name_id]
        if frame.mapping_id:
            for path in tables["mappings"][frame.mapping_id].path_string_ids:
                tables["mapping_paths"][path]
    if sample.execution_context_iid:
        tables["stack_sample_execution_contexts"][sample.execution_context_iid]
    task = tables["stack_sample_task_contexts"][sample.task_context_iid]
    assert task.iid == sample.task_context_iid
    event = tables["stack_sample_counter_descriptors"][sample.primary_descriptor_iid].name
    leaf = tables["frames"][stack.frame_ids[-1]]
    name = tables["function_names"][leaf.function_name_id].str.decode()
    got[event, name] += sample.primary_weight
    last = max(last, packet.timestamp)
assert names and trace.packet[-1].timestamp == last
known = collections.Counter({k: v for k, v in want.items() if k[1] != "[unknown]"})
mine = collections.Counter({k: v for k, v in got.items() if not k[1].startswith("[")})
inlined = "--inlined" in sys.argv  # there the callee has what report gives to the outer function
if sum(want.values()) != sum(got.values()) or (known != mine and not inlined):
    sys.exit("perfetto: %d against %d; %s" % (sum(got.values()), sum(want.values()),
                                              list(((known - mine) + (mine - known)).items())[:4]))
print(len(got))

# SPDX-License-Identifier: MIT
"""read_otlp.py EXPECTED FILE: ProfilesData as OpenTelemetry's own classes read it: own weights by
function and object as profile_totals has them, and what the specification demands of the
dictionary."""
import collections, os, sys
from opentelemetry.proto.profiles.v1development import profiles_pb2

want = collections.Counter()
for line in open(sys.argv[1], errors="surrogateescape"):
    cells = line.rstrip("\n").split("|")
    if int(cells[2]):
        name = "|".join(cells[5:])
        want[cells[0],
             "[unknown]" if name == "[unknown]"
             else name.replace(" (inlined)", "")] += int(cells[1])
data = profiles_pb2.ProfilesData()
data.ParseFromString(open(sys.argv[2], "rb").read())
d = data.dictionary
tables = {name: getattr(d, name + "_table")
          for name in ("mapping", "location", "function", "string", "attribute", "stack")}
used = {name: {0} for name in tables}
for name, table in tables.items():
    keys = [t if name == "string" else t.SerializeToString(deterministic=True) for t in table]
    assert len(set(keys)) == len(keys), "%s_table has an entry twice" % name
    assert not keys[0], "%s_table does not begin with an empty entry" % name
def attributes(indices):
    used["attribute"].update(indices)
    for i in indices:
        used["string"].update([d.attribute_table[i].key_strindex,
                               d.attribute_table[i].unit_strindex])
got = collections.Counter()
for resource in data.resource_profiles:
    for scope in resource.scope_profiles:
        for profile in scope.profiles:
            used["string"].update([profile.sample_type.type_strindex,
                                   profile.sample_type.unit_strindex])
            event = d.string_table[profile.sample_type.type_strindex]
            for sample in profile.samples:
                used["stack"].add(sample.stack_index)
                attributes(sample.attribute_indices)
                stack = d.stack_table[sample.stack_index]
                location = d.location_table[stack.location_indices[0]]
                function = d.function_table[location.lines[-1].function_index]
                name = d.string_table[function.name_strindex]
                got[event, name] += sum(sample.values)
for i in used["stack"] - {0}:
    used["location"].update(d.stack_table[i].location_indices)
for i in used["location"] - {0}:
    location = d.location_table[i]
    used["mapping"].add(location.mapping_index)
    mapping = d.mapping_table[location.mapping_index]
    if location.mapping_index and mapping.memory_limit:
        inside = mapping.memory_start <= location.address < mapping.memory_limit
        assert location.address == 0 or inside, "address outside its mapping"
    used["function"].update(line.function_index for line in location.lines)
for i in used["mapping"] - {0}:
    used["string"].add(d.mapping_table[i].filename_strindex)
    attributes(d.mapping_table[i].attribute_indices)
for i in used["function"] - {0}:
    f = d.function_table[i]
    used["string"].update([f.name_strindex, f.system_name_strindex, f.filename_strindex])
for name, table in tables.items():
    unused = sorted(set(range(len(table))) - used[name])[:5]
    assert used[name] == set(range(len(table))), "%s_table: unreferenced %s" % (name, unused)
known = collections.Counter({k: v for k, v in want.items() if k[1] != "[unknown]"})
mine = collections.Counter({k: v for k, v in got.items() if not k[1].startswith("[")})
if known != mine or sum(want.values()) != sum(got.values()):
    sys.exit("otlp: %d against %d; %s" % (sum(got.values()), sum(want.values()),
                                          list(((known - mine) + (mine - known)).items())[:4]))
print(len(got))

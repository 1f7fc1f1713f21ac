# SPDX-License-Identifier: MIT
"""rows.py TEXT JSON: `report -t TAB` against `report --json` with the same columns: each row, each
cell. Call chains below the text's rows have no tabs."""
import json, sys

text = [line.rstrip("\n").split("\t") for line in open(sys.argv[1], errors="surrogateescape")
        if "\t" in line and line[0] != "#"]
rows = [json.loads(line) for line in open(sys.argv[2])]
if len(text) != len(rows) or not rows:
    sys.exit("%d rows of text, %d of JSON" % (len(text), len(rows)))
for line, row in zip(text, rows):
    want = [cell.strip() for cell in line]
    shares = [k for k in ("overhead_children", "overhead") if k in row]
    level = row.pop("symbol_level", None)
    got = ["%.2f%%" % row[k] for k in shares]
    got += [row["sample"], row["comm"], row["dso"],
            ("[%s] %s" % (level, row["symbol"])) if level else row["symbol"]]
    if want != got:
        sys.exit("%r in text, %r in JSON" % (want, got))
print(len(rows))

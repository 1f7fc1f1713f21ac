# SPDX-License-Identifier: MIT
"""schema.py SCHEMA [--lines]: JSON on standard input against a JSON Schema of docs/schema. Knows
the words that these use, and refuses a schema with others, so that nothing in one goes unchecked.
Prints how many values it has seen."""
import json, re, sys

KNOWN = {"$schema", "$defs", "$ref", "title", "type", "properties", "patternProperties",
         "additionalProperties", "required", "items", "anyOf", "const", "pattern", "minimum"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def check(schema, value, path, top, errors):
    unknown = set(schema) - KNOWN
    if unknown:
        sys.exit("the schema has words that are not checked: %s" % sorted(unknown))
    if "$ref" in schema:
        return check(top["$defs"][schema["$ref"].rpartition("/")[2]], value, path, top, errors)
    if "anyOf" in schema:
        tries = [[] for _ in schema["anyOf"]]
        for one, found in zip(schema["anyOf"], tries):
            check(one, value, path, top, found)
        if all(tries):
            errors.append("%s: none of anyOf: %s" % (path, min(tries, key=len)[0]))
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, t) for t in types):
        errors.append("%s: %r is no %s" % (path, value, types))
        return
    if "const" in schema and value != schema["const"]:
        errors.append("%s: not %r" % (path, schema["const"]))
    if "minimum" in schema and value < schema["minimum"]:
        errors.append("%s: below %r" % (path, schema["minimum"]))
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        errors.append("%s: %r is not /%s/" % (path, value, schema["pattern"]))
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            check(schema["items"], item, "%s[%d]" % (path, i), top, errors)
    if not isinstance(value, dict):
        return
    for key in schema.get("required", []):
        if key not in value:
            errors.append("%s: no %s" % (path, key))
    for key, item in value.items():
        matched = [s for p, s in schema.get("patternProperties", {}).items() if re.search(p, key)]
        if key in schema.get("properties", {}):
            matched.append(schema["properties"][key])
        more = schema.get("additionalProperties", True)
        if not matched and more is False:
            errors.append("%s: %s is not in the schema" % (path, key))
        elif not matched and more is not True:
            matched.append(more)
        for one in matched:
            check(one, item, path + "." + key, top, errors)


def no_duplicates(pairs):
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key twice: %s" % [k for k, _ in pairs])
    return made


def main():
    schema = json.load(open(sys.argv[1]))
    text = sys.stdin.buffer.read().decode("utf-8")
    parts = text.splitlines() if "--lines" in sys.argv else [text] if text else []
    errors = []
    for number, part in enumerate(parts):
        check(schema, json.loads(part, object_pairs_hook=no_duplicates), "line %d" % (number + 1),
              schema, errors)
        if errors:
            break
    for error in errors[:5]:
        print(error[:300])
    print(len(parts), file=sys.stderr)
    sys.exit(bool(errors))


main()

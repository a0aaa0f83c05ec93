#!/usr/bin/python3
"""Validates JSON that barcode wrote against the schemas in src/output/schema.

    schema.py FILE...     --json, --swatches, --shot-list, --report and align; other files are ignored
    schema.py --self      the schemas are schemas, and refuse what they should

The published schemas allow more keys, because keys may be added. Here every key must be in the schema.
Of columns that have the same keys and types only the first is validated: a film has thousands.
"""

import json
import os
import sys

import jsonschema

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/output/schema")


def close(schema):
    """Refuses keys that an object's schema does not name."""
    if isinstance(schema, list):
        return [close(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: close(value) for key, value in schema.items()}
    if "properties" in schema and schema.get("type") == "object":
        closed["unevaluatedProperties"] = False
    return closed


def load(name):
    with open(os.path.join(FOLDER, name + ".schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(close(schema))


def shape(value):
    """The keys and types of a value. A list counts as the set of the shapes in it."""
    if isinstance(value, dict):
        return tuple((key, shape(v)) for key, v in value.items())
    if isinstance(value, list):
        return frozenset(shape(v) for v in value)
    return type(value).__name__


def one_of_each(columns):
    return list({shape(c): c for c in reversed(columns)}.values())


def complaints(validator, value):
    for error in validator.iter_errors(value):
        yield f"{'/'.join(str(p) for p in error.absolute_path) or 'the top'}: {error.message[:300]}"


def check(path, validators):
    """Returns (what it is, complaints), or None for a file of another kind."""
    with open(path, "rb") as f:
        head = f.read(20)
        kind = next((k for k, begin in BEGIN.items() if head.startswith(begin)), None)
        if not kind:
            return None
        text = head + f.read()
    validator = validators.setdefault(kind, load(kind))
    if kind == "report":
        lines = [line for line in text.split(b"\n") if line.endswith(b"}")]
        return kind, [c for line in lines for c in complaints(validator, json.loads(line))]
    if not text.endswith(b"\n}\n"):
        return None  # a case cut it off
    try:
        value = json.loads(text)
    except ValueError as error:
        return kind, [f"no JSON: {error}"]
    if "columns" in value:
        value["columns"] = one_of_each(value["columns"])
    return kind, list(complaints(validator, value))


BEGIN = {"barcode": b'{\n"version": "', "swatches": b'{\n"swatches": "', "shots": b'{\n"shot_list": "', "report": b'{"film":', "align": b'{\n "align": '}


def refuses(validator, value, change):
    copy = json.loads(json.dumps(value))
    change(copy)
    if not list(complaints(validator, copy)):
        sys.exit(f"schema.py: the schema takes {json.dumps(copy)[:200]}")


def check_self():
    swatches = {"swatches": "x", "name": "x", "colours": [{"hex": "#010203", "rgb": [1, 2, 3], "share": 0.5}]}
    validator = load("swatches")
    assert not list(complaints(validator, swatches))
    refuses(validator, swatches, lambda v: v.update(new=1))
    refuses(validator, swatches, lambda v: v["colours"][0].update(new=1))
    refuses(validator, swatches, lambda v: v["colours"][0]["rgb"].append(256))
    refuses(validator, swatches, lambda v: v.pop("name"))
    for name in BEGIN:
        load(name)
    print("the schemas are schemas")


def main():
    if sys.argv[1:] == ["--self"]:
        return check_self()
    validators, counts, failed = {}, {}, False
    for path in sys.argv[1:]:
        result = check(path, validators)
        if result:
            counts[result[0]] = counts.get(result[0], 0) + 1
            for sentence in result[1][:5]:
                failed = True
                print(f"{path}: not as in the schema of {result[0]}: {sentence}")
    print("validated " + (", ".join(f"{n} {kind}" for kind, n in counts.items()) or "nothing"))
    sys.exit(failed)


if __name__ == "__main__":
    main()

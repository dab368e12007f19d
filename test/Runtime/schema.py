# RUN: %python %s %ts_src
# docs/manifest.schema.json and the reader agree: the manifests of these tests follow the schema, and
# what the reader's list of broken ones removes or adds is also wrong by the schema.
import copy
import glob
import json
import os
import re
import sys

root = sys.argv[1]
schema = json.load(open(os.path.join(root, "docs", "manifest.schema.json")))
KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}


def valid(rule, value):
    """The keywords that our schema uses."""
    if "$ref" in rule:
        target = schema
        for key in rule["$ref"][2:].split("/"):
            target = target[key]
        if not valid(target, value):
            return False
    kind = rule.get("type")
    if kind and (not isinstance(value, KINDS[kind]) or (kind == "integer" and isinstance(value, bool))):
        return False
    if "const" in rule and value != rule["const"]:
        return False
    if "enum" in rule and value not in rule["enum"]:
        return False
    if "oneOf" in rule and sum(valid(r, value) for r in rule["oneOf"]) != 1:
        return False
    if isinstance(value, str):
        return len(value) >= rule.get("minLength", 0) and re.search(rule.get("pattern", ""), value) is not None
    if isinstance(value, int):
        return rule.get("minimum", value) <= value <= rule.get("maximum", value)
    if isinstance(value, list):
        size = rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value))
        return size and all(valid(rule.get("items", {}), item) for item in value)
    if isinstance(value, dict):
        known, other = rule.get("properties", {}), rule.get("additionalProperties", {})
        for key, item in value.items():
            part = known.get(key, other)
            if part is False or not valid(part, item):
                return False
        return all(key in value for key in rule.get("required", []))
    return True


files = glob.glob(os.path.join(root, "test", "Runtime", "Inputs", "*.json"))
assert len(files) >= 3
for path in files + sys.argv[2:]:
    assert valid(schema, json.load(open(path))), path

GOOD = json.load(open(os.path.join(root, "test", "Runtime", "Inputs", "gemm.json")))
for place in ([], ["kernels", 0], ["kernels", 0, "args", 0], ["kernels", 0, "args", 3], ["kernels", 0, "params", 0],
              ["kernels", 0, "params", 3], ["kernels", 0, "events", 0]):
    for change in ("add", "remove"):
        bad = copy.deepcopy(GOOD)
        target = bad
        for key in place:
            target = target[key]
        if change == "add":
            target["surplus"] = 1
        else:
            del target["arg" if "arg" in target else "op" if "op" in target else next(iter(target))]
        assert not valid(schema, bad), (place, change)
for path, value in ((("kernels", 0, "args", 0, "swizzle"), 48), (("kernels", 0, "args", 0, "box"), [512, 64]),
                    (("kernels", 0, "grid"), ["1"]), (("kernels", 0, "args", 0, "element"), "bf17")):
    bad = copy.deepcopy(GOOD)
    target = bad
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    assert not valid(schema, bad), path

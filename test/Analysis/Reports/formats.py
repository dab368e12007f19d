# RUN: %python %s %ts_src %ts_bin
# Every verdict in every format: the JSON follows docs/report.schema.json, SARIF has what version 2.1.0
# demands, the trace has well-formed slices that do not overlap on a track, the page needs nothing from
# outside. Broken copies must be refused, or the validation itself is worthless.
import copy
import html.parser
import json
import os
import re
import subprocess
import sys

root, bin_dir = sys.argv[1:]
schema = json.load(open(os.path.join(root, "docs", "report.schema.json")))
KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
         "null": type(None)}


def valid(rule, value):
    """The keywords of JSON schema that ours uses."""
    if "$ref" in rule:
        target = schema
        for key in rule["$ref"][2:].split("/"):
            target = target[key]
        return valid(target, value)
    kinds = rule.get("type")
    if kinds:
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if not any(isinstance(value, KINDS[k]) and (k == "boolean" or not isinstance(value, bool)) for k in kinds):
            return False
    if "anyOf" in rule and not any(valid(r, value) for r in rule["anyOf"]):
        return False
    if "const" in rule and value != rule["const"]:
        return False
    if "enum" in rule and value not in rule["enum"]:
        return False
    if isinstance(value, str) and not re.search(rule.get("pattern", ""), value):
        return False
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return rule.get("minimum", value) <= value <= rule.get("maximum", value)
    if isinstance(value, list):
        return all(valid(rule.get("items", {}), item) for item in value)
    if isinstance(value, dict):
        known = rule.get("properties", {})
        extra = rule.get("additionalProperties", True)
        return set(rule.get("required", [])) <= set(value) and all(
            valid(known[k], v) if k in known else (valid(extra, v) if isinstance(extra, dict) else extra)
            for k, v in value.items())
    return True


def demo(verdict, form):
    return subprocess.run([os.path.join(bin_dir, "ts-reports-test"), verdict, form], capture_output=True, check=True).stdout.decode()


def compiled(name, form, *more):
    return subprocess.run([os.path.join(bin_dir, "ts-compile"), os.path.join(root, "examples", name), "--verify-only",
                           "--report=" + form, *more], capture_output=True, check=True).stdout.decode()


def sarif(text):
    log = json.loads(text)
    assert log["version"] == "2.1.0" and "sarif-2.1.0" in log["$schema"] and len(log["runs"]) == 1
    run = log["runs"][0]
    driver = run["tool"]["driver"]
    assert driver["name"] == "ts-compile"
    for rule in driver["rules"]:
        assert re.fullmatch(r"TS\d{3}", rule["id"]) and rule["shortDescription"]["text"] and rule["help"]["text"]

    def place(location):
        physical = location.get("physicalLocation")
        if physical:
            assert re.fullmatch(r"[\w./~%:-]+", physical["artifactLocation"]["uri"]), physical
            assert physical["region"]["startLine"] >= 1 and physical["region"].get("startColumn", 1) >= 1

    for result in run["results"]:
        assert result["message"]["text"] and result["level"] in ("error", "warning", "note")
        if "ruleId" in result:
            assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        for location in result["locations"] + result.get("relatedLocations", []):
            place(location)
        for flow in result.get("codeFlows", []):
            order = [at["executionOrder"] for thread in flow["threadFlows"] for at in thread["locations"]]
            assert sorted(order) == list(range(1, len(order) + 1)), order
            for thread in flow["threadFlows"]:
                for at in thread["locations"]:
                    place(at["location"])
    return run["results"]


def perfetto(text):
    trace = json.loads(text)
    names, slices = {}, {}
    for event in trace["traceEvents"]:
        track = event["pid"], event["tid"]
        if event["ph"] == "M":
            if event["name"] == "thread_name":
                names[track] = event["args"]["name"]
        else:
            assert event["ph"] == "X" and event["dur"] > 0 and event["ts"] >= 0 and event["name"]
            slices.setdefault(track, []).append((event["ts"], event["ts"] + event["dur"], event["cat"]))
    for track, spans in slices.items():
        assert track in names
        spans.sort()
        for before, after in zip(spans, spans[1:]):
            assert before[1] <= after[0], (names[track], before, after)
    return {names[t]: spans for t, spans in slices.items()}


class Page(html.parser.HTMLParser):
    VOID = {"meta", "input", "rect", "br", "link", "img"}

    def __init__(self, text):
        super().__init__()
        self.open, self.text = [], []
        assert text.startswith("<!DOCTYPE html>")
        self.feed(text)
        assert not self.open, self.open
        self.text = " ".join(self.text)

    def handle_starttag(self, tag, attrs):
        assert tag not in ("link", "iframe", "img", "object"), tag
        assert not {"src", "href", "xlink:href", "srcset"} & {a for a, _ in attrs}, (tag, attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text.append(data)
        else:
            assert "http" not in data and "url(" not in data and "import" not in data


EXPECTED = {  # verdict, kind, id
    "none": ("not_run", None, None), "proven": ("proven", None, None), "waived": ("proven", None, None),
    "bounded": ("proven_up_to", None, None), "unknown": ("unknown", None, None),
    "race": ("refuted", "race", "TS302"), "deadlock": ("refuted", "deadlock", "TS301"),
    "failed": ("error", "check", "TS215")}
for verdict, expected in EXPECTED.items():
    report = json.loads(demo(verdict, "json"))
    assert valid(schema, report), verdict
    assert (report["verdict"], report["kind"], report["id"]) == expected, verdict
    assert report["min_trips"] == {"tiles_k": 2}
    refuted = expected[0] == "refuted"
    assert (report["witness"] is not None) == refuted
    results = sarif(demo(verdict, "sarif"))
    assert len(results) == (refuted or verdict == "failed")
    page = Page(demo(verdict, "html")).text
    assert report["kernels"][0]["summary"] in page
    assert ("Counter-example" in page) == refuted
    perfetto(demo(verdict, "perfetto"))

report = json.loads(demo("deadlock", "json"))
assert [s["task"] for s in report["witness"]["steps"] if s["blocked"]] == ["load", "mma"]
assert report["locations"][0]["location"] == {"file": "dir with space/<demo>.mlir", "line": 4, "column": 14}
tracks = perfetto(demo("deadlock", "perfetto"))
assert [tracks[t][-1][2] for t in ("load", "mma")] == ["blocked", "blocked"] and "bystander" not in tracks
for break_it in (lambda r: r.pop("verdict"), lambda r: r.update(verdict="fine"), lambda r: r.update(id="T1"),
                 lambda r: r["kernels"][0].pop("name"), lambda r: r.update(version=2),
                 lambda r: r["witness"]["steps"][0].update(blocked="no"), lambda r: r.update(more=1),
                 lambda r: r["locations"][0]["location"].update(line=0)):
    broken = copy.deepcopy(report)
    break_it(broken)
    assert not valid(schema, broken)

for example in ("gemm_sm100.mlir", "gemm_sm90.mlir"):
    report = json.loads(compiled(example, "json"))
    assert valid(schema, report) and report["kernels"][0]["model"]["rings"]
    assert report["verdict"] == "proven" and report["kernels"][0]["memory"]["fits"]
    tracks = perfetto(compiled(example, "perfetto"))
    assert "load" in tracks and "tensor core" in tracks
    assert sarif(compiled(example, "sarif")) == []
    assert "Modelled run" in Page(compiled(example, "html")).text

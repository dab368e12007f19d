# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What notebooks show of schedules, kernels and results: tables and timelines as HTML. Nothing is loaded from
elsewhere. Not for reports to keep: `report("html")` makes those."""
import html
import json
import linecache

__all__ = ["frame", "table", "schedule_table", "timeline"]

_CELL = "text-align:left;padding:2px 12px 2px 4px;white-space:pre;font-family:monospace;font-size:12px"


def frame(document, height=560):
    """A whole HTML document in a frame of its own, so that its styles stay there."""
    return (f'<iframe sandbox srcdoc="{html.escape(document)}" style="width:100%;height:{height}px;border:1px solid '
            '#8884;resize:vertical"></iframe>')


def table(heads, rows):
    """A plain table of texts."""
    def row(cells, tag):
        return "<tr>" + "".join(f'<{tag} style="{_CELL}">{html.escape(str(c))}</{tag}>' for c in cells) + "</tr>"
    return "<table>" + row(heads, "th") + "".join(row(r, "td") for r in rows) + "</table>"


def _bounds(data):
    return f"{data['start']} to {data['end']}" + (f" step {data['step']}" if str(data["step"]) != "1" else "")


def _rows(items, depth):
    for item in items:
        source = linecache.getline(item.place.file, item.place.line).strip()
        place = f"{item.place.file.rsplit('/', 1)[-1]}:{item.place.line}"
        indent = "  " * depth
        if hasattr(item, "stage"):
            stage = getattr(item.stage, "value", item.stage)
            yield (indent + stage, item.resource.name, item.method.name if item.method else "", place, source)
            continue
        what = {"for": "loop", "tiles": "tile loop", "guard": item.data.get("guard"), "when": "when",
                "skippable": "skippable"}[item.kind]
        extra = _bounds(item.data) if item.kind == "for" else getattr(item.data.get("queue"), "name", "")
        yield (indent + what, extra, "", place, source)
        yield from _rows(item.items, depth + 1)


def schedule_table(result):
    """The operations of a captured schedule, in order, with the lines that made them."""
    return table(["operation", "resource", "work", "line", "source"], _rows(result.items, 0))


def timeline(trace, width=960, most=4000):
    """A Perfetto trace (its JSON text) as an SVG: one lane for each warp, engine or task, time to the right."""
    events = json.loads(trace)["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    names = {(e["pid"], e.get("tid", 0)): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    spans = [e for e in events if e["ph"] == "X"][:most]
    if not spans:
        return "<p>the trace is empty</p>"
    lanes = {lane: i for i, lane in enumerate(sorted({(e["pid"], e["tid"]) for e in spans}))}
    begin = min(e["ts"] for e in spans)
    scale = (width - 180) / max(max(e["ts"] + e["dur"] for e in spans) - begin, 1)
    kinds = sorted({e["name"] for e in spans})
    parts = []
    for (pid, tid), lane in lanes.items():
        label = html.escape(f"{processes.get(pid, pid)} {names.get((pid, tid), tid)}"[-28:])
        parts.append(f'<text x="0" y="{lane * 18 + 13}" font-size="11" fill="currentColor">{label}</text>')
    for e in spans:
        hue = kinds.index(e["name"]) * 137 % 360
        title = html.escape(f"{e['name']} at {e['ts']}, {e['dur']}")
        parts.append(f'<rect x="{180 + (e["ts"] - begin) * scale:.1f}" y="{lanes[e["pid"], e["tid"]] * 18 + 2}" '
                     f'width="{max(e["dur"] * scale, 1):.1f}" height="14" fill="hsl({hue},55%,60%)">'
                     f"<title>{title}</title></rect>")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{len(lanes) * 18 + 4}" '
            f'font-family="monospace">{"".join(parts)}</svg>')

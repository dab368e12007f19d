#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Judges a trace of ts-run: valid JSON, each event on a named track, one track for each warp and engine.

usage: check_trace.py FILE; prints the tracks of each CTA and the number of waits. Not a viewer: that is
ui.perfetto.dev.
"""
import json
import sys


def main():
    with open(sys.argv[1]) as file:
        trace = json.load(file)
    tracks, waits, ends = {}, 0, {}
    for event in trace["traceEvents"]:
        if event["ph"] == "M" and event["name"] == "process_name":
            continue
        place = (event["pid"], event["tid"])
        if event["ph"] == "M":
            if tracks.setdefault(place, event["args"]["name"]) != event["args"]["name"]:
                sys.exit(f"error: track {place} has two names")
            continue
        assert event["ph"] == "X" and event["dur"] > 0 and event["args"]["ptx line"] > 0, event
        if place not in tracks:
            sys.exit(f"error: an event on a track without a name: {event}")
        if event["name"].startswith("wait: "):
            waits += 1
            assert event["cat"] == "wait", event
        # Perfetto drops what overlaps on a track.
        if event["ts"] < ends.get(place, 0):
            sys.exit(f"error: events overlap on '{tracks[place]}' of CTA {place[0]}: {event}")
        ends[place] = event["ts"] + event["dur"]
    names = [(pid, name) for (pid, _), name in tracks.items()]
    if len(set(names)) != len(names):
        sys.exit("error: two tracks of one name")
    for pid in sorted({pid for pid, _ in names}):
        print(f"CTA {pid}: " + ", ".join(sorted(name for p, name in names if p == pid)))
    print(f"{waits} waits")


if __name__ == "__main__":
    main()

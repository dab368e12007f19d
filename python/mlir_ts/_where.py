# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where in the user's source something was said. Not for users."""
import dataclasses
import sys


@dataclasses.dataclass(eq=False)
class Place:
    """A line of the user's source."""

    file: str
    line: int


def _internal(frame):
    """Whether a frame is of this package or its tools, or of an __init__ that dataclasses made (it has no source)."""
    code = frame.f_code
    return (frame.f_globals.get("__name__", "").split(".")[0] in ("mlir_ts", "contextlib") or
            code.co_filename == "<string>" and code.co_name == "__init__")


def caller():
    """The innermost line that is not of this package (its examples and tests are not of it)."""
    frame = sys._getframe(1)
    while frame is not None and _internal(frame):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno) if frame else Place("<unknown>", 0)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where in the user's source something was said. Not for users."""
import dataclasses
import sys


@dataclasses.dataclass(eq=False)
class Place:
    """A line of the user's source."""

    file: str
    line: int


def caller():
    """The innermost line that is not of this package (its examples and tests are not of it)."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "mlir_ts":
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno) if frame else Place("<unknown>", 0)

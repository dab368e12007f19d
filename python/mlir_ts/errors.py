# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong, as exceptions. The first line of each says what is wrong.

`Error` is the base. `CompileError` carries the diagnostics of the compiler, `RefutedError` is the one
whose diagnostics hold a counter-example of the prover, `KernelFault` what the emulator found while a
kernel ran, `LaunchError` a launch that breaks a rule, `EnvironmentError` what this machine lacks.
"""
import linecache

__all__ = ["Error", "CompileError", "RefutedError", "CompileWarning", "KernelFault", "LaunchError", "EnvironmentError",
           "Diagnostic", "Note"]


class Error(Exception):
    """Anything that mlir_ts refuses, in one sentence."""


class EnvironmentError(Error):
    """This machine lacks something: a GPU, a driver, ptxas, memory."""


class LaunchError(Error):
    """Arrays or scalars that do not fit the kernel."""


class Note:
    """A remark beside a diagnostic: `message` and, where known, `file`, `line`, `column`."""

    def __init__(self, message, file="", line=0, column=0):
        self.message, self.file, self.line, self.column = message, file, line, column

    @property
    def place(self):
        """'file:line:column', or '' where it is unknown."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else ""

    def __str__(self):
        return f"{self.place}: note: {self.message}" if self.line else f"note: {self.message}"

    def __repr__(self):
        return f"Note({str(self)!r})"


class Diagnostic(Note):
    """One diagnostic: `severity` ('error', 'warning', 'remark'), `id` ('TS301' or ''), `notes`."""

    def __init__(self, message, severity="error", id="", file="", line=0, column=0, notes=()):
        super().__init__(message, file, line, column)
        self.severity, self.id = severity, id
        self.notes = [Note(**note) if isinstance(note, dict) else note for note in notes]

    @property
    def headline(self):
        tag = f"[{self.id}] " if self.id else ""
        return f"{tag}{self.message}"

    def __str__(self):
        lines = [f"{self.place or '<unknown>'}: {self.severity}: {self.headline}"]
        source = linecache.getline(self.file, self.line).rstrip() if self.line else ""
        if source:
            lines.append("    " + source.strip())
        return "\n".join(lines + [str(note) for note in self.notes])

    def __repr__(self):
        return f"Diagnostic({self.headline!r} at {self.place or 'unknown'})"


class CompileError(Error):
    """The compiler refused a program.

    `diagnostics` has everything it said, the first error first; `id`, `file` and `line` are those of
    that error, so a program can tell what happened without reading text.
    """

    def __init__(self, summary, diagnostics=()):
        self.diagnostics = [Diagnostic(**d) if isinstance(d, dict) else d for d in diagnostics]
        self.diagnostics.sort(key=lambda d: d.severity != "error")
        first = self.diagnostics[0] if self.diagnostics else None
        self.id = first.id if first else ""
        self.file, self.line = (first.file, first.line) if first else ("", 0)
        self.report = ""
        head = first.headline if first else summary
        body = "\n".join(str(d) for d in self.diagnostics)
        super().__init__(head + ("\n" + body if body else ""))


class CompileWarning(UserWarning):
    """What the compiler warns of; the kernel was compiled."""


class RefutedError(CompileError):
    """The prover has a counter-example: a deadlock, a race, an overrun."""


class KernelFault(Error):
    """What the emulator found while a kernel ran: `faults` as dicts (id, kind, message, site, notes)."""

    def __init__(self, text, faults=()):
        super().__init__(text)
        self.faults = list(faults)
        self.id = self.faults[0]["id"] if self.faults else ""

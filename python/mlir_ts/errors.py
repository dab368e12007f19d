# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong, as exceptions. The first line of each says what is wrong.

`Error` is the base. `CompileError` carries the diagnostics of the compiler, `RefutedError` is the one
whose diagnostics hold a counter-example of the prover, `KernelFault` what the emulator found while a
kernel ran, `LaunchError` a launch that breaks a rule, `EnvironmentError` what this machine lacks.
"""
import contextlib
import difflib
import linecache
import re

from mlir_ts._where import caller

__all__ = ["Error", "CompileError", "RefutedError", "CompileWarning", "KernelFault", "LaunchError", "EnvironmentError",
           "UnknownNameError", "Diagnostic", "Note"]


#: Options of the command-line tools in messages of the libraries, and what stands for them here.
_OPTIONS = (
    (r"--verify-only", "check()"),
    (r"--arch=(\w+)", r"arch='\1'"),
    (r"--(arch|ptxas)\b", r"\1="),
    (r"; --dry-run shows the launch without one", ""),
    (r", e\.g\. --array \S+:stride\d+=(\d+)", r", e.g. to a stride of \1 elements"),
    (r"; give (?:it|one) with --(?:array|scalar) \S+", ""),
    (r"choose one with --kernel: ", "choose one with kernel['NAME']: "),
)


def in_python(text):
    """A message of the libraries as it is right in Python."""
    if "--" in text:
        for option, here in _OPTIONS:
            text = re.sub(option, here, text)
    return text


class Error(Exception):
    """Anything that mlir_ts refuses, in one sentence. `id` is that of a check ('TS301') or None, `file` and `line` are
    the user's."""

    usual_id = None

    def __init__(self, *what):
        what = [in_python(text) if isinstance(text, str) else text for text in what]
        super().__init__(*what)
        place = caller()
        check = re.match(r"\[(TS\d+)\] ", str(what[0]) if what else "")
        self.id, self.file, self.line = check[1] if check else self.usual_id, place.file, place.line


class EnvironmentError(Error):
    """This machine lacks something: a GPU, a driver, ptxas, memory."""


class LaunchError(Error):
    """Arrays or scalars that do not fit the kernel."""

    usual_id = "TS503"


class Note:
    """A remark beside a diagnostic: `message` and, where known, `file`, `line`, `column`."""

    def __init__(self, message, file="", line=0, column=0):
        self.message, self.file, self.line, self.column = in_python(message), file, line, column

    @property
    def place(self):
        """'file:line:column', or '' where it is unknown."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else ""

    def __str__(self):
        return f"{self.place}: note: {self.message}" if self.line else f"note: {self.message}"

    def __repr__(self):
        return f"Note({str(self)!r})"


class Diagnostic(Note):
    """One diagnostic: `severity` ('error', 'warning', 'remark'), `id` ('TS301' or None), `notes`."""

    def __init__(self, message, severity="error", id=None, file="", line=0, column=0, notes=()):
        super().__init__(message, file, line, column)
        self.severity, self.id = severity, id or None
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
        self.report = ""
        first = self.diagnostics[0] if self.diagnostics else None
        body = "\n".join(str(d) for d in self.diagnostics)
        super().__init__((first.headline if first else summary) + ("\n" + body if body else ""))
        if first:
            self.id = first.id
            if first.line:
                self.file, self.line = first.file, first.line


class UnknownNameError(CompileError, AttributeError, ValueError):
    """A name or label that nothing has (TS110); the message suggests a near one. It is an AttributeError, so that
    hasattr() works, and a ValueError, which labels of raw schedule lists raise."""


class CompileWarning(UserWarning):
    """What the compiler warns of; the kernel was compiled."""


class RefutedError(CompileError):
    """The prover has a counter-example: a deadlock, a race, an overrun."""


class KernelFault(Error):
    """What the emulator found while a kernel ran: `faults` as dicts (id, kind, message, site, notes).

    `id`, `file` and `line` are those of the first one: the line of the work body that made the instruction.
    """

    def __init__(self, text, faults=()):
        super().__init__(text)
        self.faults = list(faults)
        if self.faults:
            site = self.faults[0]["site"]
            self.id = self.faults[0]["id"] or None
            if site["line"]:
                self.file, self.line = site["file"], site["line"]


def refuse(check, message, place=None, kind=CompileError, notes=()):
    """Raises an error of the authoring layer, at the user's line, like one of the compiler.

    `check` is its id or None.
    """
    place = place or caller()
    notes = [Note(text, at.file, at.line) for text, at in notes]
    raise kind(message, [Diagnostic(message, "error", check, place.file, place.line, notes=notes)])


def near(name, known, otherwise="; there are "):
    """What to say behind "there is no NAME": the name that was meant, or all of them."""
    known = list(known)
    found = difflib.get_close_matches(str(name), known, 1)
    return f"; did you mean '{found[0]}'?" if found else f"{otherwise}{', '.join(known) or 'none'}" if otherwise else ""


def unknown(message, place=None):
    """Raises the error of a name or label that does not exist."""
    refuse("TS110", message, place, UnknownNameError)


@contextlib.contextmanager
def blamed(what, place=None):
    """Errors in the text that this package makes of the user's arguments are errors at the user's line.

    `what` says what the text is, for the note that shows it.
    """
    try:
        yield
    except CompileError as error:
        place = place or caller()
        told = [Diagnostic(d.message, d.severity, d.id, place.file, place.line, notes=[Note(f"in {what}"), *d.notes])
                for d in error.diagnostics]
        raise type(error)(str(error), told) from None

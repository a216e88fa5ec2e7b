"""The one guard around a command: whatever happens in it, or while it is imported, ends in a status and whole lines.

Nothing is imported here but what every Python has loaded, so that Ctrl-C finds the guard in place almost at once.
Only the guard writes the page, and only when the work is done and its files are written: so a closed pipe hides
nothing, and the status is that of the work.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
LONGEST, END = 400, 280  # characters of a line on stderr; of its end, where fault and remedy stand, if it is cut
CLEAR = "\r\033[K"  # what takes progress off a terminal


class Fault(Exception):
    """A fault of the input, told in one line: what is at fault, where, and the remedy.  Ends the command with 2."""


class Help(Exception):
    """The text of a command's help, which ends it with status 0."""


class Outcome:
    """What a command ends with: the page for stdout, the status, and then lines for stderr.

    `encoding`: that of the page, where it must not be the terminal's, as for a file that goes to stdout.
    """

    def __init__(self, page: str, status: int = OK, *complaints: str, encoding: str | None = None) -> None:
        self.page, self.status, self.complaints, self.encoding = page, status, complaints, encoding


def guarded(module: str) -> int:
    """Import a command's module, run its `main` on `sys.argv`, write what it ends with, and return its exit status.

    A Fault, or a ValueError, OSError or SystemExit that the command lets pass, is one line on stderr and status 2;
    memory that does not suffice and a part of Python that is missing are one line and status 1; Ctrl-C is status 130
    and silence.
    Anything else is a defect of ours, and keeps its traceback.
    """
    name = os.path.basename(sys.argv[0])
    out, err = sys.stdout, sys.stderr  # a policy may put others in their place
    try:
        outcome = _outcome(module)
        if is_terminal(err):
            _write_if_heard(err, CLEAR)
        status, complaints = outcome.status, outcome.complaints
        try:
            _write(out, printable(outcome.page, "\n"), outcome.encoding)
        except (OSError, ValueError) as error:
            status = status or USAGE
            reason = getattr(error, "strerror", None) or "a policy closed it"
            complaints = (*complaints, f"cannot write to standard output: {reason}: give it a place")
        for complaint in complaints:
            line = printable(complaint)
            if len(line) > LONGEST:
                line = line[: LONGEST - END - 1] + "…" + line[-END:]
            _write_if_heard(err, f"{printable(name)}: {line}\n")
        return status
    except KeyboardInterrupt:
        return INTERRUPTED


def _outcome(module: str) -> Outcome:
    """Return what a command ends with, also if that is a fault."""
    try:
        __import__(module)
        outcome: Outcome = sys.modules[module].main(sys.argv[1:])
        return outcome
    except Help as text:
        return Outcome(str(text))
    except KeyboardInterrupt:
        return Outcome("", INTERRUPTED)
    except MemoryError:
        pass  # told below, once the memory is free
    except ImportError as error:
        return Outcome("", FAILED, f"a part of it cannot be loaded ({error}): use a complete Python 3.9 or later")
    except SystemExit as end:
        return Outcome("", USAGE, f"ended before its work was done, by exit({end.code!r}): leave that out")
    except (Fault, ValueError, OSError) as fault:
        return Outcome("", USAGE, str(fault))
    return Outcome("", FAILED, "out of memory: allow more, or give it less to do")


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is open and leads to a terminal."""
    return stream is not None and not stream.closed and stream.isatty()


def printable(text: str, but: str = "") -> str:
    """Return a text in which every character can be shown, those in `but` left as they are."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in but else repr(one)[1:-1] for one in text)


def _write(stream: TextIO | None, text: str, encoding: str | None = None) -> None:
    """Write and flush; to a stream that was closed from the first or whose reader has gone, nothing.

    Raises OSError and ValueError where it cannot; then nothing is left for the interpreter to write at its end.
    """
    if stream is None:
        return
    try:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
        stream.write(text)
        stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise


def _write_if_heard(stream: TextIO | None, text: str) -> None:
    """Write to stderr.  Where that is closed or full nobody hears it, and the status tells."""
    try:
        _write(stream, text)
    except (OSError, ValueError):
        return

"""The one writer: which files may be written is told before the work, and after it all are written or none.

An output is none of the inputs and no other output, whatever their names are: files are compared, not names.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from src.page.guard import Fault

STDIN = "-"


def check_outputs(outputs: Mapping[str, str], inputs: Iterable[str] = ()) -> dict[str, str]:
    """Return the real path of each output, by the option that named it, for `write_all`.

    The input `-` is standard input; an input that is not there is left to its reader.  Raises Fault for an output that
    cannot be written, is read, is where the page goes, or is another output.
    """
    taken = {_stream(sys.stdout): "standard output goes there"}
    for name in inputs:
        with contextlib.suppress(OSError, ValueError):
            taken[_stream(sys.stdin) if name == STDIN else _file(name)] = "it is read"
    found = {}
    for option, name in outputs.items():
        try:
            found[option] = _writable(name)
            file = _file(name)
        except (OSError, ValueError) as error:  # a circle of links, a name too long, a null byte
            raise _fault(name, getattr(error, "strerror", None) or str(error)) from None
        if file in taken:
            raise _fault(f"{option} {name}", taken[file])
        taken[file] = f"{option} goes there"
    return found


def write_all(texts: Mapping[str, str]) -> None:
    """Write texts to the real paths that `check_outputs` returned: all beside their targets, which are then replaced.

    An existing file keeps its mode; a new one has what the umask leaves.  Raises Fault if one cannot be written; then
    all files are as they were, unless a file is withdrawn while they are being replaced.
    """
    beside: dict[str, str] = {}
    try:
        for target, text in texts.items():
            _write_beside(target, text.encode("utf-8", "backslashreplace"), beside)
        for target in texts:
            os.replace(beside[target], target)
            del beside[target]
    except OSError as error:
        raise _fault(target, error.strerror, "name another file or free the space") from None
    finally:
        for left in beside.values():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(left)


def _write_beside(target: str, content: bytes, beside: dict[str, str]) -> None:
    """Write a file of a short name of its own beside the target, and enter it in `beside` first."""
    folder = os.path.dirname(target)
    names = (os.path.join(folder, f".radix-{os.getpid()}-{number}") for number in itertools.count())
    beside[target] = next(name for name in names if not os.path.lexists(name))
    with open(os.open(beside[target], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
        file.write(content)
        with contextlib.suppress(FileNotFoundError):
            os.chmod(beside[target], stat.S_IMODE(os.stat(target).st_mode))


def _writable(name: str) -> str:
    """Return the real path of a file that can be written, links followed.  Raises Fault, OSError or ValueError."""
    target = os.path.realpath(name)
    if name == STDIN:
        raise _fault(name, "it stands for standard output, which has the page", "name a file")
    if os.path.isdir(target) or os.path.basename(name) in ("", os.curdir, os.pardir):
        raise _fault(name, "it is a directory", "name a file")
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        mode = os.stat(name).st_mode  # of the name, as a pipe has no real path
        if not stat.S_ISREG(mode):
            raise _fault(name, "it is not a regular file")
        if not mode & 0o222 or not os.access(target, os.W_OK):
            raise _fault(name, "it is read-only", "change its mode or name another file")
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise _fault(name, f"there is no directory {os.path.dirname(name)}", "make it or name another file")
    if not os.access(folder, os.W_OK):
        raise _fault(name, f"no permission to write in {folder}")
    return target


def _file(name: str) -> Any:
    """Return what two names of one file have in common."""
    try:
        found = os.stat(name)
    except FileNotFoundError:
        return os.path.realpath(name)
    return found.st_dev, found.st_ino


def _stream(stream: Any) -> Any:
    """Return what a stream and the name of its file have in common, None if it has none."""
    try:
        found = os.fstat(stream.fileno())
    except (AttributeError, OSError, ValueError):  # closed by the shell, or no file at all
        return None
    return found.st_dev, found.st_ino


def _fault(name: str, reason: str | None, remedy: str = "name another file") -> Fault:
    return Fault(f"cannot write {name or repr(name)}: {reason}: {remedy}")

"""What `run.py` and `derisk.py` share as commands: one-line faults, whole files, quiet ends, tables, options."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class Fault(Exception):
    """A fault of the input, told in one line: what is at fault, where, and the remedy.  Ends the command with 2."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are faults of one line.  Long options cannot be abbreviated."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **{"allow_abbrev": False, **keywords})

    def error(self, message: str) -> Any:
        """Raise Fault with argparse's message and where to look further."""
        raise Fault(f"{message}: see '{self.prog} --help'")


class Once(argparse.Action):
    """Store an option's value, and reject the option when it is given a second time."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, flag: str | None = None
    ) -> None:
        """Store the value; raise ArgumentError if there is one already."""
        given: set[str] = getattr(namespace, "_given", set())
        if self.dest in given:
            raise argparse.ArgumentError(self, "given twice: give it once")
        namespace._given = given | {self.dest}
        setattr(namespace, self.dest, values)


def add_policy_options(parser: argparse.ArgumentParser, policies: Sequence[str], several: bool = False) -> None:
    """Add SGLang's two options, the first for policies so described; with `several` it may be given more than once."""
    parser.add_argument(
        "--radix-eviction-policy",
        action="append" if several else Once,
        metavar="NAME",
        help=f"{', '.join([*policies, 'all', 'research'] if several else policies)} or FILE.py:FUNCTION",
    )
    parser.add_argument(
        "--radix-eviction-policy-config",
        action=Once,
        type=configuration,
        metavar="JSON",
        help="""the policy's parameters, such as '{"protected_threshold": 3}'""",
    )


def configuration(text: str) -> dict[str, Any]:
    """Return the JSON object that configures a policy, for an option's `type`.  Raises ArgumentTypeError."""
    remedy = """give an object such as '{"protected_threshold": 3}'"""
    try:
        pairs = json.loads(text, object_pairs_hook=list)
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        fault = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise argparse.ArgumentTypeError(f"the policy configuration is not JSON ({fault}): {remedy}") from None
    if not isinstance(config, dict):
        raise argparse.ArgumentTypeError(f"the policy configuration is no JSON object: {remedy}")
    if len(pairs) != len(config):
        raise argparse.ArgumentTypeError("the policy configuration names a key twice: name it once")
    return config


def whole_number(least: int) -> Callable[[str], int]:
    """Return a reader of decimal whole numbers of at least `least`, for an option's `type`."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text) >= least):
            raise argparse.ArgumentTypeError(f"{shorten(text)!r} is not a whole number of at least {least}")
        return int(text)

    return read


def shorten(text: str, length: int = 60) -> str:
    """Return the text on one line, cut to `length` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def printable(name: str) -> str:
    """Return a name on one line of characters that every output can hold."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in name)


def guarded(command: Callable[[list[str]], int]) -> int:
    """Run a command on `sys.argv` and return its exit status.

    A Fault, or a ValueError or OSError that the command lets pass, is one line on stderr and status 2; Ctrl-C is
    status 130 and silence; a closed pipe ends the output and is no error.
    """
    name = Path(sys.argv[0]).name
    try:
        try:
            status = command(sys.argv[1:])
        except SystemExit as end:  # argparse's, after --help
            status = end.code if isinstance(end.code, int) else OK
        _flush()
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _give_up_output()
        return OK
    except (Fault, ValueError, OSError) as fault:
        print(f"{name}: {shorten(str(fault), 400)}", file=sys.stderr)
        try:
            _flush()
        except OSError:
            _give_up_output()
        return USAGE


def _flush() -> None:
    if sys.stdout is not None:  # as it is when the shell closed it
        sys.stdout.flush()


def _give_up_output() -> None:
    """Let what is left of stdout go nowhere: the interpreter flushes it once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_writable(path: Path) -> Path:
    """Return the file that a path names, links followed, if it can be written.  Raises Fault if it cannot.

    So that is told before the work is done, not after it.
    """
    try:
        target = path.resolve()
        if target.is_dir():
            raise Fault(f"cannot write {path}: it is a directory: name a file")
        if target.is_symlink() or (target.exists() and not target.is_file()):
            raise Fault(f"cannot write {path}: it is not a regular file: name another file")
        folder = target.parent
        if not folder.is_dir():
            raise Fault(f"cannot write {path}: there is no directory {path.parent}: make it or name another file")
        if not os.access(folder, os.W_OK):
            raise Fault(f"cannot write {path}: no permission to write in {path.parent}: name another file")
    except (OSError, RuntimeError, ValueError) as error:  # a circle of links, a name too long, a null byte
        reason = getattr(error, "strerror", None) or error
        raise Fault(f"cannot write {path}: {reason}: name another file") from None
    return target


def write_whole(path: Path, text: str) -> None:
    """Write a text file, or leave what was there: the text goes beside the target, which is then replaced.

    A link stays, and what it leads to is replaced.  Raises Fault if the file cannot be written.
    """
    target = check_writable(path)
    beside = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as file:
            beside = file.name
            file.write(text)
        os.chmod(beside, 0o644)
        os.replace(beside, target)
        beside = None
    except OSError as error:
        raise Fault(f"cannot write {path}: {error.strerror}: name another file or free the space") from None
    finally:
        if beside is not None:
            os.unlink(beside)


def json_text(value: Any, width: int = 180) -> str:
    """Return a value as JSON, keys in the order they were written, a newline at the end.

    What fits into `width` columns, and every list of scalars, stands on one line; the rest is indented by two spaces.
    """
    return _json(value, "", width) + "\n"


def _json(value: Any, indent: str, width: int) -> str:
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    keys = [json.dumps(key, ensure_ascii=False) + ": " for key in value] if isinstance(value, dict) else []
    parts = list(value.values()) if keys else value if isinstance(value, list) else []
    nested = bool(keys) or any(isinstance(part, (dict, list)) for part in parts)
    if len(indent) + len(flat) <= width or not nested:
        return flat
    inner = indent + "  "
    lines = [inner + key + _json(part, inner, width) for key, part in zip(keys or [""] * len(parts), parts)]
    opening, closing = "{}" if keys else "[]"
    return "\n".join([opening, ",\n".join(lines), indent + closing])


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a text table.  Columns are right-aligned when all their cells start with a digit or are "-"."""
    columns = list(zip(header, *rows))
    widths = [max(map(len, column)) for column in columns]
    numeric = [all(cell[:1].isdigit() or cell == "-" for cell in column[1:]) for column in columns]
    lines = [[*header], ["-" * width for width in widths], *map(list, rows)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(line, widths, numeric)
        ).rstrip()
        for line in lines
    )


class Progress:
    """Progress on stderr, shown only when stderr is a terminal; the results never depend on it."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._start = time.monotonic()
        self._last = 0.0

    def say(self, text: str) -> None:
        """Show what is being done, in place of what was shown before."""
        if self._shown:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    def count(self, done: int, total: int, what: str) -> None:
        """Show `done` of `total` with the rate and the time left; at most ten times a second."""
        now = time.monotonic()
        if not self._shown or now - self._last < 0.1:
            return
        self._last = now
        rate = done / max(now - self._start, 1e-9)
        left = (total - done) / rate if rate else 0.0
        self.say(f"{what}: {done:,} of {total:,}, {rate:,.0f}/s, {left:.0f} s left")

    def end(self) -> None:
        """Clear the line."""
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

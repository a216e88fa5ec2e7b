"""What the commands share with a person at a terminal: options, tables, JSON, progress."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import Any, Callable

from src.page.guard import CLEAR, Fault, Help, is_terminal, printable

LENGTH = 60  # of what was typed, as far as a fault quotes it


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are faults of one line.  Long options cannot be abbreviated."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **{"allow_abbrev": False, **keywords})

    def error(self, message: str) -> Any:
        """Raise Fault with argparse's message and where to look further."""
        raise Fault(f"{message}: see '{self.prog} --help'")

    def print_help(self, file: Any = None) -> None:
        """Raise Help with the help's text."""
        raise Help(self.format_help())


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
        help=f"{', '.join([*policies, 'all', 'research'] if several else policies)} or FILE.py:FUNCTION, a function of"
        " a block's facts alone",
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
        """Return the number; raise ArgumentTypeError, which argparse tells, for anything else."""
        if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text) >= least):
            raise argparse.ArgumentTypeError(f"{quoted(text)} is not a whole number of at least {least}")
        return int(text)

    return read


def quoted(text: str) -> str:
    """Return the text in quotes as it was typed, printable, cut to `LENGTH` characters."""
    whole = repr(text)
    return whole if len(whole) <= LENGTH else f"{whole[: LENGTH - 2]}…{whole[0]}"


def shorten(text: str) -> str:
    """Return the text on one line, cut to `LENGTH` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= LENGTH else flat[: LENGTH - 1] + "…"


def json_text(value: Any, width: int = 180) -> str:
    """Return a value as JSON, keys in the order they were written, a newline at the end.

    Each list of scalars stands on one line, and so does each object of scalars and such lists, and whatever fits into
    `width` columns; the rest is indented by two spaces.
    """
    return _json(value, "", width) + "\n"


def _json(value: Any, indent: str, width: int) -> str:
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    keys = [json.dumps(key, ensure_ascii=False) + ": " for key in value] if isinstance(value, dict) else []
    parts = list(value.values()) if keys else value if isinstance(value, list) else []
    if len(indent) + len(flat) <= width or all(_is_flat(part, bool(keys)) for part in parts):
        return flat
    inner = indent + "  "
    lines = [inner + key + _json(part, inner, width) for key, part in zip(keys or [""] * len(parts), parts)]
    opening, closing = "{}" if keys else "[]"
    return "\n".join([opening, ",\n".join(lines), indent + closing])


def _is_flat(value: Any, list_too: bool) -> bool:
    """Return whether a value is a scalar, or also a list of scalars."""
    if isinstance(value, list):
        return list_too and not any(isinstance(one, (dict, list)) for one in value)
    return not isinstance(value, dict)


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
        self._shown = is_terminal(sys.stderr)
        self._start = time.monotonic()
        self._last = 0.0

    def say(self, text: str) -> None:
        """Show what is being done, in place of what was shown before."""
        if self._shown:
            self._put(f"{CLEAR}{printable(text)}")

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
            self._put(CLEAR)

    def _put(self, text: str) -> None:
        try:
            print(text, end="", file=sys.stderr, flush=True)
        except (AttributeError, OSError, ValueError):  # the terminal has gone, or a policy closed the stream
            self._shown = False

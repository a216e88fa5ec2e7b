"""Strict JSON from a line: what JSON leaves open, or some Pythons parse and others do not, is a fault of the line."""

from __future__ import annotations

import collections
import json
import re
from typing import Any, NoReturn

from src.page.commandline import shorten

MOST_DIGITS = 640  # the lowest limit that CPython can be set to, so what passes here converts on every Python
MOST_NESTED = 100  # far above any request, far below what any Python can parse


class LineError(Exception):
    """What is wrong with a line, and the remedy; without the file and the line number."""


def decode(line: bytes) -> Any:
    """Return the JSON value in a line.  Raises LineError if there is none, or one that is no strict JSON.

    Cost: O(bytes).
    """
    if line.count(b"{") == 1 and line.count(b"[") < MOST_NESTED and not _may_have_a_long_number(line):
        try:
            text = line.decode("utf-8")
            value, end = _PLAIN_DECODER.raw_decode(text)
        except (ValueError, LineError):  # told below
            pass
        else:  # every key has a colon, so with no more colons than keys none was given twice
            if type(value) is dict and line.count(b":") == len(value) and not text[end:].strip(_SPACE):
                return value
    return _decode_with_care(line)


def _decode_with_care(line: bytes) -> Any:
    """Return the JSON value in any line, or raise LineError with what is wrong with it.  Cost: O(bytes)."""
    if b"\0" in line:
        raise LineError("has a NUL byte, so it is binary or UTF-16: give JSON lines in UTF-8")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LineError(f"is not UTF-8 at byte {error.start + 1}: save the file as UTF-8") from None
    if line.count(b"[") + line.count(b"{") > MOST_NESTED or _may_have_a_long_number(line):
        _check_bounds(text)
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        text = text.rstrip()
        before, after = (repr(part)[1:-1] for part in (text[: error.pos][-20:], text[error.pos :][:20].rstrip()))
        near = f"'{before[-25:]}{after[:30]}'"
        raise LineError(f"is not JSON at character {error.pos + 1}, near {near}: give one object a line") from None


def _may_have_a_long_number(line: bytes) -> bool:
    """Return whether a line may have a number of more than MOST_DIGITS digits.

    Such a number covers half as many digits from some multiple of that half on.
    """
    half = MOST_DIGITS // 2
    return len(line) > MOST_DIGITS and any(line[at : at + half].isdigit() for at in range(0, len(line) - half, half))


def _check_bounds(text: str) -> None:
    """Raise LineError for what some Pythons parse and others do not, or in quadratic time.  Cost: O(length)."""
    depth = 0
    for token in _BRACKET_STRING_OR_LONG_NUMBER.finditer(text):
        if token[0][0].isdigit():
            raise LineError(f"has a number of {len(token[0])} digits: give at most {MOST_DIGITS}")
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > MOST_NESTED:
            raise LineError(f"is nested more than {MOST_NESTED} deep: give flat objects")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; of a key given twice JSON does not say which value holds."""
    record = dict(pairs)
    if len(record) != len(pairs):
        twice = next(key for key, times in collections.Counter(key for key, _ in pairs).items() if times > 1)
        raise LineError(f"has the key {quoted(twice)} twice: give it once")
    return record


def _constant(text: str) -> NoReturn:
    """Reject NaN, Infinity and -Infinity, which are no JSON."""
    raise LineError(f"has {text}, which is no JSON: give a number")


_BRACKET_STRING_OR_LONG_NUMBER = re.compile(
    rf'[][{{}}]|"[^"\\]*(?:\\.[^"\\]*)*"?|[0-9]{{{MOST_DIGITS + 1},}}'
)
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
_PLAIN_DECODER = json.JSONDecoder(parse_constant=_constant)
_SPACE = " \t\r\n"  # what may stand around a value


def shown(value: Any) -> str:
    """Return a JSON value as a message shows it, in at most 60 characters."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    return quoted(value) if isinstance(value, str) else shorten(json.dumps(value))


def quoted(text: str) -> str:
    """Return some text in quotes, printable, on one line, in at most 60 characters."""
    return shorten(repr(text[:60]))

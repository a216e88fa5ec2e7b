"""The one check of scores: what is wrong with a value, with a comparison, and with a score that remembers.

A score must return, for every block, a value that is in one order with all its other values: a number, a text, or a
tuple of such.  It is a function of the facts that it is given, so equal facts have equal scores.
"""

from __future__ import annotations

import functools
import re
import reprlib
from collections.abc import Sequence, Set
from fractions import Fraction
from typing import Any, NoReturn

from src.policies.facts import Facts, PolicyError, Score

SOUND = frozenset({int, bool, str, Fraction})  # types with nothing but sound values
NOT_OURS = (KeyboardInterrupt, MemoryError)  # what a score may raise without being at fault
SHORT = reprlib.Repr()
SHORT.maxother = 300  # so that an address is not cut
REMEDY = "return a number for every block, or a tuple of numbers for every block"


class Checked:
    """A score that is held to the above.  `latest`: the facts that it scored last, and their score."""

    def __init__(self, score: Score) -> None:
        self.__wrapped__ = score
        self.latest: tuple[Facts | None, Any] = (None, None)

    def __call__(self, facts: Facts, **asked: Any) -> Any:
        """Return the score of the facts, and of what it asks for beside them.  Raises PolicyError if there is none."""
        try:
            value = self.__wrapped__(facts, **asked)
        except NOT_OURS:
            raise
        except BaseException as error:  # SystemExit too: a score does not end the program
            text = f"fails on {facts} ({told(error)}): mend it"
            raise PolicyError(f"{place(self.__wrapped__, error)} {text}") from None
        if type(value) not in SOUND:
            fault = _fault(value)
            if fault:
                text = f"returns {shown(value)} for {facts} ({fault}): {REMEDY}"
                raise PolicyError(f"{place(self.__wrapped__)} {text}")
        self.latest = (facts, value)
        return value

    def again(self, facts: Facts, value: Any, **asked: Any) -> None:
        """Raise PolicyError unless the facts, and what it asks for, still have this score."""
        now = self(facts, **asked)
        try:
            changed = not (now is value or now == value) and bool(now < value or value < now)
        except Exception as error:
            incomparable(self.__wrapped__, facts, now, error)
        if changed:
            text = f"returns {shown(value)} and later {shown(now)} for {facts}"
            raise PolicyError(f"{place(self.__wrapped__)} {text}: let it depend on its facts alone")


def incomparable(score: Score, facts: Facts | None, value: Any, error: Exception) -> NoReturn:
    """Raise PolicyError for a value that does not compare with another one of the same score."""
    text = f"returns scores that do not compare, one of them {shown(value)} for {facts} ({told(error)}): {REMEDY}"
    raise PolicyError(f"{place(score)} {text}") from None


def lowest(score: Score, facts: Sequence[Facts], places: Sequence[tuple[Any, ...]]) -> int:
    """Return the index of the lowest place, each a tuple of a score and what breaks its ties.

    Raises PolicyError for scores that do not compare.
    """
    least = 0
    for at in range(1, len(places)):
        try:
            if places[at] < places[least]:
                least = at
        except Exception as error:
            incomparable(score, facts[at], places[at][0], error)
    return least


def place(score: Any, error: BaseException | None = None) -> str:
    """Return file, line and name of a score function; the line that fails, if that is in the same file."""
    name = origin = ""
    while True:
        name = name or getattr(score, "__name__", "")
        origin = origin or getattr(score, "origin", "")
        inner = score.func if isinstance(score, functools.partial) else getattr(score, "__wrapped__", None)
        if inner is None:
            break
        score = inner
    code = getattr(score, "__code__", None) or getattr(type(score).__call__, "__code__", None)
    name = name or type(score).__name__
    line = getattr(code, "co_firstlineno", None)
    if code is None or line is None:  # a class, or what is built into Python
        return origin or name
    trace = error.__traceback__ if error else None
    while trace:
        if trace.tb_frame.f_code.co_filename == code.co_filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{code.co_filename}:{line}: {name}"


def shown(value: Any) -> str:
    """Return a value as a message shows it: short, and without the address of an object."""
    try:
        return re.sub(" at 0x[0-9A-Fa-f]+", "", SHORT.repr(value))
    except (Exception, SystemExit):  # the value's own, or a number of too many digits
        return f"a value of type {type(value).__name__}"


def told(error: BaseException) -> str:
    """Return the kind of an error, and its text if it has one."""
    try:
        return f"{type(error).__name__}: {error}".rstrip(": ")
    except (Exception, SystemExit):
        return type(error).__name__


def _fault(value: Any) -> str:
    """Return why a value is no score, nothing if it is one."""
    try:
        if isinstance(value, (tuple, list)):
            return next(filter(None, (_fault(one) for one in value if type(one) not in SOUND)), "")
        if isinstance(value, Set):
            return "sets are in no one order"
        if value != value or value < value:
            return "it is not equal to itself"
    except NOT_OURS:
        raise
    except BaseException as error:
        return told(error)
    return ""

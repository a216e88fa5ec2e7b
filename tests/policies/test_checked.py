"""The check of scores: what passes, what does not, and what is said of it."""

from __future__ import annotations

import decimal
import functools
import unittest
from fractions import Fraction
from typing import Any

from src.policies.cache import Cache
from src.policies.checked import REMEDY, Checked, place, shown
from src.policies.facts import Facts, PolicyError
from src.radixcache import Trie
from src.traces.reading import trace_of
from src.traces.replay import replay
from src.walks.policy_machine import PolicyMachines, with_policy

FACTS = Facts(3, 2, 1, 0, 1)
NAN = float("nan")


class Array:
    """What an array of several numbers does: it compares number by number, and the answers have no truth value."""

    def __eq__(self, other: object) -> Any:
        return self

    __ne__ = __lt__ = __gt__ = __eq__
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise ValueError("The truth value of an array is ambiguous")


class Ordered:
    """What is in an order, and has no equality of its own."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < other.value)


class Untold:
    """What cannot even be shown."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __repr__(self) -> str:
        raise self.error


class Untellable(Exception):
    """What cannot be told."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Moody(Ordered):
    """What compares once and then no more."""

    def __lt__(self, other: Any) -> bool:
        self.value += 1
        if self.value > 1:
            raise KeyError("moody")
        return False


SOUND = (0, True, -1.5, "text", Fraction(1, 3), decimal.Decimal("0.1"), float("inf"), (), (1, "a"), [1, (2, 3)], b"x")
FAULTY: tuple[tuple[Any, str, str], ...] = (
    (None, "None", "TypeError: '<' not supported"),
    (NAN, "nan", "it is not equal to itself"),
    ((1, NAN), "(1, nan)", "it is not equal to itself"),
    ([(0, [NAN])], "[(0, [nan])]", "it is not equal to itself"),
    (decimal.Decimal("nan"), "Decimal('NaN')", "it is not equal to itself"),
    (decimal.Decimal("snan"), "Decimal('sNaN')", "InvalidOperation"),
    ((1, None), "(1, None)", "TypeError"),
    (1j, "1j", "TypeError"),
    ({}, "{}", "TypeError"),
    (frozenset({1}), "frozenset({1})", "sets are in no one order"),
    (Array(), "<tests.policies.test_checked.Array object>", "ValueError: The truth value of an array is ambiguous"),
    (Untold(RuntimeError("no text")), "<Untold instance>", "TypeError"),
    (Untold(SystemExit(3)), "a value of type Untold", "TypeError"),
    (iter(()), repr(iter(())).split(" at ")[0].rstrip(">") + ">", "TypeError"),
)


class Values(unittest.TestCase):
    def test_what_is_a_score(self) -> None:
        for value in (*SOUND, Ordered(3)):
            checked = Checked(lambda block, value=value: value)
            self.assertIs(checked(FACTS), value)
            self.assertEqual(checked.latest, (FACTS, value))
            checked.again(FACTS, value)

    def test_what_is_none_by_each_way_that_a_score_is_used(self) -> None:
        """By itself, in the walks and in the replay; the message has file, line, name, facts, value and remedy."""
        for value, text, fault in FAULTY:

            def score(block: Facts, value: Any = value) -> Any:
                return value

            def use(policy: PolicyMachines) -> None:
                policy.machine().run(("0", "1"))

            line = score.__code__.co_firstlineno
            for call in (
                lambda score=score: Checked(score)(FACTS),
                lambda score=score: with_policy(Trie("01"), 1, score, use),
                lambda score=score: replay(trace_of(["a", "b"]), 1, score),
            ):
                with self.subTest(value=text), self.assertRaises(PolicyError) as caught:
                    call()
                told = str(caught.exception)
                self.assertEqual(told.find(f"{__file__}:{line}: score returns {text} for Facts(last_access="), 0, told)
                self.assertIn(f"({fault}", told)
                self.assertTrue(told.endswith(f"): {REMEDY}"))

    def test_a_list_in_itself_and_a_number_too_long_to_print(self) -> None:
        endless: list[Any] = []
        endless.append(endless)
        with self.assertRaisesRegex(PolicyError, "RecursionError"):
            Checked(lambda block: endless)(FACTS)
        self.assertIn(shown((10**5000, 1)), ("a value of type tuple", shown((10**5000, 1))[:40] + "…"))

    def test_scores_that_do_not_compare_with_each_other(self) -> None:
        for score in (
            lambda block: "text" if block.depth > 1 else 1,
            lambda block: (0, "text" if block.depth > 1 else 1),
            lambda block: [1] if block.depth > 1 else (1,),
        ):
            told = r"returns scores that do not compare, one of them .* for Facts\(.*\(TypeError: .*: return a number"
            cache = Cache(Trie(("a", "bc", "d")), 3, score)
            with self.assertRaisesRegex(PolicyError, told):
                for string in ("bc", "a", "bc", "d"):
                    cache.access(string)
            cache.check()
            with self.assertRaisesRegex(PolicyError, told):
                replay(trace_of(["bc", "a", "d", "bc"] * 9), 3, score)
        self.assertEqual(replay(trace_of(["a", "bc"] * 9), 1, lambda block: (block.depth > 1, block.depth)).hits, 0)


class WhatAScoreDoes(unittest.TestCase):
    def test_what_it_raises_is_told(self) -> None:
        class Mine(BaseException):
            pass

        ends = (SystemExit(0), SystemExit(), GeneratorExit(), Mine("x"))
        for error in (*ends, TypeError("y"), RecursionError("z"), Untellable()):

            def score(block: Facts, error: BaseException = error) -> Any:
                raise error

            told = f": score fails on {FACTS} ({type(error).__name__}"
            with self.subTest(error=error), self.assertRaises(PolicyError) as caught:
                Checked(score)(FACTS)
            self.assertIn(told, str(caught.exception))
            self.assertIn(f"{__file__}:{score.__code__.co_firstlineno + 1}:", str(caught.exception))
            self.assertTrue(str(caught.exception).endswith("): mend it"))

    def test_what_is_not_its_fault_passes(self) -> None:
        for error in (KeyboardInterrupt(), MemoryError()):
            with self.assertRaises(type(error)):
                Checked(lambda block, error=error: exec("raise error", {"error": error}))(FACTS)

    def test_what_changes_is_told(self) -> None:
        values = iter((1, 2, (1, 2), (1, 2), Ordered(1), Ordered(1), Ordered(1), Ordered(0)))
        checked = Checked(lambda block: next(values))
        for changes in (True, False, False, True):
            first = checked(FACTS)
            if changes:
                with self.assertRaisesRegex(PolicyError, r"returns .* and later .* for Facts\(.*: let it"):
                    checked.again(FACTS, first)
            else:
                checked.again(FACTS, first)

    def test_what_stops_comparing_is_told(self) -> None:
        score = Checked(lambda block: Moody(0))
        with self.assertRaisesRegex(PolicyError, "scores that do not compare, .*KeyError: 'moody'"):
            score.again(FACTS, score(FACTS))

    def test_in_a_replay_a_score_that_remembers_is_told(self) -> None:
        clock = 0

        def aged(block: Facts) -> int:
            nonlocal clock
            clock = max(clock, block.last_access)
            return clock - block.created

        with self.assertRaisesRegex(PolicyError, "aged returns .* and later .* for Facts"):
            replay(trace_of(["a", "b", "c", "d"]), 2, aged)

    def test_its_place(self) -> None:
        def score(block: Facts, weight: int = 1) -> int:
            return weight

        here = f"{__file__}:{score.__code__.co_firstlineno}: score"
        for each in (score, functools.partial(score, weight=3), Checked(score), functools.wraps(score)(lambda b: 0)):
            self.assertEqual(place(each), here)
        self.assertEqual(place(max), "max")
        self.assertRegex(place(Cache.order), r"cache\.py:\d+: order$")


if __name__ == "__main__":
    unittest.main()

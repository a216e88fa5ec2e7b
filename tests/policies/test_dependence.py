"""What a score is seen to depend on, against what it does depend on."""

from __future__ import annotations

import itertools
import operator
import random
import unittest
from collections.abc import Callable, Sequence
from typing import Any

from src.policies.dependence import Depends, NeedsMore, Observer
from src.policies.facts import Facts, PolicyError, Score
from src.policies.scores import make_policy, sglang_policies

MANY = tuple(
    Facts(last, created, hits, priority, depth)
    for last, created, hits, priority, depth in (
        (9, 4, 7, 2, 1),
        (9, 9, 0, 1, 2),
        (4, 2, 3, 0, 1),
        (6, 6, 0, 0, 3),
        (8, 1, 5, 2, 1),
    )
)
"""Facts of five blocks that differ in every field, and agree in some."""

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def seen(score: Score, many: Sequence[Facts] = MANY, **plain: bool) -> Depends:
    """Return what an observer saw while the blocks were put in the order of their scores."""
    observer = Observer(score, **plain)
    sorted(map(observer.score, many))
    return observer.seen


class WhatPoliciesDependOn(unittest.TestCase):
    def test_the_registered_ones(self) -> None:
        other = Depends(other_than_hits=True)
        for name, expected in (
            ("lru", other),
            ("lfu", Depends(hits_up_to=None)),
            ("slru", other._replace(hits_up_to=2)),
            ("priority", other._replace(priority=True)),
            ("fifo", other._replace(created=True)),
            ("mru", other),
            ("filo", other._replace(created=True)),
        ):
            self.assertEqual(seen(make_policy(name)), expected, name)
        self.assertEqual(seen(make_policy("slru", {"protected_threshold": 5})), other._replace(hits_up_to=5))

    def test_each_fact_by_itself(self) -> None:
        for score, expected in (
            (lambda block: 0, {}),
            (lambda block: block.depth, {}),
            (lambda block: block.priority, {"priority": True}),
            (lambda block: block.created, {"created": True}),
            (lambda block: -block.last_access, {}),
            (lambda block: block.last_access == block.created, {"created": True, "across": True}),
            (lambda block: min(block.last_access, block.created), {"created": True, "across": True}),
            (lambda block: -block.last_access > -block.created, {"created": True, "across": True}),
            (lambda block: (block.last_access, block.created), {"created": True}),
            (lambda block: (block.hits, block.depth), {"hits_up_to": None}),
            (lambda block: -block.hits, {"hits_up_to": None}),
            (lambda block: operator.neg(-block.hits), {"hits_up_to": None, "other_than_hits": False}),
            (lambda block: bool(block.hits), {"hits_up_to": 1}),
            (lambda block: not block.hits, {"hits_up_to": 1}),
            (lambda block: 1 if block.hits else block.priority, {"hits_up_to": 1, "priority": True}),
            (lambda block: (block.hits >= 2) + (block.hits >= 4), {"hits_up_to": 4}),
            (lambda block: (block.hits >= 4) + (block.hits >= 2), {"hits_up_to": 4}),
            (lambda block: block.hits >= block.depth, {"hits_up_to": 3}),
            (lambda block: block.hits in (1, 5), {"hits_up_to": 6}),
            (lambda block: block[1], {"created": True}),
            (lambda block: block[3], {"priority": True}),
            (lambda block: (block.seen, block.depth), {"seen_up_to": None}),
            (lambda block: -block.seen, {"seen_up_to": None}),
            (lambda block: block.seen, {"seen_up_to": None}),
            (lambda block: block.seen >= 3, {"seen_up_to": 3}),
            (lambda block: (block.seen > 3, bool(block.hits)), {"seen_up_to": 4, "hits_up_to": 1}),
            (lambda block: block.previous_access, {"previous": True}),
            (lambda block: -block.previous_access, {"previous": True}),
            (lambda block: block.last_access == block.previous_access, {"previous": True, "across": True}),
            (lambda block: block.reach - block.depth, {"shape": True}),
            (lambda block: block.below, {"shape": True}),
            (
                lambda block: tuple(block)[2:],
                {"created": True, "priority": True, "hits_up_to": None, "previous": True, "shape": True},
            ),
        ):
            self.assertEqual(seen(score), Depends(**{"other_than_hits": True, **expected}), expected)

    def test_what_is_not_reached_is_not_seen(self) -> None:
        """One block at a time: later blocks add to what earlier ones showed, and nothing is taken back."""
        observer = Observer(lambda block: block.created if block.priority > 1 else block.hits >= 3)
        observer.score(MANY[1])
        self.assertEqual(observer.seen, Depends(priority=True, hits_up_to=3, other_than_hits=True))
        observer.score(MANY[0])
        self.assertEqual(observer.seen, Depends(True, True, 3, other_than_hits=True))
        observer.score(MANY[1])
        self.assertEqual(observer.seen, Depends(True, True, 3, other_than_hits=True))

    def test_the_number_of_hits_alone(self) -> None:
        observer = Observer(make_policy("lfu"))
        one, other = observer.score(MANY[0]), observer.score(MANY[2])
        self.assertEqual(observer.seen, Depends())
        self.assertTrue(one > other)
        self.assertEqual(observer.seen, Depends(hits_up_to=None))

    def test_dependence_on_hits_only_grows(self) -> None:
        self.assertEqual(Depends().with_hits(3).hits_up_to, 3)
        self.assertEqual(Depends(hits_up_to=5).with_hits(3).hits_up_to, 5)
        self.assertIsNone(Depends(hits_up_to=5).with_hits(None).hits_up_to)
        self.assertIsNone(Depends(hits_up_to=None).with_hits(3).hits_up_to)
        more = (True, True, True)
        self.assertEqual(Depends(True, True, 2, *more).with_hits(4), Depends(True, True, 4, *more))


class Thresholds(unittest.TestCase):
    def threshold(self, score: Score) -> int | None:
        return seen(score, [Facts(1, 1, hits, 0, 1) for hits in range(10)]).hits_up_to

    def test_hits_beyond_the_threshold_are_alike_and_those_below_are_not(self) -> None:
        """It is the least number from which on the comparison has one answer."""
        for (name, compare), number, turned in itertools.product(COMPARISONS.items(), range(-3, 7), (False, True)):

            def score(block: Facts, compare: Any = compare, number: int = number, turned: bool = turned) -> Any:
                return compare(number, block.hits) if turned else compare(block.hits, number)

            answers = [score(Facts(1, 1, hits, 0, 1)) for hits in range(20)]
            least = next(at for at in range(20) if len(set(answers[at:])) == 1)
            self.assertEqual(self.threshold(score), least, (name, number, turned))

    def test_the_answers_are_those_of_plain_numbers(self) -> None:
        for (name, compare), hits, number in itertools.product(COMPARISONS.items(), range(4), range(-2, 5)):
            for score in (
                lambda block, c=compare, n=number: c(block.hits, n),
                lambda block, c=compare, n=number: c(n, block.hits),
            ):
                facts = Facts(1, 1, hits, 0, 1)
                self.assertIs(Observer(score).score(facts), score(facts), (name, hits, number))


class Watched(unittest.TestCase):
    def test_scores_keep_their_order(self) -> None:
        """Blocks come in the same order whether the scores are watched or not, for comparisons of every kind."""
        rng = random.Random(1)
        keys: list[Score] = [
            *(make_policy(name) for name in sglang_policies()),
            lambda block: (-block.hits, block.created),
            lambda block: (block.hits, -block.created, block.last_access),
            lambda block: tuple(block),
            lambda block: tuple(block[at] for at in (3, 1, 0, 2, 4)),
            lambda block: (block.last_access > block.created, max(block.hits, 3)),
            lambda block: (block.last_access <= block.created, min(3, block.hits)),
            lambda block: sorted([block.last_access, block.created])[0],
            lambda block: sorted([-block.last_access, -block.created]),
            lambda block: operator.neg(-block.hits),
        ]
        for _ in range(10):
            many = [
                Facts(rng.randint(1, 6), rng.randint(1, 6), rng.randint(0, 5), rng.randint(0, 1), at) for at in range(6)
            ]
            for key in keys:
                observer = Observer(key)
                for one, other in itertools.product(many, repeat=2):
                    for name, compare in COMPARISONS.items():
                        found = compare(observer.score(one), observer.score(other))
                        self.assertEqual(found, compare(key(one), key(other)), (one, other, name))

    def test_they_read_like_facts(self) -> None:
        def score(block: Facts) -> Any:
            last_access, created, hits, priority, depth, *_ = block
            same = (last_access == block.last_access, created == block.created, hits == block.hits)
            by_place = (block[0] == last_access, block[1] == created, block[2] == hits, block[3:] and True)
            return (*same, *by_place, priority == block.priority, depth == block[4] == block.depth)

        plain = score(MANY[0])
        self.assertEqual(plain, (True,) * 9)
        without_slices: Score = lambda block: (block[0] == block.last_access, block[4] == block.depth)  # noqa: E731
        self.assertEqual(Observer(without_slices).score(MANY[0]), (True, True))

    def test_equal_times_of_different_kinds(self) -> None:
        observer = Observer(lambda block: block.last_access >= block.created >= block.last_access)
        self.assertEqual([observer.score(one) for one in MANY], [False, True, False, True, False])


class Refused(unittest.TestCase):
    def refused(self, score: Score, **plain: bool) -> None:
        with self.assertRaises(NeedsMore):
            observer = Observer(score, **plain)
            sorted(map(observer.score, MANY))

    def test_arithmetic_with_times(self) -> None:
        for score in (
            lambda block: block.last_access + 1,
            lambda block: 1 + block.last_access,
            lambda block: block.created - block.last_access,
            lambda block: 2 * block.created,
            lambda block: block.created % 2,
            lambda block: abs(block.created),
            lambda block: float(block.last_access),
            lambda block: int(block.last_access),
            lambda block: len(range(block.last_access)),
            lambda block: [0] * block.created,
            lambda block: block.last_access > 3,
            lambda block: block.created == 0,
            lambda block: block.created != 0,
            lambda block: block.created == None,  # noqa: E711
            lambda block: block.last_access < 2.5,
            lambda block: -block.last_access < block.created,
            lambda block: -block.last_access == block.last_access,
            lambda block: block.last_access if block.depth == 1 else -block.last_access,
            lambda block: block.last_access if block.depth == 1 else block.hits,
            lambda block: not block.created,
            lambda block: len({block.created: 1}),
            lambda block: block.hits < block.created,
            lambda block: block.previous_access > 0,
            lambda block: block.last_access - block.previous_access,
        ):
            self.refused(score)
            self.refused(score, count_hits=True)

    def test_arithmetic_with_hits(self) -> None:
        for score in (
            lambda block: block.hits + 1,
            lambda block: 1 - block.hits,
            lambda block: block.hits * block.depth,
            lambda block: block.hits / 2,
            lambda block: 2**block.hits,
            lambda block: float(block.hits),
            lambda block: int(block.hits),
            lambda block: [5, 6, 7, 8, 9, 10, 11, 12][block.hits],
            lambda block: len({block.hits: 1}),
            lambda block: block.hits > 0.5,
            lambda block: block.hits == "3",
            lambda block: -block.hits < 0,
            lambda block: -block.hits < block.hits,
            lambda block: block.hits if block.depth == 1 else -block.hits,
            lambda block: block.seen - block.hits,
            lambda block: block.seen > block.hits,
            lambda block: block.seen if block.depth == 1 else block.hits,
        ):
            self.refused(score)
        for score in (lambda block: -block.hits < 0, lambda block: block.hits * 0.5, lambda block: 2**block.hits):
            self.assertEqual(seen(score, count_hits=True), Depends(hits_up_to=None, other_than_hits=True))

    def test_what_else_whole_numbers_can_do(self) -> None:
        """Their methods and their text show more than their order, so they are refused as arithmetic is."""
        for name in ("last_access", "created", "hits"):
            for use in (
                lambda number: number.bit_length(),
                lambda number: number.real,
                lambda number: number.numerator,
                lambda number: str(number),
                lambda number: f"{number}",
                lambda number: f"{number:3}",
                lambda number: repr(number),
                lambda number: ", ".join([str(number)]),
            ):
                self.refused(lambda block, name=name, use=use: use(getattr(block, name)))

    def test_what_else_facts_can_do(self) -> None:
        for score in (
            lambda block: block._replace(hits=0),
            lambda block: list(block._asdict().values()),
            lambda block: block + (0,),
        ):
            self.refused(score)

    def test_plain_numbers(self) -> None:
        """With hits and times as plain numbers every score is served as it is."""
        for score in (
            lambda block: block.created - 2 * block.last_access,
            lambda block: block.hits / (1 + block.created),
            lambda block: (block.last_access - block.created, -block.hits, block.priority),
            lambda block: {block.created: 1}.get(4, 0),
            lambda block: block.created.bit_length() + len(str(block.hits)),
            lambda block: sum(block[:2]),
            lambda block: block._replace(hits=block.depth),
            lambda block: sorted(block._asdict().values()),
            lambda block: (len(block), block + (0,), isinstance(block, tuple)),
        ):
            observer = Observer(score, count_hits=True, exact_times=True)
            self.assertTrue(observer.seen.exact_times and observer.seen.created)
            self.assertEqual([observer.score(one) for one in MANY], [score(one) for one in MANY])
            self.assertTrue(observer.seen.exact_times and observer.seen.created and observer.seen.other_than_hits)

    def test_what_uses_the_facts_as_a_whole_may_depend_on_all_of_them(self) -> None:
        observer = Observer(lambda block: block[:4], count_hits=True, exact_times=True)
        observer.score(MANY[0])
        self.assertTrue(observer.seen.priority)

    def test_a_score_that_fails_is_reported(self) -> None:
        for score in (lambda block: block.depth // 0, lambda block: [][block.depth], lambda block: block.nothing):
            with self.assertRaisesRegex(PolicyError, r"fails on Facts.*\((ZeroDivision|Index|Attribute)Error: "):
                Observer(score, count_hits=True, exact_times=True).score(MANY[0])


def hidden(block: Facts) -> Any:
    """Arithmetic with hits whose refusal is caught."""
    try:
        return -10 * block.hits
    except Exception:
        return 0


def wholly_hidden(block: Facts) -> Any:
    try:
        return block.last_access % 3
    except BaseException:
        return 0


def asks_isinstance(block: Facts) -> Any:
    return -10 * block.hits if isinstance(block.hits, int) else 0


def asks_type(block: Facts) -> Any:
    """What no stand-in can see; the comparison with plain numbers can, although these facts have few hits."""
    return type(block.hits) is int and block.hits >= 3


def asks_attribute(block: Facts) -> Any:
    return hasattr(block.created, "bit_length") and block.created > 2


def asks_facts(block: Facts) -> Any:
    return isinstance(block, Facts) and block.created


def asks_hash(block: Facts) -> Any:
    try:
        return -hash(block.hits)
    except BaseException:
        return 0


def seldom(block: Facts) -> Any:
    """What no fact that is tried shows: only the refusal does."""
    try:
        return block.hits % 1000 == 999
    except BaseException:
        return False


class HiddenRefusals(unittest.TestCase):
    """A score that hides what it was refused is not taken for one that needed nothing."""

    SCORES = (hidden, wholly_hidden, seldom, asks_isinstance, asks_type, asks_attribute, asks_facts, asks_hash)

    def test_they_are_seen(self) -> None:
        few = [facts._replace(hits=0) for facts in MANY]
        for score, many in itertools.product(self.SCORES, (MANY, few)):
            with self.subTest(score=score.__name__), self.assertRaises(NeedsMore):
                seen(score, many)

    def test_plain_numbers_are_what_they_get(self) -> None:
        for score in self.SCORES:
            observer = Observer(score, count_hits=True, exact_times=True)
            self.assertEqual([observer.score(one) for one in MANY], [score(one) for one in MANY])

    def test_with_plain_numbers_too(self) -> None:
        """Then all that is left out is the priority, which whatever was refused may have been about."""

        def score(block: Facts) -> Any:
            try:
                return block._replace(hits=0).priority == 999
            except BaseException:
                return False

        observer = Observer(score, count_hits=True, exact_times=True)
        self.assertEqual([observer.score(one) for one in MANY], [False] * 5)
        self.assertTrue(observer.seen.priority)

    def test_a_score_that_remembers_is_told(self) -> None:
        clock = itertools.count()
        for score in (lambda block: next(clock), lambda block: (block.depth, -next(clock))):
            with self.assertRaisesRegex(PolicyError, "and later .*: let it depend on its facts alone$"):
                Observer(score, count_hits=True, exact_times=True).score(MANY[0])


if __name__ == "__main__":
    unittest.main()

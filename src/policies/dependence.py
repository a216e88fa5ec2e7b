"""Which facts a score function depends on, found by watching it: what makes a policy a finite machine.

A score is called with facts that record how they are used.  Times (last access, creation) can only be compared with
each other, so that only their order can matter; hits can be compared with numbers, and then only hits up to the largest
of these numbers can matter.  What was never looked at cannot matter.  Facts that cannot matter are left out of a
machine's state, which is what lets its states close.  The number of requests ever is treated as hits are.  A function
that does arithmetic with times or hits raises TypeError here; its caller then gives it plain numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from src.policies.facts import Facts, PolicyError, Score, asks_for_clock


class Depends(NamedTuple):
    """What a score was seen to depend on, besides depth, which never changes.

    `hits_up_to`: hits beyond this number are all alike (None: every number of hits matters).  `across`: times of last
    access were compared with times of creation.  `exact_times`: more than the order of times may matter.
    `other_than_hits`: the score is not simply the number of hits.  `seen_up_to`: as `hits_up_to`, of requests ever.
    `previous`: the order of times of last access is needed beyond evictions too.  `shape`: what was ever requested at
    or below a block matters.
    """

    created: bool = False
    priority: bool = False
    hits_up_to: int | None = 0
    across: bool = False
    exact_times: bool = False
    other_than_hits: bool = False
    seen_up_to: int | None = 0
    previous: bool = False
    shape: bool = False

    @property
    def memory(self) -> bool:
        """Whether what outlives evictions matters."""
        return self.seen_up_to != 0 or self.previous or self.shape

    def with_hits(self, threshold: int | None) -> Depends:
        """Return these dependences and that on hits up to a threshold."""
        return self._replace(hits_up_to=_larger(self.hits_up_to, threshold))

    def with_seen(self, threshold: int | None) -> Depends:
        """Return these dependences and that on requests ever up to a threshold."""
        return self._replace(seen_up_to=_larger(self.seen_up_to, threshold))


def _larger(one: int | None, other: int | None) -> int | None:
    """Return the larger of two thresholds, None being beyond all numbers."""
    return None if one is None or other is None else max(one, other)


EVERYTHING = Depends(
    created=True, priority=True, hits_up_to=None, exact_times=True, other_than_hits=True,
    seen_up_to=None, previous=True, shape=True,
)  # fmt: skip
"""What a score of which nothing is known may depend on."""


class Observer:
    """Collects what a score depends on.  `count_hits` and `exact_times` give it hits, and times, as plain numbers."""

    def __init__(self, score: Score, count_hits: bool = False, exact_times: bool = False) -> None:
        self._score = score
        self._count_hits = count_hits
        self.clocked = asks_for_clock(score)  # then it is served plain facts, and may use them all
        self._known: dict[Facts, Any] = {}
        self.seen = EVERYTHING if self.clocked else Depends(exact_times=exact_times, created=exact_times)

    @property
    def judge(self) -> Score:
        """The score for a cache: observed, or the policy's own if that asks for the clock."""
        return self._score if self.clocked else self.score

    def score(self, facts: Facts) -> Any:
        """Return the score of the facts; its comparisons are observed too.  Raises TypeError as said above.

        Equal facts have equal scores, so each is computed once.
        """
        if facts in self._known:
            return self._known[facts]
        score = self._scored(facts)
        if not (type(score) is _Hits and score.positive):
            self.seen = self.seen._replace(other_than_hits=True)
        self._known[facts] = score
        return score

    def _scored(self, facts: Facts) -> Any:
        try:
            return self._score(_Watched(facts, self))
        except Exception as error:
            if not (self._count_hits and self.seen.exact_times):
                raise TypeError(f"needs more than comparisons: {error}") from error
        self.seen = EVERYTHING  # whatever it does with the facts, it may use them all
        try:
            return self._score(facts)
        except PolicyError:
            raise
        except Exception as error:
            text = f"the eviction policy's score fails or cannot be compared: {type(error).__name__}: {error}"
            raise PolicyError(text) from None

    def time(self, value: int, kind: str) -> Any:
        """Return a time to be compared, or as a plain number."""
        if kind == "created":
            self.seen = self.seen._replace(created=True)
        elif kind == "previous_access":
            self.seen = self.seen._replace(previous=True)
        return value if self.seen.exact_times else _Time(value, 1, kind, self)

    def hits(self, value: int) -> Any:
        """Return hits to be compared, or as a plain number."""
        if self._count_hits:
            self.seen = self.seen.with_hits(None)
            return value
        return _Hits(value, self)

    def requests(self, value: int) -> Any:
        """Return the number of requests ever to be compared, or as a plain number."""
        if self._count_hits:
            self.seen = self.seen.with_seen(None)
            return value
        return _Seen(value, self)

    def shape(self, value: int) -> int:
        """Return the number, which has few values on a trie."""
        self.seen = self.seen._replace(shape=True)
        return value


class _Watched:
    """Facts under observation; they read like `Facts`."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, facts: Facts, observer: Observer) -> None:
        self._facts, self._observer = facts, observer

    def __repr__(self) -> str:
        raise TypeError("the facts have no text here")

    @property
    def last_access(self) -> Any:
        return self._observer.time(self._facts.last_access, "last_access")

    @property
    def created(self) -> Any:
        return self._observer.time(self._facts.created, "created")

    @property
    def hits(self) -> Any:
        return self._observer.hits(self._facts.hits)

    @property
    def priority(self) -> int:
        self._observer.seen = self._observer.seen._replace(priority=True)
        return self._facts.priority

    @property
    def depth(self) -> int:
        return self._facts.depth

    @property
    def seen(self) -> Any:
        return self._observer.requests(self._facts.seen)

    @property
    def previous_access(self) -> Any:
        return self._observer.time(self._facts.previous_access, "previous_access")

    @property
    def reach(self) -> int:
        return self._observer.shape(self._facts.reach)

    @property
    def below(self) -> int:
        return self._observer.shape(self._facts.below)

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in Facts._fields)

    def __getitem__(self, at: int) -> Any:
        return getattr(self, Facts._fields[at])


class _Ordered:
    """The six comparisons, from two: `_compare` returns a negative number, zero or a positive number.

    Whether a value is `<` or `>=` n is the same for all values from n on; the other four tell n from n + 1.  So
    comparisons say in `beyond` whether n itself must be told from what is above it.
    """

    __hash__ = None  # type: ignore[assignment]

    def _compare(self, other: object, beyond: int) -> int:
        raise TypeError("not comparable")

    def __eq__(self, other: object) -> bool:
        return self._compare(other, 1) == 0

    def __lt__(self, other: object) -> bool:
        return self._compare(other, 0) < 0

    def __le__(self, other: object) -> bool:
        return self._compare(other, 1) <= 0

    def __gt__(self, other: object) -> bool:
        return self._compare(other, 1) > 0

    def __ge__(self, other: object) -> bool:
        return self._compare(other, 0) >= 0

    def __bool__(self) -> bool:
        raise TypeError("a time can only be compared with times here")

    def __repr__(self) -> str:
        raise TypeError("a time or hit count has no text here")


class _Time(_Ordered):
    """A time, or minus a time, that can be compared with others of the same sign."""

    def __init__(self, value: int, sign: int, kind: str, observer: Observer) -> None:
        self._value, self._sign, self._kind, self._observer = value, sign, kind, observer

    def __neg__(self) -> _Time:
        return _Time(self._value, -self._sign, self._kind, self._observer)

    def _compare(self, other: object, beyond: int) -> int:
        if not isinstance(other, _Time) or other._sign != self._sign:
            raise TypeError("times can only be compared with times here")
        if other._kind != self._kind:
            self._observer.seen = self._observer.seen._replace(across=True)
        return self._sign * (self._value - other._value)


class _Hits(_Ordered):
    """A hit count that can be compared with numbers and with other hit counts; minus one only with its like."""

    def __init__(self, value: int, observer: Observer, sign: int = 1) -> None:
        self._value, self._observer, self._sign = value, observer, sign

    @property
    def positive(self) -> bool:
        """Whether this is a count, not minus one."""
        return self._sign > 0

    def __neg__(self) -> _Hits:
        return type(self)(self._value, self._observer, -self._sign)

    def __bool__(self) -> bool:
        return self != 0

    def _compare(self, other: object, beyond: int) -> int:
        observer = self._observer
        if isinstance(other, int) and self._sign > 0:
            # A score that looks at the number may turn at it, so it counts as more than the number itself.
            observer.seen = self._noted(max(other + beyond, 0))._replace(other_than_hits=True)
            return self._value - other
        if not isinstance(other, _Hits) or type(other) is not type(self) or other._sign != self._sign:
            raise TypeError("hits can only be compared with numbers and hits here")
        observer.seen = self._noted(None)
        return self._sign * (self._value - other._value)

    def _noted(self, threshold: int | None) -> Depends:
        return self._observer.seen.with_hits(threshold)


class _Seen(_Hits):
    """A number of requests ever, under the same rules: it compares with numbers and with its like, not with hits."""

    def _noted(self, threshold: int | None) -> Depends:
        return self._observer.seen.with_seen(threshold)

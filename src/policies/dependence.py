"""Which facts a score function depends on, found by watching it: what makes a policy a finite machine.

A score is called with facts that record how they are used.  Times (last access, creation) can only be compared with
each other, so that only their order can matter; hits can be compared with numbers, and then only hits up to the largest
of these numbers can matter.  What was never looked at cannot matter.  Facts that cannot matter are left out of a
machine's state, which is what lets its states close.  The number of requests ever is treated as hits are.  A function
that does anything else with times or hits needs more than comparisons, and its caller gives it plain numbers.  That
holds even if it hides the refusal: every refusal is noted, and the watched score must be the plain one, for the facts
that come and for some that may come later.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Number
from typing import Any, Callable, NamedTuple, NoReturn

from src.policies.checked import NOT_OURS, Checked
from src.policies.facts import Facts, PolicyError, Score, asks_for

LATER = (1, 2, 5, 100)  # how many hits more, and how many times as late, facts are that a score is tried on


class NeedsMore(BaseException):
    """The score does more with watched facts than to compare them.

    Not an Exception, so that it mostly passes through a score that catches its own.
    """


class Depends(NamedTuple):
    """What a score was seen to depend on, besides depth, which never changes.

    `hits_up_to`: hits beyond this number are all alike (None: every number of hits matters).  `across`: times of last
    access were compared with times of creation.  `exact_times`: more than the order of times may matter.
    `other_than_hits`: the score is not simply the number of hits.  `seen_up_to`: as `hits_up_to`, of requests ever.
    `previous`: the order of times of last access is needed beyond evictions too.  `shape`: what was ever requested at
    or below a block matters, or what was latest.
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
        self.__wrapped__ = score
        self._plain = Checked(score)
        self._count_hits = count_hits
        self.asks = bool(asks_for(score))  # then it is served plain facts, and may use them all
        self._known: dict[Facts, Any] = {}
        self._refused = False
        self.seen = Depends(exact_times=exact_times, created=exact_times)
        if self.asks:
            self.seen = EVERYTHING._replace(priority=False)

    def score(self, facts: Facts, **asked: Any) -> Any:
        """Return the score of the facts; its comparisons are observed too, unless it asks for more.

        Equal facts have equal scores, so each is computed once.  Raises NeedsMore as said above, and PolicyError for
        what is no score.
        """
        if self.asks:
            plain = self._plain(facts, **asked)
            if not self.seen.priority and self._looks_at_the_priority(facts, asked, plain):
                self.seen = EVERYTHING
            return plain
        if facts in self._known:
            return self._known[facts]
        score = self._scored(facts)
        if not (type(score) is _Hits and score.positive):
            self.seen = self.seen._replace(other_than_hits=True)
        self._known[facts] = score
        return score

    __call__ = score

    def _looks_at_the_priority(self, facts: Facts, asked: dict[str, Any], plain: Any) -> bool:
        """Return whether a priority of 1 gives another score than that of 0 here.

        As long as it does not for any facts that come, requests of priority 1 are served like those of 0.
        """
        try:
            return not _same(self._plain(facts._replace(priority=1), **asked), plain)
        except PolicyError:
            return True

    def _scored(self, facts: Facts) -> Any:
        plain = self._plain(facts)
        watched = self._watched(facts)
        if not self._refused and _same(watched, plain) and self._same_later(facts):
            return watched
        if not (self._count_hits and self.seen.exact_times):
            raise NeedsMore
        self._plain.again(facts, plain)
        self.seen = EVERYTHING  # whatever it does with the facts, it may use them all
        return plain

    def _watched(self, facts: Facts) -> Any:
        """Return the score of the facts under observation; what it raises counts as a refusal."""
        self._refused = False
        try:
            return self.__wrapped__(_Watched(facts, self))
        except NOT_OURS:
            raise
        except BaseException:
            self._refused = True
            return None

    def _same_later(self, facts: Facts) -> bool:
        """Return whether the watched score is the plain one, or both fail, for more hits and later times as well."""
        if self.seen.exact_times:
            return True  # nothing is left out but the priority, of which only the presence is noted
        apart = Observer(self.__wrapped__, self._count_hits)
        for more in LATER:
            later = facts._replace(
                hits=facts.hits + more,
                seen=facts.seen + more,
                created=facts.created * (more + 1),
                last_access=facts.last_access * (more + 1),
                last_access_ms=facts.last_access_ms * (more + 1),
                previous_access=facts.previous_access * (more + 1),
            )
            watched = apart._watched(later)
            try:
                plain = self.__wrapped__(later)
            except NOT_OURS:
                raise
            except BaseException:
                if not apart._refused:
                    return False
            else:
                if apart._refused or not _same(watched, plain):
                    return False
        return True

    def refuse(self) -> NoReturn:
        """Note that the score asked for more than comparisons, and raise NeedsMore."""
        self._refused = True
        raise NeedsMore

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
        return _Hits(value, 1, self)

    def requests(self, value: int) -> Any:
        """Return the number of requests ever to be compared, or as a plain number."""
        if self._count_hits:
            self.seen = self.seen.with_seen(None)
            return value
        return _Seen(value, 1, self)

    def shape(self, value: int) -> int:
        """Return the number, which has few values on a trie."""
        self.seen = self.seen._replace(shape=True)
        return value


def _same(watched: Any, plain: Any) -> bool:
    """Return whether a watched score is, number by number, the plain one; False where that cannot be told."""
    if type(watched) in (_Time, _Hits, _Seen):
        watched = watched.plain
    if type(watched) is not type(plain):
        return False
    if isinstance(plain, (tuple, list)):
        return len(watched) == len(plain) and all(map(_same, watched, plain))
    return isinstance(plain, (Number, str, bytes)) and bool(watched == plain)


class _Refusing:
    """What is watched: whatever is not said in a subclass is refused, and that it was asked for is noted."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # what isinstance asks for
        return self._observer.refuse()

    def __getattr__(self, name: str) -> Any:
        return self._observer.refuse()


def _refusal(name: str) -> Callable[..., Any]:
    def refuse(self: _Refusing, *operands: Any) -> Any:
        """Note that the score asked for what is not followed, and refuse it."""
        return self._observer.refuse()

    refuse.__name__ = name
    return refuse


OPERATORS = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor"
OTHERS = (
    "pos neg abs invert bool int float complex index round trunc floor ceil hash repr str format bytes eq ne lt le"
    " gt ge iter next getitem contains reversed call reduce_ex"
)
for _name in (*OPERATORS.split(), *(f"r{name}" for name in OPERATORS.split()), *OTHERS.split()):
    setattr(_Refusing, f"__{_name}__", _refusal(f"__{_name}__"))


class _Watched(_Refusing):
    """Facts under observation; they read like `Facts`."""

    def __init__(self, facts: Facts, observer: Observer) -> None:
        super().__init__(observer)
        self._facts = facts

    @property
    def last_access(self) -> Any:
        """The time of the last access, watched."""
        return self._observer.time(self._facts.last_access, "last_access")

    @property
    def created(self) -> Any:
        """The time of the creation, watched."""
        return self._observer.time(self._facts.created, "created")

    @property
    def hits(self) -> Any:
        """The number of hits, watched."""
        return self._observer.hits(self._facts.hits)

    @property
    def priority(self) -> int:
        """The priority as it is; that it was asked for is noted."""
        self._observer.seen = self._observer.seen._replace(priority=True)
        return self._facts.priority

    @property
    def depth(self) -> int:
        """The depth as it is: it never changes, so nothing has to be noted."""
        return self._facts.depth

    @property
    def seen(self) -> Any:
        """The number of requests ever, watched."""
        return self._observer.requests(self._facts.seen)

    @property
    def last_access_ms(self) -> Any:
        """The same time in milliseconds, watched: where no times are known they are one order."""
        return self._observer.time(self._facts.last_access_ms, "last_access")

    @property
    def previous_access(self) -> Any:
        """The time of the access before the last one, watched."""
        return self._observer.time(self._facts.previous_access, "previous_access")

    @property
    def reach(self) -> int:
        """The longest path through the block as it is; that it was asked for is noted."""
        return self._observer.shape(self._facts.reach)

    @property
    def below(self) -> int:
        """The number of blocks below as it is; that it was asked for is noted."""
        return self._observer.shape(self._facts.below)

    @property
    def behind(self) -> int:
        """The number of blocks behind as it is; that it was asked for is noted."""
        return self._observer.shape(self._facts.behind)

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in Facts._fields)

    def __len__(self) -> int:
        return len(Facts._fields)

    def __getitem__(self, at: int) -> Any:
        return getattr(self, Facts._fields[at])


class _Ordered(_Refusing):
    """The six comparisons, from two: `_compare` returns a negative number, zero or a positive number.

    Whether a value is `<` or `>=` n is the same for all values from n on; the other four tell n from n + 1.  So
    comparisons say in `beyond` whether n itself must be told from what is above it.
    """

    def __init__(self, value: int, sign: int, observer: Observer) -> None:
        super().__init__(observer)
        self._value, self._sign = value, sign

    __hash__ = _Refusing.__hash__

    @property
    def plain(self) -> int:
        """The number that this stands for."""
        return self._sign * self._value

    def _compare(self, other: object, beyond: int) -> int:
        return self._observer.refuse()

    def __eq__(self, other: object) -> bool:
        return self._compare(other, 1) == 0

    def __ne__(self, other: object) -> bool:
        return self._compare(other, 1) != 0

    def __lt__(self, other: object) -> bool:
        return self._compare(other, 0) < 0

    def __le__(self, other: object) -> bool:
        return self._compare(other, 1) <= 0

    def __gt__(self, other: object) -> bool:
        return self._compare(other, 1) > 0

    def __ge__(self, other: object) -> bool:
        return self._compare(other, 0) >= 0


class _Time(_Ordered):
    """A time, or minus a time, that can be compared with others of the same sign."""

    def __init__(self, value: int, sign: int, kind: str, observer: Observer) -> None:
        super().__init__(value, sign, observer)
        self._kind = kind

    def __neg__(self) -> _Time:
        return _Time(self._value, -self._sign, self._kind, self._observer)

    def _compare(self, other: object, beyond: int) -> int:
        if type(other) is not _Time or other._sign != self._sign:
            return self._observer.refuse()
        if other._kind != self._kind:
            self._observer.seen = self._observer.seen._replace(across=True)
        return self.plain - other.plain


class _Hits(_Ordered):
    """A hit count that can be compared with numbers and with other hit counts; minus one only with its like."""

    @property
    def positive(self) -> bool:
        """Whether this is a count, not minus one."""
        return self._sign > 0

    def __neg__(self) -> _Hits:
        return type(self)(self._value, -self._sign, self._observer)

    def __bool__(self) -> bool:
        return self != 0

    def _compare(self, other: object, beyond: int) -> int:
        observer = self._observer
        if issubclass(type(other), int) and self._sign > 0:
            # A score that looks at the number may turn at it, so it counts as more than the number itself.
            number: int = other  # type: ignore[assignment]
            observer.seen = self._noted(max(number + beyond, 0))._replace(other_than_hits=True)
            return self._value - number
        if type(other) is not type(self) or other._sign != self._sign:
            return observer.refuse()
        observer.seen = self._noted(None)
        return self.plain - other.plain

    def _noted(self, threshold: int | None) -> Depends:
        return self._observer.seen.with_hits(threshold)


class _Seen(_Hits):
    """A number of requests ever, under the same rules: it compares with numbers and with its like, not with hits."""

    def _noted(self, threshold: int | None) -> Depends:
        return self._observer.seen.with_seen(threshold)

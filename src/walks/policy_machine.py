"""Any eviction policy as a machine, its state reduced to what the policy's score depends on.

A request is a string, or a pair (string, priority) where requests carry priorities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, TypeVar

from src.policies.cache import Cache, CacheState, Served
from src.policies.dependence import Depends, NeedsMore, Observer
from src.policies.facts import Facts, Score, asks_for
from src.radixcache import String, Trie
from src.walks.exhaustive import LeftOut, Machine, Tally
from src.walks.lru_machine import ranks

COLD = CacheState()
"""The state before the first request.  A machine's states have the clock 0 where only the order of times matters."""

Result = TypeVar("Result")


class DependsOnMore(Exception):
    """The score was seen to depend on more than the machine's states hold."""


class Saturated(LeftOut):
    """A block with saturated hits was evicted: the machine cannot tell which one the policy would choose."""


class PolicyMachines:
    """Machines for one policy on one trie, whose states hold what `depends` says that the score depends on.

    `requests` are the trie's strings, or with more than one priority the pairs of strings and priorities.
    Serving raises DependsOnMore when the score turns out to depend on something else.

    Where the score is the number of hits, states never close.  With `saturate`, hits are then counted up to that number
    only, and a request is left out (Saturated) if it evicts a block that has so many.  Every walk that is left is a run
    of the policy, though not every run is a walk.  Proof: results/PROOFS.md, "Hits counted up to a number".
    """

    def __init__(
        self,
        trie: Trie,
        capacity: int,
        observer: Observer,
        priorities: Sequence[int] = (0,),
        saturate: int | None = None,
    ) -> None:
        self.trie, self.capacity, self.observer = trie, capacity, observer
        self._saturate = saturate
        self.requests = requests(trie, priorities)
        self.depends = observer.seen
        self._pairs = len(priorities) > 1
        self._machines: dict[bool, Machine] = {}

    def string(self, request: Any) -> String:
        """Return the string of a request."""
        string: String = request[0] if self._pairs else request
        return string

    def serve(self, state: CacheState, request: Any, leaf_only: bool = True) -> tuple[CacheState, Served]:
        """Serve one request as `Cache.access` does; return the state after it and what happened."""
        string, priority = request if self._pairs else (request, 0)
        cache = Cache(self.trie, self.capacity, self.observer, leaf_only)
        latest = max((max(facts.last_access, facts.created) for _, facts in state.blocks), default=0)
        cache.restore(state._replace(clock=state.clock or latest))
        served = cache.access(string, priority)
        if self.observer.seen != self.depends:
            raise DependsOnMore
        depends = self.depends
        if depends.hits_up_to is None and not depends.other_than_hits and self._saturate is not None:
            before = dict(state.blocks)
            if any(before[victim].hits >= self._saturate for victim in served.victims):
                raise Saturated
            depends = depends._replace(hits_up_to=self._saturate)
        after = cache.state()
        return reduced(after, depends), served

    def machine(self, leaf_only: bool = True) -> Machine:
        """Return the policy as a machine whose tally is (misses,), the same one each time."""

        def step(state: CacheState, request: Any) -> tuple[CacheState, Tally]:
            """Serve a request; the tally is (misses,), in blocks."""
            state, served = self.serve(state, request, leaf_only)
            return state, (served.misses,)

        return self._machines.setdefault(leaf_only, Machine(COLD, self.requests, 1, step))


def requests(trie: Trie, priorities: Sequence[int]) -> tuple[Any, ...]:
    """Return the trie's strings, or with more than one priority their pairs with each."""
    if len(priorities) == 1:
        return trie.strings
    return tuple((string, priority) for string in trie.strings for priority in priorities)


def reduced(state: CacheState, depends: Depends) -> CacheState:
    """Return the state with times replaced by ranks, the clock and what the score does not depend on by 0.

    The order of last accesses stays in any case: it breaks ties.  With exact times these and the clock stay as they
    are.  Blocks that are not cached are forgotten unless what outlives evictions matters.
    """
    held, gone = state.blocks, state.ghosts if depends.memory else ()
    known = [facts for _, facts in held + gone]
    times = tuple([facts.last_access for _, facts in held])
    none = (0,) * len(known)
    if depends.previous:  # a last access is the previous one of the next request, so they share one scale
        times += tuple([facts.last_access for _, facts in gone]) + tuple([facts.previous_access for facts in known])
    else:
        times += none[len(held) :] + none
    created = tuple([facts.created for facts in known]) if depends.created else none
    if depends.across:
        both = ranks(times + created)
        times, created = both[: len(times)], both[len(times) :]
    elif not depends.exact_times:
        times, created = ranks(times), ranks(created) if depends.created else created
    hits, seen = depends.hits_up_to, depends.seen_up_to
    facts_then = [
        Facts(
            times[at],
            created[at],
            facts.hits if hits is None else min(facts.hits, hits),
            facts.priority if depends.priority else 0,
            facts.depth,
            facts.seen if seen is None else min(facts.seen, max(seen, 1)),
            times[len(known) + at],
            facts.reach if depends.shape else 0,
            facts.below if depends.shape else 0,
            times[at],
            facts.behind if depends.shape else 0,
        )
        for at, facts in enumerate(known)
    ]
    numbered = tuple(zip((block for block, _ in held + gone), facts_then))
    clock = state.clock if depends.exact_times else 0
    return CacheState(clock, numbered[: len(held)], state.locks, numbered[len(held) :], returns=state.returns)


def with_policy(
    trie: Trie,
    capacity: int,
    score: Score,
    use: Callable[[PolicyMachines], Result],
    priorities: Sequence[int] = (0,),
    saturate: int | None = None,
) -> Result:
    """Return what `use` makes of the policy's machines, once their states hold all that the score depends on.

    `use` is called anew whenever the score is seen to depend on more.  A score that computes with hits, or
    with times, is served plain numbers; with times, states of different lengths never merge (`exact_times`).  A score
    that asks for more than facts is served so from the start.  Raises PolicyError for what is no score (see
    `src.policies.checked`).
    """
    for plain in ((True, True),) if asks_for(score) else ((False, False), (True, False), (True, True)):
        observer = Observer(score, *plain)
        while True:
            try:
                return use(PolicyMachines(trie, capacity, observer, priorities, saturate))
            except DependsOnMore:
                continue
            except NeedsMore:
                break
    raise AssertionError("unreachable: plain numbers are refused nothing")

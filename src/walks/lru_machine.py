"""The caches and the optimum as machines: finite states, so that walks over all sequences can share them.

A cache's decisions depend on its times only through their order, so times are replaced by their ranks.  The optimum's
state is its *work function*.
"""

from __future__ import annotations

from collections.abc import Iterable

from src.radixcache import LastAccess, Recency, Rule, Step, String, Trie, as_set, check_capacity, lru_access
from src.walks.exhaustive import Machine, Tally


def ranks(times: Iterable[int]) -> tuple[int, ...]:
    """Return each time's rank among the distinct positive times, 1 for the earliest; 0 stays 0 (not cached)."""
    times = tuple(times)
    rank = {time: at for at, time in enumerate(sorted({0, *times}))}
    return tuple([rank[time] for time in times])


def cached_set(state: LastAccess) -> int:
    """Return the set of the blocks that a state holds."""
    return as_set(block for block, time in enumerate(state) if time)


def lru_step(
    trie: Trie, capacity: int, state: LastAccess, string: String, rule: Rule,
    recency: Recency = Recency.PATH, locked: bool = False,
) -> tuple[LastAccess, Step]:
    """Serve one request as `lru_access` does, and return the state with its times replaced by their ranks."""
    state, step = lru_access(trie, capacity, state, string, rule, recency, locked)
    return ranks(state), step


def lru_machine(trie: Trie, capacity: int, rule: Rule = Rule.LEAF_ONLY) -> Machine:
    """Return LRU as a machine over the trie's strings; its tally is (misses,)."""
    check_capacity(capacity)

    def step(state: LastAccess, string: String) -> tuple[LastAccess, Tally]:
        """Serve a request; the tally is (misses,), in blocks."""
        state, served = lru_step(trie, capacity, state, string, rule)
        return state, (served.misses,)

    return Machine((0,) * len(trie), trie.strings, 1, step)

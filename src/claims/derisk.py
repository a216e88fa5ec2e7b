"""The de-risk search of the pre-registration: the worst ratio of LRU in the tree model and in flat paging.

The tree model counts missed blocks in a cache of K blocks; flat paging counts missed pages in a cache of K pages, a
string being one page whatever its length.  Flat paging is the tree model of a star: one block for each string.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from src.claims.claim import Claim, claim
from src.claims.schedule import lru_schedule, optimum_schedule, steps_json
from src.radixcache import Optimum, Rule, String, Trie, check_capacity, flat_belady, flat_lru, names
from src.walks.beside_optimum import lru_beside_optimum
from src.walks.exhaustive import MOST_STATES, Worst, ratios_by_length, side_by_side, worst_ratio
from src.walks.lru_machine import lru_machine
from src.walks.work_function import optimum_machine

BINARY: tuple[str, ...] = ("0", "1", "00", "01", "10", "11")
"""The study's universe: the non-empty binary strings of length at most 2."""

DERISK_CAPACITY, DERISK_LENGTH = 2, 5


def worst_lru_ratio(
    trie: Trie, capacity: int, length: int, optimum: Optimum, most: int = MOST_STATES
) -> Worst:
    """Return the largest ratio of leaf-only LRU's misses to the optimum's over all sequences of 1 to `length` requests.

    Raises ValueError for a capacity below 1, and for a path that a locked optimum cannot hold; Outgrown as
    `worst_ratio` does.
    Cost: O(reached pairs of states · distinct tallies · strings) for each length.
    """
    both = side_by_side(lru_machine(trie, capacity), optimum_machine(trie, capacity, optimum))
    return worst_ratio(both, length, most)


def witness(trie: Trie, capacity: int, sequence: Sequence[String], optimum: Optimum) -> dict[str, Any]:
    """Return a sequence with both schedules, step by step, so that a reader can replay it by hand."""
    policy = lru_schedule(trie, capacity, sequence, Rule.LEAF_ONLY)
    best = optimum_schedule(trie, capacity, sequence, optimum)
    return {
        "sequence": names(sequence),
        "lru_misses": policy.misses,
        "optimum_misses": best.misses,
        "schedule": steps_json({"lru": policy, "optimum": best}),
    }


class Universe(NamedTuple):
    """What the pre-registered search runs over: strings, capacity (blocks, or pages), longest sequence (requests)."""

    strings: tuple[str, ...] = BINARY
    capacity: int = DERISK_CAPACITY
    length: int = DERISK_LENGTH


def derisk(universe: Universe, optimum: Optimum | None = None, most: int = MOST_STATES) -> Claim:
    """Return the worst ratios of both models against both optima, or against the named one alone.

    With neither an optimum named nor anything else changed this is the pre-registered comparison, and the published
    ratios stand beside the measured ones: the tree's bypasses, the flat one's does not.  A locked optimum that
    cannot hold the longest path has the ratio None.  The ratios are those of the witnesses as the plain model replays
    them, flat ones by flat paging itself.  Raises ValueError as `worst_lru_ratio` does, for
    the optimum that was named, and Outgrown.
    """
    check_capacity(universe.capacity)
    tree = Trie(universe.strings)
    capacity = universe.capacity
    flat = flat_trie(universe.strings)
    measured: dict[str, Any] = {}
    witnesses: dict[str, Any] = {}
    for name, trie in (("tree", tree), ("flat", flat)):
        for model in (optimum,) if optimum else Optimum:
            key = f"{name}_{model.value}"
            if optimum is None and not model.fits(trie, capacity):
                measured[key] = None
                continue
            worst = worst_lru_ratio(trie, capacity, universe.length, model, most)
            shown = witnesses[key] = witness(trie, capacity, worst.sequence, model)
            measured[key] = str(Fraction(shown["lru_misses"], shown["optimum_misses"]))
            if trie is flat:
                pages = shown["sequence"]
                measured[key] = str(Fraction(flat_lru(capacity, pages), flat_belady(capacity, pages, model)))
    published = None
    if universe == Universe() and optimum is None:
        published = {"tree_bypass": "1.667", "flat_locked": "1.333"}
    parameters = {"strings": list(universe.strings), "capacity": universe.capacity, "length": universe.length}
    return claim(parameters, measured, published, witnesses=witnesses)


def pre_registered(lengths: Mapping[int, int]) -> Claim:
    """Return the pre-registered comparison with both models' ratios at every length, by capacity, beside it."""
    found = derisk(Universe())
    found["measured"]["by_length"] = {
        str(capacity): ratios_of_both_models(Universe(capacity=capacity, length=length))
        for capacity, length in lengths.items()
    }
    return found


def ratios_of_both_models(universe: Universe) -> dict[str, list[str]]:
    """Return LRU's worst ratio in the tree and in flat paging, to both optima, for each longest sequence from 1 on."""
    return {
        f"{name}_{optimum.value}": list(
            map(str, ratios_by_length(lru_beside_optimum(trie, universe.capacity, optimum), universe.length))
        )
        for optimum in Optimum
        for name, trie in (("tree", Trie(universe.strings)), ("flat", flat_trie(universe.strings)))
    }


def flat_trie(strings: Sequence[str]) -> Trie:
    """Return the star of the strings: each is one block, whatever its length."""
    return Trie((string,) for string in strings)

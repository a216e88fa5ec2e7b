"""The theorems' statements, checked on every small trie.  Proofs: results/PROOFS.md."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Callable, NamedTuple

from src.claims.claim import Claim, claim
from src.policies.scores import make_policy
from src.radixcache import LeafOnlyBelady, Optimum, Search, Trie, names
from src.walks.belady import AnySetBelady
from src.walks.beside_optimum import lru_beside_optimum
from src.walks.every_length import explore, policy_every_length, supremum
from src.walks.exhaustive import shortest_sequence
from src.walks.forests import forest_trie, forests, star
from src.walks.lru_machine import lru_machine

FOREST_NODES, FIFO_NODES = 6, 5  # blocks of the largest forests on which LRU, and fifo, are checked
OFFLINE_NODES, OFFLINE_LENGTH = 4, 4  # blocks of the largest forests, and requests, of the offline check
Say = Callable[[str], None]


class Case(NamedTuple):
    """A trie with a capacity below its size, and the models of the optimum in which every path fits."""

    trie: Trie
    capacity: int
    optima: tuple[Optimum, ...]


def cases(nodes: int) -> Iterator[Case]:
    """Yield the cases of all forests with up to so many nodes, smaller forests first."""
    for count in range(1, nodes + 1):
        for forest in forests(count):
            trie = forest_trie(forest)
            for capacity in range(1, count):
                yield Case(trie, capacity, tuple(optimum for optimum in Optimum if optimum.fits(trie, capacity)))


def bound(capacity: int, optimum: Optimum) -> int:
    """Return the theorem's bound on leaf-only LRU's ratio: K against the locked optimum, K + 1 against the other."""
    return capacity + (optimum is Optimum.BYPASS)


Bound = Callable[[int, Optimum], int]


class Priced(NamedTuple):
    """A case, one of its models of the optimum, and a policy's ratio over all lengths (None: unbounded)."""

    trie: Trie
    capacity: int
    optimum: Optimum
    ratio: Fraction | None


@functools.cache
def priced(policy: str, nodes: int) -> tuple[Priced, ...]:
    """Return the ratios of a registered policy on all cases with up to so many nodes; computed once for all claims."""
    found = []
    for trie, capacity, optima in cases(nodes):
        if policy == "lru":
            machine = lru_machine(trie, capacity)
            graphs = (explore(lru_beside_optimum(trie, capacity, optimum, policy=machine)) for optimum in optima)
            results = [supremum(graph) for graph in graphs]
        else:
            results = [one.result for one in policy_every_length(trie, capacity, make_policy(policy), optima)]
        found += [Priced(trie, capacity, optimum, one.ratio) for optimum, one in zip(optima, results)]
    return tuple(found)


def lru_sweep(nodes: int, bound: Bound = bound) -> dict[str, Any]:
    """Return how many cases exceed the theorem's bound on LRU, over all lengths, and the ratios of the stars.

    The star with K + 1 leaves attains the bound; so with no case above it, it has the largest ratio of all forests.
    """
    found = priced("lru", nodes)
    stars = {
        optimum.value: {
            str(capacity): str(supremum(explore(lru_beside_optimum(star(capacity + 1), capacity, optimum))).ratio)
            for capacity in range(1, nodes)
        }
        for optimum in Optimum
    }
    return {
        "forests": sum(len(forests(count)) for count in range(1, nodes + 1)),
        "cases": len(found),
        "cases_above_the_bound": sum(
            one.ratio is None or one.ratio > bound(one.capacity, one.optimum) for one in found
        ),
        "ratio_of_the_star": stars,
    }


def fifo_sweep(nodes: int, bound: Bound = bound, policy: str = "fifo") -> dict[str, Any]:
    """Return, for each capacity, fifo's largest ratio over all forests, and how many cases exceed LRU's bound."""
    found = priced(policy, nodes)
    largest: dict[str, dict[str, Fraction]] = {optimum.value: {} for optimum in Optimum}
    unbounded = above = 0
    for _, capacity, optimum, ratio in found:
        if ratio is None:
            unbounded += 1
            continue
        above += ratio > bound(capacity, optimum)
        rows = largest[optimum.value]
        rows[str(capacity)] = max(ratio, rows.get(str(capacity), ratio))
    return {
        "forests": sum(len(forests(count)) for count in range(1, nodes + 1)),
        "cases": len(found),
        "unbounded_cases": unbounded,
        "cases_above_lrus_bound": above,
        "largest_ratio": {model: {k: str(ratio) for k, ratio in rows.items()} for model, rows in largest.items()},
    }


def offline_sweep(nodes: int, length: int, any_set: type[Search] = AnySetBelady) -> dict[str, int]:
    """Return in how many instances the leaf-only optimum differs from that of a cache that may hold any blocks."""
    instances = mismatches = 0
    for trie, capacity, optima in cases(nodes):
        for optimum in optima:
            leaf_only, free = LeafOnlyBelady(trie, capacity, optimum), any_set(trie, capacity, optimum)
            for sequence in itertools.product(trie.strings, repeat=length):
                instances += 1
                mismatches += leaf_only.misses(sequence) != free.misses(sequence)
    return {"instances": instances, "mismatches": mismatches}


def above_capacity() -> dict[str, Any]:
    """Return the shortest sequence of three one-block strings whose ratio exceeds K = 2, in the study's own model."""
    trie = Trie(("a", "b", "c"))
    machine = lru_beside_optimum(trie, 2, Optimum.BYPASS, merge=False)
    sequence = shortest_sequence(machine, 16, lambda tally: tally[0] > 2 * tally[1])
    tallies = machine.run(sequence or ())
    misses, best = (sum(column) for column in zip(*tallies))
    return {
        "strings": list(trie.strings),
        "capacity": 2,
        "sequence": names(sequence or ()),
        "lru_misses": misses,
        "optimum_misses": best,
        "ratio": str(Fraction(misses, best)),
    }


def theorems(say: Say) -> Claim:
    """The theorems' statements, checked on every forest up to a size, and fifo in the same sweep."""
    say("theorems: LRU on every small forest")
    measured: dict[str, Any] = {"lru": lru_sweep(FOREST_NODES)}
    say("theorems: fifo on every small forest")
    measured["fifo"] = fifo_sweep(FIFO_NODES)
    say("theorems: the offline optimum on every small forest")
    measured["offline"] = offline_sweep(OFFLINE_NODES, OFFLINE_LENGTH)
    exceeding = above_capacity()
    measured["above_capacity"] = exceeding["ratio"]
    parameters = {
        "lru_nodes": FOREST_NODES,
        "fifo_nodes": FIFO_NODES,
        "offline_nodes": OFFLINE_NODES,
        "offline_length": OFFLINE_LENGTH,
    }
    expected = {
        "lru": {
            "cases_above_the_bound": 0,
            "ratio_of_the_star": {
                optimum.value: {str(k): str(bound(k, optimum)) for k in range(1, FOREST_NODES)} for optimum in Optimum
            },
        },
        "fifo": {"unbounded_cases": 0, "cases_above_lrus_bound": 0},
        "offline": {"mismatches": 0},
    }
    return claim(parameters, measured, expected=expected, witnesses={"above_capacity": exceeding})

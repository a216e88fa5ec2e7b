"""The reduction: a radix cache under LRU holds what flat paging holds, and flat paging's optimum is no worse."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Callable

from src.claims.claim import Claim, claim
from src.claims.online import CAPACITIES, ONLINE_LENGTH
from src.claims.theorems import cases
from src.radixcache import LeafOnlyBelady, Optimum, Rule, String, Trie, flat_belady, flat_lru, names, serve_lru
from src.walks.every_length import explore
from src.walks.exhaustive import distribution, shortest_sequence
from src.walks.flat_machine import flat_beside_lru, written_out

HELD_NODES = 5  # blocks of the largest forests on which the held sets are compared, at every length
OPTIMUM_NODES, OPTIMUM_LENGTH = 4, 4  # blocks of the largest forests, and requests, of the comparison of optima
Say = Callable[[str], None]


def on_the_study(trie: Trie) -> dict[str, int]:
    """Return in how many instances of the online comparison the held sets differ after a request, or the misses do."""
    compared = [
        (differ, more, count)
        for capacity in CAPACITIES
        for (differ, more), count in distribution(flat_beside_lru(trie, capacity), ONLINE_LENGTH).items()
    ]
    return {
        "instances": sum(count for _, _, count in compared),
        "held_sets_differ": sum(count for differ, _, count in compared if differ),
        "flat_misses_more": sum(count for _, more, count in compared if more > 0),
        "flat_misses_fewer": sum(count for _, more, count in compared if more < 0),
    }


def on_forests(nodes: int) -> dict[str, int]:
    """Return the same of every forest and capacity at every length: over all edges of the closed graphs.

    Paths longer than the capacity are requested too.
    """
    edges = [
        edge for trie, capacity, _ in cases(nodes) for edge in explore(flat_beside_lru(trie, capacity)).edges
    ]
    return {
        "cases": len(list(cases(nodes))),
        "edges": len(edges),
        "edges_where_held_sets_differ": sum(edge.misses > 0 for edge in edges),
        "edges_where_flat_misses_more": sum(edge.optimum_misses > 0 for edge in edges),
        "edges_where_flat_misses_fewer": sum(edge.optimum_misses < 0 for edge in edges),
    }


def optima(nodes: int, length: int) -> dict[str, dict[str, int]]:
    """Return in how many instances the flat optimum misses more, or less, than the trie's; locked paths fit."""
    found = {one.value: dict.fromkeys(("instances", "flat_misses_more", "flat_misses_fewer"), 0) for one in Optimum}
    for trie, capacity, models in cases(nodes):
        for optimum in models:
            counts, search = found[optimum.value], LeafOnlyBelady(trie, capacity, optimum)
            for sequence in itertools.product(trie.strings, repeat=length):
                more = _flat_least(trie, capacity, sequence, optimum) - search.misses(sequence)
                counts["instances"] += 1
                counts["flat_misses_more"] += more > 0
                counts["flat_misses_fewer"] += more < 0
    return found


def reduction(trie: Trie, say: Say) -> Claim:
    """The held sets on the study's instances and on every small forest, and the two optima."""
    say("reduction: held sets")
    measured: dict[str, Any] = {"study": on_the_study(trie), "forests": on_forests(HELD_NODES)}
    say("reduction: the optimum")
    measured["optimum"] = optima(OPTIMUM_NODES, OPTIMUM_LENGTH)
    parameters = {
        "capacities": list(CAPACITIES),
        "length": ONLINE_LENGTH,
        "nodes": HELD_NODES,
        "optimum_nodes": OPTIMUM_NODES,
        "optimum_length": OPTIMUM_LENGTH,
    }
    expected = {
        "study": {"held_sets_differ": 0, "flat_misses_fewer": 0},
        "forests": {"edges_where_held_sets_differ": 0, "edges_where_flat_misses_fewer": 0},
        "optimum": {
            Optimum.BYPASS.value: {"flat_misses_more": 0, "flat_misses_fewer": 0},
            Optimum.LOCKED.value: {"flat_misses_more": 0},
        },
    }
    return claim(parameters, measured, expected=expected, witnesses=witnesses(trie))


def witnesses(trie: Trie) -> dict[str, Any]:
    """Return the first shortest sequence on which flat LRU misses more, and one on which the flat optimum misses less.

    The first: a request's deeper block may push out a shallower one that the same request still needs.  The second: a
    flat cache is locked page by page and may let a path's deeper block go while it serves the shallower ones.
    """
    capacity = CAPACITIES[0]
    more = shortest_sequence(flat_beside_lru(trie, capacity), ONLINE_LENGTH, lambda tally: tally[1] > 0) or ()
    search = LeafOnlyBelady(trie, capacity, Optimum.LOCKED)
    fewer = next(
        sequence
        for length in range(1, ONLINE_LENGTH)
        for sequence in itertools.product(trie.strings, repeat=length)
        if _flat_least(trie, capacity, sequence, Optimum.LOCKED) < search.misses(sequence)
    )
    return {
        "flat_misses_more": {
            "capacity": capacity,
            "sequence": names(more),
            "lru_misses": serve_lru(trie, capacity, more, Rule.LEAF_ONLY).misses,
            "flat_lru_misses": flat_lru(capacity, written_out(trie, more)),
        },
        "locked_flat_optimum_misses_fewer": {
            "capacity": capacity,
            "sequence": names(fewer),
            "optimum_misses": search.misses(fewer),
            "flat_optimum_misses": _flat_least(trie, capacity, fewer, Optimum.LOCKED),
        },
    }


def _flat_least(trie: Trie, capacity: int, sequence: Sequence[String], optimum: Optimum) -> int:
    """Return the least misses of flat paging on the written-out sequence."""
    return flat_belady(capacity, written_out(trie, sequence), optimum)

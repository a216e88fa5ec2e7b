"""The study's question asked of every eviction policy: what would it do if it were not bound to leaves?

Beside the policy under the leaf-only rule runs the same policy unconstrained: any block that is not locked may be the
victim, and its cached descendants go with it.  Ties go to the deeper block.  The path in service is locked in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from src.claims.claim import Claim, claim
from src.claims.online import CAPACITIES, ONLINE_LENGTH
from src.claims.schedule import policy_schedule, steps_json
from src.policies.cache import CacheState
from src.policies.facts import Score
from src.policies.scores import make_policy, sglang_policies
from src.radixcache import Trie, names
from src.walks.exhaustive import Machine, Tally, distribution, shortest_sequence
from src.walks.forests import forest_trie, forests
from src.walks.policy_machine import COLD, PolicyMachines, with_policy

WITNESS_LENGTH = 8
FOREST_NODES = 6  # blocks of the largest forests that are searched for the shortest sequence where the rule costs
KEEP_THE_ORDER = ("lru", "lfu", "slru", "priority", "filo")
"""The policies whose scores never exceed the parent's: see `src/policies/scores.py`."""

PRIORITY_LENGTH = 4
"""The length at which each request also carries a priority of 0 or 1, in every combination."""


class Unbound(NamedTuple):
    """What the unconstrained policy did beyond the leaf-only one: the tally of a request, by addition of a sequence.

    `extra`: its misses beyond those of the leaf-only policy (negative: fewer).
    """

    extra: int
    interior: int
    strict: int


def unbound_machine(policy: PolicyMachines) -> Machine:
    """Return the policy under the rule with the unconstrained policy beside it; its tallies are Unbounds."""
    serve = cache(policy.serve)

    def step(states: tuple[CacheState, CacheState], request: Any) -> tuple[tuple[CacheState, CacheState], Tally]:
        """Serve a request by both; the tally is an Unbound."""
        first, leaf_only = serve(states[0], request, True)
        second, unconstrained = serve(states[1], request, False)
        extra = unconstrained.misses - leaf_only.misses
        return (first, second), Unbound(extra, unconstrained.interior, unconstrained.strict_interior)

    return Machine((COLD, COLD), policy.requests, len(Unbound._fields), step)


class WithoutRule(NamedTuple):
    """A policy's row: instances; interior evictions over all of them; instances in which the rule helps, or costs."""

    instances: int
    interior_evictions: int
    strict_interior_evictions: int
    unconstrained_worse: int
    unconstrained_better: int


def without_rule(trie: Trie, score: Score, length: int, priorities: Sequence[int] = (0,)) -> WithoutRule:
    """Return a policy's row over all sequences of exactly `length` requests and both capacities."""
    row = WithoutRule(0, 0, 0, 0, 0)
    for capacity in CAPACITIES:
        tallies = with_policy(
            trie, capacity, score, lambda policy: distribution(unbound_machine(policy), length), priorities
        )
        for tally, count in tallies.items():
            one = Unbound(*tally)
            one_instance = WithoutRule(1, one.interior, one.strict, one.extra > 0, one.extra < 0)
            row = WithoutRule(*(known + count * more for known, more in zip(row, one_instance)))
    return row


def smallest(trie: Trie, score: Score, costs: bool) -> dict[str, Any] | None:
    """Return a smallest witness that the rule binds (an interior eviction), or that it costs (fewer misses without it).

    The smallest capacity comes first, then the shortest sequence, of at most `WITNESS_LENGTH` requests.
    """
    for capacity in CAPACITIES:
        sequence = shortest(trie, capacity, score, costs, WITNESS_LENGTH)
        if sequence is not None:
            return replayed(trie, capacity, score, sequence)
    return None


def shortest(trie: Trie, capacity: int, score: Score, costs: bool, length: int) -> Sequence[Any] | None:
    """Return the first of the shortest sequences of at most `length` requests where the rule binds, or costs."""

    def use(policy: PolicyMachines) -> Sequence[Any] | None:
        """Search with the machines of the policy."""
        machine = unbound_machine(policy)
        if costs:  # only two caches that differ can miss a different number of blocks
            return shortest_sequence(machine, length, lambda tally: tally[0] < 0, lambda states: states[0] != states[1])
        return shortest_sequence(machine, length, lambda tally: tally[1] > 0)

    return with_policy(trie, capacity, score, use)


def shortest_cost(score: Score, nodes: int) -> dict[str, Any] | None:
    """Return the shortest sequence where the rule costs on any forest with up to so many blocks, at any capacity.

    Of equally short ones that with the fewest blocks, then the smallest capacity on the first such forest.
    """
    best: tuple[Trie, int, Sequence[Any]] | None = None
    longest = WITNESS_LENGTH
    for trie in (forest_trie(forest) for count in range(1, nodes + 1) for forest in forests(count)):
        for capacity in range(1, len(trie)):
            sequence = shortest(trie, capacity, score, True, longest)
            if sequence is not None:
                best, longest = (trie, capacity, sequence), len(sequence) - 1
    return {"strings": names(best[0].strings), **replayed(best[0], best[1], score, best[2])} if best else None


def replayed(trie: Trie, capacity: int, score: Score, sequence: Sequence[Any]) -> dict[str, Any]:
    """Return both caches' decisions on a sequence, step by step, by the plain cache."""
    both = {
        name: policy_schedule(trie, capacity, sequence, score, leaf_only)
        for name, leaf_only in (("leaf_only", True), ("unconstrained", False))
    }
    misses = {name: schedule.misses for name, schedule in both.items()}
    return {"capacity": capacity, "sequence": names(sequence), "misses": misses, "schedule": steps_json(both)}


def policies(trie: Trie, nodes: int = FOREST_NODES) -> Claim:
    """Every policy's row, with witnesses where the rule binds and where it costs.

    For those policies also the shortest sequences where it costs on any forest with up to `nodes` blocks.
    """
    soonest: dict[str, Any] = {}
    measured: dict[str, Any] = {}
    witnesses: dict[str, Any] = {}
    for name in sglang_policies():
        score = make_policy(name)
        row = measured[name] = without_rule(trie, score, ONLINE_LENGTH)._asdict()
        if row["interior_evictions"]:
            witnesses[name] = {
                "binds": smallest(trie, score, costs=False),
                "costs": smallest(trie, score, costs=True),
            }
            soonest[name] = shortest_cost(score, nodes)
    assigned = without_rule(trie, make_policy("priority"), PRIORITY_LENGTH, (0, 1))._asdict()
    parameters = {
        "strings": list(trie.strings),
        "capacities": list(CAPACITIES),
        "length": ONLINE_LENGTH,
        "witness_length": WITNESS_LENGTH,
        "forest_nodes": nodes,
    }
    free = {"interior_evictions": 0, "unconstrained_worse": 0, "unconstrained_better": 0}
    return claim(
        parameters,
        measured,
        expected={name: free for name in KEEP_THE_ORDER},
        assigned_priorities={"parameters": {"priorities": [0, 1], "length": PRIORITY_LENGTH}, "measured": assigned},
        witnesses=witnesses,
        shortest_costs=soonest,
    )

"""Exact worst ratios over sequences of every length: a policy beside the optimum, as a finite graph.

A machine whose tallies are (misses of a policy, misses of the optimum) has finitely many states when the policy
has.  Its graph has an edge for each state and request.  A sequence from the cold start is a walk from the start, so the
supremum of the ratio over all sequences is decided by the graph:

* a cycle on which the policy misses and the optimum pays nothing makes it unbounded;
* otherwise it is the largest ratio of a cycle, approached as the cycle is repeated, or that of a finite walk
  from the start, if one exceeds every cycle.

Both come from longest walks under the weights b·misses - a·(optimum's misses) for a candidate ratio a/b: a walk or
cycle of positive weight has a larger ratio and becomes the next candidate (Dinkelbach 1967; Lawler 1976 for cycles).
There are finitely many simple cycles and simple walks, and each candidate exceeds the one before, so this ends.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any, Callable, NamedTuple

from src.policies.facts import Score
from src.radixcache import Optimum, Trie, names
from src.walks.beside_optimum import BesideOptimum, policy_beside_optimum
from src.walks.cycles import Edge, Graph, LongestWalks, ratio_of, shortest_lasso, shortest_walk
from src.walks.exhaustive import MOST_STATES, LeftOut, Machine, Outgrown
from src.walks.policy_machine import PolicyMachines, with_policy

SATURATE = 1  # where hits alone are the score, they are counted up to this: see PolicyMachines


class Witness(NamedTuple):
    """Requests that a reader can replay: first the prefix, then the cycle over and over (empty: the prefix alone).

    `misses` and `optimum_misses` are the policy's and the optimum's misses in one round of the cycle, or in the prefix
    if there is no cycle.
    """

    prefix: tuple[Any, ...]
    cycle: tuple[Any, ...]
    misses: int
    optimum_misses: int


class Supremum(NamedTuple):
    """The supremum of the ratio over all lengths (None: unbounded).

    `exceeds`: some finite sequence has a larger ratio than every cycle.  `attained`: the length of a shortest
    sequence that has the supremum as its ratio (None: it is only approached).
    """

    ratio: Fraction | None
    exceeds: bool
    attained: int | None
    witness: Witness
    states: int


def explore(machine: Machine, most: int = MOST_STATES) -> Graph:
    """Return the machine's graph, up to a number of states.  Cost: O(states · requests) steps."""
    number: dict[Hashable, int] = {machine.start: 0}
    order: list[Hashable] = [machine.start]
    edges: list[Edge] = []
    closed = True
    for source, state in enumerate(order):
        for at, request in enumerate(machine.requests):
            try:
                after, (misses, optimum_misses) = machine.step(state, request)
            except LeftOut:
                closed = False
                continue
            target = number.get(after)
            if target is None:
                if len(order) >= most:
                    closed = False
                    continue
                target = number[after] = len(order)
                order.append(after)
            edges.append(Edge(source, target, misses, optimum_misses, at))
    return Graph(len(order), tuple(edges), machine.requests, closed)


def supremum(graph: Graph) -> Supremum:
    """Return the supremum of the ratio over all sequences from the start, with a witness.

    Raises Outgrown if the graph is not closed and shows no unbounded cycle; its `known` holds for what was reached.
    Cost: O(states · edges) for each candidate ratio, in practice a few passes over the edges.
    """
    prefix, free = shortest_lasso(graph, [edge for edge in graph.edges if not edge.optimum_misses])
    if free:
        return Supremum(None, False, None, _witness(graph, prefix, free), graph.states)
    if not graph.edges:
        raise Outgrown(graph.states, None)
    limit, _ = _improved(graph, Fraction(0), lambda walks: walks.cycle or [])
    ratio, walks = _improved(graph, limit, lambda walks: walks.walk(walks.end) if walks.best > 0 else [])
    result = _settled(graph, limit, ratio, walks)
    if not graph.closed:
        raise Outgrown(graph.states, result)
    return result


def _improved(
    graph: Graph, ratio: Fraction, better: Callable[[LongestWalks], list[Edge]]
) -> tuple[Fraction, LongestWalks]:
    """Return the largest ratio of what `better` finds for one candidate after the other, and the last longest walks."""
    while True:
        walks = LongestWalks(graph, ratio)
        found = better(walks)
        if not found:
            return ratio, walks
        ratio = ratio_of(found)


def _settled(graph: Graph, limit: Fraction, ratio: Fraction, walks: LongestWalks) -> Supremum:
    """Return the supremum with its witness: a cycle that has it, or the shortest sequence if no cycle has.

    `limit` is the largest ratio of a cycle.
    """
    tight = _tight(graph, walks)
    attaining = None
    if walks.best == 0:
        attaining = shortest_walk(tight, 0, {state for state, length in enumerate(walks.length) if length == 0})
    shown = (attaining or [], []) if ratio > limit else _tight_lasso(graph, walks)
    found = len(attaining) if attaining else None
    return Supremum(ratio, ratio > limit, found, _witness(graph, *shown), graph.states)


def limit(graph: Graph) -> tuple[Fraction, Witness]:
    """Return the largest ratio of a cycle, the ratio that long sequences can keep up, with such a cycle.

    Where finite sequences exceed every cycle, this is what is left when an additive constant is allowed.  Some cycle
    must have a miss, and none may be unbounded.  Cost: as that of `supremum`.
    """
    ratio, walks = _improved(graph, Fraction(0), lambda walks: walks.cycle or [])
    return ratio, _witness(graph, *_tight_lasso(graph, walks))


def _tight(graph: Graph, walks: LongestWalks) -> list[list[Edge]]:
    """Return, for each state, its edges that lie on a heaviest walk: they lead to the heaviest walk to their target."""
    outgoing: list[list[Edge]] = [[] for _ in range(graph.states)]
    for edge in graph.edges:
        if walks.length[edge.source] + walks.weight(edge) == walks.length[edge.target]:
            outgoing[edge.source].append(edge)
    return outgoing


def _tight_lasso(graph: Graph, walks: LongestWalks) -> tuple[list[Edge], list[Edge]]:
    """Return a shortest walk and cycle, the cycle having the ratio of the walks, the largest of all cycles."""
    return shortest_lasso(graph, [edge for out in _tight(graph, walks) for edge in out])


def _witness(graph: Graph, prefix: Sequence[Edge], cycle: Sequence[Edge]) -> Witness:
    counted = cycle or prefix
    return Witness(
        tuple(graph.requests[edge.request] for edge in prefix),
        tuple(graph.requests[edge.request] for edge in cycle),
        sum(edge.misses for edge in counted),
        sum(edge.optimum_misses for edge in counted),
    )


class EveryLength(NamedTuple):
    """An Supremum of a policy with the requests of its witness as they are really made.

    `misses` and `optimum_misses` are those of one round of the real cycle (of the prefix where there is no cycle).
    """

    result: Supremum
    prefix: list[Any]
    cycle: list[Any]
    misses: int
    optimum_misses: int
    closed: bool

    @property
    def ratio(self) -> str:
        """The ratio as text, "unbounded" where there is none."""
        return "unbounded" if self.result.ratio is None else str(self.result.ratio)

    def without_warm_up(self) -> tuple[list[Any], list[Any], int]:
        """Return the prefix and the cycle with the rounds taken off that the prefix ends with, and how many those are.

        The policy misses as much in them; the optimum may still pay there.
        """
        prefix, cycle = list(self.prefix), list(self.cycle)
        while cycle and prefix and prefix[-1] == cycle[-1]:
            cycle.insert(0, cycle.pop())
            prefix.pop()
        return prefix, cycle, -(-(len(self.prefix) - len(prefix)) // max(len(cycle), 1))


SOON = 10_000
"""States among which a certificate is looked for first: an unbounded cycle is often near, in a graph without end."""


def every_length(machine: BesideOptimum, most: int) -> EveryLength:
    """Return the supremum of the ratio over all lengths.  Raises Outgrown as `supremum` does.

    The witness is a shortest one of the machine's graph, in which symmetric states are one.
    """
    try:
        graph = explore(machine, min(SOON, most))
        result = supremum(graph)
    except Outgrown:
        if most <= SOON:
            raise
        graph = explore(machine, most)
        result = supremum(graph)
    prefix, cycle, rounds = machine.replay(result.witness.prefix, result.witness.cycle)
    misses, optimum_misses = result.witness.misses * rounds, result.witness.optimum_misses * rounds
    return EveryLength(result, prefix, cycle, misses, optimum_misses, graph.closed)


def policy_every_length(
    trie: Trie,
    capacity: int,
    score: Score,
    optima: Sequence[Optimum],
    priorities: tuple[int, ...] = (0,),
    most: int = MOST_STATES,
) -> list[EveryLength]:
    """Return the supremum of a policy's ratio over all lengths against each of some optima.

    The path in service is locked.  Raises Outgrown as `every_length` does, and ValueError for a path that a
    locked optimum cannot hold.
    """

    def use(policy: PolicyMachines) -> list[EveryLength]:
        """Settle all optima with the same machines of the policy."""
        return [every_length(policy_beside_optimum(policy, optimum), most) for optimum in optima]

    return with_policy(trie, capacity, score, use, priorities, SATURATE)


def condensed(requests: Sequence[str]) -> str:
    """Return requests on one line, a run of five or more equal ones as `0 ×5`."""
    runs = ((request, len(list(run))) for request, run in itertools.groupby(requests))
    return " ".join(f"{request} ×{count}" if count > 4 else " ".join([request] * count) for request, count in runs)


def request_names(requests: Sequence[Any], priorities: tuple[int, ...]) -> list[str]:
    """Return requests as text; with priorities as "string:priority"."""
    if len(priorities) == 1:
        return names(requests)
    return [f"{names([string])[0]}:{priority}" for string, priority in requests]

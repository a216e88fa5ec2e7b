"""All request sequences up to a length, walked with shared states instead of one by one.

A cache, an optimum or several of them side by side are a *machine*: a state, and a step from (state, request) to the
next state and a *tally*, a tuple of whole numbers such as (misses of LRU, misses of the optimum).  What a sequence adds
up to depends on its past only through the state, so sequences that reach the same state with the same tally are one
entry with a multiplicity.  The plain alternative, one simulation for each sequence, is `one_by_one`; both give
the same distribution of tallies, which the tests hold for every machine that the study uses.
"""

from __future__ import annotations

import itertools
import operator
from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Callable, NamedTuple

Tally = tuple[int, ...]
Node = tuple[Hashable, Tally]


class LeftOut(Exception):
    """Raised by a step that the machine cannot answer; only searches that allow for it go on without that step."""


class Outgrown(Exception):
    """The search reached more states than it was allowed; `known` is what it had found by then."""

    def __init__(self, states: int, known: Any) -> None:
        super().__init__(f"more than {states} states")
        self.states, self.known = states, known


MOST_STATES = 200_000
"""How many states, or entries of a layer, a search may reach unless told otherwise."""


class Machine:
    """A deterministic machine over a finite alphabet of requests.

    `step(state, request)` is a pure function to (next state, tally); its answers are remembered, as walks ask for the
    same ones again and again.  `width` is the length of a tally.
    """

    def __init__(
        self,
        start: Hashable,
        requests: Sequence[Any],
        width: int,
        step: Callable[[Any, Any], tuple[Any, Tally]],
    ) -> None:
        self.start, self.requests, self.width = start, tuple(requests), width
        self._step = step
        self._memo: dict[tuple[Hashable, Hashable], tuple[Any, Tally]] = {}

    def step(self, state: Hashable, request: Any) -> tuple[Any, Tally]:
        """Return the next state and the tally of one request."""
        key = (state, request)
        answer = self._memo.get(key)
        if answer is None:
            answer = self._memo[key] = self._step(state, request)
        return answer

    def run(self, sequence: Sequence[Any]) -> list[Tally]:
        """Return the tally of each request of a sequence that starts in the start state."""
        state: Any = self.start
        tallies = []
        for request in sequence:
            state, tally = self.step(state, request)
            tallies.append(tally)
        return tallies


def side_by_side(*machines: Machine) -> Machine:
    """Return the machine that runs machines over the same requests at once; its tallies are theirs in a row."""

    def step(states: tuple[Any, ...], request: Any) -> tuple[tuple[Any, ...], Tally]:
        """Serve a request by all machines."""
        answers = [machine.step(state, request) for machine, state in zip(machines, states)]
        return tuple(state for state, _ in answers), tuple(itertools.chain(*(tally for _, tally in answers)))

    start = tuple(machine.start for machine in machines)
    return Machine(start, machines[0].requests, sum(machine.width for machine in machines), step)


def add(left: Tally, right: Tally) -> Tally:
    """Return the sum of two tallies of the same width."""
    return tuple(map(operator.add, left, right))


def layers(
    machine: Machine, length: int, most: int = MOST_STATES, last: Callable[[Any], bool] = lambda _: True
) -> Iterator[dict[Node, int]]:
    """Yield, for each length from 0 to `length`, how many sequences reach each (state, tally).

    The last request is served only in states that satisfy `last`.  Raises Outgrown when a length has more than `most`
    entries.  Cost: O(entries · requests) for each length.
    """
    layer: dict[Node, int] = {(machine.start, (0,) * machine.width): 1}
    yield layer
    for left in range(length, 0, -1):
        following: dict[Node, int] = {}
        for (state, tally), count in layer.items():
            if left == 1 and not last(state):
                continue
            for request in machine.requests:
                after, more = machine.step(state, request)
                node = (after, add(tally, more))
                following[node] = following.get(node, 0) + count
        if len(following) > most:
            raise Outgrown(most, None)
        layer = following
        yield layer


def distribution(machine: Machine, length: int) -> dict[Tally, int]:
    """Return how many of the sequences of exactly `length` requests have each tally."""
    (last,) = deque(layers(machine, length), maxlen=1)
    tallies: dict[Tally, int] = {}
    for (_, tally), count in last.items():
        tallies[tally] = tallies.get(tally, 0) + count
    return tallies


def one_by_one(machine: Machine, length: int) -> dict[Tally, int]:
    """Return what `distribution` returns, by serving every sequence by itself.  Cost: O(requests^length · length)."""
    tallies: Counter[Tally] = Counter()
    for sequence in itertools.product(machine.requests, repeat=length):
        tallies[summed(machine.run(sequence), machine.width)] += 1
    return dict(tallies)


class Worst(NamedTuple):
    """The largest ratio of the two numbers of a tally, and the first of the shortest sequences that have it."""

    ratio: Fraction
    tally: Tally
    sequence: tuple[Any, ...]


def worst_ratio(machine: Machine, length: int, most: int = MOST_STATES) -> Worst:
    """Return the largest ratio tally[0] / tally[1] over all sequences of 1 to `length` requests.

    The machine's tallies have two numbers, the second positive from the first request on (a cold start misses).
    Of the sequences with that ratio the shortest is named, of those the first in the order of the requests.
    Raises Outgrown as `layers` does; then `known` is a pair, the length that was searched and the Worst for it.
    """
    best = Fraction(-1)
    shortest = 0
    walked = []
    outgrown = False
    try:
        for at, layer in enumerate(layers(machine, length, most)):
            walked.append(layer)
            ratio = max((Fraction(tally[0], tally[1]) for _, tally in layer if tally[1]), default=best)
            if ratio > best:
                best, shortest = ratio, at
    except Outgrown:
        outgrown = True
    searched = len(walked) - 1
    walked = walked[: shortest + 1]
    goal = {node for node in walked[-1] if node[1][1] and Fraction(node[1][0], node[1][1]) == best}
    sequence = _first_sequence(machine, walked, goal)
    worst = Worst(best, summed(machine.run(sequence), machine.width), sequence)
    if outgrown:
        raise Outgrown(most, (searched, worst))
    return worst


def ratios_by_length(machine: Machine, length: int) -> list[Fraction]:
    """Return, for each length from 1 to `length`, the largest ratio tally[0] / tally[1] of the sequences up to it."""
    ratios: list[Fraction] = []
    for layer in layers(machine, length):
        largest = max((Fraction(*tally) for tally in {tally for _, tally in layer} if tally[1]), default=None)
        if largest is not None:
            ratios.append(max([largest, *ratios[-1:]]))
    return ratios


def shortest_sequence(
    machine: Machine, length: int, holds: Callable[[Tally], bool], last: Callable[[Any], bool] = lambda _: True
) -> tuple[Any, ...] | None:
    """Return the first of the shortest sequences of at most `length` requests whose tally satisfies a condition.

    Only in a state that satisfies `last` may a request make the condition true.
    """
    walked = []
    for layer in layers(machine, length, last=last):
        walked.append(layer)
        goal = {node for node in layer if holds(node[1])}
        if goal:
            return _first_sequence(machine, walked, goal)
    return None


def summed(tallies: Iterable[Tally], width: int) -> Tally:
    """Return the sum of some tallies of a width."""
    return tuple(sum(column) for column in zip((0,) * width, *tallies))


def _first_sequence(machine: Machine, walked: Sequence[dict[Node, int]], goal: set[Node]) -> tuple[Any, ...]:
    """Return the first sequence, in the order of the requests, that ends in a node of `goal` in the last layer."""

    def follow(node: Node, request: Any) -> Node:
        """Return the node after a request."""
        after, more = machine.step(node[0], request)
        return after, add(node[1], more)

    hopeful = [goal]
    for layer in walked[-2::-1]:
        hopeful.append({node for node in layer if any(follow(node, r) in hopeful[-1] for r in machine.requests)})
    hopeful.reverse()
    (node,) = walked[0]
    sequence = []
    for alive in hopeful[1:]:
        request = next(request for request in machine.requests if follow(node, request) in alive)
        node = follow(node, request)
        sequence.append(request)
    return tuple(sequence)

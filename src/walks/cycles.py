"""Cycles and walks in a finite graph whose edges carry (misses, optimum's misses): what `every_length` is made of."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple


class Edge(NamedTuple):
    """One request served: the states before and after it by number, the policy's misses, the optimum's."""

    source: int
    target: int
    misses: int
    optimum_misses: int
    request: int


class Graph(NamedTuple):
    """The states reached from the start (number 0), level by level, with their edges.

    `closed`: all edges of all states are there.  If not, `states` counts those reached before the limit, and what
    cycles show still holds.
    """

    states: int
    edges: tuple[Edge, ...]
    requests: tuple[Any, ...]
    closed: bool


def ratio_of(edges: Sequence[Edge]) -> Fraction:
    """Return the policy's misses over the optimum's on a walk on which the optimum pays."""
    return Fraction(sum(edge.misses for edge in edges), sum(edge.optimum_misses for edge in edges))


def shortest_lasso(graph: Graph, edges: Sequence[Edge]) -> tuple[list[Edge], list[Edge]]:
    """Return a shortest way to see a cycle of some edges on which the policy misses: a walk to it, and the cycle.

    Both together are as short as can be, and of equally short ones the walk is; two empty lists if there is no such
    cycle.  The walk, from the start, may use all edges of the graph.  A cycle that repeats a state would not be the
    shortest: it holds a smaller one with a miss, which is reached on the way.

    Cost: O(edges) to drop what lies on no cycle, then a breadth-first search of what is left for each edge with a miss,
    no deeper than the shortest cycle so far, and for each state at which such a cycle would be the best.
    """
    inside = component_edges(graph.states, edges)
    shortest = _shortest_cycle(inside)
    came, distance = _from_the_start(graph)
    end, cycle, best = 0, [], 3 * graph.states  # a walk, and a cycle there and back
    for state, steps in distance.items():
        if not shortest or steps + shortest >= best:
            break
        found = _cycle_with_a_miss(inside, state, best - steps - 1) if inside[state] else []
        if found:
            end, cycle, best = state, found, steps + len(found)
    return _way(came, end, distance[end]) if end and cycle else [], cycle


def _shortest_cycle(outgoing: Sequence[Sequence[Edge]]) -> int:
    """Return the length of a shortest cycle with a miss, 0 if there is none."""
    best = 0
    for edge in (edge for out in outgoing for edge in out if edge.misses):
        if edge.source == edge.target:
            return 1
        back = shortest_walk(outgoing, edge.target, {edge.source}, best - 2 if best else None)
        if back is not None:
            best = 1 + len(back)
    return best


def _from_the_start(graph: Graph) -> tuple[dict[int, Edge], dict[int, int]]:
    """Return the edge by which each state is first reached, and the states' distances, the nearest first."""
    outgoing: list[list[Edge]] = [[] for _ in range(graph.states)]
    for edge in graph.edges:
        outgoing[edge.source].append(edge)
    came: dict[int, Edge] = {}
    distance = {0: 0}
    for state in (queue := [0]):
        for edge in outgoing[state]:
            if edge.target not in distance:
                came[edge.target], distance[edge.target] = edge, distance[state] + 1
                queue.append(edge.target)
    return came, distance


def _cycle_with_a_miss(outgoing: Sequence[Sequence[Edge]], start: int, longest: int) -> list[Edge]:
    """Return a shortest closed walk from a state, of at most `longest` edges, one of them with a miss, or no edges."""
    came: dict[tuple[int, bool], tuple[tuple[int, bool], Edge]] = {}
    level = [(start, False)]
    for length in range(1, longest + 1):
        following = []
        for place in level:
            for edge in outgoing[place[0]]:
                after = (edge.target, place[1] or edge.misses > 0)
                if after not in came:
                    came[after] = (place, edge)
                    following.append(after)
                    if after == (start, True):
                        walk: list[Edge] = []
                        for _ in range(length):
                            after, edge = came[after]
                            walk.append(edge)
                        return walk[::-1]
        level = following
    return []


def shortest_walk(
    outgoing: Sequence[Sequence[Edge]], start: int, ends: Container[int], longest: int | None = None
) -> list[Edge] | None:
    """Return a shortest walk of 1 to `longest` edges from `start` to one of `ends`; None if there is none.

    Of several the first in the order of the edges.  Cost: O(edges).
    """
    came: dict[int, Edge] = {}
    level = [start]
    length = 0
    while level and (longest is None or length < longest):
        length += 1
        following = []
        for state in level:
            for edge in outgoing[state]:
                if edge.target in came:
                    continue
                came[edge.target] = edge
                if edge.target in ends:
                    return _way(came, edge.target, length)
                following.append(edge.target)
        level = following
    return None


def _way(came: Mapping[int, Edge], end: int, length: int) -> list[Edge]:
    way = [came[end]]
    while len(way) < length:
        way.append(came[way[-1].source])
    return way[::-1]


def component_edges(states: int, edges: Sequence[Edge]) -> list[list[Edge]]:
    """Return, for each state, its edges within its strongly connected component (Tarjan 1972).  O(states + edges)."""
    outgoing: list[list[Edge]] = [[] for _ in range(states)]
    for edge in edges:
        outgoing[edge.source].append(edge)
    component = _components(outgoing)
    return [[edge for edge in out if component[edge.target] == component[edge.source]] for out in outgoing]


def _components(outgoing: Sequence[Sequence[Edge]]) -> list[int]:
    """Return each state's strongly connected component, by number."""
    component = [-1] * len(outgoing)
    lowest = [0] * len(outgoing)
    found = [0] * len(outgoing)
    pending: list[int] = []
    clock = 0
    for root in range(len(outgoing)):
        if found[root]:
            continue
        trail = [(root, iter(outgoing[root]))]
        clock += 1
        found[root] = lowest[root] = clock
        pending.append(root)
        while trail:
            state, rest = trail[-1]
            for edge in rest:
                if not found[edge.target]:
                    clock += 1
                    found[edge.target] = lowest[edge.target] = clock
                    pending.append(edge.target)
                    trail.append((edge.target, iter(outgoing[edge.target])))
                    break
                if component[edge.target] < 0:
                    lowest[state] = min(lowest[state], found[edge.target])
            else:
                trail.pop()
                if trail:
                    lowest[trail[-1][0]] = min(lowest[trail[-1][0]], lowest[state])
                if lowest[state] == found[state]:
                    while component[state] < 0:
                        component[pending.pop()] = state
    return component


class LongestWalks:
    """Longest walks from the start under b·misses - a·(optimum's misses), for the ratio a/b (Bellman 1958; Ford 1956).

    `cycle` is a cycle of positive weight, or None; then `length` holds the weight of a heaviest walk to each state
    and `best` that of a heaviest walk of at least one edge, which ends with the edge `end`.  `ratio` is a/b.
    """

    def __init__(self, graph: Graph, ratio: Fraction) -> None:
        self.ratio = ratio
        self._edges = graph.edges
        triples = [(edge.source, edge.target, self.weight(edge)) for edge in graph.edges]
        lightest = min([0, *(weight for _, _, weight in triples)])
        self.length = [0] + [(lightest - 1) * (graph.states + 1)] * (graph.states - 1)  # less than any walk
        self._came = [-1] * graph.states
        self.cycle = self._relax(triples)
        self.best, self.end = max(
            ((self.length[source] + weight, at) for at, (source, _, weight) in enumerate(triples)), default=(0, 0)
        )

    def weight(self, edge: Edge) -> int:
        """Return an edge's weight."""
        return self.ratio.denominator * edge.misses - self.ratio.numerator * edge.optimum_misses

    def _relax(self, triples: Sequence[tuple[int, int, int]]) -> list[Edge] | None:
        length, came = self.length, self._came
        changed = True
        while changed:
            changed = False
            for at, (source, target, weight) in enumerate(triples):
                if length[source] + weight > length[target]:
                    length[target] = length[source] + weight
                    came[target] = at
                    changed = True
            cycle = self._cycle_of_predecessors()
            if cycle:
                return cycle
        return None

    def _cycle_of_predecessors(self) -> list[Edge] | None:
        """Return a cycle in the graph of predecessors, which has positive weight, or None."""
        visited = [0] * len(self._came)
        for root in range(len(self._came)):
            state = root
            while self._came[state] >= 0 and not visited[state]:
                visited[state] = root + 1
                state = self._edges[self._came[state]].source
            if self._came[state] >= 0 and visited[state] == root + 1:
                return self._back(state, state)
        return None

    def _back(self, state: int, until: int) -> list[Edge]:
        path: list[Edge] = []
        while not path or state != until:
            edge = self._edges[self._came[state]]
            path.append(edge)
            state = edge.source
        return path[::-1]

    def walk(self, end: int) -> list[Edge]:
        """Return a heaviest walk from the start whose last edge is number `end`.  Call only if there is no cycle."""
        last = self._edges[end]
        return [*(self._back(last.source, 0) if last.source else []), last]

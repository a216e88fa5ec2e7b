"""Cycles and walks in small graphs, against enumeration of all of them."""

from __future__ import annotations

import itertools
import random
import unittest
from collections.abc import Iterator, Sequence
from fractions import Fraction

from src.walks.cycles import Edge, Graph, LongestWalks, component_edges, ratio_of, shortest_lasso, shortest_walk
from tests.helpers import Walk, distances, graph, outgoing, simple_cycles


def random_graph(rng: random.Random, most: int = 6, optimum_misses: int = 2) -> Graph:
    """Return a random graph all of whose states can be reached from the start; loops and twin edges are welcome."""
    states = rng.randint(1, most)
    ends = [(rng.randrange(target), target) for target in range(1, states)]
    ends += [(rng.randrange(states), rng.randrange(states)) for _ in range(rng.randint(0, 2 * states))]
    rng.shuffle(ends)
    edges = [(*pair, rng.choice((0, 0, 1, 2, 3)), rng.randint(0, optimum_misses)) for pair in ends]
    return graph(states, *edges)


def walks(out: Sequence[Walk], start: int, length: int) -> Iterator[Walk]:
    """Yield every walk of a length, in the order of the edges."""
    if length == 0:
        yield []
        return
    for edge in out[start]:
        for rest in walks(out, edge.target, length - 1):
            yield [edge, *rest]


def is_walk(path: Walk, start: int) -> bool:
    """Return whether edges follow each other from a state on."""
    return [edge.source for edge in path] == [start, *(edge.target for edge in path)][: len(path)]


class Components(unittest.TestCase):
    def test_against_reachability(self) -> None:
        rng = random.Random(1)
        for _ in range(90):
            one = random_graph(rng, 8)
            edges = rng.sample(one.edges, rng.randint(0, len(one.edges)))
            reach = [[state == other for other in range(one.states)] for state in range(one.states)]
            for edge in edges:
                reach[edge.source][edge.target] = True
            for middle, source, target in itertools.product(range(one.states), repeat=3):
                reach[source][target] |= reach[source][middle] and reach[middle][target]
            expected = [
                [edge for edge in edges if edge.source == state and reach[edge.target][state]]
                for state in range(one.states)
            ]
            self.assertEqual(component_edges(one.states, edges), expected, edges)

    def test_a_long_chain_and_a_long_cycle(self) -> None:
        size = 5000
        chain = graph(size, *((state, state + 1, 1, 1) for state in range(size - 1))).edges
        self.assertEqual(component_edges(size, chain), [[] for _ in range(size)])
        back = Edge(size - 1, 0, 1, 1, 0)
        self.assertEqual(component_edges(size, [*chain, back]), [[edge] for edge in [*chain, back]])


class ShortestWalks(unittest.TestCase):
    def test_the_first_of_the_shortest(self) -> None:
        rng = random.Random(2)
        for _ in range(70):
            one = random_graph(rng, 5)
            out = outgoing(one)
            start = rng.randrange(one.states)
            ends = {state for state in range(one.states) if rng.random() < 0.3}
            longest = rng.choice((None, 0, 1, 2, 3))
            lengths = range(1, (one.states if longest is None else longest) + 1)
            found = (path for at in lengths for path in walks(out, start, at) if path[-1].target in ends)
            expected = next(found, None)
            case = (one, start, ends, longest)
            self.assertEqual(shortest_walk(out, start, ends, longest), expected, case)

    def test_by_hand(self) -> None:
        one = graph(3, (0, 1, 0, 0), (1, 2, 0, 0), (2, 0, 0, 0), (0, 2, 0, 0), (1, 1, 0, 0))
        out, edges = outgoing(one), one.edges
        self.assertEqual(shortest_walk(out, 1, {1}), [edges[4]])
        self.assertEqual(shortest_walk(out, 0, {0}), [edges[3], edges[2]])
        self.assertIsNone(shortest_walk(out, 0, set()))
        self.assertIsNone(shortest_walk([[], []], 0, {0, 1}))


class ShortestLassos(unittest.TestCase):
    def test_against_all_simple_cycles(self) -> None:
        rng = random.Random(3)
        seen = 0
        for _ in range(150):
            one = random_graph(rng)
            some = [edge for edge in one.edges if rng.random() < 0.8]
            prefix, cycle = shortest_lasso(one, some)
            reached = distances(one)
            lengths = [
                (min(reached[edge.source] for edge in other) + len(other))
                for other in simple_cycles(one._replace(edges=tuple(some)))
                if any(edge.misses for edge in other)
            ]
            self.assertEqual(len(prefix) + len(cycle), min(lengths, default=0), (one, some))
            if cycle:
                seen += 1
                self.assertTrue(is_walk([*prefix, *cycle], 0) and is_walk(cycle, cycle[-1].target), (one, some))
                self.assertTrue(any(edge.misses for edge in cycle) and set(cycle) <= set(some), (one, some))
        self.assertTrue(50 < seen < 140, seen)

    def test_by_hand(self) -> None:
        def found(one: Graph) -> tuple[int, ...]:
            return tuple(edge.request for part in shortest_lasso(one, one.edges) for edge in part)

        self.assertEqual(found(graph(2, (0, 1, 1, 0))), ())
        self.assertEqual(found(graph(1, (0, 0, 0, 0), (0, 0, 2, 5))), (1,))
        shorter_without_a_miss = graph(3, (0, 0, 0, 1), (0, 1, 0, 0), (1, 0, 0, 0), (1, 2, 1, 0), (2, 0, 0, 0))
        self.assertEqual(found(shorter_without_a_miss), (1, 3, 4))
        # A short cycle far away, and a longer one at hand.
        far = ((0, 1, 0, 0), (1, 2, 0, 0), (2, 3, 0, 0), (3, 3, 1, 0))
        self.assertEqual(found(graph(4, *far, (1, 0, 1, 0))), (0, 4))
        self.assertEqual(found(graph(4, *far)), (0, 1, 2, 3))


class Longest(unittest.TestCase):
    def test_against_all_walks(self) -> None:
        """No cycle is positive exactly if no simple cycle is; then the heaviest walks repeat no state."""
        rng = random.Random(4)
        positive = 0
        for _ in range(120):
            one = random_graph(rng)
            ratio = Fraction(rng.randint(0, 7), rng.randint(1, 3))
            found = LongestWalks(one, ratio)
            weights = [sum(map(found.weight, cycle)) for cycle in simple_cycles(one)]
            self.assertEqual(found.cycle is not None, max(weights, default=0) > 0, (one, ratio))
            if found.cycle is not None:
                positive += 1
                self.assertTrue(is_walk(found.cycle, found.cycle[-1].target), (one, ratio))
                self.assertGreater(sum(map(found.weight, found.cycle)), 0)
                self.assertLessEqual(set(found.cycle), set(one.edges))
                continue
            self.check_walks(one, ratio, found)
        self.assertTrue(50 < positive < 250)

    def check_walks(self, one: Graph, ratio: Fraction, found: LongestWalks) -> None:
        """Hold all numbers equal to those of the heaviest walks of up to as many edges as there are states."""
        heaviest: list[dict[int, int]] = [{0: 0}]
        for _ in range(one.states + 1):
            following: dict[int, int] = {}
            for edge in one.edges:
                if edge.source in heaviest[-1]:
                    weight = heaviest[-1][edge.source] + found.weight(edge)
                    following[edge.target] = max(weight, following.get(edge.target, weight))
            heaviest.append(following)
        lengths = [max(layer[state] for layer in heaviest if state in layer) for state in range(one.states)]
        self.assertEqual(found.length, lengths, (one, ratio))
        best = max((weight for layer in heaviest[1:] for weight in layer.values()), default=0)
        self.assertEqual(found.best, best, (one, ratio))
        if one.edges:
            self.assertEqual(sum(map(found.weight, found.walk(found.end))), best, (one, ratio))
        for at, edge in enumerate(one.edges):
            walk = found.walk(at)
            self.assertTrue(is_walk(walk, 0) and walk[-1] == edge, (one, ratio, at))
            self.assertEqual(sum(map(found.weight, walk)), lengths[edge.source] + found.weight(edge), (one, ratio))

    def test_no_cycle_and_every_edge_heavy(self) -> None:
        """The length of a walk not yet found must be below that of any walk, even if all weights are positive."""
        for misses in (1, 2, 3, 7):
            found = LongestWalks(graph(4, (0, 1, misses, 1), (1, 2, misses, 1), (2, 3, misses, 1)), Fraction(0))
            self.assertEqual(found.length, [0, misses, 2 * misses, 3 * misses])
            self.assertEqual((found.cycle, found.best, found.end), (None, 3 * misses, 2))
            self.assertEqual([edge.target for edge in found.walk(2)], [1, 2, 3])

    def test_weights(self) -> None:
        found = LongestWalks(graph(1, (0, 0, 3, 2)), Fraction(5, 4))
        self.assertEqual(found.weight(Edge(0, 0, 3, 2, 0)), 4 * 3 - 5 * 2)
        self.assertEqual(found.cycle, [Edge(0, 0, 3, 2, 0)])
        self.assertIsNone(LongestWalks(graph(1, (0, 0, 3, 2)), Fraction(3, 2)).cycle)
        alone = LongestWalks(graph(1), Fraction(1))
        self.assertEqual((alone.cycle, alone.length, alone.best), (None, [0], 0))

    def test_ratios(self) -> None:
        self.assertEqual(ratio_of([Edge(0, 0, 3, 2, 0), Edge(0, 0, 1, 4, 1)]), Fraction(2, 3))


if __name__ == "__main__":
    unittest.main()

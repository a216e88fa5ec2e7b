"""Suprema over all lengths, against the cycles and walks of small graphs and against every bounded search."""

from __future__ import annotations

import random
import unittest
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from src.policies.scores import make_policy
from src.radixcache import Optimum, Trie, names
from src.walks.beside_optimum import lru_beside_optimum, policy_beside_optimum
from src.walks.cycles import Edge, Graph
from src.walks.every_length import (
    EveryLength,
    Supremum,
    Witness,
    condensed,
    explore,
    limit,
    policy_every_length,
    supremum,
)
from src.walks.exhaustive import LeftOut, Machine, Outgrown, Tally, worst_ratio
from src.walks.forests import star
from src.walks.policy_machine import PolicyMachines, with_policy
from tests.helpers import BINARY, distances, graph, simple_cycles

Steps = list[list[tuple[int, Tally]]]
"""For each state and each request: the next state and the tally."""


def machine_of(steps: Steps) -> Machine:
    """Return the machine with these steps; its requests are letters."""
    letters = "abcdef"[: len(steps[0])]
    return Machine(0, letters, 2, lambda state, request: steps[state][letters.index(request)])


def random_steps(rng: random.Random) -> Steps:
    """Return random steps of 1 to 6 states.  As from a cold start, both pay for the first request."""
    states, width = rng.randint(1, 6), rng.randint(1, 3)
    free = rng.choice((0.1, 0.3, 0.6))
    return [
        [
            (
                rng.randrange(states),
                (
                    rng.choice((0, 1, 1, 2, 5)) if state else rng.randint(1, 3),
                    0 if state and rng.random() < free else rng.randint(1, 3),
                ),
            )
            for _ in range(width)
        ]
        for state in range(states)
    ]


class Truth(NamedTuple):
    """What is true of a graph: the supremum, the largest ratio of a cycle, and a shortest sequence's length if any."""

    ratio: Fraction | None
    limit: Fraction
    attained: int | None


def total(edges: Sequence[Edge]) -> tuple[int, int]:
    """Return the misses and the optimum_misses of some edges."""
    return sum(edge.misses for edge in edges), sum(edge.optimum_misses for edge in edges)


def truth(one: Graph, longest: int) -> Truth:
    """Return what enumeration says: all simple cycles, and all walks from the start up to a length.

    A walk is a simple walk with simple cycles on it.  If it exceeds all cycles, it exceeds them still without its
    cycles: so walks with as many edges as states are enough for the supremum.
    """
    cycles = [total(cycle) for cycle in simple_cycles(one)]
    if any(misses and not optimum_misses for misses, optimum_misses in cycles):
        return Truth(None, Fraction(0), None)
    limit = max((Fraction(*both) for both in cycles if both[1]), default=Fraction(0))
    reached: set[tuple[int, int, int]] = {(0, 0, 0)}
    layers = []
    for _ in range(longest):
        reached = {
            (edge.target, misses + edge.misses, optimum_misses + edge.optimum_misses)
            for state, misses, optimum_misses in reached
            for edge in one.edges
            if edge.source == state
        }
        layers.append(max((Fraction(misses, best) for _, misses, best in reached), default=Fraction(0)))
    ratio = max(limit, *layers[: one.states])
    return Truth(ratio, limit, next((at for at, best in enumerate(layers, start=1) if best == ratio), None))


class AgainstEnumeration(unittest.TestCase):
    longest = 10

    def test_random_machines(self) -> None:
        rng = random.Random(1)
        kinds: dict[str, int] = {}
        for _ in range(70):
            steps = random_steps(rng)
            one = explore(machine_of(steps))
            found, true = supremum(one), truth(one, self.longest)
            self.assertEqual((found.ratio, found.states), (true.ratio, one.states), steps)
            if found.ratio is None:
                kind = "unbounded"
                self.assertEqual((found.exceeds, found.attained), (False, None))
                self.assertTrue(found.witness.misses > 0 and found.witness.optimum_misses == 0, steps)
            else:
                kind = f"exceeds: {found.exceeds}, attained: {found.attained is not None}"
                self.assertEqual(found.exceeds, found.ratio > true.limit, steps)
                self.assertEqual(found.attained, true.attained, steps)
                self.assertEqual(Fraction(found.witness.misses, found.witness.optimum_misses), found.ratio, steps)
                if true.limit:
                    kept_up, witness = limit(one)
                    self.assertEqual(kept_up, true.limit, steps)
                    self.assertEqual(Fraction(witness.misses, witness.optimum_misses), kept_up, steps)
                    self.assertTrue(witness.cycle, steps)
            kinds[kind] = kinds.get(kind, 0) + 1
            self.check_witness(one, machine_of(steps), found)
        self.assertEqual(len(kinds), 4, kinds)
        self.assertGreater(min(kinds.values()), 5, kinds)

    def check_witness(self, one: Graph, machine: Machine, found: Supremum) -> None:
        """Replay the witness: the cycle leads back to the state at which it begins, and the numbers are right."""
        prefix, cycle, misses, optimum_misses = found.witness
        tallies = machine.run([*prefix, *cycle])
        counted = tallies[len(prefix) :] if cycle else tallies
        self.assertEqual((misses, optimum_misses), tuple(map(sum, zip(*counted))), found)
        self.assertEqual(bool(cycle), not found.exceeds, found)
        if not cycle:
            self.assertEqual(len(prefix), found.attained)
            return
        state: Any = machine.start
        visited = []
        for request in [*prefix, *cycle]:
            visited.append(state)
            state, _ = machine.step(state, request)
        self.assertEqual(state, [*visited, state][len(prefix)], found)
        on_cycle = set(visited[len(prefix) :])
        self.assertFalse(on_cycle & set(visited[: len(prefix)]), "the prefix enters the cycle earlier")
        reached = distances(one)
        alike = [
            len(cycle) + min(reached[edge.source] for edge in cycle)
            for cycle in simple_cycles(one)
            if (total(cycle)[0] > 0 == total(cycle)[1] if not optimum_misses else self.same(cycle, found))
        ]
        self.assertEqual(len(prefix) + len(found.witness.cycle), min(alike), found)

    def same(self, cycle: list[Edge], found: Supremum) -> bool:
        misses, optimum_misses = total(cycle)
        return optimum_misses > 0 and Fraction(misses, optimum_misses) == found.ratio

    def distance(self, machine: Machine, goal: set[Any]) -> int:
        """Return how many requests lead from the start to a state of the goal."""
        level, length = {machine.start}, 0
        while not level & goal:
            level = {machine.step(state, request)[0] for state in level for request in machine.requests}
            length += 1
        return length


class ByHand(unittest.TestCase):
    def find(self, *steps: list[tuple[int, Tally]]) -> Supremum:
        return supremum(explore(machine_of(list(steps))))

    def test_a_cycle_on_which_the_optimum_pays_nothing(self) -> None:
        found = self.find([(1, (1, 1))], [(2, (1, 0))], [(1, (0, 0))])
        self.assertEqual(found, (None, False, None, Witness(("a",), ("a", "a"), 1, 0), 3))

    def test_a_cycle_on_which_nobody_pays(self) -> None:
        found = self.find([(1, (3, 2))], [(1, (0, 0))])
        self.assertEqual(found, (Fraction(3, 2), True, 1, Witness(("a",), (), 3, 2), 2))

    def test_a_finite_sequence_exceeds_every_cycle(self) -> None:
        found = self.find([(1, (1, 1))], [(2, (9, 1))], [(2, (2, 1))])
        self.assertEqual(found, (Fraction(5), True, 2, Witness(("a", "a"), (), 10, 2), 3))

    def test_the_largest_ratio_is_only_approached(self) -> None:
        found = self.find([(1, (1, 1))], [(1, (2, 1))])
        self.assertEqual(found, (Fraction(2), False, None, Witness(("a",), ("a",), 2, 1), 2))

    def test_the_largest_ratio_is_attained_on_the_way(self) -> None:
        """First 1/1, then 3/1 makes 4/2 and stays there."""
        found = self.find([(1, (1, 1))], [(2, (3, 1))], [(2, (2, 1))])
        self.assertEqual(found, (Fraction(2), False, 2, Witness(("a", "a"), ("a",), 2, 1), 3))

    def test_ratios_are_exact(self) -> None:
        big = 10**17
        found = self.find([(1, (1, 1)), (2, (1, 1))], [(1, (big, big + 1))] * 2, [(2, (big + 1, big + 2))] * 2)
        self.assertEqual((found.ratio, found.attained), (Fraction(1), 1))
        found = self.find([(1, (1, 9)), (2, (1, 9))], [(1, (big, big + 1))] * 2, [(2, (big + 1, big + 2))] * 2)
        self.assertEqual((found.ratio, found.witness.prefix), (Fraction(big + 1, big + 2), ("b",)))


class Witnesses(unittest.TestCase):
    def test_the_warm_up_is_taken_off(self) -> None:
        """Whatever is taken off, the infinite sequence is the same."""
        rng = random.Random(8)
        for _ in range(200):
            prefix, cycle = rng.choices("ab", k=rng.randrange(6)), rng.choices("ab", k=rng.randint(1, 3))
            one = EveryLength(Supremum(None, False, None, Witness((), (), 1, 0), 1), prefix, cycle, 1, 0, True)
            first, again, rounds = one.without_warm_up()
            self.assertEqual(len(again), len(cycle))
            self.assertEqual([*first, *again * 9][: len(prefix) + 6], [*prefix, *cycle * 9][: len(prefix) + 6])
            self.assertTrue(not first or first[-1] != again[-1], (prefix, cycle))
            removed = len(prefix) - len(first)
            self.assertTrue((rounds - 1) * len(cycle) < removed <= rounds * len(cycle) or rounds == removed == 0)

    def test_a_long_warm_up_is_no_witness(self) -> None:
        """A score that never forgets hits needs no long run of one request: two are enough, and four more to settle."""
        (found,) = policy_every_length(star(3), 2, lambda block: (block.hits, -block.depth), (Optimum.BYPASS,))
        self.assertEqual((found.ratio, len(found.prefix), len(found.cycle)), ("unbounded", 6, 2))
        prefix, cycle, rounds = found.without_warm_up()
        self.assertEqual((names(prefix), names(cycle), rounds), (["0", "0"], ["1", "2"], 2))

    def test_condensed(self) -> None:
        self.assertEqual(condensed(["0", "0", "1"]), "0 0 1")
        self.assertEqual(condensed(["0"] * 143 + ["1"]), "0 ×143 1")
        self.assertEqual(condensed(["0"] * 4 + ["1"] * 5), "0 0 0 0 1 ×5")
        self.assertEqual(condensed([]), "")


class Exploring(unittest.TestCase):
    def test_states_are_numbered_as_they_are_met(self) -> None:
        steps = [[(2, (1, 1)), (0, (2, 1))], [(1, (0, 3)), (0, (0, 4))], [(1, (5, 0)), (2, (6, 0))]]
        expected = graph(3, (0, 1, 1, 1), (0, 0, 2, 1), (1, 2, 5, 0), (1, 1, 6, 0), (2, 2, 0, 3), (2, 0, 0, 4))
        found = explore(machine_of(steps))
        self.assertEqual([edge[:4] for edge in found.edges], [edge[:4] for edge in expected.edges])
        self.assertEqual([edge.request for edge in found.edges], [0, 1, 0, 1, 0, 1])
        self.assertEqual((found.states, found.requests, found.closed), (3, ("a", "b"), True))

    def test_a_limit_on_the_states(self) -> None:
        steps = [[(1, (1, 1)), (2, (1, 1))], [(0, (1, 1)), (1, (0, 1))], [(1, (9, 1)), (0, (8, 1))]]
        self.assertEqual(explore(machine_of(steps), 3), explore(machine_of(steps)))
        found = explore(machine_of(steps), 2)
        self.assertEqual((found.states, found.closed), (2, False))
        self.assertEqual([edge[:2] for edge in found.edges], [(0, 1), (1, 0), (1, 1)])

    def test_steps_that_are_left_out(self) -> None:
        def step(state: int, request: str) -> tuple[int, Tally]:
            if request == "b" and state == 1:
                raise LeftOut
            return (state + 1) % 2, (1, 1)

        found = explore(Machine(0, "ab", 2, step))
        self.assertEqual((found.states, found.closed, len(found.edges)), (2, False, 3))
        with self.assertRaises(Outgrown):
            supremum(found)


class Outgrowing(unittest.TestCase):
    def test_what_is_known_when_it_stops(self) -> None:
        """The ratio of what was reached is a lower bound and grows to the true one; its witness is a real one."""
        for capacity, optimum in ((2, Optimum.BYPASS), (3, Optimum.BYPASS), (3, Optimum.LOCKED)):
            machine = lru_beside_optimum(Trie(BINARY), capacity, optimum, merge=False)
            whole = supremum(explore(machine))
            known = Fraction(0)
            for most in (2, 3, 5, 8, 13, 21, 34):
                with self.assertRaises(Outgrown) as raised:
                    supremum(explore(machine, most))
                found = raised.exception.known
                self.assertEqual((raised.exception.states, found.states), (most, most))
                self.assertTrue(known <= found.ratio <= whole.ratio, (capacity, optimum, most))
                known = found.ratio
                tallies = machine.run([*found.witness.prefix, *found.witness.cycle])
                counted = tallies[len(found.witness.prefix) :] if found.witness.cycle else tallies
                self.assertEqual(Fraction(*map(sum, zip(*counted))), known)
            self.assertEqual(explore(machine, whole.states), explore(machine))

    def test_a_single_state(self) -> None:
        """No request leads anywhere: nothing is known but that it was not enough."""
        with self.assertRaises(Outgrown) as raised:
            supremum(explore(lru_beside_optimum(Trie(BINARY), 2, Optimum.BYPASS), 1))
        self.assertEqual(raised.exception.states, 1)

    def test_an_unbounded_cycle_needs_no_closed_graph(self) -> None:
        steps = [[(1, (1, 1)), (2, (1, 1))], [(1, (1, 0)), (2, (0, 1))], [(0, (0, 1)), (3, (0, 1))], []]
        steps[3] = steps[0]
        found = supremum(explore(machine_of(steps), 2))
        self.assertEqual(found, (None, False, None, Witness(("a",), ("a",), 1, 0), 2))


class AgainstBoundedSearch(unittest.TestCase):
    """Real machines: no bound on the length may show more than the supremum, and the attained length shows it."""

    def hold(self, machine: Machine, length: int) -> None:
        found = supremum(explore(machine))
        best = Fraction(0)
        for at in range(1, length + 1):
            worst = worst_ratio(machine, at)
            best = max(best, worst.ratio)
            if found.ratio is not None:
                self.assertLessEqual(worst.ratio, found.ratio)
                attained = found.attained is not None and found.attained <= at
                self.assertEqual(worst.ratio == found.ratio, attained, (found, at, worst))
        if found.ratio is None:
            self.assertGreater(best, 1)

    def test_lru(self) -> None:
        study = Trie(BINARY)
        for trie, capacity in ((study, 2), (study, 3), (star(3), 2), (star(1), 1), (Trie(("ab", "c")), 1)):
            for optimum in Optimum:
                if capacity >= max(trie.depth) or optimum is Optimum.BYPASS:
                    self.hold(lru_beside_optimum(trie, capacity, optimum), 7)

    def test_other_policies(self) -> None:
        def use(policy: PolicyMachines) -> None:
            self.hold(policy_beside_optimum(policy, Optimum.BYPASS), 6)

        for name in ("fifo", "mru", "slru"):
            with_policy(Trie(BINARY), 2, make_policy(name), use)
            with_policy(star(3), 2, make_policy(name), use)

    def test_known_ratios(self) -> None:
        for capacity in (1, 2, 3):
            for optimum, bound in ((Optimum.BYPASS, capacity + 1), (Optimum.LOCKED, capacity)):
                found = supremum(explore(lru_beside_optimum(star(capacity + 1), capacity, optimum)))
                self.assertEqual((found.ratio, found.exceeds), (bound, False))
        one = supremum(explore(lru_beside_optimum(Trie("a"), 1, Optimum.BYPASS)))
        self.assertEqual(one, (Fraction(1), True, 1, Witness(("a",), (), 1, 1), 2))


if __name__ == "__main__":
    unittest.main()

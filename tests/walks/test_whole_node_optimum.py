"""The optimum on whole nodes against every choice by recursion, and its theorem's schedules run as programs."""

from __future__ import annotations

import itertools
import random
import unittest
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from src.radixcache import Optimum, Trie
from src.walks.belady import belady
from src.walks.forests import forest_trie, forests
from src.walks.whole_node_optimum import whole_node_optimum_machine
from tests.helpers import random_universe

BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED
Node = tuple[Any, ...]
"""The prefixes of a chain of blocks, the first one first."""
Nodes = frozenset[Node]


def held(nodes: Nodes) -> set[Any]:
    """Return the prefixes that some nodes hold."""
    return {prefix for node in nodes for prefix in node}


def served(nodes: Nodes, string: Any) -> tuple[Nodes, int, set[Any]]:
    """Return the nodes with the path cut off and its absent part as a node of its own, the misses and the path."""
    path = [string[:end] for end in range(1, len(string) + 1)]
    missing = tuple(prefix for prefix in path if prefix not in held(nodes))
    cut = set()
    for node in nodes:
        on = tuple(prefix for prefix in node if prefix in path)
        cut |= {part for part in (on, node[len(on) :]) if part}
    return frozenset(cut | ({missing} if missing else set())), len(missing), set(path)


def without(nodes: Nodes, kept: set[Any]) -> Iterator[Nodes]:
    """Yield the nodes less one leaf node, for each that holds nothing of `kept`."""
    for node in nodes:
        below = [other for other in nodes if other != node and other[0][: len(node[-1])] == node[-1]]
        if not below and not set(node) & kept:
            yield nodes - {node}


def plain(trie: Trie, capacity: int, optimum: Optimum, sequence: tuple[Any, ...]) -> int:
    """Return the least misses by trying everything that may be dropped after each request."""

    @cache
    def least(nodes: Nodes, at: int) -> int:
        if at == len(sequence):
            return 0
        after, misses, path = served(nodes, sequence[at])
        kept = path if optimum is LOCKED else set()
        options, waiting = {after}, [after]
        while waiting:
            fewer = set(without(waiting.pop(), kept)) - options
            options |= fewer
            waiting += fewer
        return misses + min(least(one, at + 1) for one in options if len(held(one)) <= capacity)

    return least(frozenset(), 0)


machine_of = cache(whole_node_optimum_machine)


class AgainstEveryChoice(unittest.TestCase):
    def hold(self, trie: Trie, capacity: int, sequence: tuple[Any, ...], counts: dict[str, int]) -> None:
        for optimum in Optimum:
            machine = machine_of(trie, capacity, optimum)
            tallies = machine.run(sequence)
            found = sum(misses for (misses,) in tallies)
            self.assertEqual(found, plain(trie, capacity, optimum, sequence), (trie.strings, capacity, sequence))
            counts[optimum.value] += found > belady(trie, capacity, sequence, optimum).misses

    def test_random_sequences(self) -> None:
        rng = random.Random(4)
        counts = {optimum.value: 0 for optimum in Optimum}
        for _ in range(60):
            trie = Trie(random_universe(rng, 4, 3))
            if len(trie) > 5:
                continue
            capacity = rng.randint(max(trie.depth), max(trie.depth) + 1)
            self.hold(trie, capacity, tuple(rng.choice(trie.strings) for _ in range(7)), counts)
        self.assertGreater(min(counts.values()), 3, counts)

    def test_every_short_sequence(self) -> None:
        counts = {optimum.value: 0 for optimum in Optimum}
        for forest in forests(3):
            trie = forest_trie(forest)
            for capacity in range(max(trie.depth), 3):
                for sequence in itertools.product(trie.strings, repeat=5):
                    self.hold(trie, capacity, sequence, counts)
        self.assertGreater(min(counts.values()), 5, counts)

    def test_a_finer_cut_that_costs_more(self) -> None:
        """bab is one node, or ba and b where bb came between: dropped and fetched again, at one miss more."""
        trie, sequence = Trie(("bb", "bbb", "bab")), ("bab", "bb", "bab", "bbb", "bb")
        self.assertEqual(plain(trie, 3, BYPASS, sequence), 6)
        self.assertEqual(sum(one for (one,) in whole_node_optimum_machine(trie, 3, BYPASS).run(sequence)), 6)

    def test_a_path_that_does_not_fit(self) -> None:
        with self.assertRaisesRegex(ValueError, "cannot be locked in a capacity of 2"):
            whole_node_optimum_machine(Trie(("abc",)), 2, BYPASS)


class TheSchedulesOfTheProof(unittest.TestCase):
    """Theorems 3 and 4 run as programs: the schedule is served node by node, and each inequality asserted."""

    def dropped(self, nodes: Nodes, doomed: set[Any]) -> Nodes:
        """Drop the nodes that hold a doomed prefix, leaves first; fail if one is in the way."""
        while True:
            leaf = [one for one in nodes if set(one) & doomed and nodes - {one} in set(without(nodes, set()))]
            if not leaf:
                self.assertFalse(held(nodes) & doomed)
                return nodes
            nodes = nodes - {leaf[0]}

    def bypassing(self, trie: Trie, capacity: int, sequence: list[Any], slack: int = 0) -> int:
        """Follow the block optimum's sets; return its misses.  The potential is what it holds and the nodes do not."""
        nodes: Nodes = frozenset()
        kept: set[Any] = set()
        total = paid = 0
        for string, step in zip(sequence, belady(trie, capacity, sequence, BYPASS).steps):
            potential = len(kept - held(nodes))
            after = {trie.prefix[block] for block in range(len(trie)) if step.cached >> block & 1}
            before = nodes
            nodes, misses, path = served(nodes, string)
            if not step.misses:
                self.assertEqual(after, kept)
            elif after == kept:  # nothing fetched stays: drop the new node
                nodes = frozenset(one for one in nodes if set(one) <= held(before))
            elif path <= after:  # keep the path alone
                nodes = self.dropped(nodes, held(nodes) - path)
            else:
                self.assertGreaterEqual(step.misses, 2)
                nodes = frozenset()
            self.assertLessEqual(held(nodes), after)
            kept = after
            total += misses
            paid += step.misses
            self.assertLessEqual(misses + len(kept - held(nodes)) - potential, (capacity - slack) * step.misses)
        self.assertLessEqual(total, capacity * paid)
        return total

    def locked(self, trie: Trie, capacity: int, sequence: list[Any], slack: int = 0) -> int:
        """Evict the node of each block that the optimum drops; return its misses."""
        nodes: Nodes = frozenset()
        kept: set[Any] = set()
        fetched: dict[Any, int] = {}  # the depth at which a block that the optimum holds was fetched
        total, charged = 0, Fraction(0)
        for string, step in zip(sequence, belady(trie, capacity, sequence, LOCKED).steps):
            after = {trie.prefix[block] for block in range(len(trie)) if step.cached >> block & 1}
            nodes, misses, path = served(nodes, string)
            doomed = (kept | path) - after
            before = nodes
            nodes = self.dropped(nodes, doomed)
            self.assertLessEqual(held(nodes), after)
            lost = len((held(before) - held(nodes)) & after)
            gone = [one for one in before - nodes]
            self.assertTrue(all(one[-1] in doomed for one in gone))
            lengths = sum(fetched[one[-1]] - 1 for one in gone)
            self.assertLessEqual(lost, capacity - len(path))
            self.assertLessEqual(lost, lengths)
            new = path - kept
            fetched.update({prefix: len(prefix) for prefix in new})
            charge = len(new) + Fraction(bool(new) * (capacity - len(path)) + sum(len(one) - 1 for one in new), 2)
            self.assertLessEqual(charge, Fraction(capacity + 1 - slack, 2) * len(new))
            charged += charge
            total += misses
            self.assertLessEqual(total, charged)
            kept = after
        return total

    def random_case(self, rng: random.Random) -> tuple[Trie, int, list[Any]]:
        trie = Trie(random_universe(rng, 5, 4))
        capacity = rng.randint(max(trie.depth), max(trie.depth) + 2)
        return trie, capacity, [rng.choice(trie.strings) for _ in range(30)]

    def test_every_step_holds(self) -> None:
        rng = random.Random(5)
        for _ in range(40):
            case = self.random_case(rng)
            for optimum, follow in ((BYPASS, self.bypassing), (LOCKED, self.locked)):
                total = follow(*case)
                trie, capacity, sequence = case
                least = sum(one for (one,) in whole_node_optimum_machine(trie, capacity, optimum).run(sequence[:9]))
                self.assertLessEqual(least, total)

    def test_one_less_is_too_little(self) -> None:
        """The smallest check that shows a wrong constant: K - 1, and K/2."""
        for follow in (self.bypassing, self.locked):
            rng = random.Random(6)
            with self.assertRaises(AssertionError):
                for _ in range(60):
                    follow(*self.random_case(rng), slack=1)


if __name__ == "__main__":
    unittest.main()

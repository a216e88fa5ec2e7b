"""LRU on whole nodes against nodes kept as lists, and its theorems run as programs."""

from __future__ import annotations

import itertools
import random
import unittest
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from src.radixcache import Optimum, Trie, as_set, members, size
from src.walks.belady import belady
from src.walks.every_length import explore, supremum
from src.walks.forests import forest_trie, forests, star
from src.walks.lru_machine import cached_set
from src.walks.whole_nodes import (
    NodeState,
    cold,
    price_from_below,
    private_chains,
    serve_whole_nodes,
    whole_node_machine,
    whole_nodes_beside_optimum,
)
from tests.helpers import STUDY, random_sequence, random_universe

BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED


class PlainNode:
    """A node as a list of prefixes, with the time of its last access and its children."""

    def __init__(self, prefixes: list[Any], time: int, parent: PlainNode | None) -> None:
        self.prefixes, self.time, self.parent = prefixes, time, parent
        self.children: list[PlainNode] = []


class PlainNodes:
    """Whole-node LRU as it is said: a tree of nodes, walked and split."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.clock = capacity, 0
        self.root = PlainNode([], 0, None)

    def nodes(self) -> list[PlainNode]:
        """Return all nodes but the root."""
        found, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            found += node.children
            waiting += node.children
        return found

    def access(self, string: Any) -> tuple[int, list[list[Any]]]:
        """Serve one request; return the misses and the prefixes of each evicted node."""
        self.clock += 1
        wanted = [string[:end] for end in range(1, len(string) + 1)]
        node, path = self.root, []
        while wanted:
            below = [child for child in node.children if child.prefixes[0] == wanted[0]]
            if not below:
                break
            node = below[0]
            alike = sum(one == other for one, other in zip(node.prefixes, wanted))
            if alike < len(node.prefixes):
                self.split(node, alike)
            node.time = self.clock
            path.append(node)
            wanted = wanted[alike:]
        misses = len(wanted)
        if wanted:
            new = PlainNode(wanted, self.clock, node)
            node.children.append(new)
            path.append(new)
        evicted = []
        while sum(len(one.prefixes) for one in self.nodes()) > self.capacity:
            leaves = [one for one in self.nodes() if not one.children and one not in path]
            if not leaves:  # the path alone is too long
                evicted.append([path[-1].prefixes.pop()])
                if not path[-1].prefixes:
                    last = path.pop()
                    assert last.parent is not None
                    last.parent.children.remove(last)
                continue
            victim = min(leaves, key=lambda one: one.time)
            assert [one.time for one in leaves].count(victim.time) == 1
            assert victim.parent is not None
            victim.parent.children.remove(victim)
            evicted.append(victim.prefixes)
        return misses, evicted

    def split(self, node: PlainNode, at: int) -> None:
        """Cut a node; the rest keeps its time and its children."""
        rest = PlainNode(node.prefixes[at:], node.time, node)
        rest.children = node.children
        for child in rest.children:
            child.parent = rest
        node.prefixes, node.children = node.prefixes[:at], [rest]

    def check(self, clock: int) -> None:
        """Raise AssertionError unless nodes are chains, no two children are alike and no child is newer."""
        assert sum(len(node.prefixes) for node in self.nodes()) <= self.capacity
        for node in self.nodes():
            assert node.parent is not None and node in node.parent.children
            assert node.time <= clock and (node.parent is self.root or node.time <= node.parent.time)
            above = node.parent.prefixes[-1] if node.parent.prefixes else node.prefixes[0][:0]
            for prefix in node.prefixes:
                assert prefix[:-1] == above
                above = prefix
            firsts = [child.prefixes[0] for child in node.children]
            assert len(firsts) == len(set(firsts))


def random_case(rng: random.Random, short: int = 0) -> tuple[Trie, int]:
    """Return a random trie and a capacity in which its paths fit, or all but the last `short` blocks of them."""
    trie = Trie(random_universe(rng, 7, 5))
    return trie, rng.randint(max(1, max(trie.depth) - short), max(trie.depth) + 4)


class AgainstNodesInLists(unittest.TestCase):
    def test_random_sequences(self) -> None:
        rng = random.Random(1)
        kinds = dict.fromkeys(("split", "evicted two nodes", "freed too much", "too long"), 0)
        for _ in range(100):
            trie, capacity = random_case(rng, short=2)
            plain, state = PlainNodes(capacity), cold(trie)
            sequence = random_sequence(rng, trie, 25)
            for string in sequence:
                nodes = len(plain.nodes())
                misses, evicted = plain.access(string)
                plain.check(plain.clock)
                state, missed, gone = serve_whole_nodes(trie, capacity, state, string)
                self.assertEqual(missed, misses, (trie.strings, capacity, sequence))
                named = [[trie.prefix[block] for block in members(node)] for node in gone]
                self.assertEqual(named, evicted, (trie.strings, capacity, sequence))
                self.check(trie, state, plain)
                kinds["split"] += len(plain.nodes()) > nodes + bool(misses) - len(evicted)
                kinds["too long"] += len(string) > capacity
                kinds["evicted two nodes"] += len(evicted) > 1
                kinds["freed too much"] += bool(evicted) and size(cached_set(state.times)) < capacity
        self.assertGreater(min(kinds.values()), 30, kinds)

    def check(self, trie: Trie, state: NodeState, plain: PlainNodes) -> None:
        """The same blocks in the same nodes, in the same order of time."""
        order = sorted({node.time for node in plain.nodes()})
        for node in plain.nodes():
            numbers = [block for block in range(len(trie)) if trie.prefix[block] in node.prefixes]
            self.assertEqual([state.times[block] for block in numbers], [order.index(node.time) + 1] * len(numbers))
            self.assertEqual([state.joined >> block & 1 for block in numbers], [0] + [1] * (len(numbers) - 1))
        self.assertEqual(size(cached_set(state.times)), sum(len(node.prefixes) for node in plain.nodes()))
        self.assertFalse(state.joined & ~cached_set(state.times))

    def test_by_hand(self) -> None:
        """A node of three is split by a shorter request; what is left over goes as one, and the root stays."""
        trie = Trie(("abc", "a", "x"))
        state, misses, evicted = serve_whole_nodes(trie, 3, cold(trie), "abc")
        self.assertEqual((state, misses, evicted), (NodeState((1, 1, 1, 0), 0b110), 3, ()))
        state, misses, evicted = serve_whole_nodes(trie, 3, state, "a")
        self.assertEqual((state, misses, evicted), (NodeState((2, 1, 1, 0), 0b100), 0, ()))
        state, misses, evicted = serve_whole_nodes(trie, 3, state, "x")
        self.assertEqual((state, misses, evicted), (NodeState((1, 0, 0, 2), 0), 1, (0b110,)))

    def test_nothing_is_merged(self) -> None:
        """A request that goes on below a node starts a node of its own."""
        trie = Trie(("a", "ab", "x"))
        state = cold(trie)
        for string in ("a", "ab"):
            state, _, _ = serve_whole_nodes(trie, 2, state, string)
        self.assertEqual(state.joined, 0)
        self.assertEqual(serve_whole_nodes(trie, 2, state, "x")[2], (0b10,))

    def test_a_path_that_does_not_fit(self) -> None:
        """All else goes, then the path from its end: its first blocks stay as one node."""
        trie = Trie(("abc", "x"))
        state, _, _ = serve_whole_nodes(trie, 2, cold(trie), "x")
        state, misses, evicted = serve_whole_nodes(trie, 2, state, "abc")
        self.assertEqual((state, misses, evicted), (NodeState((1, 1, 0, 0), 0b10), 3, (0b1000, 0b100)))
        with self.assertRaisesRegex(ValueError, "a capacity of 0 blocks"):
            whole_node_machine(trie, 0)


class Symmetry(unittest.TestCase):
    def test_merged_states_have_the_same_ratio(self) -> None:
        merged_any = 0
        for trie, capacity in ((STUDY, 2), (STUDY, 3), (star(3), 2), (Trie(("ab", "cd")), 2)):
            for optimum in Optimum:
                merged = explore(whole_nodes_beside_optimum(trie, capacity, optimum))
                plain = explore(whole_nodes_beside_optimum(trie, capacity, optimum, merge=False))
                self.assertEqual(supremum(merged).ratio, supremum(plain).ratio)
                merged_any += merged.states < plain.states
        self.assertEqual(merged_any, 8)


class OldestClass:
    """A cache that evicts blocks of the oldest last access only, in any order and any number: the widest such policy.

    `whichever` makes it evict any block off the path instead, which the theorem does not allow.
    """

    def __init__(self, trie: Trie, capacity: int, rng: random.Random, whichever: bool = False) -> None:
        self.trie, self.capacity, self.rng, self.whichever = trie, capacity, rng, whichever
        self.last: dict[int, int] = {}
        self.clock = 0

    def access(self, string: Any) -> set[int]:
        """Serve one request and return the missed blocks."""
        self.clock += 1
        path = set(self.trie.path(string))
        missed = path - self.last.keys()
        for block in path:
            self.last[block] = self.clock
        while len(self.last) > self.capacity:
            oldest = min(self.last.values())
            off_path = [block for block in self.last if block not in path]
            choice = [block for block in off_path if self.whichever or self.last[block] == oldest]
            for victim in self.rng.sample(choice, self.rng.randint(1, len(choice))):
                for block in [victim, *members(self.trie.descendants[victim])]:
                    assert block not in path
                    self.last.pop(block, None)
        return missed


class ThePhaseArgument(unittest.TestCase):
    """Theorem 1 run as a program: each step of the proof on random runs, red for a policy that is not of its kind."""

    def broken(self, seed: int, whichever: bool) -> int:
        rng = random.Random(seed)
        trie = Trie(random_universe(rng, 6, 3, "abc"))
        capacity = rng.randint(max(trie.depth), max(trie.depth) + 2)
        sequence = [rng.choice(trie.strings) for _ in range(rng.choice((30, 60)))]
        broken = 0
        for optimum in Optimum:
            steps = belady(trie, capacity, sequence, optimum).steps
            policy = OldestClass(trie, capacity, random.Random(seed), whichever)
            kept = 0  # O: what the optimum holds since its last payment
            counted: set[int] = set()  # the blocks of O that were missed since that payment
            misses = paid = 0
            for string, step in zip(sequence, steps):
                missed = policy.access(string)
                path = as_set(trie.path(string))
                misses += len(missed)
                paid += step.misses
                if optimum is LOCKED and step.misses:  # intervals [t, t'), O holds the path of t
                    kept, counted = step.cached, set()
                within = {block for block in missed if kept >> block & 1}
                broken += bool(within & counted)
                broken += len(missed - within) > step.misses
                counted |= within
                if optimum is BYPASS and step.misses:  # intervals (t, t']
                    kept, counted = step.cached, set()
                broken += not step.misses and bool(path & ~kept)
                broken += misses > (capacity + (optimum is BYPASS)) * paid
        return broken

    def test_every_step_holds(self) -> None:
        self.assertEqual([seed for seed in range(150) if self.broken(seed, False)], [])

    def test_another_policy_breaks_it(self) -> None:
        self.assertGreater(sum(bool(self.broken(seed, True)) for seed in range(60)), 5)

    def test_whole_nodes_are_of_the_oldest_class(self) -> None:
        rng = random.Random(2)
        evictions = 0
        for _ in range(60):
            trie, capacity = random_case(rng)
            state = cold(trie)
            for string in random_sequence(rng, trie, 25):
                before = list(state.times)
                state, _, evicted = serve_whole_nodes(trie, capacity, state, string)
                for block in trie.path(string):
                    before[block] = max(before) + 1
                for node in evicted:
                    oldest = min(time for time in before if time)
                    self.assertEqual({before[block] for block in members(node)}, {oldest})
                    for block in members(node):
                        before[block] = 0
                    evictions += 1
        self.assertGreater(evictions, 100)

    def test_the_star_needs_each_block_of_the_bounds(self) -> None:
        """K + 1 and K, not one less: the smallest check that shows a wrong constant."""
        for capacity in (1, 2, 3):
            for optimum, limit in ((BYPASS, capacity + 1), (LOCKED, capacity)):
                found = supremum(explore(whole_nodes_beside_optimum(star(capacity + 1), capacity, optimum)))
                self.assertEqual(found.ratio, limit)


class PrivateChains(unittest.TestCase):
    def plain(self, trie: Trie, blocks: Sequence[int]) -> list[int]:
        """Return the sorted private chains, by asking of each block which leaves are below it."""
        strings = [trie.prefix[block] for block in blocks]
        leaves = [one for one in strings if not any(other[: len(one)] == one != other for other in strings)]
        owners = [[leaf for leaf in leaves if leaf[: len(one)] == one] for one in strings]
        return sorted(owners.count([leaf]) for leaf in leaves)

    def test_against_strings(self) -> None:
        rng = random.Random(3)
        for _ in range(60):
            trie = Trie(random_universe(rng, 5, 4))
            for held in trie.ancestor_closed_sets(len(trie)):
                self.assertEqual(private_chains(trie, held), self.plain(trie, list(members(held))))

    def test_the_price_against_every_set(self) -> None:
        for count in range(2, 6):
            for forest in forests(count):
                trie = forest_trie(forest)
                for capacity, optimum in itertools.product(range(1, count), Optimum):
                    prices = [Fraction(1)]
                    for held in trie.ancestor_closed_sets(capacity + 1):
                        chains = self.plain(trie, list(members(held)))
                        if size(held) == capacity + 1 and len(chains) > 1:
                            saved = Fraction(chains[0] + chains[1], 2)
                            prices.append(sum(chains) - (saved if optimum is LOCKED else 0))
                    self.assertEqual(price_from_below(trie, capacity, optimum), max(prices))

    def test_the_adversary_of_the_proof(self) -> None:
        """The proof's rounds on every set of every forest: whole nodes pay the chains, the optimum once, or twice."""
        rounds = 0
        for forest in forests(6):
            trie = forest_trie(forest)
            for capacity in range(max(trie.depth), 6):
                for held in trie.ancestor_closed_sets(capacity + 1):
                    if size(held) == capacity + 1:
                        rounds += 1
                        self.replay(trie, capacity, held)
        self.assertGreater(rounds, 200)

    def replay(self, trie: Trie, capacity: int, held: int) -> None:
        leaves = [trie.prefix[leaf] for leaf in members(trie.leaves(held))]
        chains = {leaf: self.plain_chain(leaf, leaves) for leaf in leaves}
        leaves.sort(key=lambda leaf: chains[leaf])
        first, second, rest = leaves[0], leaves[1], leaves[2:]
        blocks = sum(chains.values())
        for optimum, around, price, least in (
            (BYPASS, leaves, blocks, 1),
            (LOCKED, [first, second, *rest, second, first, *rest], 2 * blocks - chains[first] - chains[second], 2),
        ):
            sequence = around * 5
            plain = PlainNodes(capacity)
            misses = [plain.access(string)[0] for string in sequence]
            costs = [step.misses for step in belady(trie, capacity, sequence, optimum).steps]
            self.assertEqual(sum(misses[-len(around) :]), price, (trie.strings, held, optimum))
            early, late = len(around) * 2, len(around) * 4
            self.assertLessEqual(sum(costs[early:late]), 2 * least, (trie.strings, held, optimum))

    def plain_chain(self, leaf: Any, leaves: list[Any]) -> int:
        """Return how many prefixes of a leaf no other leaf has."""
        others = [other for other in leaves if other != leaf]
        return sum(all(other[:end] != leaf[:end] for other in others) for end in range(1, len(leaf) + 1))


if __name__ == "__main__":
    unittest.main()

"""The proof of the width theorem as a program: it groups the misses as results/PROOFS.md does and asserts each step.

A step that were wrong would raise AssertionError somewhere among the random cases; the mutations show that it can.
"""

from __future__ import annotations

import random
import unittest
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from src.radixcache import ROOT, Optimum, Rule, String, Trie, as_set, members, serve_lru, size
from src.walks.belady import belady
from src.width import plain_width

BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED


class Group(NamedTuple):
    """The top of the group's subtree, and the requests between which the subtree is not requested."""

    top: int
    since: int
    until: int


@dataclass
class Proof:
    """Both schedules on one sequence, with the steps of the proof.  Requests are numbered from 1.

    `mutation` names a wrong step; "" is the proof as it stands.
    """

    trie: Trie
    capacity: int
    smaller: int
    optimum: Optimum
    sequence: tuple[String, ...]
    mutation: str = ""

    def __post_init__(self) -> None:
        trie, ours = self.trie, self.capacity
        lru = serve_lru(trie, ours - (self.mutation == "LRU has K - 1 blocks"), self.sequence, Rule.LEAF_ONLY)
        best = belady(trie, self.smaller, self.sequence, self.optimum)
        self.paths = [0, *(as_set(trie.path(string)) for string in self.sequence)]
        self.held = [0, *(step.cached for step in lru.steps)]
        self.best = [0, *(step.cached for step in best.steps)]
        self.misses, self.paid = lru.misses, best.misses
        self.evicted = [
            (victim, at)
            for at, step in enumerate(best.steps, start=1)
            for victim in members(as_set(eviction.victim for eviction in step.evictions))
        ]
        self.upwards = [as_set(trie.path(trie.prefix[block])) for block in range(len(trie))]  # a block's own path
        self.subtree = [trie.descendants[block] | 1 << block for block in range(len(trie))]
        self.groups: dict[Group, list[tuple[int, int]]] = {}

    def run(self) -> int:
        """Assert every step; return how many free misses there were."""
        self.step_0_the_optimum_evicts_when_it_must()
        self.step_1_lru_holds_the_first_of_the_order()
        self.step_2_free_misses_fall_into_groups()
        self.lemma_a()
        self.lemma_b()
        self.lemma_c()
        return self.step_6_the_count()

    def step_0_the_optimum_evicts_when_it_must(self) -> None:
        evictions = Counter(at for _, at in self.evicted)
        for now, path in enumerate(self.paths[1:], start=1):
            before, after = self.best[now - 1], self.best[now]
            assert not after & ~(before | path), "fetches on demand only"
            assert self.trie.is_ancestor_closed(after)
            assert size(after) == size(before | path) - evictions[now]
            if evictions[now]:
                assert size(after) == self.smaller and path & ~before, "evicts only when it pays, down to h"
        assert len(self.evicted) == self.paid - size(self.best[-1])

    def step_1_lru_holds_the_first_of_the_order(self) -> None:
        last = [0] * len(self.trie)
        for now, path in enumerate(self.paths[1:], start=1):
            for block in members(path):
                last[block] = now
            seen = [block for block in range(len(self.trie)) if last[block]]
            seen.sort(key=lambda block: (-last[block], self.trie.depth[block]))
            assert self.held[now] == as_set(seen[: self.capacity])

    def step_2_free_misses_fall_into_groups(self) -> None:
        for now, path in enumerate(self.paths[1:], start=1):
            for block in members(path & ~self.held[now - 1] & self.best[now - 1]):
                group = self.group_of(block, now)
                self.groups.setdefault(group, []).append((block, now))
        for (top, since, until), misses in self.groups.items():
            blocks = [block for block, _ in misses]
            assert len(set(blocks)) == len(blocks), "no block twice in a group"
            assert not as_set(blocks) & ~(self.subtree[top] & self.best[until - 1])
            assert not any(self.paths[at] & self.subtree[top] for at in range(since + 1, until))

    def group_of(self, block: int, now: int) -> Group:
        """Return the group of a free miss, found as the proof does."""
        held, upwards = self.held, self.upwards[block]
        last = max(at for at in range(1, now) if self.paths[at] >> block & 1)
        assert all(not upwards & ~self.best[at] for at in range(last, now)), "the optimum held it all along"
        evicted = next(at for at in range(last + 1, now) if not held[at] >> block & 1)
        until = next(at for at in range(evicted + 1, now + 1) if self.paths[at] & upwards & ~held[at - 1])
        if self.mutation == "the group ends with the miss":
            until = now
        absent = list(members(upwards & ~held[until - 1]))
        top = block if self.mutation == "the top is the block itself" else absent[0]  # parents have smaller numbers
        since = max(at for at in range(1, until) if self.paths[at] >> top & 1)
        if self.mutation == "since the block's own last request":
            since = last
        assert last <= since < until <= now
        return Group(top, since, until)

    def lemma_a(self) -> None:
        """Between `since` and `until` the optimum evicts K - h + |S & O| blocks outside the subtree S."""
        more = self.mutation == "one eviction more"
        for group in self.groups:
            owed = self.capacity - self.smaller + size(self.subtree[group.top] & self.best[group.until - 1]) + more
            assert len(self.outside(group)) >= owed, "Lemma A"

    def outside(self, group: Group) -> list[tuple[int, int]]:
        """Return the optimum's evictions outside a group's subtree, between its two requests."""
        inside = self.subtree[group.top]
        return [(z, at) for z, at in self.evicted if group.since < at < group.until and not inside >> z & 1]

    def lemma_b(self) -> None:
        """Groups that are open at the same request have incomparable tops."""
        groups = list(self.groups)
        for at, one in enumerate(groups):
            for other in groups[:at]:
                if max(one.since, other.since) + 1 < min(one.until, other.until):
                    comparable = self.upwards[one.top] >> other.top & 1 or self.upwards[other.top] >> one.top & 1
                    assert not comparable, "Lemma B"

    def lemma_c(self) -> None:
        """With the topmost block paid, and under locks the victim, the tops are leaves of a set of h + 1 blocks."""
        for victim, now in self.evicted:
            groups = [group for group in self.groups if (victim, now) in self.outside(group)]
            paid = next(members(self.paths[now] & ~self.best[now - 1]))
            antichain = [group.top for group in groups] + [paid] + [victim] * (self.optimum is LOCKED)
            closed = self.best[now - 1] | 1 << paid
            assert self.trie.is_ancestor_closed(closed) and size(closed) <= self.smaller + 1
            assert not as_set(antichain) & ~closed and len(set(antichain)) == len(antichain)
            for block in antichain:
                assert sum(self.upwards[one] >> block & 1 for one in antichain) == 1, "an antichain"
            assert len(groups) <= self.most_groups(), "Lemma C"
            owned = sum(size(self.subtree[group.top] & self.best[group.until - 1]) for group in groups)
            assert owned <= self.most_owned(), "disjoint subtrees, off the path in service"

    def most_groups(self) -> int:
        """Return M: how many groups an eviction can serve."""
        leaves = plain_width(self.trie, self.smaller + (self.mutation != "the width at h"))
        fewer = self.mutation == "one group fewer"
        return max(0, leaves - 1 - (self.optimum is LOCKED) - fewer)

    def most_owned(self) -> int:
        """Return q: how many blocks the optimum can hold in the subtrees of all groups that are open."""
        fewer = self.mutation == "one block fewer in all subtrees"
        return self.smaller - (self.optimum is LOCKED) - fewer

    def step_6_the_count(self) -> int:
        """Serve each miss of a group with its own eviction, then spread each group over all its evictions."""
        served: Counter[tuple[int, int]] = Counter()
        spread: dict[tuple[int, int], Fraction] = {}
        for group, misses in self.groups.items():
            evictions = self.outside(group)
            served.update(evictions[: len(misses)])
            assert len(misses) <= len(evictions)
            for eviction in evictions:
                spread[eviction] = spread.get(eviction, Fraction(0)) + Fraction(len(misses), len(evictions))
        free = sum(map(len, self.groups.values()))
        most, own = self.most_groups(), self.most_owned()
        assert sum(served.values()) == free == sum(spread.values())
        assert max(served.values(), default=0) <= most
        share = Fraction(own * most, (self.capacity - self.smaller) * most + own) if own * most else Fraction(0)
        assert max(spread.values(), default=0) <= share, "a smaller optimum"
        assert self.misses <= self.paid + share * len(self.evicted)
        return free


MUTATIONS = (
    "LRU has K - 1 blocks",
    "the group ends with the miss",
    "the top is the block itself",
    "since the block's own last request",
    "one eviction more",
    "the width at h",
    "one group fewer",
    "one block fewer in all subtrees",
)


def random_proof(chance: random.Random, mutation: str = "") -> Proof:
    """Return both schedules on a random trie: some requests are random, some go round in a circle."""
    blocks = chance.randint(3, 10)
    parent = [ROOT if chance.random() < 0.4 else chance.randrange(ROOT, block) for block in range(blocks)]
    strings: list[tuple[int, ...]] = []
    for block, above in enumerate(parent):
        strings.append(((*strings[above],) if above != ROOT else ()) + (block,))
    capacity = chance.randint(2, blocks - 1)
    smaller = max(1, capacity - chance.choice((0, 1, 1, 2)))
    optimum = chance.choice((BYPASS, LOCKED))
    longest = smaller if optimum is LOCKED else capacity
    fitting = [string for string in strings if len(string) <= longest]
    circle = chance.sample(fitting, chance.randint(1, len(fitting)))
    astray = chance.choice((0.1, 0.5))
    sequence = [
        chance.choice(fitting) if chance.random() < astray else circle[at % len(circle)]
        for at in range(chance.randint(1, 50))
    ]
    return Proof(Trie(fitting), capacity, smaller, optimum, tuple(sequence), mutation)


class WidthProof(unittest.TestCase):
    def test_every_step(self) -> None:
        chance = random.Random(3)
        free: Counter[tuple[Optimum, bool]] = Counter()
        for _ in range(250):
            proof = random_proof(chance)
            try:
                free[proof.optimum, proof.smaller < proof.capacity] += proof.run()
            except AssertionError as error:
                self.fail((error, proof.trie.strings, proof.capacity, proof.smaller, proof.optimum, proof.sequence))
        self.assertEqual(len(free), 4)
        self.assertGreater(min(free.values()), 25, free)

    def test_mutations(self) -> None:
        for mutation in MUTATIONS:
            chance = random.Random(3)
            with self.subTest(mutation), self.assertRaises(AssertionError):
                for _ in range(900):
                    random_proof(chance, mutation).run()


if __name__ == "__main__":
    unittest.main()

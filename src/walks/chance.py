"""Marking on a trie: a policy that flips coins, as a finite machine over distributions.

A request marks its path.  Absent blocks come one at a time, from the top down; while the cache is full, an unmarked
cached leaf goes for each, at random.  When all K cached blocks are marked, the marks are taken off everything but the
path in service, and a new *phase* begins (Fiat, Karp, Luby, McGeoch, Sleator, Young 1991, on a star).  So at that
moment the contents are known, whatever the coins were; the distributions stay finitely many, and exact fractions.
The proofs are in `results/PROOFS.md`, "Chance".

The adversary does not see the coins: it fixes the requests beforehand.  So a walk over distributions, with expected
misses, is all there is.  The phases depend on the requests alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Callable, NamedTuple

from src.radixcache import ROOT, Optimum, String, Trie, as_set, check_fits, members, size
from src.walks.every_length import explore, supremum
from src.walks.exhaustive import Machine, Tally, side_by_side
from src.walks.work_function import optimum_machine

Weights = list[tuple[int, Fraction]]
"""Outcomes with their probabilities, which add up to 1."""
Choice = Callable[[Trie, int, int], Weights]
"""The victim: a trie, the cached set and the marked set, to unmarked cached leaves with their probabilities."""


class Coins(NamedTuple):
    """Where the coins may have led: the possible cached sets in ascending order, their probabilities, the marks."""

    cached: tuple[int, ...]
    probability: tuple[Fraction, ...]
    marked: int


NO_COINS = Coins((0,), (Fraction(1),), 0)
"""The empty cache."""


def uniform_leaf(trie: Trie, cached: int, marked: int) -> Weights:
    """Choose each unmarked leaf with the same probability."""
    leaves = list(members(trie.leaves(cached) & ~marked))
    return [(leaf, Fraction(1, len(leaves))) for leaf in leaves]


def random_descent(trie: Trie, cached: int, marked: int) -> Weights:
    """Walk down from the root, to each child with an unmarked leaf in its subtree with the same probability."""
    leaves = trie.leaves(cached) & ~marked
    chosen: Weights = []
    waiting = [(ROOT, Fraction(1))]
    while waiting:
        block, chance = waiting.pop()
        if block != ROOT and leaves >> block & 1:
            chosen.append((block, chance))
            continue
        below = [
            child
            for child in members(cached)
            if trie.parent[child] == block and (trie.descendants[child] | 1 << child) & leaves
        ]
        waiting += [(child, chance / len(below)) for child in below]
    return sorted(chosen)


def by_chain(trie: Trie, cached: int, marked: int) -> Weights:
    """Choose an unmarked leaf by the length of its chain: the unmarked blocks with no other leaf below them."""
    leaves = trie.leaves(cached)
    lengths = []
    for leaf in members(leaves & ~marked):
        length, block = 0, leaf
        while block != ROOT and not marked >> block & 1 and size((trie.descendants[block] | 1 << block) & leaves) == 1:
            length += 1
            block = trie.parent[block]
        lengths.append((leaf, length))
    return [(leaf, Fraction(length, sum(one for _, one in lengths))) for leaf, length in lengths]


def serve_marking(
    trie: Trie, capacity: int, coins: Coins, string: String, choice: Choice = uniform_leaf
) -> tuple[Coins, Fraction]:
    """Serve one request; return where the coins may lead, and the expected misses.

    The path has to fit.  Cost: O(possible sets · what the coins make of each · blocks).
    """
    path = as_set(trie.path(string))
    before = dict(zip(coins.cached, coins.probability))
    misses = sum((chance * size(path & ~cached) for cached, chance in before.items()), Fraction(0))
    marked = coins.marked | path
    if size(marked) > capacity:  # a phase begins: every unmarked block had to go before the marks could
        before = {marked: Fraction(1)}
        marked = path
    after: dict[int, Fraction] = {}
    for cached, chance in before.items():
        for left, share in _evicted(trie, capacity, cached | path, marked, choice).items():
            after[left] = after.get(left, Fraction(0)) + chance * share
    sets = tuple(sorted(after))
    return Coins(sets, tuple(after[one] for one in sets), marked), misses


def _evicted(trie: Trie, capacity: int, held: int, marked: int, choice: Choice) -> dict[int, Fraction]:
    """Return what may be left of a set when unmarked leaves went, one at a time, until it fits."""
    layer = {held: Fraction(1)}
    for _ in range(size(held) - capacity):
        following: dict[int, Fraction] = {}
        for one, chance in layer.items():
            for leaf, share in choice(trie, one, marked):
                left = one & ~(1 << leaf)
                following[left] = following.get(left, Fraction(0)) + chance * share
        layer = following
    return layer


def expected_misses(
    trie: Trie, capacity: int, sequence: Sequence[String], choice: Choice = uniform_leaf
) -> list[Fraction]:
    """Return the expected misses of each request from a cold start.  Raises ValueError for a path that does not fit."""
    check_fits(trie, capacity, Optimum.LOCKED)
    coins = NO_COINS
    expected = []
    for string in sequence:
        coins, misses = serve_marking(trie, capacity, coins, string, choice)
        expected.append(misses)
    return expected


class Chances(NamedTuple):
    """Marking as a machine; its tally is (expected misses times `scale`,), a whole number."""

    machine: Machine
    scale: int


def marking_machine(trie: Trie, capacity: int) -> Chances:
    """Return marking with uniform leaves as a machine.  Raises ValueError for a path that does not fit.

    Cost: O(distributions · requests) to find the common denominator of all expected misses.
    """
    check_fits(trie, capacity, Optimum.LOCKED)
    steps: dict[tuple[Coins, String], tuple[Coins, Fraction]] = {}
    reached = {NO_COINS: None}
    waiting = [NO_COINS]
    while waiting:
        coins = waiting.pop()
        for string in trie.strings:
            after, _ = steps[coins, string] = serve_marking(trie, capacity, coins, string)
            if after not in reached:
                reached[after] = None
                waiting.append(after)
    scale = 1
    for _, misses in steps.values():
        scale = scale * misses.denominator // math.gcd(scale, misses.denominator)

    def step(coins: Coins, string: String) -> tuple[Coins, Tally]:
        """Serve a request; the tally is the expected misses, times the scale."""
        after, misses = steps[coins, string]
        return after, (int(misses * scale),)

    return Chances(Machine(NO_COINS, trie.strings, 1, step), scale)


class ExpectedRatio(NamedTuple):
    """The supremum of expected misses over the optimum's, over all lengths, with a witness that a reader can replay."""

    ratio: Fraction
    exceeds: bool
    prefix: tuple[String, ...]
    cycle: tuple[String, ...]


def expected_ratio(trie: Trie, capacity: int, optimum: Optimum, policy: Chances | None = None) -> ExpectedRatio:
    """Return marking's exact ratio over all lengths.  `policy` is its machine, if there is one already.

    Raises ValueError for a path that does not fit.  Cost: as `explore` and `supremum`.
    """
    machine, scale = policy or marking_machine(trie, capacity)
    found = supremum(explore(side_by_side(machine, optimum_machine(trie, capacity, optimum))))
    if found.ratio is None:
        raise ArithmeticError("marking misses where the optimum pays nothing: the machine is wrong")
    return ExpectedRatio(found.ratio / scale, found.exceeds, found.witness.prefix, found.witness.cycle)


def harmonic(number: int) -> Fraction:
    """Return 1 + 1/2 + ... + 1/number, 0 for 0."""
    return sum((Fraction(1, term) for term in range(1, number + 1)), Fraction(0))

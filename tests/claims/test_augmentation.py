"""A smaller optimum: the bounds by hand, the sweep seen counting, the cycles replayed with both capacities."""

from __future__ import annotations

import itertools
import unittest
from fractions import Fraction
from typing import Any
from unittest import mock

from src.claims import augmentation as module
from src.claims.augmentation import (
    EXAMPLES,
    augmentation,
    beside,
    by_adversary,
    by_round_trips,
    by_widths,
    classical,
    deepest_first,
    found,
    one_case,
    policy_limit,
    sweep,
)
from src.policies.cache import Cache
from src.policies.scores import lru
from src.radixcache import LeafOnlyBelady, Optimum, Rule, Trie, serve_lru
from src.walks.belady import belady
from src.walks.forests import star
from src.width import width
from tests.helpers import ROUNDS, claimed, shared_lru

BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED


def replayed(trie: Trie, shown: dict[str, Any]) -> list[tuple[int, int]]:
    """Return what each round of a witness's cycle costs LRU of K blocks and the optimum of h, from the plain models."""
    texts = dict(zip((".".join(map(str, string)) for string in trie.strings), trie.strings))
    prefix, cycle = ([texts.get(name, name) for name in shown[part]] for part in ("prefix", "cycle"))
    totals = []
    for times in range(ROUNDS + 1):
        sequence = [*prefix, *cycle * times]
        lru = serve_lru(trie, shown["capacity"], sequence, Rule.LEAF_ONLY)
        best = belady(trie, shown["smaller_capacity"], sequence, Optimum(shown["optimum"]))
        totals.append((lru.misses, best.misses))
    return [(one - other, best - least) for (other, least), (one, best) in zip(totals, totals[1:])]


class Augmentation(unittest.TestCase):
    def test_the_published_claim(self) -> None:
        claim = claimed("augmentation")
        self.assertTrue(claim["holds"])
        measured = claim["measured"]
        self.assertEqual([measured[one.value]["cases"] for one in Optimum], [118, 40])
        self.assertEqual(measured["examples"], {"two_pairs": "5/3", "a_chain": "3/2"})
        for one in (*claim["witnesses"]["examples"].values(), *claim["witnesses"]["strictly_between"]):
            strings = [string.split(".") for string in one["strings"]]
            trie = Trie(map(tuple, strings)) if "." in "".join(one["strings"]) else Trie(one["strings"])
            costs = replayed(trie, one)
            self.assertEqual(costs, [(one["lru_misses"], one["optimum_misses"])] * ROUNDS, one)
            self.assertEqual(Fraction(*costs[0]), Fraction(one["limit"]))

    def test_the_bounds_by_hand(self) -> None:
        """On stars all bounds meet, and at h = K they are the price; the two tries have equal widths."""
        for capacity in range(1, 6):
            for smaller, optimum in itertools.product(range(1, capacity + 1), Optimum):
                case = (star(capacity + 1), capacity, smaller, optimum)
                bound = classical(capacity, smaller, optimum)
                if optimum.fits(case[0], smaller):
                    self.assertEqual(by_widths(*case), bound)
                    self.assertEqual(by_adversary(*case), bound)
        tries = [Trie(strings) for strings in EXAMPLES.values()]
        widths = [[width(trie.parent, blocks) for blocks in range(1, 6)] for trie in tries]
        self.assertEqual(widths[0], widths[1])
        for trie in tries:
            self.assertEqual(by_widths(trie, 3, 2, BYPASS), 2)
            self.assertEqual(by_adversary(trie, 3, 2, BYPASS), Fraction(3, 2))
        self.assertEqual([by_round_trips(trie, 3, 2) for trie in tries], [Fraction(5, 3), Fraction(3, 2)])

    def test_the_sweep_counts(self) -> None:
        """Each bound with a constant that is wrong by one is broken somewhere on forests of up to 4 or 5 blocks."""
        every = list(found(4))
        zeros = list(sweep(every))[1:5]
        self.assertEqual([sweep(every)[key] for key in zeros], [0] * 4)
        wrong = {
            zeros[0]: ("classical", lambda k, h, model: classical(k, h - 1, model)),
            zeros[1]: ("by_widths", lambda trie, k, h, model: by_widths(trie, k + 1, h, model)),
            zeros[2]: ("by_adversary", lambda trie, k, h, model: by_adversary(trie, k, h + 1, model)),
            zeros[3]: ("by_round_trips", lambda trie, k, h: by_round_trips(trie, k - 1, h)),
        }
        for key, (name, other) in wrong.items():
            with mock.patch.object(module, name, other):
                self.assertGreater(sweep(list(found(4)))[key], 0, key)
        with mock.patch.object(module, "width", lambda parent, blocks: width(parent, blocks - 1)):
            self.assertGreater(sweep(list(found(4)))["above_the_bound_of_the_widths"], 0)
        with mock.patch.object(module, "width", lambda parent, blocks: width(parent, blocks + 1)):
            self.assertGreater(sweep(list(found(4)))["limit_below_the_adversary"], 0)
        counted = sweep(every)
        self.assertEqual(counted["limit_below_1"], sum(one.limit < 1 for one in every))
        self.assertGreater(min(counted["limit_below_1"], counted["finite_sequences_exceed_the_limit"]), 0)

    def test_each_counter_of_the_sweep_by_hand(self) -> None:
        """A made-up case in which all bounds meet, and what counts if one number in it is another."""
        meet = one_case(Trie(EXAMPLES["two_pairs"]), 3, 2, BYPASS)
        self.assertEqual(classical(*meet[1:4]), 2)
        meet = meet._replace(**dict.fromkeys(("ratio", "limit", "adversary", "round_trips", "widths"), Fraction(2)))
        below = [f"limit_below_the_{bound}" for bound in ("adversary", "round_trips")]
        exceeds, beyond = "finite_sequences_exceed_the_limit", "limit_above_the_adversary"
        broken = ["above_the_classical_bound", "above_the_bound_of_the_widths", exceeds]
        rows: list[tuple[list[str], dict[str, Fraction | None]]] = [
            (["bounds_meet"], {}),
            ([*broken, "bounds_meet"], {"ratio": None}),
            ([*broken, "bounds_meet"], {"ratio": Fraction(3)}),
            (below[:1], {"adversary": Fraction(3)}),
            (below[1:], {"round_trips": Fraction(3)}),
            (["above_the_bound_of_the_widths", "widths_below_the_classical_bound"], {"widths": Fraction(1)}),
            ([exceeds, "limit_below_1", "bounds_meet", *below], {"limit": Fraction(1, 2)}),
            ([beyond, "bounds_meet"], {"adversary": Fraction(1)}),
            ([beyond, "limit_of_1_or_more_not_reached"], {"adversary": Fraction(1), "round_trips": Fraction(1)}),
            ([], {"widths": Fraction(3)}),
        ]
        for keys, other in rows:
            counted = sweep([meet._replace(**other)] * 3)
            self.assertEqual({key: n for key, n in counted.items() if n}, dict.fromkeys(["cases", *keys], 3), other)
        self.assertEqual({key for keys, _ in rows for key in keys}, set(sweep([])) - {"cases"})

    def test_by_plain_enumeration(self) -> None:
        """No sequence of up to 5 requests on up to 3 blocks exceeds the ratio of the graph; some attain it."""
        attained = 0
        for one in found(3):
            search = LeafOnlyBelady(one.trie, one.smaller, one.optimum)
            ratios = [
                Fraction(shared_lru(one.trie, one.capacity, sequence, Rule.LEAF_ONLY).misses, search.misses(sequence))
                for length in range(1, 6)
                for sequence in itertools.product(one.trie.strings, repeat=length)
            ]
            assert one.ratio is not None
            self.assertLessEqual(max(ratios), one.ratio)
            attained += max(ratios) == one.ratio
        self.assertGreater(attained, 1)

    def test_what_long_sequences_cannot_keep_up(self) -> None:
        """A first request costs both the same; in the long run LRU with room for the whole path beats one block."""
        one = one_case(Trie(("a", "aa", "aaa", "aab")), 3, 1, BYPASS)
        self.assertEqual((one.ratio, one.limit, one.adversary), (1, Fraction(1, 2), 0))

    def test_another_policy_may_do_better(self) -> None:
        """On a, b, bb, c, cc at K = 3 beside one block: LRU keeps up 5/4, deepest first 1, which is the adversary's."""
        trie = Trie(EXAMPLES["two_pairs"])
        self.assertEqual(policy_limit(lru, trie, 3, 1), one_case(trie, 3, 1, BYPASS).limit)
        measured = claimed("augmentation")["measured"]["two_pairs_beside_one_block"]
        self.assertEqual(measured, {"lru": "5/4", "deepest_first": "1"})
        self.assertEqual(policy_limit(deepest_first, trie, 3, 1), by_adversary(trie, 3, 1, BYPASS))
        worst = Fraction(0)
        for cycle in itertools.product(trie.strings, repeat=4):
            cache = Cache(trie, 3, deepest_first)
            misses = [sum(cache.access(string).misses for string in cycle) for _ in range(4)]
            if misses[2] == misses[3] > 0:
                before, after = (belady(trie, 1, cycle * times, BYPASS).misses for times in (3, 4))
                worst = max(worst, Fraction(misses[3], after - before))
        self.assertEqual(worst, 1)

    def test_the_claim_with_smaller_bounds(self) -> None:
        with mock.patch.object(module, "NODES", 4):
            claim = augmentation(lambda _: None)
        self.assertTrue(claim["holds"])
        bypassing = [one for one in found(4) if one.optimum is BYPASS]
        self.assertEqual(claim["measured"]["bypass"], sweep(bypassing))
        for one in bypassing[:3]:
            prefix, cycle, rounds = beside(*one[:4]).replay(*one.cycle[:2])
            self.assertTrue(cycle and rounds)


if __name__ == "__main__":
    unittest.main()

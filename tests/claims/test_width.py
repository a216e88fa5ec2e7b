"""The price of a trie: its sweeps seen counting, its witnesses replayed, the constants that would be wrong."""

from __future__ import annotations

import random
import unittest
from fractions import Fraction
from unittest import mock

from src.claims import width as module
from src.claims.theorems import cases, priced
from src.claims.width import adversary, asked_for_what_is_missing, longer_paths, sweep, two_tries, width_claim
from src.policies.cache import Cache
from src.policies.scores import make_policy, sglang_policies
from src.radixcache import Optimum, Rule, Trie, serve_lru, size
from src.walks.belady import belady
from src.walks.forests import star
from src.width import price, width
from tests.helpers import ROUNDS, STUDY, claimed, random_sequence, random_universe, round_costs

BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED


class Width(unittest.TestCase):
    def test_the_published_claim(self) -> None:
        claim = claimed("width")
        self.assertTrue(claim["holds"])
        found = claim["measured"]
        self.assertEqual([found[key]["cases"] for key in ("lru", "fifo", "longer_paths")], [548, 178, 166])
        every_length = claimed("every_length")["measured"]
        for capacity, leaves in found["study"].items():
            for optimum in Optimum:
                for policy in ("lru", "fifo"):
                    ratio = every_length[policy][optimum.value][capacity]["ratio"]
                    self.assertEqual(ratio, str(price(leaves, optimum)))
        self.assertEqual(claim["witnesses"]["two_tries"], two_tries())

    def test_the_price_of_the_star_and_of_the_chain(self) -> None:
        for capacity in (1, 2, 3):
            leaves = width(star(capacity + 1).parent, capacity + 1)
            self.assertEqual([price(leaves, optimum) for optimum in (BYPASS, LOCKED)], [capacity + 1, capacity])
        self.assertEqual([price(1, optimum) for optimum in Optimum], [1, 1])

    def test_the_sweep_counts(self) -> None:
        """The width of K instead of K + 1 blocks, of K + 2, and a price of one less or one more, are all seen."""
        for policy in ("lru", "fifo"):
            found = sweep(policy, 4)
            self.assertEqual((found["cases"], found["cases_off_the_width"]), (len(priced(policy, 4)), 0))
            by_price = [sum(counts.values()) for counts in found["cases_by_price"].values()]
            self.assertEqual(sum(by_price), found["cases"])
            for other in (-1, 1):
                with mock.patch.object(module, "width", lambda parent, n, other=other: width(parent, n + other)):
                    self.assertGreater(sweep(policy, 4)["cases_off_the_width"], 0)
                with mock.patch.object(module, "price", lambda *case, other=other: price(*case) + other):
                    self.assertEqual(sweep(policy, 4)["cases_off_the_width"], found["cases"])
        self.assertGreater(sweep("mru", 3)["cases_off_the_width"], 0)
        ratios = [(one.ratio, one.capacity + (one.optimum is BYPASS)) for one in priced("lru", 4)]
        cheaper = sum(ratio is not None and ratio < star for ratio, star in ratios)
        self.assertEqual(sweep("lru", 4)["cases_cheaper_than_the_star"], cheaper)

    def test_longer_paths(self) -> None:
        deeper = [case for case in cases(5) if max(case.trie.depth) > case.capacity]
        self.assertEqual(longer_paths(5), {"cases": len(deeper), "cases_with_another_width": 0})
        with mock.patch.object(module, "width", lambda parent, blocks: len(parent)):
            self.assertEqual(longer_paths(5)["cases_with_another_width"], len(deeper))

    def test_the_adversary(self) -> None:
        """On the star of three any policy with K = 2 misses each of nine requests, the optimum five or six of them."""
        for name in sglang_policies():
            sequence, misses = asked_for_what_is_missing(star(3), 2, make_policy(name), 9)
            self.assertEqual((len(sequence), misses), (9, 9))
            self.assertLessEqual(belady(star(3), 2, sequence, BYPASS).misses, 2 + 9 // 3)
            self.assertLessEqual(belady(star(3), 2, sequence, LOCKED).misses, 2 + 9 // 2)
        found = adversary(4, 6)
        leaves = [width(one.trie.parent, one.capacity + 1) for one in cases(4) for _ in one.optima]
        self.assertEqual(found["runs"], len(sglang_policies()) * sum(one > 1 for one in leaves))
        self.assertEqual(found["requests"], len(sglang_policies()) * 6 * sum(one for one in leaves if one > 1))
        self.assertEqual((found["runs_with_a_full_hit"], found["runs_in_which_the_optimum_pays_more"]), (0, 0))
        with mock.patch.object(module, "price", lambda *case: price(*case) + 1):
            self.assertGreater(adversary(4, 6)["runs_in_which_the_optimum_pays_more"], 0)

        def sleepy(trie: Trie, *rest: object) -> tuple[list[object], int]:
            return [trie.strings[0]] * 4, 1

        with mock.patch.object(module, "asked_for_what_is_missing", sleepy):
            self.assertEqual(adversary(3, 2)["runs_with_a_full_hit"], adversary(3, 2)["runs"])

    def test_the_two_tries_replayed(self) -> None:
        for name, shown in two_tries().items():
            trie = Trie(shown["strings"])
            self.assertEqual((len(trie), shown["width"]), (6, {"bushy": 4, "slender": 2}[name]))
            for optimum in Optimum:
                one = shown[optimum.value]
                prefix, cycle = ([(string, 0) for string in one[part]] for part in ("prefix", "cycle"))
                costs = round_costs("lru", trie, 4, optimum, prefix, cycle)
                self.assertEqual(costs, [(one["lru_misses"], one["optimum_misses"])] * ROUNDS)
                self.assertEqual(Fraction(*costs[0]), price(shown["width"], optimum))

    def test_strings_that_cannot_be_requested_alone(self) -> None:
        """The width is exact where every path is requestable.  Of aa, bb, cc alone LRU pays 2 times, not 3."""
        trie = Trie(("aa", "bb", "cc"))
        self.assertEqual(width(trie.parent, 3), 3)
        machine = module.lru_beside_optimum(trie, 2, BYPASS)
        self.assertEqual(module.every_length(machine, 1000).ratio, "2")

    def test_fifo_is_lru_on_its_missing_requests(self) -> None:
        """And so is each LRU that skips the refresh on some of its full hits, by the same replay."""
        chance = random.Random(4)
        ignored = 0
        for _ in range(150):
            trie = Trie(random_universe(chance, 8, 3))
            capacity = chance.randint(max(trie.depth), max(trie.depth) + 3)
            cache = Cache(trie, capacity, make_policy("fifo"))
            missing: list[str] = []
            for string in random_sequence(chance, trie, 40):
                if cache.access(string).misses:
                    missing.append(string)
                else:
                    ignored += 1
                run = serve_lru(trie, capacity, missing, Rule.LEAF_ONLY)
                self.assertEqual(cache.cached(), run.steps[-1].cached, (trie.strings, capacity, missing))
        self.assertGreater(ignored, 500)

    def test_the_claim_with_smaller_bounds(self) -> None:
        with mock.patch.multiple(module, FOREST_NODES=3, FIFO_NODES=2, ADVERSARY_NODES=3, ADVERSARY_ROUNDS=2):
            found = width_claim(STUDY, lambda _: None)
        self.assertTrue(found["holds"])
        self.assertEqual(found["measured"]["lru"], sweep("lru", 3))
        self.assertEqual(found["measured"]["adversary"], adversary(3, 2))

    def test_the_widest_set(self) -> None:
        for trie, capacity, _ in cases(5):
            held = module.widest(trie, capacity + 1)
            self.assertTrue(trie.is_ancestor_closed(held))
            self.assertEqual((size(held), size(trie.leaves(held))), (capacity + 1, width(trie.parent, capacity + 1)))


if __name__ == "__main__":
    unittest.main()

"""The reduction's counts: each seen counting, and its witnesses replayed from scratch."""

from __future__ import annotations

import itertools
import unittest
from collections.abc import Sequence
from typing import Any
from unittest import mock

from src.claims import reduction as module
from src.claims.reduction import on_forests, on_the_study, optima, reduction, witnesses
from src.radixcache import LeafOnlyBelady, Optimum, Rule, Trie, as_set, flat_belady, serve_lru
from src.walks import flat_machine
from src.walks.forests import forest_trie, forests
from tests.helpers import STUDY, claimed


class Reduction(unittest.TestCase):
    def test_the_published_claim(self) -> None:
        claim = claimed("reduction")
        self.assertTrue(claim["holds"])
        self.assertEqual(claim["measured"]["study"], on_the_study(STUDY))
        self.assertEqual(claim["measured"]["study"]["instances"], 93312)
        self.assertEqual(claim["witnesses"], witnesses(STUDY))

    def test_every_length_by_plain_enumeration(self) -> None:
        """All sequences of up to 5 requests on all forests of 3 blocks: no difference, on the graphs neither."""
        differ = 0
        for forest in forests(3):
            trie = forest_trie(forest)
            for capacity, length in itertools.product((1, 2), range(1, 6)):
                for sequence in itertools.product(trie.strings, repeat=length):
                    pages: tuple[int, ...] = ()
                    for string in sequence:
                        blocks = flat_machine.written_out(trie, [string])
                        pages, _ = flat_machine.flat_access(capacity, pages, blocks)
                    cached = serve_lru(trie, capacity, sequence, Rule.LEAF_ONLY).steps[-1].cached
                    differ += as_set(pages) != cached
        self.assertEqual(differ, 0)
        found = on_forests(3)
        self.assertEqual((found["cases"], found["edges_where_held_sets_differ"]), (10, 0))
        self.assertGreater(found["edges_where_flat_misses_more"], 0)
        self.assertEqual(on_forests(2)["edges"], 3 * 2 + 2 * 2)  # cold, a or b cached; cold or a cached, of a and aa

    def test_the_wrong_order_is_seen(self) -> None:
        """Blocks written out shallowest first, and a flat cache of K + 1 or K - 1 blocks."""

        def upside_down(trie: Trie, sequence: Sequence[Any]) -> list[int]:
            return [block for string in sequence for block in trie.path(string)]

        with mock.patch.object(flat_machine, "written_out", upside_down):
            self.assertGreater(on_the_study(STUDY)["held_sets_differ"], 0)
            self.assertGreater(on_forests(3)["edges_where_held_sets_differ"], 0)
        plain = flat_machine.flat_access
        for other in (-1, 1):
            with mock.patch.object(flat_machine, "flat_access", lambda k, *rest, other=other: plain(k + other, *rest)):
                self.assertGreater(on_the_study(STUDY)["held_sets_differ"], 0)
        with mock.patch.object(flat_machine, "flat_access", lambda k, held, blocks: (plain(k, held, blocks)[0], 0)):
            self.assertGreater(on_the_study(STUDY)["flat_misses_fewer"], 0)
            self.assertGreater(on_forests(3)["edges_where_flat_misses_fewer"], 0)

    def test_the_optima(self) -> None:
        found = optima(3, 3)
        self.assertEqual(found["bypass"]["instances"], 2 * 2**3 + 8 * 3**3)
        self.assertEqual([found[one.value]["flat_misses_more"] for one in Optimum], [0, 0])
        self.assertEqual([found[one.value]["flat_misses_fewer"] > 0 for one in Optimum], [False, True])
        with mock.patch.object(module, "flat_belady", lambda k, *rest: flat_belady(max(k - 1, 1), *rest)):
            self.assertGreater(optima(3, 3)["bypass"]["flat_misses_more"], 0)
        with mock.patch.object(module, "flat_belady", lambda k, *rest: flat_belady(k + 1, *rest)):
            self.assertGreater(optima(3, 3)["bypass"]["flat_misses_fewer"], 0)

    def test_the_witnesses_by_hand(self) -> None:
        found = witnesses(STUDY)
        more, fewer = found["flat_misses_more"], found["locked_flat_optimum_misses_fewer"]
        self.assertEqual((more["capacity"], more["sequence"]), (2, ["0", "1", "00"]))
        self.assertEqual((more["lru_misses"], more["flat_lru_misses"]), (3, 4))
        self.assertEqual((fewer["capacity"], fewer["sequence"]), (2, ["0", "10", "0"]))
        self.assertEqual((fewer["optimum_misses"], fewer["flat_optimum_misses"]), (4, 3))
        self.assertEqual(LeafOnlyBelady(STUDY, 2, Optimum.LOCKED).misses(("0", "10", "0")), 4)

    def test_a_path_that_does_not_fit_under_locks(self) -> None:
        """Of aa again and again one block of cache keeps a: one miss a request.  Page by page, locked, it is two."""
        pages = flat_machine.written_out(Trie(["aa"]), ["aa"] * 5)
        self.assertEqual(flat_belady(1, pages, Optimum.LOCKED), 10)
        self.assertEqual(flat_belady(1, pages, Optimum.BYPASS), 6)

    def test_the_claim_with_smaller_bounds(self) -> None:
        with mock.patch.multiple(module, HELD_NODES=3, OPTIMUM_NODES=3, OPTIMUM_LENGTH=2):
            found = reduction(STUDY, lambda _: None)
        self.assertTrue(found["holds"])
        self.assertEqual(found["measured"]["forests"], on_forests(3))
        self.assertEqual(found["measured"]["optimum"], optima(3, 2))


if __name__ == "__main__":
    unittest.main()

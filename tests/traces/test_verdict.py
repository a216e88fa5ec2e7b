"""The verdict: which of size and policy costs more, and when there is nothing to gain."""

from __future__ import annotations

import unittest
from fractions import Fraction

from src.radixcache import Optimum
from src.traces.comparison import AtCapacity, Comparison, Target, Totals
from src.traces.verdict import suffers_from, target_sentence, verdict


def comparison(best: int, optimum: int, infinite: int, in_flight: int = 0) -> Comparison:
    """Return a comparison of 100 blocks of 4 tokens, and 500 tokens, at a capacity of 10."""
    totals = Totals(7, 100, 500, 4, 60, infinite, in_flight)
    row = AtCapacity(10, {"lru": best}, best, best, dict.fromkeys(Optimum, optimum), 3, None if in_flight else (4, 5))
    return Comparison(totals, ["lru"], [row], [])


class Verdicts(unittest.TestCase):
    def test_answers(self) -> None:
        for best, optimum, infinite, answer in (
            (40, 80, 90, ("policy", 10, 40)), (40, 50, 90, ("size", 40, 10)), (81, 85, 90, ("neither", 5, 4)),
            (80, 85, 90, ("size", 5, 5)), (79, 85, 90, ("policy", 5, 6)), (0, 0, 0, ("neither", 0, 0)),
        ):
            found = comparison(best, optimum, infinite)
            self.assertEqual(suffers_from(found, found.rows[0]), answer)

    def test_sentences(self) -> None:
        for best, optimum, infinite, text in (
            (40, 80, 90, "At 10 blocks it is the policy: of the 90.00% that can be hit at all, the size costs 10.00%"
                         " and lru costs 40.00%.  Twice the blocks gain LRU 0.00%.  Try other policies."),
            (40, 50, 90, "the size costs 40.00% and lru costs 10.00%.  Memory gains more than any policy."),
            (90, 90, 90, "it is neither: of the 90.00% that can be hit at all, the size costs 0.00% and lru costs 0"),
            (0, 0, 0, "No block is ever requested again: no cache can help this trace."),
        ):
            found = comparison(best, optimum, infinite)
            self.assertIn(text, verdict(found, found.rows[0]))

    def test_what_was_found_to_gain(self) -> None:
        found = comparison(40, 80, 90)
        row = found.rows[0]._replace(lru=30, doubled=55)
        self.assertIn("  Over LRU, lru gains 10.00% and twice the blocks gain 25.00%.", verdict(found, row))
        both = row._replace(hits={"lfu": 40, "slru": 40})
        self.assertIn("Over LRU, the best policies gain 10.00% and twice", verdict(found, both))

    def test_targets(self) -> None:
        found = comparison(40, 80, 90, in_flight=2)
        reached = Target(Fraction(1, 3), 1200, {Optimum.BYPASS: 100, Optimum.LOCKED: 1})
        self.assertEqual(
            target_sentence(found, reached),
            "33.33% of the blocks are hit by LRU, with nothing in flight, with 1,200 blocks, by the optimum bypass with"
            " 100 blocks and by the optimum locked with 1 block.",
        )
        missed = Target(Fraction(95, 100), None, dict.fromkeys(Optimum))
        self.assertEqual(
            target_sentence(found, missed),
            "No capacity hits 95.00% of the blocks: a cache without a limit hits 90.00%.",
        )


if __name__ == "__main__":
    unittest.main()

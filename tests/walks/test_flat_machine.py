"""Flat paging on written-out sequences: against the model's two plain forms, request by request."""

from __future__ import annotations

import random
import unittest
from unittest import mock

from src.radixcache import Rule, Trie, as_set, flat_lru, serve_lru
from src.walks import flat_machine
from src.walks.flat_machine import flat_access, flat_beside_lru, written_out
from tests.helpers import STUDY, random_sequence, random_universe


class FlatMachine(unittest.TestCase):
    def test_written_out(self) -> None:
        """Each path deepest block first: 00 lies on 0, 10 on 1, and the blocks are numbered in the order of strings."""
        self.assertEqual(written_out(STUDY, ["00", "1", "10"]), [2, 0, 1, 4, 1])

    def test_by_hand(self) -> None:
        """At K = 2 the last of 0, 1, 00 brings 00 in at the cost of 0, which the same request needs next."""
        machine = flat_beside_lru(STUDY, 2)
        self.assertEqual(machine.run(["0", "1", "00"]), [(0, 0), (0, 0), (0, 1)])
        self.assertEqual(flat_access(2, (0, 1), [2, 0]), ((2, 0), 2))
        with self.assertRaises(ValueError):
            flat_beside_lru(STUDY, 0)

    def test_random_tries(self) -> None:
        """The same sets as the radix cache after every request, paths longer than the capacity among them."""
        chance = random.Random(2)
        longer = more = 0
        for _ in range(300):
            trie = Trie(random_universe(chance, 8, 4))
            capacity = chance.randint(1, 5)
            sequence = random_sequence(chance, trie, 30)
            run = serve_lru(trie, capacity, sequence, Rule.LEAF_ONLY)
            machine = flat_beside_lru(trie, capacity)
            pages: tuple[int, ...] = ()
            misses = 0
            for at, (string, step) in enumerate(zip(sequence, run.steps), start=1):
                pages, missed = flat_access(capacity, pages, written_out(trie, [string]))
                misses += missed
                self.assertEqual(as_set(pages), step.cached, (trie.strings, capacity, sequence[:at]))
                self.assertGreaterEqual(missed, step.misses, (trie.strings, capacity, sequence[:at]))
                longer += len(string) > capacity
                more += missed > step.misses
            self.assertEqual(misses, flat_lru(capacity, written_out(trie, sequence)))
            self.assertEqual(sum(extra for _, extra in machine.run(sequence)), misses - run.misses)
        self.assertGreater(min(longer, more), 300)

    def test_a_difference_counts(self) -> None:
        """Written out shallowest block first, the sets differ: the machine's zeros are earned."""
        pages, _ = flat_access(2, (), [0, 2])
        pages, _ = flat_access(2, pages, [1])
        self.assertNotEqual(as_set(pages), serve_lru(STUDY, 2, ["00", "1"], Rule.LEAF_ONLY).steps[-1].cached)
        with mock.patch.object(flat_machine, "written_out", lambda trie, sequence: list(trie.path(*sequence))):
            self.assertEqual(flat_beside_lru(STUDY, 2).run(["00", "1", "0"]), [(0, 0), (1, 0), (0, 1)])


if __name__ == "__main__":
    unittest.main()

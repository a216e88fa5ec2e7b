"""`derisk.py`: what it says where there is little to say."""

from __future__ import annotations

import unittest

from src.commands.derisk import explain
from tests.helpers import in_process


class Derisk(unittest.TestCase):
    def test_no_gap_is_not_explained(self) -> None:
        status, out, _ = in_process("derisk", "--strings", "a,b")
        self.assertEqual(status, 0)
        self.assertNotIn("wrong with comparing", out)
        self.assertIn("wrong with comparing 5/3 and 4/3", in_process("derisk", "--strings", "0,1,00,01,10,11")[1])
        same = {"tree_bypass": "2", "tree_locked": "1", "flat_bypass": "2", "flat_locked": "2"}
        self.assertEqual(explain(same), [])
        self.assertEqual(len(explain({**same, "flat_locked": "1"})), 1)

    def test_where_no_state_may_be_reached_no_ratio_is_known(self) -> None:
        status, out, err = in_process("derisk", "--max-states", "1")
        self.assertEqual((status, out), (1, ""))
        self.assertEqual(err.count("\n"), 1)
        self.assertIn("beyond 0 requests, so no ratio is known: raise --max-states", err)
        status, out, err = in_process("derisk", "--max-states", "1", "--radix-eviction-policy", "lru")
        self.assertEqual(status, 1)
        self.assertNotIn("-1", out + err)
        self.assertIn("strings 0,1,00,01,10,11, K = 2", out)


if __name__ == "__main__":
    unittest.main()

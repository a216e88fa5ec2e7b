"""The verdicts of the pre-registration: each deciding value turns its verdict."""

from __future__ import annotations

import copy
import unittest
from typing import Any

from src.claims.preregistration import at_the_bounds, preregistration, value
from tests.helpers import committed


def changed(key: str, number: Any) -> dict[str, Any]:
    """Return the committed results with another value at a key."""
    results = copy.deepcopy(committed())
    *parts, last = key.split(".")
    value(results, ".".join(parts))[last] = number
    return results


class Verdicts(unittest.TestCase):
    def test_the_committed_block_is_what_the_values_give(self) -> None:
        results = committed()
        self.assertEqual(list(results)[0], "preregistration")
        self.assertEqual(results["preregistration"], preregistration(results))
        p1, p2, falsifier = results["preregistration"].values()
        self.assertEqual((p1["came_true"], p2["came_true"], falsifier["fired"]), (False, False, True))
        self.assertEqual(p2["came_true_at"], ["K = 4, 6 requests, bypass", "K = 4, 6 requests, locked"])

    def test_one_instance_that_costs_makes_p1_true(self) -> None:
        for key in (
            "offline.measured.bypass.leaf_only_worse",
            "offline.measured.locked.leaf_only_worse",
            "online.measured.better",
            "tie_audit.measured.wins",
        ):
            found = preregistration(changed(key, 1))["P1"]
            self.assertTrue(found["came_true"], key)
            self.assertIn("came true", found["verdict"])
            self.assertNotIn("did not", found["verdict"])

    def test_an_instance_in_which_the_rule_helps_is_none_that_costs(self) -> None:
        self.assertFalse(preregistration(changed("online.measured.worse", 1))["P1"]["came_true"])

    def test_a_case_above_the_bound_makes_p2_true(self) -> None:
        found = preregistration(changed("theorems.measured.lru.cases_above_the_bound", 1))["P2"]
        self.assertTrue(found["came_true"])
        self.assertTrue(found["verdict"].startswith("P2 came true"))

    def test_the_falsifier_fires_only_if_nothing_differs(self) -> None:
        for key in (
            "offline.measured.bypass.mismatches",
            "offline.measured.locked.mismatches",
            "online.measured.other_decisions",
            "online.measured.worse",
        ):
            found = preregistration(changed(key, 1))["falsifier_1"]
            self.assertEqual((found["fired"], found["verdict"]), (False, "Falsifier 1 did not fire."), key)

    def test_tree_and_flat_paging_at_a_bound(self) -> None:
        rows = {"tree_bypass": ["1", "2"], "flat_bypass": ["3", "3/2"], "tree_locked": ["1"], "flat_locked": ["1"]}
        found = at_the_bounds({"7": rows})
        self.assertEqual([one["tree"] for one in found.values()], ["above", "equal"])
        self.assertEqual(list(found), ["K = 7, 2 requests, bypass", "K = 7, 1 requests, locked"])
        rows["flat_bypass"][1] = "5/2"
        self.assertEqual(at_the_bounds({"7": rows})["K = 7, 2 requests, bypass"]["tree"], "below")

    def test_a_missing_key(self) -> None:
        with self.assertRaises(KeyError):
            value({"a": {}}, "a.b")


if __name__ == "__main__":
    unittest.main()

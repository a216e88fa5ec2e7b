"""The study's sentences: each verdict follows from the values, and turns with them."""

from __future__ import annotations

import copy
import unittest
from typing import Any

from src.claims.sentences import SENTENCES, Sentence, above, measured, reproduced, zero
from tests.helpers import committed

GOOD = ("reproduced", "reproduced and sharpened", "contradicted beyond its bound")


def spoiled(number: Any) -> dict[str, Any]:
    """Return results in which every number is another one and nothing is reproduced."""

    def change(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: change(one) for key, one in value.items()}
        return number if isinstance(value, (int, str)) else value

    return {name: {**change(one), "reproduced": False} for name, one in copy.deepcopy(committed()).items()}


class Sentences(unittest.TestCase):
    def test_the_verdicts_today(self) -> None:
        found = [one.verdict(committed()) for one in SENTENCES]
        self.assertEqual(set(found), set(GOOD))
        self.assertEqual(found.count("contradicted beyond its bound"), 2)
        self.assertEqual(found.count("reproduced"), 2)

    def test_none_survives_other_values(self) -> None:
        for results in (spoiled(1), spoiled("unbounded")):
            wrong = [one.says for one in SENTENCES if one.verdict(results) != "not reproduced"]
            self.assertLessEqual(len(wrong), 1, wrong)
        both = [{one.verdict(spoiled(number)) for number in (1, "unbounded")} for one in SENTENCES]
        self.assertTrue(all("not reproduced" in found for found in both))

    def test_what_goes_beyond_is_measured_too(self) -> None:
        """Without what was found beyond it, a sentence is only reproduced."""
        results = copy.deepcopy(committed())
        results["theorems"]["measured"]["above_capacity"] = "2"
        (one,) = (one for one in SENTENCES if "exceeds K" in one.says)
        self.assertEqual((one.verdict(committed()), one.verdict(results)), (GOOD[2], GOOD[0]))
        results["theorems"]["measured"]["offline"]["mismatches"] = 1
        self.assertEqual((SENTENCES[0].verdict(committed()), SENTENCES[0].verdict(results)), (GOOD[1], GOOD[0]))

    def test_conditions(self) -> None:
        results: dict[str, Any] = {"a": {"measured": {"b": {"c": 0}, "d": "3/2"}, "reproduced": True}}
        self.assertEqual(measured(results, "a.b.c"), 0)
        self.assertTrue(zero("a.b.c")(results))
        self.assertFalse(zero("a.b.c", "a.d")(results))
        self.assertEqual([above("a.d", bound)(results) for bound in (1, "3/2", 2)], [True, False, False])
        self.assertTrue(reproduced("a")(results))
        self.assertEqual(Sentence("", (), zero("a.d")).verdict(results), "not reproduced")


if __name__ == "__main__":
    unittest.main()

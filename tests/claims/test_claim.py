"""When a measured value is the published one, and what a claim and the table of claims say of it."""

from __future__ import annotations

import unittest

from src.claims.claim import agrees, claim, compared


class Agreement(unittest.TestCase):
    def hold(self, expected: bool, *pairs: tuple[object, object]) -> None:
        for published, measured in pairs:
            with self.subTest(published=published, measured=measured):
                self.assertIs(agrees(published, measured), expected)

    def test_a_decimal_is_the_exact_ratio_rounded(self) -> None:
        self.hold(True, ("1.667", "5/3"), ("1.67", "5/3"), ("1.75", "7/4"), ("1.4", "7/5"), ("1.333", "4/3"))
        self.hold(True, ("1.40", "7/5"), ("1.0", "1"), ("0.3333", "1/3"), ("-1.667", "-5/3"))
        self.hold(False, ("1.666", "5/3"), ("1.668", "5/3"), ("1.76", "7/4"), ("1.4", "5/3"), ("1.7", "8/5"))
        self.hold(False, ("1.000", "1001/1000"), ("1.7500", "17501/10000"))

    def test_without_a_decimal_point_a_ratio_is_exact(self) -> None:
        self.hold(True, ("1", "1"), ("5/3", "5/3"), ("7/4", "7/4"), ("12", "12"))
        self.hold(False, ("1", "4/3"), ("1", "5/4"), ("2", "5/3"), ("5/3", "7/4"), ("1", "2"))

    def test_numbers_and_truth_values_are_of_one_kind(self) -> None:
        self.hold(True, (0, 0), (93312, 93312), (True, True), (False, False), (None, None), ([1, "a"], [1, "a"]))
        self.hold(False, (0, 1), (1, True), (True, 1), (0, False), (False, 0), (1, 1.0), (1, "1"), ("1", 1))
        self.hold(False, (0, None), (None, 0), (None, False), ("1.5", None), ([1], [2]))

    def test_a_mapping_agrees_if_all_its_published_keys_do(self) -> None:
        measured = {"n": 3, "bypass": {"2": "7/4", "3": "5/3"}, "locked": {"2": "1"}}
        self.hold(
            True, ({}, measured), ({"n": 3}, measured), ({"bypass": {"3": "1.667"}, "locked": {"2": "1"}}, measured)
        )
        self.hold(
            False,
            ({"n": 4}, measured),
            ({"m": None}, measured),
            ({"n": 3, "m": 3}, measured),
            ({"bypass": {"2": "1.75", "3": "1.666"}}, measured),
            ({"bypass": {"2": "1.75", "4": "1.4"}}, measured),
            ({"locked": "1"}, measured),
        )


class Claims(unittest.TestCase):
    def test_with_published_values(self) -> None:
        found = claim({"length": 4}, {"a": 1, "ratio": "5/3"}, {"ratio": "1.667"}, witnesses=["00", "1"])
        expected = {
            "parameters": {"length": 4},
            "measured": {"a": 1, "ratio": "5/3"},
            "published": {"ratio": "1.667"},
            "reproduced": True,
            "witnesses": ["00", "1"],
        }
        self.assertEqual(found, expected)
        self.assertEqual(list(found), list(expected))
        self.assertIs(claim({}, {"ratio": "5/3"}, {"ratio": "1.666"})["reproduced"], False)
        self.assertIs(claim({}, {}, {"ratio": "1.666"})["reproduced"], False)

    def test_without(self) -> None:
        found = claim({"length": 4}, {"a": 1}, schedule=[])
        self.assertEqual(found, {"parameters": {"length": 4}, "measured": {"a": 1}, "schedule": []})

    def test_a_claim_keeps_copies(self) -> None:
        numbers = {"a": 1}
        found = claim(numbers, numbers, numbers)
        numbers["a"] = 5
        self.assertEqual([found[part]["a"] for part in ("parameters", "measured", "published")], [1, 1, 1])


class Comparisons(unittest.TestCase):
    def test_a_row_for_each_published_value(self) -> None:
        results = {
            "first": claim({}, {"n": 3, "m": 4, "at": {"2": "7/4", "3": "5/3"}}, {"at": {"3": "1.666"}, "n": 3}),
            "second": claim({}, {"n": 3}),
            "third": claim({}, {"n": True}, {"n": 1, "m": 2}),
        }
        self.assertEqual(
            compared(results),
            [
                ("first.at.3", "1.666", "5/3", False),
                ("first.n", "3", "3", True),
                ("third.n", "1", "True", False),
                ("third.m", "2", "None", False),
            ],
        )
        self.assertEqual(compared({}), [])

    def test_deep_keys_are_joined_and_missing_ones_not_reproduced(self) -> None:
        one = claim({}, {"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 1, "d": 2}}})
        self.assertEqual(compared({"x": one}), [("x.a.b.c", "1", "1", True), ("x.a.b.d", "2", "None", False)])

    def test_a_claim_is_reproduced_if_all_its_rows_are(self) -> None:
        for published in ({"n": 3}, {"n": 4}, {"n": 3, "r": {"2": "1.75"}}, {"n": 3, "r": {"2": "1.74"}}, {"m": 1}, {}):
            one = claim({}, {"n": 3, "r": {"2": "7/4"}}, published)
            self.assertEqual(one["reproduced"], all(row[3] for row in compared({"x": one})), published)


if __name__ == "__main__":
    unittest.main()

"""The sections of the claims beyond the study: what they compute."""

from __future__ import annotations

import unittest

from src.claims.report import section
from src.policies.scores import sglang_policies
from tests.helpers import committed


class Beyond(unittest.TestCase):
    def test_every_policy_has_its_row(self) -> None:
        results = committed()
        for name in ("policies", "every_length"):
            lines = section(results, name).splitlines()
            for policy in sglang_policies():
                self.assertEqual(sum(line.startswith(f"| `{policy}` |") for line in lines), 1, (name, policy))

    def test_a_section_shows_what_it_is_given(self) -> None:
        results = committed()
        results["policies"]["shortest_costs"]["fifo"]["misses"]["leaf_only"] = 77
        self.assertIn("77 misses under the rule, 4 without it", section(results, "policies"))


if __name__ == "__main__":
    unittest.main()

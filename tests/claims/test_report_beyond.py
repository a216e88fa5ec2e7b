"""The sections of the claims beyond the study: what they compute."""

from __future__ import annotations

import json
import unittest

from src.claims.report import section
from src.claims.report_beyond import ENGINES
from src.policies.scores import sglang_policies
from tests.helpers import REPOSITORY, committed


class Beyond(unittest.TestCase):
    def test_every_policy_and_engine_has_its_row(self) -> None:
        results = committed()
        for name in ("policies", "every_length"):
            lines = section(results, name).splitlines()
            for policy in sglang_policies():
                self.assertEqual(sum(line.startswith(f"| `{policy}` |") for line in lines), 1, (name, policy))
        for name, title in ENGINES.items():
            row = results["engines"]["measured"][name]
            cells = [row[key] for key in ("more_misses", "fewer_misses", "same_decisions", "interior_evictions")]
            cells += [ratio for model in row["worst_ratio"].values() for ratio in model.values()]
            self.assertIn(f"| {title} | {' | '.join(map(str, cells))} |", section(results, "engines"))

    def test_what_is_said_of_vllm_on_the_trace(self) -> None:
        made = json.loads((REPOSITORY / "results" / "mooncake_engines.json").read_text(encoding="utf-8"))["measured"]
        text = json.dumps(made)
        self.assertEqual([hits in text for hits in ("15665", "15465", "15487")], [True] * 3)

    def test_a_section_shows_what_it_is_given(self) -> None:
        results = committed()
        results["policies"]["shortest_costs"]["fifo"]["misses"]["leaf_only"] = 77
        self.assertIn("77 misses under the rule, 4 without it", section(results, "policies"))


if __name__ == "__main__":
    unittest.main()

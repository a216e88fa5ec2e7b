"""The section of the engines: every engine has its row, and what is said of the trace is what was written."""

from __future__ import annotations

import json
import unittest

from src.claims.report import section
from src.claims.report_engines import ENGINES
from tests.helpers import REPOSITORY, committed


class Engines(unittest.TestCase):
    def test_every_engine_has_its_row(self) -> None:
        results = committed()
        for name, title in ENGINES.items():
            row = results["engines"]["measured"][name]
            cells = [row[key] for key in ("more_misses", "fewer_misses", "same_decisions", "interior_evictions")]
            cells += [ratio for model in row["worst_ratio"].values() for ratio in model.values()]
            self.assertIn(f"| {title} | {' | '.join(map(str, cells))} |", section(results, "engines"))

    def test_what_is_said_of_vllm_on_the_trace(self) -> None:
        made = json.loads((REPOSITORY / "results" / "mooncake_engines.json").read_text(encoding="utf-8"))["measured"]
        text = json.dumps(made)
        self.assertEqual([hits in text for hits in ("15665", "15465", "15487")], [True] * 3)


if __name__ == "__main__":
    unittest.main()

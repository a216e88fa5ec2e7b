"""What `run.py` does with its claims, with small ones in place of its own."""

from __future__ import annotations

import os
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from src.claims.claim import claim
from src.commands import study
from tests.helpers import WorkingDirectory, in_process


class Study(WorkingDirectory):
    def run_with(self, measured: int, *arguments: str) -> tuple[int, str, str]:
        lemma = claim({"strings": ["0"]}, {"unreachable": measured}, {"unreachable": 0})
        small = {"preregistration": {"P1": {"verdict": "P1 is decided."}}, "lemma": lemma}
        texts = {name: mock.DEFAULT for name in ("report", "ratio_by_length", "rule_picture")}
        with mock.patch.object(study, "all_claims", return_value=small), mock.patch.multiple(study, **texts) as made:
            for name, one in made.items():
                one.return_value = name
            return in_process("run", *arguments)

    def test_the_standard_results_by_another_name(self) -> None:
        """The report and the figures are written and checked with them."""
        os.mkdir("results")
        results = Path("results/main.json").resolve()
        others = [results.with_name(name) for name in ("README.md", "figure.svg", "rule.svg")]
        everything = {"main.json", *(path.name for path in others)}
        with mock.patch.multiple(study, RESULTS=results, OTHERS=others):
            for output in ([], ["--output", "results/main.json"], ["--output", "./results/../results/main.json"]):
                self.assertEqual(self.run_with(0, *output)[0], 0)
                self.assertEqual({path.name for path in Path("results").iterdir()}, everything)
                self.assertEqual(self.run_with(0, "--check", *output), self.run_with(0, "--check"))
                Path("results/figure.svg").write_text("another")
                status, _, err = self.run_with(0, "--check", *output)
                self.assertEqual((status, err.count("figure.svg is not what was computed")), (1, 1))
                Path("results/figure.svg").unlink()
                self.assertEqual(self.run_with(0, "--check", *output)[0], 2)

    def test_files_first_then_the_page(self) -> None:
        written: list[Any] = []
        with mock.patch.object(study, "write_all", written.append), mock.patch("src.page.guard._write") as page:
            page.side_effect = lambda *_: written.append("page")
            self.assertEqual(self.run_with(3, "--output", "o.json")[0], 1)
        self.assertEqual((len(written), written[1:]), (3, ["page", "page"]))
        self.assertTrue(any("unreachable" in text for text in written[0].values()))


if __name__ == "__main__":
    unittest.main()

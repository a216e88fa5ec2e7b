"""Choosing parameters on one half and judging on the other: what is looked at, what is counted, what is told."""

from __future__ import annotations

import json
import random
import tempfile
import unittest
import unittest.mock
from fractions import Fraction
from pathlib import Path

from src.page.commandline import Fault
from src.policies.scores import make_policy, parameters, research_policies, sglang_policies
from src.radixcache import Optimum
from src.traces import tuning
from src.traces.optimum import TraceOptimum
from src.traces.reading import trace_of
from src.traces.replay import replay
from src.traces.tuning import GRID, best_of_each, candidates, halves, judge, main
from tests.helpers import REPOSITORY

SMALL = (2, 5)


def load(seed: int, requests: int = 60) -> list[list[int]]:
    """Return requests as lists of ids, some of them requested again and longer."""
    chance = random.Random(seed)
    paths: list[list[int]] = []
    for _ in range(requests):
        old = chance.choice(paths) if paths and chance.random() < 0.5 else []
        paths.append([*old[:4], chance.randrange(9)])
    return paths


class Choice(unittest.TestCase):
    def test_halves(self) -> None:
        paths = load(1, 7)
        first, second = halves(trace_of(paths, [1, 2, 3, 4, 5, 6, 7]))
        self.assertEqual((list(first.priorities), list(second.priorities)), ([1, 2, 3], [4, 5, 6, 7]))
        for half, expected in ((first, trace_of(paths[:3])), (second, trace_of(paths[3:]))):
            self.assertEqual((half.requests, half.parent), (expected.requests, expected.parent))  # a cold start

    def test_every_policy_takes_the_parameters_that_are_tried(self) -> None:
        for name in research_policies():
            for config in GRID.get(name, ({},)):
                self.assertEqual(set(parameters(make_policy(name, config))), set(config), name)

    def test_the_measure_is_the_mean_share_of_the_optimum(self) -> None:
        trace = trace_of(load(2))
        found = candidates(trace, SMALL)
        self.assertEqual(len(found), sum(len(GRID.get(name, ({},))) for name in research_policies()))
        self.assertEqual([one.share for one in found], sorted((one.share for one in found), reverse=True))
        best = {blocks: TraceOptimum(trace).hits(blocks, Optimum.LOCKED) for blocks in SMALL}
        for one in found[::5]:
            score = make_policy(one.policy, one.config)
            shares = [Fraction(replay(trace, blocks, score).hits, best[blocks]) for blocks in SMALL]
            self.assertEqual(one.share, sum(shares) / 2, one)

    def test_the_best_of_each_is_its_first(self) -> None:
        found = candidates(trace_of(load(3)), SMALL)
        best = best_of_each(found)
        self.assertEqual(sorted(one.policy for one in best), sorted(research_policies()))
        for one in best:
            self.assertEqual(one.share, max(other.share for other in found if other.policy == one.policy))

    def test_what_is_judged(self) -> None:
        trace = trace_of(load(4))
        chosen = best_of_each(candidates(trace, SMALL))[:1]
        judged = judge("mine", trace, chosen, capacities=SMALL)
        optima = [f"optimum {optimum.value}" for optimum in Optimum]
        self.assertEqual(list(judged.hits), [*sglang_policies(), "coin", chosen[0].policy, *optima])
        for name in sglang_policies():
            expected = [replay(trace, blocks, make_policy(name)).hits for blocks in SMALL]
            self.assertEqual(judged.hits[name], expected, name)
        for row in judged.hits.values():
            self.assertTrue(all(one <= most for one, most in zip(row, judged.hits["optimum bypass"])))


class Committed(unittest.TestCase):
    """`results/mooncake_research.json` is sound in itself; the traces that it is made of are not part of this."""

    def setUp(self) -> None:
        self.found = json.loads((REPOSITORY / "results" / "mooncake_research.json").read_text())

    def test_what_was_tried_is_what_the_grid_has(self) -> None:
        tried = [(one["policy"], one["config"]) for one in self.found["tried"]]
        grid = [(name, config) for name in research_policies() for config in GRID.get(name, ({},))]
        self.assertEqual(sorted(map(str, tried)), sorted(map(str, grid)))
        shares = [Fraction(one["share"]) for one in self.found["tried"]]
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertEqual(self.found["chosen"][0], self.found["tried"][0])

    def test_no_policy_beats_the_locked_optimum(self) -> None:
        self.assertEqual([one["looked_at"] for one in self.found["judged"]], [False, False, True])
        for one in self.found["judged"]:
            most = one["hits"]["optimum locked"]
            for name, hits in one["hits"].items():
                self.assertEqual(list(hits), list(map(str, self.found["parameters"]["capacities"])))
                if name != "optimum bypass":
                    self.assertTrue(all(hits[at] <= most[at] for at in most), (one["trace"], name))

    def test_memory_pays_where_it_was_not_looked_at(self) -> None:
        """The chosen policy and LRU-2 have 4/3 of LRU's hits at least on the second half, up to 5,000 blocks."""
        second = self.found["judged"][0]["hits"]
        for at in ("1000", "2000", "5000"):
            for name in (self.found["chosen"][0]["policy"], "lru-2"):
                self.assertGreater(3 * second[name][at], 4 * second["lru"][at])


class Command(unittest.TestCase):
    def test_the_second_half_has_no_say_in_the_choice(self) -> None:
        """Two files with the same first half: the same choice, to the byte, and other judgements."""
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(tuning, "CHOSEN_AT", SMALL):
            told = []
            for seed in (1, 2):
                path = Path(folder, "trace.jsonl")
                lines = [json.dumps({"hash_ids": ids}) for ids in [*load(0, 40), *load(seed, 40)]]
                path.write_text("\n".join(lines))
                other = Path(folder, "other.jsonl")
                other.write_text('{"hash_ids": [1]}')
                output = Path(folder, "out.json")
                text = main([str(path), str(other), "--json", str(output)]).page
                found = json.loads(output.read_text())
                self.assertIn("second half of trace.jsonl (not used to choose)", text)
                names = [(one["trace"], one["looked_at"]) for one in found["judged"]]
                expected = [("second half of trace.jsonl", False), ("other.jsonl", False), ("trace.jsonl", True)]
                self.assertEqual(names, expected)
                told.append(found)
            one, other_choice = told
            self.assertEqual(one["tried"], other_choice["tried"])
            self.assertNotEqual(one["judged"], other_choice["judged"])

    def test_faults(self) -> None:
        for arguments in ([], ["nowhere.jsonl"], ["a", "--json", "/nowhere/at/all"]):
            with self.assertRaises(Fault):
                main(arguments)


if __name__ == "__main__":
    unittest.main()

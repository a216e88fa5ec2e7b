"""`run.py replay --engine`: what it says, what it writes, and what it refuses."""

from __future__ import annotations

import json
import unittest
from pathlib import Path

from tests.helpers import random_paths
from tests.traces.folder import Folder, in_process, lines


class Engines(Folder):
    def setUp(self) -> None:
        super().setUp()
        Path("small.jsonl").write_bytes(lines([[10, 11, 12], [20], [30], [10, 11, 12]]))
        Path("long.jsonl").write_bytes(lines(random_paths(3, 100)))

    def test_the_text(self) -> None:
        status, out, err = in_process("small.jsonl", "--engine", "all", "--capacity", "4")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, """\
4 requests, 8 blocks, 5 of them distinct
infinite cache: 3 hits

hits, in blocks:
capacity  policy  block  sglang  vllm  store
--------  ------  -----  ------  ----  -----
       4  lru         2       0     2      0

block is the model: single blocks, of which a path's last one goes first.
SGLang evicts whole nodes, the last one too; the rest of a node that a request splits counts as used.
  At 4 blocks lru: block 2, whole nodes -2, refreshed rest of a split 0, what remains 0: 0.
vLLM has no tree but a queue: a release puts a path at its end, the last block first.
  At 4 blocks: lru of block 2, 0: 2.
The store locks nothing and evicts a path from its first block on; what lies behind stays, of no use.
  At 4 blocks: lru of block 2, -2: 0.
""")

    def test_tlru_unified_and_refusals(self) -> None:
        config = '{"threshold": 3, "next_prompt_estimate": 1}'
        status, out, _ = in_process(
            "long.jsonl", "--engine", "sglang", "--radix-eviction-policy", "tlru", "--radix-eviction-policy", "fifo",
            "--radix-eviction-policy-config", config, "--capacity", "10", "--in-flight", "2", "--hit-count", "page",
        )  # fmt: skip
        self.assertEqual(status, 0)
        self.assertRegex(out, r"\n      10  tlru +- +- +\d+\n")
        self.assertRegex(out, r"tlru, unified: \d+, \d+ requests? refused\.")
        self.assertIn("Hits are counted as in SGLang's page.", out)
        self.assertIn("in flight: 2 requests before each request", out)

    def test_the_other_cache_is_told_of_where_it_is_chosen(self) -> None:
        out = in_process(
            "small.jsonl", "--engine", "sglang", "--radix-eviction-policy", "tlru", "--capacity", "4",
            "--radix-eviction-policy-config", '{"threshold": 3, "next_prompt_estimate": 1}',
        )[1]  # fmt: skip
        self.assertIn("  At 4 blocks tlru, unified: 3.\n", out)

    def test_bad_lines(self) -> None:
        Path("bad.jsonl").write_bytes(b"[]\n" + lines([[1]]))
        out = in_process("bad.jsonl", "--engine", "store", "--skip-bad-lines", "--capacity", "1")[1]
        self.assertIn("1 bad line skipped, the first: bad.jsonl:1: ", out)

    def test_a_policy_that_looks_at_more_than_a_node_knows(self) -> None:
        Path("mine.py").write_text("def score(block):\n    return block.children\n")
        Path("own.py").write_text("def score(block):\n    return block.hits, block.depth\n")
        command = ("long.jsonl", "--engine", "sglang", "--radix-eviction-policy")
        status, _, err = in_process(*command, "mine.py:score")
        self.assertEqual((status, err.count("\n")), (2, 1))
        self.assertEqual(in_process(*command, "own.py:score")[0], 0)

    def test_json(self) -> None:
        in_process("small.jsonl", "--engine", "all", "--capacity", "4", "--json", "out.json",
                   "--radix-eviction-policy", "fifo")  # fmt: skip
        found = json.loads(Path("out.json").read_text())
        self.assertEqual(found["parameters"]["engines"], ["block", "sglang", "vllm", "store"])
        self.assertEqual(found["measured"]["capacities"]["4"], {
            "block": {"fifo": {"hits": 2}, "lru": {"hits": 2}},
            "sglang": {"fifo": {"hits": 0, "refused_requests": 0,
                                "hits_lost": {"whole_nodes": 2, "refreshed_rest": 0, "remaining": 0}}},
            "sglang_unified": {"fifo": {"hits": 0, "refused_requests": 0}},
            "vllm": {"lru": {"hits": 2, "refused_requests": 0}},
            "store": {"lru": {"hits": 0, "refused_requests": 0}},
        })  # fmt: skip

    def test_the_model_alone(self) -> None:
        plain = in_process("long.jsonl")
        self.assertEqual(in_process("long.jsonl", "--engine", "block"), plain)
        counted = in_process("long.jsonl", "--hit-count", "code", "--radix-eviction-policy", "slru", "--capacity", "9")
        self.assertEqual(counted[0], 0)
        self.assertNotIn("SGLang evicts", counted[1])

    def test_what_is_refused(self) -> None:
        tlru = ("--engine", "sglang", "--radix-eviction-policy", "tlru")
        for arguments, fault in (
            (("--engine", "sglang", "--svg", "x.svg"), "argument --svg: it does not tell of engines"),
            (("--hit-count", "code", "--csv", "-"), "argument --csv: it does not tell of engines"),
            (("--release", "together"), "argument --release: it is vLLM's"),
            (("--release", "together", "--engine", "store"), "argument --release: it is vLLM's"),
            (("--engine", "lmcache"), "argument --engine: invalid choice"),
            (("--radix-eviction-policy", "tlru"), "unknown eviction policy 'tlru'"),
            (tlru, "policy tlru takes two whole numbers"),
            ((*tlru, "--radix-eviction-policy-config", '{"threshold": 1}'), "policy tlru takes two whole numbers"),
            ((*tlru, "--radix-eviction-policy-config", '{"threshold": -1, "next_prompt_estimate": 1}'), "policy tlru"),
            ((*tlru, *tlru[2:], "--radix-eviction-policy-config", '{"threshold": 1, "next_prompt_estimate": 1}'),
             "tlru is given twice"),
        ):
            before = sorted(Path().iterdir())
            status, out, err = in_process("long.jsonl", *arguments)
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), arguments)
            self.assertIn(fault, err)
            self.assertEqual(sorted(Path().iterdir()), before)


if __name__ == "__main__":
    unittest.main()

"""What is told of a trace before any result."""

from __future__ import annotations

import json
import unittest
from typing import Any

from src.traces.about import about
from src.traces.reading import trace_of
from tests.traces.folder import Folder
from tests.traces.test_logs import LOGS, finished


class About(unittest.TestCase):
    def test_tokens_outside_of_blocks(self) -> None:
        trace = trace_of(["ab", "", "a"])._replace(block_tokens=2, tokens=[5, 1, 2])
        told = about(trace, warm_up=1)
        self.assertEqual((told.tokens, told.outside_tokens, told.empty_requests, told.warm_up), (8, 2, 1, 1))
        self.assertEqual(about(trace._replace(tokens=None))[11:14], (0, 0, 1))
        grown = trace._replace(served=[(0, 1), (), (0, 1)])
        self.assertEqual((about(grown).growing, about(grown, outputs=False).growing), (1, 0))


class Head(Folder):
    def head(self, records: list[Any], *options: str) -> list[str]:
        self.write("h.jsonl", "".join(json.dumps(record) + "\n" for record in records).encode())
        text = self.out("h.jsonl", "--capacity", "5", *options)
        return text[: text.index("\n\n")].splitlines()

    def test_partial_blocks(self) -> None:
        records = [{"input_length": 9, "hash_ids": [1, 2, 3]}, {"input_length": 3, "hash_ids": [4]}] * 2
        self.assertEqual(
            self.head(records, "--tokens-per-block", "4"),
            [
                "4 requests, 4 blocks, 2 of them distinct",
                "4 tokens a block: 4 last ids dropped, as no engine caches a block that is not full"
                " (--partial-blocks keep)",
                "2 of 4 requests fill no block; 8 of 24 tokens lie outside",
                "infinite cache: 2 hits, 50.00%, 33.33% of the tokens",
            ],
        )
        kept = self.head(records, "--tokens-per-block", "4", "--partial-blocks", "keep")
        self.assertEqual(kept, ["4 requests, 8 blocks, 4 of them distinct", "infinite cache: 4 hits, 50.00%"])

    def test_namespaces_share_nothing(self) -> None:
        records = [{"token_ids": [1, 2, 3, 4], "lora_id": name} for name in "AB"]
        self.assertEqual(
            self.head(records),
            [
                "2 requests, 8 blocks, 8 of them distinct",
                "2 namespaces, which share no block",
                "4 ids under two parents or more: one block for each parent",
                "infinite cache: 0 hits, 0.00%",
            ],
        )
        records = [{"token_ids": [1, 2], "tenant": name} for name in "AB"]
        self.assertIn("infinite cache: 2 hits, 50.00%", self.head(records))
        self.assertIn("infinite cache: 0 hits, 0.00%", self.head(records, "--namespace", "tenant"))

    def test_a_log(self) -> None:
        self.write("h.jsonl", "".join(finished(str(at), at, [1, 2], [3, 4]) for at in range(4)).encode())
        text = self.out("h.jsonl", "--page-size", "1", "--capacity", "5", "--warm-up", "1")
        self.assertEqual(
            text[: text.index("\n\n")].splitlines(),
            [
                "4 requests, 8 blocks, 3 of them distinct",
                "warm-up: 1 request not counted, which leaves 6 blocks",
                "outputs: 4 paths longer when the request has finished",
                "infinite cache: 6 hits, 100.00%",
                "the server's own cache: 4 of 8 tokens, 50.00%: where a replay at its capacity differs, it misses"
                " something",
            ],
        )
        self.write("l.log", (LOGS / "sglang_level_3.log").read_bytes())
        text = self.out("l.log", "--page-size=1", "--capacity=5", "--in-flight", "logged")
        self.assertIn("1 line of logs passed by: they complete no request\n", text)
        self.assertIn("in flight: each request from its arrival to its finish, its path locked\n", text)


if __name__ == "__main__":
    unittest.main()

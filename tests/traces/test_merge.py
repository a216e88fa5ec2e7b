"""Cells joined: the bytes of one run over all of them, and what cannot be joined."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from src.policies.scores import sglang_policies
from tests.helpers import random_paths
from tests.traces.folder import Folder, in_process, lines

SGLANG = tuple(sglang_policies())
ALL = ("--radix-eviction-policy", "all")


class Merge(Folder):
    def cells(
        self, *options: str, capacities: tuple[str, ...] = ("5", "20"), policies: Sequence[str] = SGLANG
    ) -> list[str]:
        """Run cells one by one and return the files that they wrote, the last first."""
        names = []
        for capacity in capacities:
            for policy in policies:
                names.insert(0, f"{policy}@{capacity}.json")
                self.out("t.jsonl", "--only", f"{policy}@{capacity}", "--json", names[0], *options)
        return names

    def test_cells_are_one_run(self) -> None:
        for options in (["--target", "20%"], ["--in-flight", "3", "--warm-up", "5", "--last-block", "recomputed"]):
            whole = self.out("t.jsonl", *ALL, "--capacity", "5", "--capacity", "20", *options, "--json", "whole.json")
            names = self.cells(*options)
            merged = self.out("--merge", *names, "--json", "merged.json", "--csv", "merged.csv")
            self.assertEqual(merged, whole)
            self.assertEqual(Path("merged.json").read_text(), Path("whole.json").read_text())
            self.assertEqual(self.out("--merge", "whole.json"), whole)
            self.assertEqual(
                self.out("t.jsonl", *ALL, "--capacity=5", "--capacity=20", *options, "--csv", "-"),
                Path("merged.csv").read_text(),
            )

    def test_faults(self) -> None:
        one, two = self.cells(policies=["lru", "mru"], capacities=("5",))
        other, third = self.cells(policies=["lru"], capacities=("5", "20"))
        self.out("t.jsonl", "--only", "lru@7", "--warm-up", "1", "--json", "warm.json")
        self.write("u.jsonl", lines(random_paths(2)))
        self.out("u.jsonl", "--only", "lru@7", "--json", "other.json")
        result = json.loads(Path("lru@5.json").read_text())
        at = result["measured"]["capacities"]["5"]
        at["lru_hits_at_twice"] += 1
        self.write("moved.json", json.dumps(result).encode())
        at["policies"]["lru"]["hits"] += 1
        self.write("edited.json", json.dumps(result).encode())
        self.write("no.json", b"{}")
        self.write("text.json", b"hello")
        self.assertEqual({one, two, other, third}, {"mru@5.json", "lru@5.json", "lru@20.json"})
        for fault, names in (
            ("warm.json: is of another trace or other options than the first: join", ["lru@5.json", "warm.json"]),
            ("other.json: is of another trace or other options", ["lru@5.json", "other.json"]),
            ("no result has mru at 20: add --only mru@20", ["lru@5.json", "mru@5.json", "lru@20.json"]),
            ("moved.json: has other numbers at 5 than a file before it: run it again", ["lru@5.json", "moved.json"]),
            ("edited.json: is not as a replay wrote it: run it again", ["edited.json"]),
            ("no.json: is no result of a replay: name what --json wrote", ["no.json"]),
            ("text.json: is no result of a replay", ["text.json"]),
            ("t.jsonl: is no result of a replay", ["t.jsonl"]),
            ("missing.json: cannot be read (No such file or directory): name what --json wrote", ["missing.json"]),
            ("--merge joins what was found", ["lru@5.json", "--capacity", "5"]),
            ("--merge draws no chart", ["lru@5.json", "--svg", "o.svg"]),
            ("cannot write --json lru@5.json: it is read", ["lru@5.json", "--json", "lru@5.json"]),
        ):
            with self.subTest(fault):
                status, out, err = in_process("--merge", *names)
                self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
                self.assertIn(fault, err)
        status, _, err = in_process("t.jsonl", "--only", "lru@5", "--capacity", "5")
        self.assertTrue(status == 2 and "--only names a policy and a capacity" in err, err)

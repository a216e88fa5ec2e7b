"""`run.py show`: the real command's text, its options, and its one-line faults."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

from src.commands import show
from tests.helpers import REPOSITORY, in_process, policy_file

BY_HAND = """\
leaf-only LRU: 3 misses
request  0     00    1
0        miss  hit   1
  00     .     miss  out 1
1        .     .     miss
misses   1     1     1
evicted  .     .     00

unconstrained LRU, ties to the deeper block: 3 misses
request  0     00    1
0        miss  hit   1
  00     .     miss  out 1
1        .     .     miss
misses   1     1     1
evicted  .     .     00

unconstrained LRU, ties to the shallower block: 3 misses
request  0     00    1
0        miss  hit   out 1
  00     .     miss  dragged 1
1        .     .     miss
misses   1     1     1
evicted  .     .     0 with 00

hit, miss: used now.  Number: age in requests.  out: evicted.  dragged: with it.  Dot: not cached.
"""
PAYS = ("--capacity", "3", "0", "00", "10", "0", "11", "0", "10", "11")


def page(words: Sequence[str]) -> str:
    """Return what the command puts on stdout."""
    return show.main(list(words)).page


def heads(text: str) -> list[str]:
    """Return the heading of each strip."""
    return [part.splitlines()[0] for part in text.split("\n\n")[:-1]]


class Show(unittest.TestCase):
    def test_the_real_command(self) -> None:
        words = [sys.executable, str(REPOSITORY / "run.py"), "show", "--capacity", "2", "0", "00", "1"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, BY_HAND, ""))

    def test_a_sequence_on_which_fifo_pays_for_the_rule(self) -> None:
        text = page([*PAYS, "--radix-eviction-policy", "fifo"])
        self.assertEqual(heads(text), ["leaf-only fifo: 8 misses", "unconstrained fifo: 7 misses"])
        self.assertIn("evicted  .     .     0 with 00  .     10     .    0      .", text)

    def test_optimum(self) -> None:
        rules = heads(page([*PAYS]))
        self.assertEqual(len(rules), 3)
        for given, shown in (("bypass", ["bypass"]), ("locked", ["locked"]), ("both", ["bypass", "locked"])):
            found = heads(page([*PAYS, "--optimum", given]))
            self.assertEqual(found, [*rules, *(f"optimum, {model}: 6 misses" for model in shown)])

    def test_strings_are_words_of_characters(self) -> None:
        rows = [line.split()[0] for line in page(["a.b", "a b", "--", "-x"]).splitlines()[2:9]]
        self.assertEqual(rows, ["a", "a.", "a.b", "a", "a", "-", "-x"])
        self.assertEqual(page(["0", "--capacity", "2", "00", "1"]), BY_HAND)
        self.assertEqual(page(["0", "00", "1"]), BY_HAND)

    def test_a_policy_of_the_users(self) -> None:
        with policy_file("def good(block, weight=1):\n    return block.hits // weight\n") as file:
            words = ["a", "ab", "c", "ab", "--radix-eviction-policy", f"{file}:good"]
            self.assertTrue(heads(page(words))[0].startswith(f"leaf-only {file}:good: "))
            page([*words, "--radix-eviction-policy-config", '{"weight": 2}'])

    def test_drawing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "x.svg")
            self.assertEqual(page(["0", "00", "1", "--svg", str(path)]), BY_HAND)
            drawing = path.read_text(encoding="utf-8")
            self.assertEqual(page(["0", "00", "1", "--svg", "-"]), drawing)
            title = ET.fromstring(drawing).findtext("{http://www.w3.org/2000/svg}title")
            self.assertEqual(title, "A cache of 2 blocks, requests 0, 00, 1")
            self.assertEqual(len(list(Path(folder).iterdir())), 1)

    def test_faults(self) -> None:
        with policy_file("def mixed(block):\n    return 'text' if block.depth > 1 else 1\n") as file:
            cases = [
                ([], "STRING"),
                (["a", ""], "empty string"),
                (["a", "--capacity", "0"], "'0'"),
                (["a", "--capacity", "2", "--capacity", "2"], "given twice"),
                (["abc", "--optimum", "locked"], "'abc' has 3 blocks"),
                (["abc", "--optimum", "both"], "'abc' has 3 blocks"),
                (["a", "--optimum", "best"], "best"),
                (["a", "--radix-eviction-policy", "LRU"], "choose one of"),
                (["a", "--radix-eviction-policy-config", "{}"], "give that too"),
                (["a", "--radix-eviction-policy", "lru", "--radix-eviction-policy-config", '{"a": 1}'], "no keys"),
                (["a", "ab", "c", "--radix-eviction-policy", f"{file}:mixed"], "do not compare"),
                (["a", "--svg", "missing/x.svg"], "missing"),
                (["a", "--svg", "."], "directory"),
                (["a", "-x"], "-x"),
            ]
            for words, told in cases:
                with self.subTest(words=words):
                    status, out, err = in_process("run", "show", *words)
                    self.assertEqual((status, out), (2, ""), err)
                    self.assertRegex(err, r"^run.py: [^\n]*\n$")
                    self.assertIn(told, err)


if __name__ == "__main__":
    unittest.main()

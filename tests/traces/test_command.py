"""`run.py replay` as a user runs it: what it says against the engines, what it writes, and what it refuses."""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import unittest
import xml.etree.ElementTree
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from unittest import mock

from src.page.commandline import json_text
from src.page.guard import Fault
from src.policies.facts import PolicyError
from src.policies.scores import make_policy, research_policies, sglang_policies
from src.radixcache import Optimum
from src.traces.command import chosen_policies
from src.traces.optimum import TraceOptimum
from src.traces.options import capacity
from src.traces.reading import Trace, read_traces
from src.traces.replay import replay
from src.traces.words import counted, percent
from tests import helpers
from tests.helpers import REPOSITORY, infinite, on_ctrl_c, random_paths
from tests.traces.folder import Folder, in_process, lines

RUN = REPOSITORY / "run.py"


def real(*arguments: str, seed: str = "0", stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `run.py replay` as a process of its own, in the directory of this one."""
    return subprocess.run(
        [sys.executable, str(RUN), "replay", *arguments],
        env={**os.environ, "PYTHONHASHSEED": seed},
        input=stdin,
        capture_output=True,
        timeout=60,
    )


# -- what it says --------------------------------------------------------------------------------------------------


CAPACITIES = (1, 3, 7, 20, 60, 500)


class Numbers(Folder):
    """Every number is that of the replay and of the optimum, which have tests of their own."""

    ARGUMENTS = ["t.jsonl", "--radix-eviction-policy", "all", *(f"--capacity={each}" for each in CAPACITIES)]

    def expected(self, trace: Trace, in_flight: int) -> dict[int, dict[str, int]]:
        belady = TraceOptimum(trace)
        found = {}
        for blocks in CAPACITIES:
            hits = {name: replay(trace, blocks, make_policy(name), in_flight).hits for name in sglang_policies()}
            hits.update({f"optimum {each.value}": belady.hits(blocks, each) for each in Optimum})
            found[blocks] = hits
        return found

    def test_table_json_and_csv(self) -> None:
        trace = read_traces(["t.jsonl"])
        total = infinite(trace).blocks
        for in_flight in (0, 4):
            with self.subTest(in_flight=in_flight):
                arguments = [*self.ARGUMENTS, "--in-flight", str(in_flight)]
                expected = self.expected(trace, in_flight)

                def doubled(blocks: int, in_flight: int = in_flight) -> int:
                    return replay(trace, 2 * blocks, in_flight=in_flight).hits

                rows = [line.split() for line in self.out(*arguments).splitlines() if line.endswith("%")][1:]
                self.assertEqual(
                    [[cell.replace(",", "") for cell in row] for row in rows],
                    [
                        [str(blocks), *(percent(Fraction(each, total)) for each in (*hits.values(), doubled(blocks)))]
                        for blocks, hits in expected.items()
                    ],
                )
                rates = csv.DictReader(io.StringIO(self.out(*arguments, "--csv", "-")))
                self.assertEqual(
                    [tuple(row.values()) for row in rates],
                    [
                        (str(blocks), name, str(each), str(total), f"{each / total:.6f}", "")
                        for blocks, hits in expected.items()
                        for name, each in hits.items()
                    ],
                )
                measured = self.json(*arguments)["measured"]
                self.assertEqual(list(map(int, measured["capacities"])), list(CAPACITIES))
                for blocks, hits in expected.items():
                    at = measured["capacities"][str(blocks)]
                    told = {**at["policies"], **{f"optimum {name}": each for name, each in at["optimum"].items()}}
                    self.assertEqual({name: each["hits"] for name, each in told.items()}, hits)
                    for each in told.values():
                        self.assertEqual(Fraction(each["hit_rate"]), Fraction(each["hits"], total))

    def test_the_sentence_a_capacity(self) -> None:
        trace = read_traces(["t.jsonl"])
        belady = TraceOptimum(trace)
        for in_flight, bound in ((0, Optimum.LOCKED), (4, Optimum.BYPASS)):
            arguments = [*self.ARGUMENTS, "--in-flight", str(in_flight)]
            text, measured = self.out(*arguments), self.json(*arguments)["measured"]
            meant = {Optimum.LOCKED: "the locked", Optimum.BYPASS: "the bypassing"}[bound]
            self.assertIn(f"The optimum meant is {meant} one", text)
            self.assertEqual(measured["bound"], bound.value)
            for blocks, hits in self.expected(trace, in_flight).items():
                with self.subTest(in_flight=in_flight, blocks=blocks):
                    most = max(hits[name] for name in sglang_policies())
                    best = [name for name in sglang_policies() if hits[name] == most]
                    closed = Fraction(most, belady.hits(blocks, bound))
                    matching = belady.smallest_capacity(hits["lru"], bound)
                    self.assertLessEqual(closed, 1)
                    self.assertLessEqual(matching, blocks)
                    at = measured["capacities"][str(blocks)]
                    self.assertEqual((at["best_policies"], at["share_of_optimum"]), (best, str(closed)))
                    self.assertEqual((at["lru_hits"], at["optimum_matches_lru_at"]), (hits["lru"], matching))
                    names = "all policies get" if len(best) == 7 else " and ".join(best) + " get"
                    start = f"At {counted(blocks, 'block')} {names}"
                    line = next(line for line in text.splitlines() if line.startswith(start))
                    self.assertIn(f" {percent(closed)} of the optimum's hits; ", line)
                    self.assertTrue(line.endswith(f"; the optimum matches LRU with {counted(matching, 'block')}."))

    def test_where_nothing_is_hit(self) -> None:
        self.write("once.jsonl", b'{"hash_ids": [1, 2]}\n')
        self.assertIn("At 1 block even the optimum hits nothing.", self.out("once.jsonl"))
        self.assertIsNone(self.json("once.jsonl")["measured"]["capacities"]["1"]["share_of_optimum"])
        self.write("cycle.jsonl", b'{"hash_ids": [1]}\n{"hash_ids": [2]}\n{"hash_ids": [3]}\n' * 3)
        text = self.out("cycle.jsonl", "--capacity", "2", "--radix-eviction-policy", "mru")
        self.assertIn("At 2 blocks mru gets 100.00% of the optimum's hits; LRU hits nothing.", text)

    def test_the_head(self) -> None:
        record = b'{"hash_ids": [%s], "timestamp": %d}\n'
        self.write("odd.jsonl", record % (b"1, 2", 5) + b"[]\n" + record % (b"2", 4) + b"{\n" + record % (b"1, 2", 6))
        text = self.out("odd.jsonl", "--skip-bad-lines", "--in-flight", "1")
        self.assertEqual(
            text.splitlines()[:6],
            [
                "3 requests, 5 blocks, 3 of them distinct",
                "1 id under two parents or more: one block for each parent",
                "1 request with an earlier timestamp than the one before",
                "2 bad lines skipped, the first: odd.jsonl:2: is a list: give an object on each line",
                "infinite cache: 2 hits, 40.00%",
                "in flight: 1 request before each request, their paths locked",
            ],
        )
        measured = self.json("odd.jsonl", "--skip-bad-lines")["measured"]
        facts = ("requests", "blocks", "distinct_blocks", "shared_ids", "backward_timestamps", "bad_lines", "infinite")
        self.assertEqual([measured[key] for key in facts], [3, 5, 3, 1, 1, 2, {"hits": 2, "hit_rate": "2/5"}])
        self.assertEqual(self.out("t.jsonl", "--capacity", "5").splitlines()[3:4], [self.infinite_line()])

    def infinite_line(self) -> str:
        """Return the fourth line for `t.jsonl`, which has empty requests and ids under two parents."""
        counts = infinite(read_traces(["t.jsonl"]))
        return f"infinite cache: {counts.hits} hits, {percent(Fraction(counts.hits, counts.blocks))}"

    def test_one_process_or_four(self) -> None:
        for extra in ([], ["--in-flight", "3"]):
            found = []
            for jobs in ("1", "4"):
                with mock.patch("src.traces.cells.SMALL", 0):
                    arguments = ["t.jsonl", POLICY, "all", "--capacity=7", "--capacity=60", *extra, f"--jobs={jobs}"]
                    text = self.out(*arguments, "--csv=o.csv", "--svg=o.svg", "--json=-")
                found.append((text, self.folder()))
            self.assertEqual(found[0], found[1])

    def test_the_verdict_and_the_targets(self) -> None:
        text = self.out("t.jsonl", "--capacity", "20", "--target", "20%", "--target", "99%")
        measured = self.json("t.jsonl", "--capacity", "20", "--target", "20%", "--target", "99%")["measured"]
        trace = read_traces(["t.jsonl"])
        total = infinite(trace).blocks
        smallest = measured["targets"]["20.00%"]["lru"]
        self.assertLess(replay(trace, smallest - 1).hits * 5, total)
        self.assertGreaterEqual(replay(trace, smallest).hits * 5, total)
        for optimum in Optimum:
            wanted = TraceOptimum(trace).smallest_capacity(-(-total // 5), optimum)
            self.assertEqual(measured["targets"]["20.00%"][optimum.value], wanted)
        self.assertEqual(set(measured["targets"]["99.00%"].values()), {None})
        self.assertIn(f"20.00% of the blocks are hit by LRU with {counted(smallest, 'block')}, by the optimum", text)
        self.assertIn("No capacity hits 99.00% of the blocks: a cache without a limit hits 49.24%.", text)
        self.assertIn("\nAt 20 blocks it is the policy: of the 49.24% that can be hit at all, the size costs", text)
        self.assertTrue(text.endswith("what the policy costs bounds what a better one could gain, no promise.\n"))

    def test_lru_is_compared_with_though_not_chosen(self) -> None:
        chosen = self.json("t.jsonl", "--radix-eviction-policy", "mru", "--capacity", "20")
        at = chosen["measured"]["capacities"]["20"]
        self.assertEqual(list(at["policies"]), ["mru"])
        self.assertEqual(at["lru_hits"], replay(read_traces(["t.jsonl"]), 20).hits)

    def test_all_inputs_read_alike(self) -> None:
        plain = self.out("t.jsonl", "--capacity", "20")
        content = Path("t.jsonl").read_bytes()
        self.write("t.gz", gzip.compress(content))
        half = content.index(b"\n", len(content) // 2) + 1
        self.write("a.jsonl", content[:half])
        self.write("b.jsonl", content[half:])
        self.write("-odd.jsonl", content)
        records = [json.loads(line) for line in content.splitlines()]
        self.write("array.json", json.dumps(records).encode())
        self.write("indented.json.gz", gzip.compress(json.dumps(records, indent=2).encode()))
        self.assertEqual(self.out("array.json", "--capacity", "20"), plain)
        self.assertEqual(self.out("indented.json.gz", "--capacity", "20"), plain)
        self.assertEqual(self.out("t.gz", "--capacity", "20"), plain)
        self.assertEqual(self.out("-", "--capacity", "20", stdin=content), plain)
        self.assertEqual(self.out("-", "--capacity", "20", stdin=gzip.compress(content)), plain)
        self.assertEqual(self.out("a.jsonl", "--capacity", "20", "b.jsonl"), plain)
        self.assertEqual(self.out("--capacity", "20", "--", "-odd.jsonl"), plain)
        tokens = [[token for at in path for token in (at, -at)] for path in random_paths(1)]
        self.write("tokens.jsonl", b"".join(b'{"token_ids": %s}\n' % json.dumps(each).encode() for each in tokens))
        paged = self.out("tokens.jsonl", "--page-size", "2", "--capacity", "20")
        self.assertEqual(paged.splitlines()[3:], plain.splitlines()[3:])


class Capacities(unittest.TestCase):
    def test_capacities(self) -> None:
        for text, blocks in (
            ("1", 1), ("500", 500), ("007", 7), ("10k", 10_000), ("10K", 10_000), ("1M", 10**6), ("1m", 10**6),
            ("2.5k", 2500), ("0.001k", 1), ("1.0", 1), ("1.000001M", 1_000_001), ("9" * 18, 10**18 - 1),
        ):
            self.assertEqual(capacity(text), (blocks, "blocks", text))
        for text in (
            "", "0", "0k", "-1", "+1", "x", "k", "1.5", "1.0001k", "0.5", "1e3", "1_000", "1,000", "1 k", "10kk", "10G",
            "1.", ".5k", "2.5.5k", "²", "٣", "1\n", "9" * 19, "nan", "0x10", "\u212a", "1\u212a",
        ):
            with self.subTest(text=text), self.assertRaisesRegex(
                argparse.ArgumentTypeError, "is not a whole number of at least 1 block: give one such as 500, 2.5k or"
            ):
                capacity(text)


class Policies(Folder):
    SOURCE = b"def shallow(block, weight=1):\n    return (block.last_access, -weight * block.depth)\n"

    def test_names(self) -> None:
        self.assertEqual(list(chosen_policies(["all"], {})), list(sglang_policies()))
        both = [*research_policies(), *sglang_policies()]
        self.assertEqual(list(chosen_policies(["research", "all"], {})), both)
        self.assertEqual(list(chosen_policies(["mru", "lru"], {})), ["mru", "lru"])
        for names in (["lru", "lru"], ["all", "mru"], ["all", "all"]):
            with self.assertRaisesRegex(Fault, "^argument --radix-eviction-policy: .* is given twice: give it once$"):
                chosen_policies(names, {})

    def test_the_configuration_goes_to_those_that_take_it(self) -> None:
        self.write("own.py", self.SOURCE)
        config = {"protected_threshold": 3}
        found = chosen_policies(["all", "own.py:shallow"], config)
        self.assertEqual(getattr(found["slru"], "keywords", None), config)
        self.assertTrue(all(not hasattr(score, "keywords") for name, score in found.items() if name != "slru"))
        self.write("own.py", b"def own(block, protected_threshold=2):\n    return block.hits >= protected_threshold\n")
        both = chosen_policies(["slru", "own.py:own"], config).values()
        self.assertEqual([getattr(score, "keywords", None) for score in both], [config, config])
        self.assertEqual(getattr(chosen_policies(["slru"], config)["slru"], "keywords", None), config)
        for names, given, fault in (
            (["lru", "slru"], {"weight": 2}, "takes the configuration's weight: slru takes protected_threshold$"),
            (["all"], {**config, "weight": 2}, "configuration's protected_threshold, weight: slru takes"),
            (["lru", "mru"], config, "configuration's protected_threshold: they take no keys$"),
            (["lru"], config, "unknown key 'protected_threshold' in the configuration of policy 'lru'"),
            (["slru"], {"protected_threshold": 0}, "give an integer of at least 1"),
            (["all"], {"protected_threshold": "2"}, "give an integer of at least 1"),
        ):
            with self.subTest(names=names, given=given), self.assertRaisesRegex((Fault, PolicyError), fault):
                chosen_policies(names, given)
        arguments = ["t.jsonl", "--capacity", "20", "--radix-eviction-policy", "all"]
        told = self.json(*arguments, "--radix-eviction-policy-config", json.dumps(config))
        self.assertEqual(told["parameters"]["configuration"], config)
        expected = replay(read_traces(["t.jsonl"]), 20, make_policy("slru", config)).hits
        self.assertEqual(told["measured"]["capacities"]["20"]["policies"]["slru"]["hits"], expected)
        self.assertNotEqual(
            expected, self.json(*arguments)["measured"]["capacities"]["20"]["policies"]["slru"]["hits"]
        )

    def test_a_policy_of_the_users_own(self) -> None:
        learning = b"def learning(block, returns):\n    return returns.density(block)\n"
        self.write("own.py", self.SOURCE + learning + b"def again(block):\n    return block.hits\n")
        own = ["--radix-eviction-policy", "own.py:again", "--radix-eviction-policy", "lfu"]
        at = self.json("t.jsonl", "--capacity", "20", *own)["measured"]["capacities"]["20"]["policies"]
        self.assertEqual(list(at), ["own.py:again", "lfu"])
        self.assertEqual(at["own.py:again"], at["lfu"])
        own_learning = ["--radix-eviction-policy", "own.py:learning", "--radix-eviction-policy", "return-density"]
        at = self.json("t.jsonl", "--capacity", "20", *own_learning)["measured"]["capacities"]["20"]["policies"]
        self.assertEqual(at["own.py:learning"], at["return-density"])
        self.assertIn(" own.py:again  ", self.out("t.jsonl", *own).splitlines()[5])

    def test_a_policy_that_asks_for_the_time(self) -> None:
        """When c comes, a is two minutes old: after one it has expired, after three it is worth more than b."""
        score = b"(now_ms - block.last_access_ms < minutes * 60_000, block.seen)"
        self.write("own.py", b"def fresh(block, now_ms, minutes=1):\n    return " + score + b"\n")
        times = (0, 1, 120_000, 120_001, 120_002)
        lines = [json.dumps({"hash_ids": [one], "timestamp": time}) for one, time in zip("aabcb", times)]
        self.write("timed.jsonl", "\n".join(lines).encode())
        hits = {}
        for minutes in (1, 3):
            given = ("--radix-eviction-policy-config", json.dumps({"minutes": minutes}))
            told = self.json("timed.jsonl", "--capacity=2", "--radix-eviction-policy=own.py:fresh", *given)
            hits[minutes] = told["measured"]["capacities"]["2"]["policies"]["own.py:fresh"]["hits"]
        self.assertEqual(hits, {1: 2, 3: 1})
        self.write("untimed.jsonl", b'{"hash_ids": [1]}')
        self.write("drawing.py", b"import random\ndef drawn(block, now):\n    return random.random()\n")
        status, _, err = in_process("t.jsonl", "--capacity=9", "--radix-eviction-policy=drawing.py:drawn")
        self.assertEqual((status, err.count("let it depend on its facts")), (2, 1))
        for engine, left in (("all", 2), ("sglang", 2), ("vllm", 0)):
            for policy in ("lru-2", "return-density", "own.py:fresh"):
                status, _, err = in_process(
                    "timed.jsonl", "--capacity=9", f"--radix-eviction-policy={policy}", f"--engine={engine}"
                )
                self.assertEqual((status, f"leave out {policy}" in err), (left, left > 0), (engine, policy))
        status, out, err = in_process("untimed.jsonl", "--capacity=9", "--radix-eviction-policy=own.py:fresh")
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        self.assertIn("own.py:1: fresh asks for now_ms, and not every request has a timestamp: give", err)

    def test_a_policy_that_fails_midway_writes_nothing(self) -> None:
        self.write("own.py", b"def bad(block):\n    return 1 // (block.last_access - 30)\n")
        before = self.folder()
        status, out, err = in_process(
            "t.jsonl", "--capacity=9", "--radix-eviction-policy=own.py:bad", "--json=o.json", "--svg=o.svg"
        )
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        self.assertIn("own.py:2: bad fails on Facts(", err)
        self.assertEqual(self.folder(), before)


# -- what it writes ------------------------------------------------------------------------------------------------


class Files(Folder):
    def test_files_hold_what_stdout_would(self) -> None:
        arguments = ["t.jsonl", "--radix-eviction-policy", "all", "--capacity", "20", "--capacity", "5"]
        text = self.out(*arguments)
        kinds = ("json", "csv", "svg")
        self.write("o.json", b"old and much longer" * 1000)
        self.assertEqual(self.out(*arguments, *(f"--{kind}=o.{kind}" for kind in kinds)), text)
        for kind in kinds:
            written = Path(f"o.{kind}").read_bytes()
            self.assertEqual(self.out(*arguments, f"--{kind}", "-").encode(), written)
            self.assertTrue(written.endswith(b"\n"))
        self.assertEqual(set(self.folder()), {"t.jsonl", "o.json", "o.csv", "o.svg"})
        self.assertEqual(json.loads(Path("o.json").read_bytes())["parameters"]["capacities"], [5, 20])  # in order
        self.assertEqual(self.out(*arguments, "--json=-", "--csv=o.csv"), Path("o.json").read_text("utf-8"))

    def test_the_chart(self) -> None:
        arguments = ["t.jsonl", "--radix-eviction-policy", "all"]
        for extra, names in (([], ["lru", "nothing in flight"]), (["--in-flight=2"], ["lru"])):
            shown = self.out(*arguments, *extra, "--svg", "-")
            root = xml.etree.ElementTree.fromstring(shown)
            self.assertTrue(root.tag.endswith("svg"))
            texts = [element.text for element in root.iter() if element.tag.endswith("text")]
            for name in ("optimum bypass", "optimum locked", "infinite cache", *sglang_policies(), "hit rate"):
                self.assertIn(name, texts)
            self.assertEqual("nothing in flight" in texts, "nothing in flight" not in names)
        self.write("once.jsonl", b'{"hash_ids": [1]}\n')
        for extra in ([], ["--capacity=1M"], ["--in-flight=5"]):  # a single block, no hit at all
            xml.etree.ElementTree.fromstring(self.out("once.jsonl", *extra, "--svg", "-"))

    def test_the_same_bytes_under_any_hash_seed(self) -> None:
        found = []
        for seed in ("1", "2"):
            done = real("t.jsonl", "--radix-eviction-policy=all", "--svg=o.svg", "--json=-", "--csv=o.csv", seed=seed)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            found.append((done.stdout, self.folder()))
        self.assertEqual(found[0], found[1])
        told = json.loads(found[0][0])
        self.assertEqual(told["parameters"]["policies"], list(sglang_policies()))
        self.assertEqual(found[0][0], json_text(told).encode())

    def test_a_link_stays_a_link(self) -> None:
        self.write("o.json", b"old")
        Path("link").symlink_to("o.json")
        self.out("t.jsonl", "--json", "link")
        self.assertTrue(Path("link").is_symlink())
        self.assertIn("measured", json.loads(Path("o.json").read_bytes()))

    def test_names_that_are_no_text(self) -> None:
        name = os.fsdecode(b"\xff\n.jsonl")
        try:
            Path(name).write_bytes(lines([[1, 2], [1, 2]]))
        except OSError:
            self.skipTest("the file system has no such names")
        self.assertEqual(self.json(name)["parameters"]["traces"], ["\\udcff\\n.jsonl"])


# -- what it refuses -----------------------------------------------------------------------------------------------


GOOD = b'{"hash_ids": [1, 2]}\n'
PACKED = gzip.compress(GOOD * 50)
CONTENTS = {
    "good.jsonl": GOOD,
    "truncated.jsonl": b'{"hash_ids": [1, 2]}\n{"hash_ids": [1, 2',
    "number.jsonl": b'{"hash_ids": 7}\n',
    "nested.jsonl": b'{"hash_ids": [[1], [2]]}\n',
    "nan.jsonl": b'{"hash_ids": [NaN]}\n',
    "infinity.jsonl": b'{"hash_ids": [1], "timestamp": -Infinity}\n',
    "huge.jsonl": b'{"hash_ids": [1], "timestamp": 1e999}\n',
    "digits.jsonl": b'{"hash_ids": [' + b"7" * 1_000_000 + b"]}\n",
    "utf16.jsonl": '{"hash_ids": [1]}\n'.encode("utf-16"),
    "utf16le.jsonl": '{"hash_ids": [1]}\n'.encode("utf-16-le"),
    "latin1.jsonl": '{"hash_ids": ["ä"]}\n'.encode("latin-1"),
    "empty.jsonl": b"",
    "blank.jsonl": b"\n \n\n",
    "noblock.jsonl": b'{"hash_ids": []}\n',
    "short.jsonl": b'{"token_ids": [1, 2, 3]}\n',
    "cut.gz": PACKED[: len(PACKED) // 2],
    "crc.gz": PACKED[:-8] + b"\0" * 8,
    "junk.gz": b"\x1f\x8b\x08\x00" + b"junk" * 20,
    "zstd.jsonl": b"\x28\xb5\x2f\xfd" + b"\0" * 20,
    "deep.jsonl": b'{"hash_ids": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
    "float.jsonl": b'{"hash_ids": [1.5]}\n',
    "true.jsonl": b'{"hash_ids": [true]}\n',
    "tokens.jsonl": b'{"token_ids": ["a"]}\n',
    "wide.jsonl": b'{"token_ids": [18446744073709551616]}\n',
    "nokey.jsonl": b'{"ids": [1]}\n',
    "twokeys.jsonl": b'{"hash_ids": [1], "token_ids": [1]}\n',
    "twice.jsonl": b'{"hash_ids": [1], "hash_ids": [2]}\n',
    "priority.jsonl": b'{"hash_ids": [1], "priority": "high"}\n',
    "list.jsonl": b"[1, 2]\n",
    "text.jsonl": b"hello\n",
    "broken.py": b"def score(block:\n",
    "raising.py": b"raise SystemExit(0)\n",
    "none.py": b"def score(block):\n    return None if block.last_access % 2 else 1\n",
    "nan.py": b"def score(block):\n    return float('nan')\n",
}
POLICY, CONFIG = "--radix-eviction-policy", "--radix-eviction-policy-config"
FAULTS: list[tuple[str, list[str]]] = [
    ("truncated.jsonl:2: is not JSON", ["truncated.jsonl"]),
    ("number.jsonl:1: hash_ids is 7: give a list", ["number.jsonl"]),
    ("nested.jsonl:1: hash_ids[0] is a list", ["nested.jsonl"]),
    ("nan.jsonl:1: has NaN", ["nan.jsonl"]),
    ("infinity.jsonl:1: has -Infinity", ["infinity.jsonl"]),
    ("huge.jsonl:1: timestamp is Infinity", ["huge.jsonl"]),
    ("digits.jsonl:1: has a number of 1000000 digits", ["digits.jsonl"]),
    ("utf16.jsonl: is UTF-16", ["utf16.jsonl"]),
    ("utf16le.jsonl:1: has a NUL byte", ["utf16le.jsonl"]),
    ("latin1.jsonl:1: is not UTF-8", ["latin1.jsonl"]),
    ("empty.jsonl: holds no request", ["empty.jsonl"]),
    ("empty.jsonl: holds no request", ["good.jsonl", "empty.jsonl"]),
    ("blank.jsonl: holds no request", ["blank.jsonl"]),
    ("noblock.jsonl: no request fills a block", ["noblock.jsonl"]),
    ("short.jsonl: no request fills a block", ["short.jsonl", "--page-size", "4"]),
    ("<stdin>: holds no request", ["-"]),
    ("<stdin>: given twice", ["-", "-"]),
    ("folder: is a directory", ["folder"]),
    ("missing.jsonl: there is no such file", ["missing.jsonl"]),
    ("cut.gz: the gzip data ends too early", ["cut.gz"]),
    ("crc.gz: the gzip data is broken", ["crc.gz"]),
    ("junk.gz: the gzip data is broken", ["junk.gz"]),
    ("zstd.jsonl: is a zstd file", ["zstd.jsonl"]),
    ("deep.jsonl:1: is nested more than", ["deep.jsonl"]),
    ("float.jsonl:1: hash_ids[0] is 1.5", ["float.jsonl"]),
    ("true.jsonl:1: hash_ids[0] is true", ["true.jsonl"]),
    ("tokens.jsonl:1: token_ids[0] is 'a'", ["tokens.jsonl"]),
    ("wide.jsonl:1: token_ids[0] is 18446744073709551616", ["wide.jsonl"]),
    ("--page-size: no request has tokens to cut into pages", ["good.jsonl", "--page-size", "2"]),
    ("nokey.jsonl:1: has none of the keys", ["nokey.jsonl"]),
    ("twokeys.jsonl:1: has hash_ids and token_ids", ["twokeys.jsonl"]),
    ("twice.jsonl:1: has the key 'hash_ids' twice", ["twice.jsonl"]),
    ("priority.jsonl:1: priority is 'high'", ["priority.jsonl"]),
    ("list.jsonl:1: is a list", ["list.jsonl"]),
    ("text.jsonl: holds no request (first bad line: text.jsonl:1: is not JSON", ["text.jsonl", "--skip-bad-lines"]),
    ("arguments are required: TRACE", []),
    ("'0' is not a whole number", ["good.jsonl", "--capacity", "0"]),
    ("'-5' is not a whole number", ["good.jsonl", "--capacity", "-5"]),
    ("'x' is not a whole number", ["good.jsonl", "--capacity", "x"]),
    ("'1.5' is not a whole number", ["good.jsonl", "--capacity", "1.5"]),
    ("'1.2345k' is not a whole number", ["good.jsonl", "--capacity", "1.2345k"]),
    ("is not a whole number", ["good.jsonl", "--capacity", "9" * 100_000]),
    ("argument --capacity: 10000 is given twice", ["good.jsonl", "--capacity", "10k", "--capacity", "10000"]),
    ("argument --capacity: expected one argument", ["good.jsonl", "--capacity"]),
    ("'-1' is not a whole number of at least 0", ["good.jsonl", "--in-flight", "-1"]),
    ("argument --in-flight: given twice", ["good.jsonl", "--in-flight", "1", "--in-flight", "1"]),
    ("'0' is not a whole number of at least 1", ["good.jsonl", "--page-size", "0"]),
    ("argument --json: given twice", ["good.jsonl", "--json", "a", "--json", "b"]),
    ("unrecognized arguments: --cap", ["good.jsonl", "--cap", "5"]),
    ("unknown eviction policy 'LRU'", ["good.jsonl", POLICY, "LRU"]),
    (f"argument {POLICY}: lfu is given twice", ["good.jsonl", POLICY, "lfu", POLICY, "lfu"]),
    (f"argument {POLICY}: lru is given twice", ["good.jsonl", POLICY, "all", POLICY, "lru"]),
    ("goes with --radix-eviction-policy", ["good.jsonl", CONFIG, '{"protected_threshold": 3}']),
    ("unknown key 'protected_threshold'", ["good.jsonl", POLICY, "lru", CONFIG, '{"protected_threshold": 3}']),
    ("no chosen policy takes the configuration's threshold", ["good.jsonl", POLICY, "all", CONFIG, '{"threshold": 3}']),
    ("is not JSON", ["good.jsonl", POLICY, "slru", CONFIG, "{"]),
    (f"argument {CONFIG}: given twice", ["good.jsonl", POLICY, "slru", CONFIG, "{}", CONFIG, "{}"]),
    ("missing.py: there is no such file", ["good.jsonl", POLICY, "missing.py:score"]),
    ("broken.py:1: ", ["good.jsonl", POLICY, "broken.py:score"]),
    ("raising.py: fails when it is loaded", ["good.jsonl", POLICY, "raising.py:score"]),
    ("none.py: has no function 'other'", ["good.jsonl", POLICY, "none.py:other"]),
    ("none.py:1: score returns None for Facts(", ["t.jsonl", "--capacity", "9", POLICY, "none.py:score"]),
    ("returns nan", ["t.jsonl", "--capacity", "9", POLICY, "nan.py:score"]),
    ("there is no directory", ["good.jsonl", "--json", "missing/o.json"]),
    ("it is a directory", ["good.jsonl", "--svg", "folder"]),
    ("it is a directory", ["good.jsonl", "--csv", ""]),
    ("it is not a regular file", ["good.jsonl", "--csv", os.devnull]),
    ("Too many levels of symbolic links", ["good.jsonl", "--csv", "circle"]),
    ("cannot write --csv ./o: --json goes there", ["good.jsonl", "--json", "o", "--csv", "./o"]),
    ("cannot write --svg -: --json goes there", ["good.jsonl", "--json", "-", "--svg", "-"]),
    ("cannot write --json folder/../good.jsonl: it is read", ["good.jsonl", "--json", "folder/../good.jsonl"]),
    ("cannot write --svg none.py: it is read", ["good.jsonl", POLICY, "none.py:score", "--svg", "none.py"]),
]


class Faults(Folder):
    """Each fault is one line that names what is at fault; the status is 2, and no file is touched."""

    def setUp(self) -> None:
        super().setUp()
        for name, content in CONTENTS.items():
            self.write(name, content)
        Path("folder").mkdir()
        Path("circle").symlink_to("circle")
        self.write("old.json", b"old")
        self.write("old.svg", b"old")
        self.before = self.folder()

    def check(self, fault: str, status: int, out: str, err: str) -> None:
        self.assertEqual((status, out), (2, ""), err)
        self.assertTrue(err.startswith("run.py: ") and err.endswith("\n") and err.count("\n") == 1, err)
        self.assertIn(fault, err)
        self.assertLess(len(err), 450)
        self.assertEqual(self.folder(), self.before)
        self.assertEqual(list(Path("folder").iterdir()), [])

    def outputs(self, arguments: Sequence[str]) -> list[str]:
        """Return options for two files that exist, where the arguments are not about these."""
        kinds = [kind for kind in ("json", "svg") if not {"--json", "--csv", "--svg"} & set(arguments)]
        return [f"--{kind}=old.{kind}" for kind in kinds]

    def test_one_line_status_two_and_nothing_written(self) -> None:
        self.assertGreaterEqual(len(FAULTS), 40)
        for fault, arguments in FAULTS:
            with self.subTest(fault=fault, arguments=[argument[:60] for argument in arguments]):
                self.check(fault, *in_process(*self.outputs(arguments), *arguments))
        self.assertTrue(self.out("good.jsonl", *self.outputs([])).startswith("1 request, 2 blocks, 2 of them"))
        self.assertNotEqual(self.folder(), self.before)

    def test_the_real_command(self) -> None:
        some = ("deep.jsonl:1", "digits.jsonl:1", "crc.gz", "<stdin>: holds", "'-5' is", "none.py:1: score")
        chosen = [case for case in FAULTS if case[0].startswith(some)]
        self.assertEqual(len(chosen), len(some))
        for fault, arguments in chosen:
            with self.subTest(fault=fault):
                done = real(*self.outputs(arguments), *arguments)
                self.check(fault, done.returncode, done.stdout.decode(), done.stderr.decode())

    @unittest.skipIf(not hasattr(os, "geteuid") or os.geteuid() == 0, "permissions do not bind this user")
    def test_what_may_not_be_written_or_read(self) -> None:
        os.chmod("folder", 0o500)
        self.check("no permission to write in", *in_process("good.jsonl", "--json", "folder/o.json"))
        os.chmod("good.jsonl", 0)
        found = in_process("good.jsonl")
        os.chmod("good.jsonl", 0o600)
        self.check("no permission to read it", *found)

    def test_an_output_is_refused_before_any_work(self) -> None:
        with mock.patch("src.traces.command.read_traces", side_effect=AssertionError("worked")):
            for arguments in (["--json=folder"], ["--csv=missing/o"], ["--json=o", "--svg=o"], [f"{POLICY}=LRU"]):
                status, _, err = in_process("good.jsonl", *arguments)
                self.assertEqual(status, 2, err)


class Ends(Folder):
    @unittest.skipUnless(hasattr(os, "mkfifo"), "needs a named pipe")
    def test_ctrl_c_leaves_old_files_as_they_were(self) -> None:
        os.mkfifo("pipe")
        self.write("o.json", b"old")
        before = {name: content for name, content in [("t.jsonl", Path("t.jsonl").read_bytes()), ("o.json", b"old")]}
        with on_ctrl_c():
            child = subprocess.Popen(
                [sys.executable, str(RUN), "replay", "t.jsonl", "pipe", "--json", "o.json", "--svg", "o.svg"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        with open("pipe", "wb") as pipe:  # once this is open, the child reads
            pipe.write(GOOD)
            pipe.flush()
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=60)
        self.assertEqual((child.returncode, out, err), (130, b"", b""))
        os.unlink("pipe")
        self.assertEqual(self.folder(), before)

    def test_a_reader_that_stops_is_no_error(self) -> None:
        child = subprocess.Popen(
            [sys.executable, str(RUN), "replay", "-", "--json", "-", "--csv", "o.csv"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert child.stdin and child.stdout and child.stderr
        child.stdout.close()  # before there is anything to say
        with child.stdin as stdin:
            stdin.write(Path("t.jsonl").read_bytes())
        err = child.stderr.read()
        child.stderr.close()
        self.assertEqual((child.wait(60), err), (0, b""))
        self.assertTrue(Path("o.csv").read_text().startswith("capacity,policy,"))

    def test_progress_is_for_terminals(self) -> None:
        quiet = self.out("t.jsonl", POLICY, "mru")
        now = iter(range(10**9))
        with mock.patch("src.page.commandline.time.monotonic", lambda: next(now)):
            status, out, err = in_process("t.jsonl", POLICY, "mru", terminal=True)
            self.assertEqual((status, out), (0, quiet))
            shown = [line for line in err.split("\r\x1b[K") if line]
            for what in ("reading, bytes: ", "mru at 1, requests: 1 of ", "optimum, capacities: 1 of "):
                self.assertTrue(any(line.startswith(what) and line.endswith(" s left") for line in shown), what)
            self.assertTrue(err.endswith("\r\x1b[K"))
            status, _, err = in_process("t.jsonl", "missing.jsonl", terminal=True)
            self.assertTrue(status == 2 and "\r\x1b[Krun.py: missing.jsonl: " in err, err)

    def test_help(self) -> None:
        status, out, err = in_process("--help")
        self.assertEqual((status, err), (0, ""))
        for word in ("TRACE", POLICY, CONFIG, "--capacity", "--in-flight", "--skip-bad-lines", "--svg", "2.5k"):
            self.assertIn(word, out)
        self.assertIn("run.py replay TRACE", helpers.in_process("run", "--help")[1])


if __name__ == "__main__":
    unittest.main()

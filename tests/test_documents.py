"""What the documents show is what the commands do and what the results hold."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from src.claims.preregistration import value
from src.policies.scores import sglang_policies
from src.radixcache import Optimum
from src.traces.merge import merge
from src.traces.texts import as_text
from tests.helpers import REPOSITORY, committed

RESULTS = REPOSITORY / "results"


def text(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def tables(page: str) -> Iterator[list[list[str]]]:
    """Yield the rows of each table of a page, the header first."""
    for lines in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines.splitlines()]
        yield [rows[0], *rows[2:]]


def trace_result(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"mooncake_{name}.json").read_text(encoding="utf-8"))
    return found


def typed(command: str, folder: str) -> str:
    """Run a line of the README in a folder and return what it prints."""
    program, *arguments = command.removeprefix("$ ").removeprefix("python3 ").split()
    run = subprocess.run(
        [sys.executable, str(REPOSITORY / program), *arguments], capture_output=True, text=True, cwd=folder
    )
    return run.stdout


class Readme(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.page = text("README.md")
        cls.blocks = re.findall(r"^```(?:python)?\n(.*?)^```", cls.page, re.DOTALL | re.MULTILINE)

    def block(self, start: str) -> str:
        (found,) = (block for block in self.blocks if block.startswith(start))
        return str(found)

    def assert_in_order(self, quoted: str, printed: str) -> None:
        """Hold what is quoted to what is printed, line by line; `...` stands for lines that are left out."""
        for part in re.split(r"^\.\.\.\n", quoted, flags=re.MULTILINE):
            before, found, printed = printed.partition(part) if part else ("", "", printed)
            self.assertEqual(found, part)
            self.assertTrue(not before or before.endswith("\n"))

    def test_five_minutes(self) -> None:
        self.assertLessEqual(len(self.page.splitlines()), 170)

    def test_links(self) -> None:
        """Each leads to a file, and to a heading of it."""
        for name in ("README.md", "PREREG.md", "results/README.md", "results/PROOFS.md", "results/TRACES.md"):
            for link in re.findall(r"\]\(([^)]+)\)", text(name)):
                file, _, heading = link.partition("#")
                target = (REPOSITORY / name).parent / file if file else REPOSITORY / name
                self.assertTrue(target.exists(), (name, link))
                if heading:
                    headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
                    anchors = [re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings]
                    self.assertIn(heading, anchors, (name, link))

    def test_a_strip(self) -> None:
        command, _, printed = self.block("$ python3 run.py show").partition("\n")
        self.assert_in_order(printed, typed(command, "."))

    def test_where_the_rule_costs(self) -> None:
        commands = re.findall(r"`(python3 run.py show --capacity . --radix-eviction-policy (\w+) [^`]*)`", self.page)
        self.assertEqual([policy for _, policy in commands], ["fifo", "mru"])
        for command, policy in commands:
            found = re.findall(r"(?m)^(?:leaf-only|unconstrained) .*misses$", typed(command, "."))
            self.assertEqual(found, [f"leaf-only {policy}: 5 misses", f"unconstrained {policy}: 4 misses"])

    def test_the_last_lines_of_the_run(self) -> None:
        lines = self.block("P1 did").splitlines()
        self.assertEqual(lines[:3], [one["verdict"] for one in committed()["preregistration"].values()])
        self.assertEqual({REPOSITORY / name for name in re.findall(r"results/[\w.]+", lines[3])}, {
            RESULTS / name for name in ("main.json", "README.md", "ratio_by_length.svg", "rule.svg")
        })

    def test_on_your_own_policy(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "mine.py").write_text(self.block("def second_last"))
            command, _, printed = self.block("$ python3 derisk.py").partition("\n")
            found = typed(command, folder)
            self.assert_in_order(printed, found)
        ratios = [re.findall(pattern, found)[-1] for pattern in (r"worst ratio (\d+)\n", r"is exactly (\d+)\n")]
        self.assertIn("its worst ratio is {} where LRU's is {}.".format(*ratios), self.page)

    def test_on_your_own_trace(self) -> None:
        """The trace is not here; its committed results are what the command wrote."""
        found, told, _ = merge([str(RESULTS / "mooncake_conversation.json")])
        (row,) = (row for row in found.rows if row.capacity == 5000)
        chosen = {name: row.hits[name] for name in ("lru", "lru-2")}
        shown = as_text(found._replace(policies=list(chosen), rows=[row._replace(hits=chosen)]), told)
        self.assert_in_order(self.block("$ python3 run.py replay").partition("\n")[2], shown)
        self.assertIn("it hits 17.18% of the trace above where LRU hits 12.37%", self.page)

    def test_what_memory_gains(self) -> None:
        rows = trace_result("conversation")["measured"]["capacities"].values()
        (shown,) = (one for one in tables(self.page) if "2,000 blocks" in one[0])
        capacities = trace_result("conversation")["measured"]["capacities"]
        self.assertEqual(shown[0][1:], [f"{int(capacity):,} blocks" for capacity in capacities])
        hits = [{name: each["hits"] for name, each in row["policies"].items()} for row in rows]
        lru_2, learned = ([one.pop(name) for one in hits] for name in ("lru-2", "return-density"))
        best = [max(one.values()) for one in hits]
        optimum = [row["optimum"]["locked"]["hits"] for row in rows]
        for row, expected in zip(shown[1:], (best, lru_2, learned, optimum)):
            self.assertEqual(row[1:], [f"{each:,}" for each in expected])

    def test_numbers(self) -> None:
        results = committed()
        given = results["offline"]["parameters"]

        def measured(key: str) -> Any:
            return value(results, key.replace(".", ".measured.", 1))

        self.assertEqual(measured("theorems.offline.mismatches"), 0)
        self.assertEqual(measured("reduction.forests.edges_where_held_sets_differ"), 0)
        self.assertEqual(measured("width.lru.cases_off_the_width"), 0)
        self.assertEqual(measured("online_optimum.forests.cases_with_another_ratio_than_the_width"), 0)
        self.assertEqual(measured("competitive.locked.2"), "1")
        for cell in (
            f"| {measured('theorems.offline.instances')} instances, 0 differ |",
            f"| {measured('reduction.forests.edges')} edges, 0 differ |",
            f"| {measured('width.lru.cases')} cases, 0 off |",
            f"| {measured('online_optimum.forests.cases')} games, 0 off |",
            f"{len(given['strings'])} strings, {given['length']} requests,"
            f" K = {' or '.join(map(str, given['capacities']))} make",
            f"locked they are smaller, {measured('competitive.locked.2')} at K = 2.",
            f"at K = {results['theorems']['witnesses']['above_capacity']['capacity']} reach"
            f" {measured('theorems.above_capacity')}.",
            f"the study's {measured('engines.sglang.instances')} instances differ",
            f"{measured('stamps.root_first.unconstrained_worse')} of {measured('online.instances')} instances",
            f"= {measured('offline.bypass.instances')}.",
            "{tree_bypass} against {flat_locked}".format(**results["derisk"]["published"]),
        ):
            self.assertIn(cell, " ".join(self.page.split()))
        for name, words in (("bushy", "on `{}` it is {}"), ("slender", "on `{}` {}.")):
            one = results["width"]["witnesses"]["two_tries"][name]
            self.assertEqual(str(one["width"]), one["bypass"]["ratio"])
            self.assertIn(f"can have: at K = {one['capacity']} on `a ab", self.page)
            self.assertIn(words.format(" ".join(one["strings"]), one["width"]), self.page)

    def test_which_policies(self) -> None:
        """What the README says of the seven, against the claims `policies` and `every_length`."""
        results = committed()
        measured = results["policies"]["measured"]
        self.assertEqual(len(sglang_policies()), 7)
        bound = [name for name in sglang_policies() if measured[name]["interior_evictions"]]
        self.assertIn(f"binds two of the seven in SGLang's registry, `{bound[0]}` and `{bound[1]}`,", self.page)
        self.assertEqual(bound, ["fifo", "mru"])
        self.assertIn(f"no shorter sequence on up to {results['policies']['parameters']['forest_nodes']} bl", self.page)
        for name in bound:
            shown = results["policies"]["shortest_costs"][name]
            sequence = " ".join(shown["sequence"])
            self.assertIn(f"--capacity {shown['capacity']} --radix-eviction-policy {name} {sequence}`", self.page)
        every = results["every_length"]["measured"]
        ratios = {name: [one["ratio"] for one in every[name]["bypass"].values()] for name in sglang_policies()}
        bounded = [name for name in ratios if "unbounded" not in ratios[name]]
        self.assertIn(f"Of the seven only `{bounded[0]}` and `{bounded[1]}` have a", self.page)
        self.assertEqual(len(bounded), 2)

    def test_widths_of_the_trace(self) -> None:
        lower, upper = trace_result("conversation")["measured"]["capacities"]["5000"]["width"]
        self.assertEqual(lower, upper)
        self.assertIn(f"the width is {lower:,} at 5,000 blocks", " ".join(self.page.split()))

    def test_engines(self) -> None:
        (shown,) = (one for one in tables(self.page) if "what differs" in one[0])
        hits = trace_result("engines")["measured"]["capacities"]["5000"]
        self.assertEqual(shown[0][3], "ratios at K = 2")
        self.assertEqual(shown[0][-1], f"hits at 5,000, partial blocks kept (LRU {hits['block']['lru']['hits']:,})")
        for row, engine in zip(shown[1:], ("vllm", "sglang", "store")):
            one = committed()["engines"]["measured"][engine]
            bounds = [one["worst_ratio"][optimum.value]["2"] for optimum in Optimum]
            self.assertEqual(row[1], str(one["same_decisions"]))
            self.assertEqual(row[2], f"{one['more_misses']}, {one['fewer_misses']}")
            self.assertEqual(row[3], ", ".join(bounds))
            self.assertEqual(row[5], f"{hits[engine]['lru']['hits']:,}")


class Traces(unittest.TestCase):
    """The tables of `results/TRACES.md`, against the results that its commands wrote."""

    def test_tables(self) -> None:
        new, kept, engines, *memory = tables(text("results/TRACES.md"))
        for shown, name in ((new, "conversation"), (kept, "partial_blocks_kept")):
            expected = []
            for capacity, row in trace_result(name)["measured"]["capacities"].items():
                hits = [one["hits"] for one in row["policies"].values()]
                hits += [row["optimum"][optimum.value]["hits"] for optimum in Optimum]
                expected.append([f"{count:,}" for count in (int(capacity), *hits)])
                names = ["capacity", *row["policies"], *(f"optimum, {optimum.value}" for optimum in Optimum)]
                self.assertEqual(shown[0], names)
            self.assertEqual(shown[1:], expected)
        rows = []
        for capacity, at in trace_result("engines")["measured"]["capacities"].items():
            sglang = {**at["sglang_unified"], **at["sglang"]}
            columns: Sequence[dict[str, Any]] = (at["block"], sglang, at["vllm"], at["store"])
            for policy in sglang:
                cells = [f"{one[policy]['hits']:,}" if policy in one else "-" for one in columns]
                rows.append([f"{int(capacity):,}", policy, *cells])
        self.assertEqual(sorted(engines[1:]), sorted(rows))
        judged = trace_result("research")["judged"]
        self.assertEqual(len(memory), len(judged))
        for shown, on in zip(memory, judged):
            self.assertGreater(len(shown), 5)
            for policy, *cells in shown[1:]:
                self.assertEqual(cells, [f"{hits:,}" for hits in on["hits"][policy].values()])

    def test_numbers_in_sentences(self) -> None:
        page = " ".join(text("results/TRACES.md").split())
        for name in ("conversation", "partial_blocks_kept"):
            made = trace_result(name)["measured"]
            at = made["capacities"]["10000"]
            for number in (made["blocks"], made["distinct_blocks"], made["infinite"]["hits"]):
                self.assertIn(f" {number:,}", page)
            share = 100 * at["lru_hits"] / at["optimum"]["locked"]["hits"]
            self.assertIn(f"{share:.2f}% of ", page)
            self.assertIn(f"{at['optimum_matches_lru_at']:,} blocks", page)
        widths = {at: row["width"] for at, row in trace_result("conversation")["measured"]["capacities"].items()}
        self.assertTrue(all(lower == upper for lower, upper in widths.values()))
        shown = [f"{width[0]:,} at {int(at):,}" for at, width in widths.items()]
        self.assertIn(f"it is {shown[0]} blocks, {shown[1]} and {shown[2]}.", page)
        self.assertIn(f"{trace_result('conversation')['measured']['partial_blocks']:,} of the requests end", page)

    def test_what_memory_gains(self) -> None:
        page = " ".join(text("results/TRACES.md").split())
        rows = trace_result("conversation")["measured"]["capacities"]
        more = {at: 100 * row["policies"]["lru-2"]["hits"] / row["lru_hits"] - 100 for at, row in rows.items()}
        self.assertIn(f"hits {more['5000']:.0f}% more, and at 2,000 blocks {more['2000']:.0f}% more", page)
        self.assertIn(f"At 10,000 it hits {more['10000']:.1f}% more", page)
        half, synthetic, conversation = trace_result("research")["judged"]
        first, second = (100 * one["distinct_blocks"] / one["blocks"] for one in (conversation, synthetic))
        self.assertIn(f"blocks {first:.0f}% come for the first time, of the synthetic one's {second:.0f}%", page)
        less = 100 - 100 * half["hits"]["lru-2"]["20000"] / half["hits"]["lru"]["20000"]
        self.assertIn(f"at 20,000, on the second half and with partial blocks kept, {less:.0f}% less", page)
        hits = synthetic["hits"]
        more = {at: 100 * hits["lru-2"][at] / hits["lru"][at] - 100 for at in hits["lru"]}
        self.assertIn(f"hits {more['2000']:.0f}% more than LRU at 2,000 blocks and {more['5000']:.0f}% more at", page)

    def test_what_learning_gains(self) -> None:
        page = " ".join(text("results/TRACES.md").split())
        rows = trace_result("conversation")["measured"]["capacities"]
        learned = {at: row["policies"]["return-density"]["hits"] for at, row in rows.items()}
        more = {at: f"{100 * hits / rows[at]['lru_hits'] - 100:.0f}%" for at, hits in learned.items()}
        self.assertIn(f"it hits {more['2000']} more than LRU at 2,000 blocks, which is more than LRU hits with", page)
        self.assertGreater(learned["2000"], rows["2000"]["lru_hits_at_twice"])
        self.assertIn(f"{more['5000']} more at 5,000 and {more['10000']} more at 10,000.", page)
        half, synthetic, whole = (one["hits"] for one in trace_result("research")["judged"])
        gains = [f"{100 * synthetic['return-density'][at] / lru - 100:.0f}" for at, lru in synthetic["lru"].items()]
        self.assertEqual(gains, ["5", "8", "8", "8", "4", "0"])
        self.assertIn("8% more than LRU at each of the three, 5% more at 1,000, 4% more at 20,000, and the same", page)

    def test_no_policy_is_best_everywhere(self) -> None:
        """Where others are ahead of return-density, and where they are below LRU, as the paragraph lists them."""
        half, synthetic, whole = (one["hits"] for one in trace_result("research")["judged"])

        def ahead(hits: dict[str, dict[str, int]], of: str) -> dict[str, list[str]]:
            chosen = ("hyperbolic", "ttl", "aged-lfu", "lru-2", "2q", "gdsf", "t-lru", "lru", "lfu", "slru", "coin")
            found = {name: [at for at in hits[of] if hits[name][at] > hits[of][at]] for name in chosen if name in hits}
            return {name: where for name, where in found.items() if where}

        first = {"ttl": ["1000", "10000"], "hyperbolic": ["1000", "10000"], "aged-lfu": ["1000"], "lru-2": ["2000"]}
        self.assertEqual(ahead(half, "return-density"), first)
        second = {"gdsf": ["1000", "2000"], "2q": ["1000"], "lru-2": ["1000"], "aged-lfu": ["1000"]}
        self.assertEqual(ahead(synthetic, "return-density"), second)
        for hits in (half, synthetic, whole):
            self.assertNotIn("lru", ahead(hits, "return-density"))
        for hits, name, places in (
            (synthetic, "ttl", {"2000", "5000"}), (synthetic, "hyperbolic", {"2000"}),
            (synthetic, "aged-lfu", {"2000"}), (half, "gdsf", {"5000"}), (half, "lru-2", {"20000"}),
        ):  # fmt: skip
            self.assertLessEqual(places, set(ahead({"lru": hits["lru"], name: hits[name]}, name)["lru"]))


class Preregistration(unittest.TestCase):
    """The keys of PREREG.md lead to values that decide its predictions as it says."""

    def test_keys(self) -> None:
        page = text("PREREG.md")
        results = committed()
        keys = re.findall(r"`((?:\w+\.)+measured(?:\.\w+)*)`", page)
        self.assertGreaterEqual(len(keys), 9)
        for key in keys:
            value(results, key)
        rows = [line for line in page.splitlines() if line.startswith(("| P", "| 1."))]
        self.assertEqual(len(rows), 3)
        costs, exceeds, free = (re.findall(r"`((?:\w+\.)+\w+)`", row) for row in rows)
        verdicts = results["preregistration"]
        for found, one in ((costs, verdicts["P1"]), (free, verdicts["falsifier_1"])):
            self.assertEqual({key.replace(".measured.", ".", 1) for key in found}, set(one["decided_by"]))
            self.assertEqual({value(results, key) for key in found}, {0})
        self.assertEqual(value(results, exceeds[1]), 0)
        self.assertEqual(rows[1].split("|")[3].strip(), "in general no; at K = 4 and 6 requests yes")
        places = {where: one["tree"] for where, one in verdicts["P2"]["at_the_bounds"].items()}
        self.assertEqual({place for where, place in places.items() if "K = 4" not in where}, {"below"})
        self.assertEqual({place for where, place in places.items() if "K = 4" in where}, {"above"})
        self.assertIn(str(results["tie_audit"]["measured"]["loses"]), page)
        first = " ".join(page.split("\n\n")[1].split())
        self.assertIn("as the study itself reports it", first)


if __name__ == "__main__":
    unittest.main()

"""Strips of schedules: what is shown is what the plain model does."""

from __future__ import annotations

import random
import unittest
import xml.etree.ElementTree as ET
from typing import Any

from src.claims.picture import RULES, beside_optimum, first_loss, optimum_title, rule_picture, strip_of, tree_of
from src.claims.schedule import lru_schedule, optimum_schedule, policy_schedule
from src.page.strips import seen, strips_text
from src.policies.scores import make_policy
from src.radixcache import Optimum, Rule, Trie, as_set, members, serve_lru
from src.walks.belady import belady
from tests.helpers import REPOSITORY, STUDY, random_sequence


class Strips(unittest.TestCase):
    def test_the_text_is_what_the_model_does(self) -> None:
        """The text is read back and held against the model's steps alone."""
        rng = random.Random(4)
        for _ in range(60):
            capacity, sequence = rng.randint(1, 4), random_sequence(rng, STUDY, 6)
            with self.subTest(capacity=capacity, sequence=sequence):
                for rule in Rule:
                    strip = strip_of("s", lru_schedule(STUDY, capacity, sequence, rule))
                    self.check_text(sequence, strip, serve_lru(STUDY, capacity, sequence, rule))
                strip = strip_of("s", optimum_schedule(STUDY, capacity, sequence, Optimum.BYPASS))
                self.check_text(sequence, strip, belady(STUDY, capacity, sequence, Optimum.BYPASS))

    def check_text(self, sequence: Any, strip: Any, run: Any) -> None:
        lines = strips_text(tree_of(STUDY), [strip], columns=10**6).splitlines()
        self.assertEqual(lines[0].split(": ")[1].split()[0], str(run.misses))
        starts = [at for at in range(len(lines[1])) if at and lines[1][at - 1] == " " != lines[1][at]]
        rows = [[line[a:b].strip() for a, b in zip([0, *starts], [*starts, None])] for line in lines[1:]]
        table = {row[0]: row[1:] for row in rows[: rows.index([""] * len(rows[0]))]}
        self.assertEqual(table.pop("request"), list(sequence))
        self.assertEqual(table.pop("misses"), [str(step.misses) for step in run.steps])
        evicted = [", ".join(STUDY.label(one.victim) for one in step.evictions) or "." for step in run.steps]
        shown = [", ".join(one.split()[0] for one in cell.split(", ")) for cell in table.pop("evicted")]
        self.assertEqual(shown, evicted)
        used = as_set(block for string in sequence for block in STUDY.path(string))
        self.assertEqual(set(table), set(STUDY.labels(used)))
        last: dict[int, int] = {}
        held = 0
        for now, (string, step) in enumerate(zip(sequence, run.steps)):
            path = as_set(STUDY.path(string))
            victims = as_set(one.victim for one in step.evictions)
            last.update(dict.fromkeys(members(path), now))
            for block in members(used):
                word = ("hit" if held >> block & 1 else "miss") if path >> block & 1 else ""
                if (held | path) & ~step.cached & 1 << block:
                    word += ", " * bool(word) + f"{'out' if victims >> block & 1 else 'dragged'} {now - last[block]}"
                elif not word:
                    word = str(now - last[block]) if step.cached >> block & 1 else "."
                self.assertEqual(table[STUDY.label(block)][now], word)
            held = step.cached

    def test_the_tail_that_does_not_fit(self) -> None:
        trie = Trie(("abc",))
        strip = strip_of("s", policy_schedule(trie, 2, ("abc",), make_policy("lru")))
        self.assertEqual([seen(strip.frames[0], block).word for block in range(3)], ["miss", "miss", "miss, not kept"])

    def test_names(self) -> None:
        trie = Trie(("a\n", "a"))
        schedule = lru_schedule(trie, 2, ("a\n", "a"), Rule.DEEP)
        self.assertEqual(tree_of(trie).labels, ["a", "a\\n"])
        self.assertEqual([frame.request for frame in strip_of("s", schedule).frames], ["a\\n", "a"])
        self.assertEqual([frame.request for frame in strip_of("s", schedule, "", ["x", "y"]).frames], ["x", "y"])

    def test_beside_the_optimum(self) -> None:
        schedule = lru_schedule(STUDY, 2, ("00", "10", "00"), Rule.LEAF_ONLY)
        text = beside_optimum("mine", schedule, 2, Optimum.BYPASS)
        self.assertIn("mine: 6 misses", text)
        self.assertIn(f"{optimum_title(Optimum.BYPASS)}: 4 misses", text)


class Rules(unittest.TestCase):
    def test_the_sequence_is_a_smallest_one(self) -> None:
        capacity, sequence = first_loss(STUDY)
        self.assertEqual((capacity, sequence), (2, ("00", "1", "0")))
        for shorter in [(one, other) for one in STUDY.strings for other in STUDY.strings]:
            plain, naive = (serve_lru(STUDY, 2, shorter, rule).misses for rule in (Rule.LEAF_ONLY, Rule.SHALLOW))
            self.assertEqual(naive, plain)

    def test_what_the_captions_say(self) -> None:
        trie = Trie(("00", "1", "0"))
        first, second, third = (lru_schedule(trie, 2, trie.strings, rule) for rule in RULES.values())
        self.assertEqual(first, second)  # "step by step it does the same"
        self.assertEqual((first.misses, third.misses), (3, 4))
        self.assertEqual([trie.label(gone.victim) for gone in first.frames[1].evictions], ["00"])
        (gone,) = third.frames[1].evictions  # "two where one is enough"
        self.assertEqual((trie.label(gone.victim), trie.labels(gone.dragged)), ("0", ["00"]))
        before = third.frames[0].last_access
        self.assertEqual(before[gone.victim], before[trie.path("00")[1]])  # "equally old"

    def test_committed(self) -> None:
        text = rule_picture()
        self.assertEqual(text, (REPOSITORY / "results" / "rule.svg").read_text(encoding="utf-8"))
        svg = "{http://www.w3.org/2000/svg}"
        root = ET.fromstring(text)
        self.assertEqual(root.findtext(svg + "title"), root.findtext(svg + "text"))  # nothing is cut
        self.assertNotIn("…", text)
        sums = [one.text for one in root.iter(svg + "text") if one.get("class") == "sum"]
        self.assertEqual(sums, ["3", "3", "4"])


if __name__ == "__main__":
    unittest.main()

"""Strips: each block's fate is shown, in text and in the drawing, and everything has its place."""

from __future__ import annotations

import random
import re
import unittest
import xml.etree.ElementTree as ET

from src.page.strips import (
    COLUMNS,
    WIDTH,
    Frame,
    Seen,
    Strip,
    Tree,
    depths,
    seen,
    shown_blocks,
    strips_svg,
    strips_text,
)
from src.page.svg import text_width

SVG = "{http://www.w3.org/2000/svg}"
TREE = Tree(["a", "ab", "c", "unused", "ac"], [-1, 0, -1, -1, 0])
FRAMES = [
    Frame("ab", (), (0, 1), (), {0: 0, 1: 0}),
    Frame("c", (), (2,), ((0, (1,)),), {0: 1, 1: 1, 2: 0}),
    Frame("c", (2,), (), (), {2: 0}),
    Frame("ac", (), (0, 4), ((4, ()), (2, ())), {0: 0, 4: 0, 2: 1}),
    Frame("ac", (0,), (4,), (), {0: 0}),
]

TEXT = """\
one: 6 misses
request  ab    c          c    ac           ac
a        miss  out 1      .    miss         hit
  ab     miss  dragged 1  .    .            .
  ac     .     .          .    miss, out 0  miss, not kept
c        .     miss       hit  out 1        .
misses   2     1          0    2            1
evicted  .     a with ab  .    ac, c        .

hit, miss: used now.  Number: age in requests.  out: evicted.  dragged: with it.  Dot: not cached.
"""


def random_strips(seed: int) -> tuple[Tree, list[Strip]]:
    """Return a random tree and strips of frames whose blocks are in random states."""
    rng = random.Random(seed)
    count = rng.randint(1, 9)
    parents = [rng.randint(-1, block - 1) for block in range(count)]
    tree = Tree(["".join(rng.choice("wi0世") for _ in range(rng.randint(1, 30))) for _ in range(count)], parents)
    strips = []
    for _ in range(rng.randint(1, 3)):
        frames = []
        for _ in range(rng.randint(1, 9)):
            path, block = [], rng.randrange(count)
            while block >= 0:
                path.insert(0, block)
                block = parents[block]
            hits = rng.randint(0, len(path))
            gone = [(block, ()) for block in range(count) if rng.random() < 0.3]
            ages = {block: rng.randint(0, 9) for block in range(count)}
            frames.append(Frame("r" * rng.randint(1, 40), path[:hits], path[hits:], gone, ages))
        strips.append(Strip("a title", frames, "a note " * rng.randint(0, 30)))
    return tree, strips


class Text(unittest.TestCase):
    def test_verbatim(self) -> None:
        self.assertEqual(strips_text(TREE, [Strip("one", FRAMES)]), TEXT)

    def test_long_sequences_wrap(self) -> None:
        text = strips_text(TREE, [Strip("one", FRAMES * 6)])
        parts = text.split("\n\n")[:-1]
        self.assertGreater(len(parts), 2)
        requests = [part.split("request", 1)[1].splitlines()[0].split() for part in parts]
        self.assertEqual(sum(requests, []), [frame.request for frame in FRAMES] * 6)
        self.assertLessEqual(max(map(len, text.splitlines())), COLUMNS)
        whole = strips_text(TREE, [Strip("one", FRAMES)])
        widest = max(map(len, whole.splitlines()[:-1]))
        self.assertEqual(strips_text(TREE, [Strip("one", FRAMES)], columns=widest), whole)
        self.assertEqual(strips_text(TREE, [Strip("one", FRAMES)], columns=widest - 1).count("request "), 2)
        narrow = strips_text(TREE, [Strip("one", FRAMES)], columns=1)  # at least one frame in a line
        self.assertEqual(narrow.count("request "), len(FRAMES))

    def test_long_names_and_many_victims(self) -> None:
        tree = Tree(["x" * length for length in range(1, 61)], range(-1, 59))
        frame = Frame("x" * 60, (), range(60), [(block, ()) for block in range(59, 1, -1)], dict.fromkeys(range(60), 0))
        text = strips_text(tree, [Strip("one", [frame, frame])])
        self.assertLessEqual(max(map(len, text.splitlines())), COLUMNS)
        self.assertIn("58 blocks", text)

    def test_wide_signs_take_two_columns(self) -> None:
        frame = Frame("世界", (), (0,), (), {0: 0})
        lines = strips_text(Tree(["世界"], [-1]), [Strip("one", [frame, frame])]).splitlines()
        self.assertEqual(lines[1:3], ["request  世界  世界", "世界     miss  miss"])

    def test_notes_and_one_miss(self) -> None:
        text = strips_text(TREE, [Strip("one", [Frame("c", (), (2,), (), {2: 0})], "a note")])
        self.assertEqual(text.splitlines()[:2], ["one: 1 miss", "a note"])


class Blocks(unittest.TestCase):
    def test_seen(self) -> None:
        self.assertEqual(seen(FRAMES[1], 1), Seen("gone", "dragged", 1))
        self.assertEqual(seen(FRAMES[2], 1), Seen("absent", "", None))
        self.assertEqual(seen(FRAMES[3], 4), Seen("gone", "miss, out", 0))
        self.assertEqual(seen(FRAMES[4], 4), Seen("gone", "miss, not kept", None))
        self.assertEqual(seen(Frame("a", (), (0,), (), {0: 0, 2: 3}), 2), Seen("cached", "", 3))

    def test_order(self) -> None:
        self.assertEqual(shown_blocks(TREE, [Strip("", FRAMES)]), [0, 1, 4, 2])
        self.assertEqual(depths(TREE), [0, 1, 0, 0, 1])


class Drawing(unittest.TestCase):
    def boxes(self, group: ET.Element, name: str) -> list[tuple[int, int, int, int]]:
        """Return the edges (left, top, right, bottom) of the boxes of a class."""
        found = [one for one in group.iter(SVG + "rect") if name in (one.get("class") or "").split()]
        sizes = [tuple(int(one.get(key, "")) for key in ("x", "y", "width", "height")) for one in found]
        return [(x, y, x + width, y + height) for x, y, width, height in sizes]

    def test_everything_has_its_place(self) -> None:
        for seed in range(40):
            tree, strips = random_strips(seed)
            with self.subTest(seed=seed):
                root = ET.fromstring(strips_svg("title", "lead", tree, strips))
                width, height = int(root.get("width", "")), int(root.get("height", ""))
                self.assertGreaterEqual(width, WIDTH)
                frames = self.boxes(root, "grid")
                self.assertEqual(len(frames), sum(len(strip.frames) for strip in strips))
                self.assert_apart(frames, (0, 0, width, height))
                for group in (one for one in root.iter(SVG + "g") if one.get("class") == "frame"):
                    (frame,) = self.boxes(group, "grid")
                    self.assert_apart(self.boxes(group, "box"), frame)
                for text in root.iter(SVG + "text"):
                    x, y, long = float(text.get("x", "")), int(text.get("y", "")), text_width(text.text or "")
                    left = x - long / 2 if text.get("text-anchor") else x
                    self.assertTrue(left >= 0 and 0 < y < height, text.text)
                    if text.get("class") != "head":
                        self.assertLess(left + long * 9 / 10, width, text.text)

    def test_a_wide_trie_makes_the_drawing_wider(self) -> None:
        tree = Tree([str(block) for block in range(15)], [-1] * 15)
        frames = [Frame(str(block), (), (block,), (), {block: 0}) for block in range(15)]
        root = ET.fromstring(strips_svg("", "", tree, [Strip("one", frames)]))
        self.assertGreater(int(root.get("width", "")), WIDTH)
        self.assert_apart(self.boxes(root, "grid"), (0, 0, int(root.get("width", "")), int(root.get("height", ""))))

    def assert_apart(self, boxes: list[tuple[int, int, int, int]], around: tuple[int, int, int, int]) -> None:
        """Fail unless the boxes are inside another one and no two overlap."""
        for at, one in enumerate(boxes):
            self.assertTrue(around[0] < one[0] and around[1] < one[1] and one[2] < around[2] and one[3] < around[3])
            for other in boxes[:at]:
                self.assertTrue(
                    one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1], (one, other)
                )

    def test_what_a_frame_says(self) -> None:
        root = ET.fromstring(strips_svg("t < u", "a lead", TREE, [Strip("one", FRAMES, "a note")]))
        texts = [one.text for one in root.iter(SVG + "text")]
        self.assertEqual(texts[:4], ["t < u", "a lead", "one", "a note"])
        frames = [one for one in root.iter(SVG + "g") if one.get("class") == "frame"]
        second = [one.text for one in frames[1].iter(SVG + "text")]
        self.assertEqual(second[0], "request 2: c")
        self.assertEqual(second[1:7], ["a", "out", "age 1", "ab", "dragged", "age 1"])
        self.assertEqual(second[-1], "1 miss; out: a with ab")
        looks = [(one.get("class") or "").split()[1] for one in frames[1] if one.tag == SVG + "g"]
        self.assertEqual(looks, ["c2", "c2", "faint", "c1"])
        self.assertEqual(texts[-3:-1], ["6", "misses"])
        description = root.findtext(SVG + "desc") or ""
        self.assertIn("one, 6 misses in all: request ab: 2 misses; request c: 1 miss; out: a with ab;", description)

    def test_two_lines_where_one_is_too_short(self) -> None:
        tree = Tree([letter * 9 for letter in "abc"], [-1, -1, -1])
        frame = Frame("a", (), (0,), ((1, ()), (2, ())), {0: 0, 1: 1, 2: 2})
        root = ET.fromstring(strips_svg("", "", tree, [Strip("", [frame] * 2)]))
        texts = [one.text for one in root.iter(SVG + "text")]
        self.assertIn("1 miss", texts)
        self.assertIn("out: bbbbbbbbb, ccccccccc", texts)

    def test_light_and_dark(self) -> None:
        text = strips_svg("", "", TREE, [Strip("one", FRAMES)])
        self.assertEqual(text.count("@media (prefers-color-scheme:dark)"), 2)
        self.assertNotRegex(text, "https?://(?!www.w3.org/2000/svg)")
        used = set(re.findall(r'class="([^"]*)"', text))
        for name in {part for one in used for part in one.split()} - {"frame", "block", "total"}:
            self.assertIn(f".{name}{{", text, name)


if __name__ == "__main__":
    unittest.main()

"""The figures: what a reader sees is all there, where it belongs, and told in more than one way."""

from __future__ import annotations

import functools
import hashlib
import os
import random
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ET
from fractions import Fraction
from typing import Callable

from src.page import chart as chart_module
from src.page import svg
from src.page.chart import Number, Series, chart
from tests.helpers import REPOSITORY

ROOT = REPOSITORY
SVG = "{http://www.w3.org/2000/svg}"


def ratio_series() -> list[Series]:
    """The first use: ratio against length for three capacities, with published points, limits and bounds."""
    series = []
    published = {2: (8, Fraction(7, 4)), 3: (7, Fraction(5, 3)), 4: (6, Fraction(7, 5))}
    for capacity, limit in ((2, 2), (3, 3), (4, 3)):
        name = f"K = {capacity}"
        ratios = [(length, 1 + Fraction((limit - 1) * (length - 1), length + capacity)) for length in range(1, 17)]
        series += [
            Series(name, ratios, "line", "worst ratio"),
            Series(name, [published[capacity]], "rings", "published"),
            Series(name, [(1, limit), (16, limit)], "dashed", "limit for all lengths"),
            Series(name, [(1, capacity + 1), (16, capacity + 1)], "dotted", "theorem's bound"),
        ]
    return series


@functools.lru_cache(None)
def ratio_chart() -> str:
    return chart("Worst ratio", "length (requests)", "ratio", ratio_series())


@functools.lru_cache(None)
def hit_rate_chart() -> str:
    """The second use: a curve of many steps, two optimum curves, and the other policies as points."""
    curve = [(capacity, Fraction(capacity, 200_000 + 2 * capacity)) for capacity in range(100, 200_001, 11)]
    ladder = (100, 1_000, 10_000, 100_000)
    series = [Series("lru", curve, "steps")]
    series += [Series(name, [(x, 0.1 + x / 400_000) for x in ladder], "line") for name in ("bypass", "locked")]
    for rank, name in enumerate(("lfu", "slru", "priority", "fifo", "mru", "filo")):
        series.append(Series(name, [(x, Fraction(x, 300_000 + 50_000 * rank)) for x in ladder], "points"))
    return chart("Hit rate", "capacity (blocks)", "hit rate", series, x_log=True, y_percent=True)


def digest() -> str:
    return hashlib.sha256((ratio_chart() + hit_rate_chart()).encode()).hexdigest()


class Drawn:
    """A chart read back: its plot, its groups and the places of their marks."""

    def __init__(self, text: str) -> None:
        self.root = ET.fromstring(text)
        plot = next(one for one in self.root.iter(SVG + "rect") if "plot" in one.get("class", ""))
        x, y, width, height = (float(plot.get(key, "")) for key in ("x", "y", "width", "height"))
        self.left, self.top, self.right, self.bottom = x, y, x + width, y + height
        self.width, self.height = (float(self.root.get(key, "")) for key in ("width", "height"))

    def groups(self, kind: str) -> list[ET.Element]:
        return [group for group in self.root.iter(SVG + "g") if group.get("class", "").split()[0] == kind]

    def series(self, label: str) -> ET.Element:
        return next(group for group in self.groups("series") if group.findtext(SVG + "title") == label)

    def texts(self) -> list[str]:
        return ["".join(one.itertext()) for one in self.root.iter(SVG + "text")]

    def x_ticks(self) -> list[str]:
        below = [one for one in self.root.iter(SVG + "text") if one.get("y") == f"{self.bottom + 18:g}"]
        return [one.text or "" for one in below]

    def y_ticks(self) -> list[str]:
        return [one.text or "" for one in self.root.iter(SVG + "text") if one.get("text-anchor") == "end"]


def curve_points(group: ET.Element) -> list[tuple[float, float]]:
    """Return the corners of a group's curve."""
    path = next(one for one in group.iter(SVG + "path") if one.get("class") == "curve")
    x = y = 0.0
    corners = []
    for command, numbers in re.findall(r"([MLHV])([-\d. ]+)", path.get("d", "")):
        values = [float(number) for number in numbers.split()]
        x, y = {"H": (values[0], y), "V": (x, values[0])}.get(command) or (values[0], values[1])
        if command != "H":
            corners.append((x, y))
    return corners


def mark_points(group: ET.Element) -> list[tuple[float, float]]:
    """Return the centres of a group's markers."""
    paths = [one for one in group.iter(SVG + "path") if one.get("class") in ("mark", "hollow")]
    found = [point for path in paths for point in re.findall(r"M([-\d.]+) ([-\d.]+)", path.get("d", ""))]
    return [(float(x), float(y)) for x, y in found]


def reach(outline: str) -> float:
    """Return how far an outline gets from its centre, in x or in y."""
    x = y = 0.0
    extremes = []
    for command, text in re.findall(r"([mlhvaz])([^mlhvaz]*)", outline):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", text)]
        if command == "a":  # half a circle: as far above and below as it is from its own middle
            extremes += [abs(y) + numbers[0]]
            numbers = numbers[5:]
        pairs = {"h": [(n, 0.0) for n in numbers], "v": [(0.0, n) for n in numbers]}.get(command)
        for dx, dy in pairs or list(zip(numbers[::2], numbers[1::2])):
            x, y = x + dx, y + dy
            extremes += [abs(x), abs(y)]
    return max(extremes)


def random_numbers(rng: random.Random) -> Callable[[], Number]:
    """Return a source of positive numbers of one kind."""
    scale = 10.0 ** rng.randrange(-30, 30)
    sources: list[Callable[[], Number]] = [
        lambda: rng.randrange(1, 50),
        lambda: Fraction(rng.randrange(1, 99), rng.randrange(1, 99)),
        lambda: rng.random() * scale + 1e-40,
        lambda: 10 ** rng.randrange(40),
    ]
    return rng.choice(sources)


class DocumentTest(unittest.TestCase):
    """The document as a document."""

    def test_well_formed_scalable_accessible_and_self_contained(self) -> None:
        for text in (ratio_chart(), hit_rate_chart()):
            root = ET.fromstring(text)
            self.assertTrue(text.endswith("</svg>\n"))
            self.assertEqual(root.tag, SVG + "svg")
            self.assertEqual(root.get("role"), "img")
            self.assertEqual(root.get("viewBox"), f"0 0 {root.get('width')} {root.get('height')}")
            self.assertEqual([child.tag for child in root][:2], [SVG + "title", SVG + "desc"])
            text = text.replace("http://www.w3.org/2000/svg", "")
            self.assertIsNone(re.search(r"http|url\(|href|@import|<script|\bon\w+=", text))
            self.assertIn("prefers-color-scheme:dark", text)

    def test_description_tells_what_is_drawn(self) -> None:
        description = ET.fromstring(ratio_chart()).findtext(SVG + "desc") or ""
        start = "ratio against length (requests). K = 2, worst ratio: (1, 1) to (16, 1.833); "
        self.assertEqual(description[: len(start)], start)
        self.assertIn("K = 3, published: (7, 1.667);", description)
        description = ET.fromstring(hit_rate_chart()).findtext(SVG + "desc") or ""
        self.assertIn(" lru: (100, 0.04995%) to (200k, 33.33%); bypass: (100, 10.03%) to (100k, 35%);", description)

    def test_texts_are_escaped(self) -> None:
        nasty = "a<b>&\"c\"]]>'d'<script>"
        text = chart(nasty, nasty, nasty, [Series(nasty, [(1, 1)], "points", "<kind>&")])
        drawn = Drawn(text)
        self.assertEqual(drawn.texts().count(nasty), 4)  # title, two axes, legend
        self.assertIn("<kind>&", drawn.texts())
        self.assertNotIn("<script", text)

    def test_what_xml_cannot_hold_is_replaced(self) -> None:
        name = "a\x00b\x1bc\udcffd\ufffee\U0001f600"
        text = chart("t", "x", "y", [Series(name, [(1, 1)])])
        text.encode("utf-8")
        self.assertIn("a\ufffdb\ufffdc\ufffdd\ufffde\U0001f600", Drawn(text).texts())

    def test_long_texts_keep_their_ends_and_stay_inside(self) -> None:
        long = "start " + "m" * 5000 + " end"
        drawn = Drawn(chart(long, long, long, [Series(long, [(1, 1)])]))
        self.assertLess(max(map(len, drawn.texts())), 150)
        for text in drawn.texts():
            self.assertTrue(len(text) < 5 or (text.startswith("start ") and text.endswith(" end") and "…" in text))
        self.assertEqual(drawn.root.findtext(SVG + "title"), long)
        self.assertGreaterEqual(drawn.right - drawn.left, chart_module.LEAST_WIDTH)

    def test_same_bytes_on_every_run_and_hash_seed(self) -> None:
        code = "from tests.page.test_chart import *; print(digest())"
        environment = {**os.environ, "PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0"}
        found = {digest(), subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True,
                                          capture_output=True, text=True).stdout.strip()}
        self.assertEqual(len(found), 1)
        # One digest for all interpreters; after a wanted change of the drawing, look at the picture and replace it.
        self.assertEqual(found.pop(), "ef969ed868e95e36c89c9bdd928a25b6ab620740bd71c08cbcccdf6a11a7c0d0")

    def test_numbers_may_be_of_any_kind(self) -> None:
        shares = [(Fraction(1, 2), Fraction(1, 4)), (Fraction(2), Fraction(3, 4))]
        floats = [(float(x), float(y)) for x, y in shares]
        self.assertEqual(chart("t", "x", "y", [Series("a", shares)]), chart("t", "x", "y", [Series("a", floats)]))
        whole = chart("t", "x", "y", [Series("a", [(1, 1), (9, 9)])])
        self.assertEqual(whole, chart("t", "x", "y", [Series("a", [(Fraction(1), 1.0), (9.0, Fraction(9))])]))


class ColorTest(unittest.TestCase):
    """Readable without colours."""

    def test_names_differ_without_color(self) -> None:
        self.assertEqual(len(set(chart_module.MARKERS)), len(chart_module.MARKERS))
        count = len(svg.COLORS) * len(chart_module.MARKERS)
        points = Drawn(chart("t", "x", "y", [Series(f"n{at}", [(at, at)], "points") for at in range(count)]))
        seen = set()
        for group in points.groups("legend"):
            path = group.find(SVG + "path")
            assert path is not None
            seen.add((group.get("class"), re.sub(r"^M\S+ [\d.]+", "", path.get("d", ""))))
        self.assertEqual(len(seen), count)
        curve = [(x, x * x % 97) for x in range(400)]
        dense = Drawn(chart("t", "x", "y", [Series(f"n{at}", curve, "line") for at in range(4)]))
        curves = [path for path in dense.root.iter(SVG + "path") if path.get("class") == "curve"]
        self.assertEqual(len({path.get("stroke-dasharray") for path in curves}), 4)


class PlaceTest(unittest.TestCase):
    """Every mark at its place, and inside the plot."""

    def check_inside(self, text: str) -> None:
        drawn = Drawn(text)
        groups = drawn.groups("series")
        for group in groups:
            curves = [one for one in group.iter(SVG + "path") if one.get("class") == "curve"]
            points = mark_points(group) + [point for _ in curves for point in curve_points(group)]
            self.assertTrue(points)
            for x, y in points:
                self.assertTrue(drawn.left + 9.9 <= x <= drawn.right - 9.9, (x, drawn.left, drawn.right))
                self.assertTrue(drawn.top + 9.9 <= y <= drawn.bottom - 9.9, (y, drawn.top, drawn.bottom))
        for group in drawn.groups("legend"):
            text_element = group.find(SVG + "text")
            assert text_element is not None
            start, y = float(text_element.get("x", "")), float(text_element.get("y", ""))
            self.assertGreater(start - 8 - chart_module.SAMPLE, drawn.right)
            self.assertLess(start + svg.text_width(text_element.text or ""), drawn.width)
            self.assertTrue(drawn.top < y < drawn.bottom)

    def test_inside(self) -> None:
        self.assertLess(max(map(reach, chart_module.MARKERS)), 5)
        self.assertEqual(reach(chart_module.RING), 7.5)
        self.check_inside(ratio_chart())
        self.check_inside(hit_rate_chart())

    def test_random_charts_are_well_formed_and_inside(self) -> None:
        for seed in range(50):
            rng = random.Random(seed)
            log = rng.random() < 0.5
            number = random_numbers(rng)
            sign = 1 if log or rng.random() < 0.5 else -1
            series = [
                Series(
                    f"name {rng.randrange(6)}",
                    [(sign * number(), rng.choice((1, -1)) * number()) for _ in range(rng.choice((1, 2, 9, 90)))],
                    rng.choice(list(chart_module.LAYERS)),
                    rng.choice(("", "kind", "other")),
                )
                for _ in range(rng.randrange(1, 12))
            ]
            with self.subTest(seed=seed, log=log, series=series):
                text = chart("t", "x", "y", series, x_log=log, y_percent=rng.random() < 0.3)
                self.check_inside(text)
                self.assertEqual(len(Drawn(text).groups("series")), len(series))
                self.assertTrue(Drawn(text).x_ticks())

    def test_linear_places_are_proportional(self) -> None:
        parts = [Fraction(part, 23) for part in range(24)]
        drawn = Drawn(chart("t", "x", "y", [Series("a", [(part, part * part) for part in parts])]))
        points = mark_points(drawn.series("a"))
        (x0, y0), (x1, y1) = points[0], points[-1]
        self.assertEqual((x0, y0, x1, y1), (drawn.left + 10, drawn.bottom - 10, drawn.right - 10, drawn.top + 10))
        for (x, y), part in zip(points, map(float, parts)):
            self.assertLessEqual(abs(x - (x0 + part * (x1 - x0))), 0.0501)
            self.assertLessEqual(abs(y - (y0 + part * part * (y1 - y0))), 0.0501)
        self.assertEqual(curve_points(drawn.series("a")), points)

    def test_log_places_are_even_by_decades(self) -> None:
        series = [Series("a", [(10**power, power) for power in range(2, 7)], "points")]
        drawn = Drawn(chart("t", "x", "y", series, x_log=True))
        xs = [x for x, _ in mark_points(drawn.series("a"))]
        for left, right in zip(xs, xs[1:]):
            self.assertLessEqual(abs(right - left - (xs[-1] - xs[0]) / 4), 0.11)

    def test_higher_is_more(self) -> None:
        (_, low), (_, high) = mark_points(Drawn(chart("t", "x", "y", [Series("a", [(1, 1), (2, 9)])])).series("a"))
        self.assertGreater(low, high)


class TickTest(unittest.TestCase):
    """Round numbers on the axes."""

    def linear(self, low: Number, high: Number, percent: bool = False) -> tuple[list[str], list[str]]:
        drawn = Drawn(chart("t", "x", "y", [Series("a", [(low, low), (high, high)])], y_percent=percent))
        return drawn.x_ticks(), drawn.y_ticks()

    def test_linear(self) -> None:
        x, y = self.linear(1, 16)
        self.assertEqual((x, y), ([str(n) for n in range(2, 17, 2)], ["5", "10", "15"]))
        self.assertEqual(self.linear(0, 1.0)[1], ["0", "0.2", "0.4", "0.6", "0.8", "1"])
        self.assertEqual(self.linear(-30, 30)[1], ["\u221230", "\u221220", "\u221210", "0", "10", "20", "30"])
        self.assertEqual(self.linear(0, 2_000_000)[1], ["0", "500k", "1M", "1.5M", "2M"])
        self.assertEqual(self.linear(0, 0.0004)[1], ["0", "0.0001", "0.0002", "0.0003", "0.0004"])
        self.assertEqual(self.linear(0, 4e15)[1], ["0", "1e+15", "2e+15", "3e+15", "4e+15"])

    def test_whole_numbers_have_whole_ticks(self) -> None:
        self.assertEqual(self.linear(1, 3), (["1", "2", "3"], ["1", "2", "3"]))

    def test_percent_starts_at_zero(self) -> None:
        self.assertEqual(self.linear(0.12, 0.38, True)[1], ["0%", "10%", "20%", "30%"])
        self.assertEqual(self.linear(0, 1, True)[1], ["0%", "20%", "40%", "60%", "80%", "100%"])
        self.assertEqual(self.linear(0, 0, True)[1], ["0%", "20%", "40%", "60%", "80%", "100%"])

    def test_steps_are_one_two_or_five(self) -> None:
        rng = random.Random(5)
        for _ in range(200):
            low, span = rng.randrange(-1000, 1000), Fraction(rng.randrange(1, 10**6), rng.randrange(1, 1000))
            most = rng.randrange(3, 20)
            axis = chart_module._axis(low, low + span, most)
            steps = {right - left for left, right in zip(axis.ticks, axis.ticks[1:])}
            self.assertTrue(1 <= len(axis.ticks) <= most + 1 and len(steps) <= 1, (low, span, most, axis.ticks))
            self.assertTrue(all(axis.low <= tick <= axis.high for tick in axis.ticks), (low, span, most))
            for step in steps:
                self.assertRegex(f"{float(step):e}", r"^[125]\.0+e", (low, span, most))
                self.assertEqual(axis.ticks[0] % step, 0)

    def log(self, low: Number, high: Number) -> list[str]:
        return Drawn(chart("t", "x", "y", [Series("a", [(low, 1), (high, 2)])], x_log=True)).x_ticks()

    def test_log(self) -> None:
        self.assertEqual(self.log(100, 100_000), ["100", "200", "500", "1k", "2k", "5k", "10k", "20k", "50k", "100k"])
        self.assertEqual(self.log(1, 10**7), ["1", "10", "100", "1k", "10k", "100k", "1M", "10M"])
        self.assertEqual(self.log(99, 1001), ["100", "200", "500", "1k"])
        self.assertEqual(self.log(Fraction(1, 10), 1.0), ["0.1", "0.2", "0.5", "1"])
        self.assertEqual(self.log(3000, 4500), ["3k", "3.2k", "3.4k", "3.6k", "3.8k", "4k", "4.2k", "4.4k"])
        self.assertEqual(self.log(Fraction(3, 2), Fraction(9, 2)), ["1.5", "2", "2.5", "3", "3.5", "4", "4.5"])
        self.assertLessEqual(len(self.log(1, 10**60)), 13)

    def test_labels_do_not_run_into_each_other(self) -> None:
        for low, high in ((1_000_000, 1_000_011), (0.00001234, 0.00001239), (1, 10**14), (10**9, 10**9 + 1)):
            for log in (False, True):
                text = chart("t", "x", "y", [Series("a", [(low, 1), (high, 2)])], x_log=log)
                below = [one for one in ET.fromstring(text).iter(SVG + "text") if one.get("y") == "384"]
                ends = [(float(one.get("x", "")), svg.text_width(one.text or "") / 2) for one in below]
                self.assertGreater(len(ends), 0)
                for (left, half), (right, other) in zip(ends, ends[1:]):
                    self.assertLess(left + half, right - other, (low, high, log))


class MarkTest(unittest.TestCase):
    """What is drawn for each series, and what the legend says of it."""

    def test_ratio_chart(self) -> None:
        drawn = Drawn(ratio_chart())
        self.assertEqual(len(drawn.groups("series")), 12)
        legend = [group.findtext(SVG + "text") for group in drawn.groups("legend")]
        kinds = ["worst ratio", "published", "limit for all lengths", "theorem's bound"]
        self.assertEqual(legend, ["K = 2", "K = 3", "K = 4", *kinds])
        for at in range(3):
            group = drawn.series(f"K = {at + 2}, worst ratio")
            self.assertEqual((len(mark_points(group)), len(curve_points(group))), (16, 16))
            ring = drawn.series(f"K = {at + 2}, published")
            self.assertEqual(len(mark_points(ring)), 1)
            colors = {one.get("class") for one in drawn.groups("series") if f"K = {at + 2}" in "".join(one.itertext())}
            self.assertEqual(colors, {f"series c{at}"})
        self.assertEqual({group.get("class") for group in drawn.groups("legend")[3:]}, {"legend ink"})
        samples = [[path.get("class") for path in group.iter(SVG + "path")] for group in drawn.groups("legend")]
        self.assertEqual(samples, [["curve", "mark"]] * 3 + [["curve"], ["hollow"], ["curve"], ["curve"]])
        order = ["".join(group.itertext()).split(", ")[1] for group in drawn.groups("series")]
        self.assertEqual(order[6:], ["worst ratio"] * 3 + ["published"] * 3)

    def test_hit_rate_chart(self) -> None:
        text = hit_rate_chart()
        drawn = Drawn(text)
        self.assertEqual(len(drawn.groups("series")), 9)
        self.assertEqual(len(drawn.groups("legend")), 9)
        self.assertEqual(mark_points(drawn.series("lru")), [])
        for name in ("bypass", "locked", "lfu", "slru", "priority", "fifo", "mru", "filo"):
            self.assertEqual(len(mark_points(drawn.series(name))), 4)
        self.assertLess(len(text.encode()), 100_000)

    def test_steps_hold_up_to_the_next_x(self) -> None:
        group = Drawn(chart("t", "x", "y", [Series("a", [(0, 0), (1, 2), (2, 1)], "steps")])).series("a")
        path = group.find(SVG + "path")
        assert path is not None
        self.assertRegex(path.get("d", ""), r"^M\S+ \S+?H[\d.]+V[\d.]+H[\d.]+V[\d.]+$")
        self.assertEqual(mark_points(group), [])

    def test_reference_lines_in_the_same_place_take_turns(self) -> None:
        drawn = Drawn(ratio_chart())
        inked = []
        period = 0
        for label in ("K = 2, theorem's bound", "K = 3, limit for all lengths", "K = 4, limit for all lengths"):
            path = drawn.series(label).find(SVG + "path")
            assert path is not None
            dashes = [int(dash) for dash in path.get("stroke-dasharray", "").split()]
            period = sum(dashes)
            at = -int(path.get("stroke-dashoffset", "0"))
            for number, dash in enumerate(dashes):
                inked += [(pixel % period) for pixel in range(at, at + dash) if number % 2 == 0]
                at += dash
        self.assertEqual(period, 18 + 16 + 16)
        self.assertEqual(len(inked), 6 + 12 + 12)
        self.assertEqual(len(set(inked)), len(inked))
        alone = drawn.series("K = 2, limit for all lengths").find(SVG + "path")
        assert alone is not None
        self.assertEqual((alone.get("stroke-dasharray"), alone.get("stroke-dashoffset")), ("12 4", None))

    def test_curves_in_the_same_place_are_all_seen(self) -> None:
        shared, apart = [(0, 0), (1, 1), (2, 1), (3, 2)], [(4, 7), (5, 9)]
        series = [Series("a", shared + [(4, 3)]), Series("b", shared + [(4, 5)]), Series("c", apart + [(2, 1), (3, 2)])]
        drawn = Drawn(chart("t", "x", "y", series))
        widths = []
        for name in "abc":
            curves = [path for path in drawn.series(name).iter(SVG + "path") if path.get("class") == "curve"]
            widths.append([(path.get("stroke-width"), path.get("d", "").count("L")) for path in curves])
        self.assertEqual(widths, [[("5", 2), ("8", 1), ("2", 4)], [("5", 1), ("2", 4)], [("2", 3)]])

    def test_thinning_keeps_ends_and_extremes(self) -> None:
        for seed in range(2):
            rng = random.Random(seed)
            points = [(x, rng.randrange(10**6)) for x in range(20_000)]
            points[rng.randrange(1, 19_999)] = (10_000, -5 * 10**5)
            points.sort(key=lambda point: point[0])
            plot = chart_module._plot([Series("a", points)], 10, False, False, 760, 420)
            places = plot.places(points)
            kept = chart_module._thinned(places)
            self.assertEqual((kept[0], kept[-1]), (places[0], places[-1]))
            self.assertLessEqual(len(kept), 4 * 2 * (plot.right - plot.left))
            tracks: dict[int, list[int]] = {}
            for x, y in places:
                tracks.setdefault(x // chart_module.TRACK, []).append(y)
            left: dict[int, list[int]] = {}
            for x, y in kept:
                left.setdefault(x // chart_module.TRACK, []).append(y)
            for track, ys in tracks.items():
                seen = left[track]
                wanted = (ys[0], min(ys), max(ys), ys[-1])
                self.assertEqual((seen[0], min(seen), max(seen), seen[-1]), wanted, (seed, track))
            remaining = iter(places)
            self.assertTrue(all(point in remaining for point in kept), "the order has changed")

    def test_thinning_leaves_what_can_be_told_apart(self) -> None:
        points = [(x, x % 7) for x in range(40)]
        group = Drawn(chart("t", "x", "y", [Series("a", points)])).series("a")
        self.assertEqual((len(curve_points(group)), len(mark_points(group))), (40, 40))
        column = Drawn(chart("t", "x", "y", [Series("a", [(5, y) for y in range(9)], "points")])).series("a")
        self.assertEqual(len(mark_points(column)), 9)
        same = Drawn(chart("t", "x", "y", [Series("a", [(5, 5)] * 99 + [(6, 6)], "points")])).series("a")
        self.assertEqual(len(mark_points(same)), 2)

    def test_document_size_does_not_grow_with_the_points(self) -> None:
        sizes = []
        for count in (10_000, 40_000):
            rng = random.Random(count)
            text = chart("t", "x", "y", [Series("a", [(x, rng.randrange(1000)) for x in range(count)], "steps")])
            sizes.append(len(text))
        self.assertLess(max(sizes), 100_000)
        self.assertLess(sizes[1], 1.1 * sizes[0])


class DegenerateTest(unittest.TestCase):
    """Little data, and none."""

    def test_one_point_of_every_style_is_seen(self) -> None:
        for style in chart_module.LAYERS:
            for log in (False, True):
                drawn = Drawn(chart("t", "x", "y", [Series("a", [(8, Fraction(7, 4))], style)], x_log=log))
                (x, y), = mark_points(drawn.series("a"))
                self.assertLess(abs(2 * y - drawn.top - drawn.bottom), 2)
                self.assertLess(abs(2 * x - drawn.left - drawn.right), 2)
                self.assertGreater(len(drawn.x_ticks()), 1)

    def test_all_equal(self) -> None:
        for y in (0, 3, -2.5, Fraction(7, 4), 1e-9, 10**12):
            drawn = Drawn(chart("t", "x", "y", [Series("a", [(x, y) for x in range(1, 9)])]))
            self.assertEqual(len({y for _, y in mark_points(drawn.series("a"))}), 1)
            self.assertGreater(len(drawn.y_ticks()), 1)

    def test_nearly_equal_on_a_log_axis(self) -> None:
        text = chart("t", "x", "y", [Series("a", [(10**20, 1), (10**20 + 1, 2)])], x_log=True)
        self.assertGreater(len(Drawn(text).x_ticks()), 1)

    def test_extreme_floats(self) -> None:
        points = [(5e-324, -1.7e308), (1.7e308, 1.7e308)]
        for log in (False, True):
            drawn = Drawn(chart("t", "x", "y", [Series("a", points)], x_log=log))
            self.assertEqual(len(mark_points(drawn.series("a"))), 2)

    def test_many_names_make_the_chart_higher(self) -> None:
        drawn = Drawn(chart("t", "x", "y", [Series(f"name {at}", [(at, at)]) for at in range(40)]))
        self.assertGreater(drawn.height, 420)
        last = max(float(group.find(SVG + "text").get("y")) for group in drawn.groups("legend"))  # type: ignore
        self.assertLess(last, drawn.bottom)

    def test_faults_name_the_remedy(self) -> None:
        good = Series("a", [(1, 1)])
        nan, infinite = float("nan"), float("inf")
        for series, options, words in (
            ([], {}, ("without series", "give at least one")),
            ([good, Series("b", [])], {}, ("'b' has no points", "leave it out")),
            ([Series("b", [(1, 1)], "bars")], {}, ("'b' has style 'bars'", "dotted, steps, line, points, rings")),
            ([Series("b", [(1, 1), (2, nan)])], {}, ("'b' has the point (2, nan)", "finite")),
            ([Series("b", [(-infinite, 1)])], {}, ("(-inf, 1)", "finite")),
            ([Series("b", [(0, 1)])], {"x_log": True}, ("'b' has x = 0 on a log axis", "x_log off")),
            ([Series("b", [(-2.5, 1)])], {"x_log": True}, ("x = -2.5",)),
            ([Series(f"n{at}", [(1, 1)]) for at in range(43)], {}, ("more than 42 names", "several charts")),
            ([good], {"width": 200}, ("200 x 420", "give at least")),
            ([good], {"height": 200}, ("760 x 200", "give at least 760 x 238")),
        ):
            with self.subTest(words=words), self.assertRaises(ValueError) as caught:
                chart("t", "x", "y", series, **options)
            for word in words:
                self.assertIn(word, str(caught.exception))

    def test_the_remedy_for_no_room_is_right(self) -> None:
        series = [Series("a name of some length", [(1, 12345), (2, 67890)])]
        with self.assertRaises(ValueError) as caught:
            chart("t", "x", "y", series, width=100, height=100)
        width, height = map(int, re.findall(r"(\d+) x (\d+)$", str(caught.exception))[0])
        chart("t", "x", "y", series, width=width, height=height)
        for smaller in ((width - 1, height), (width, height - 1)):
            with self.assertRaises(ValueError):
                chart("t", "x", "y", series, width=smaller[0], height=smaller[1])


if __name__ == "__main__":
    unittest.main()

"""What drawings share: colours that everybody can tell apart, texts that fit, a document that is whole."""

from __future__ import annotations

import itertools
import re
import unittest
import xml.etree.ElementTree as ET

from src.page import svg


class Document(unittest.TestCase):
    def test_whole(self) -> None:
        text = svg.document(300, 100, "a < b & c", "told\x00", ["<g/>"])
        root = ET.fromstring(text)
        self.assertEqual((root.get("role"), root.get("width"), root.get("viewBox")), ("img", "300", "0 0 300 100"))
        self.assertEqual([one.text for one in root][:2], ["a < b & c", "told\ufffd"])
        self.assertEqual([one.tag.rpartition("}")[2] for one in root], ["title", "desc", "style", "rect", "text", "g"])
        self.assertTrue(text.endswith("</svg>\n"))

    def test_pixels(self) -> None:
        self.assertEqual([svg.pixels(place) for place in (0, 5, 10, 123)], ["0", "0.5", "1", "12.3"])

    def test_fit(self) -> None:
        self.assertEqual(svg.fit("short", 100), "short")
        for room in (30, 60, 90):
            short = svg.fit("a long text with two ends", room)
            self.assertLessEqual(svg.text_width(short), room)
            self.assertRegex(short, "^a.*….*s$")


class Colors(unittest.TestCase):
    """Readable in light and dark, and with any eyes."""

    @staticmethod
    def linear(color: str) -> list[float]:
        parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]

    def contrast(self, one: str, other: str) -> float:
        """Return the contrast ratio of the Web Content Accessibility Guidelines."""
        lights = [sum(w * part for w, part in zip((0.2126, 0.7152, 0.0722), self.linear(c))) for c in (one, other)]
        return (max(lights) + 0.05) / (min(lights) + 0.05)

    def test_contrast(self) -> None:
        self.assertEqual((svg.PAPER, svg.DARK_PAPER), ("#ffffff", "#0d1117"))
        for color in svg.COLORS:
            self.assertGreaterEqual(self.contrast(color, svg.PAPER), 3, color)
            self.assertGreaterEqual(self.contrast(color, svg.DARK_PAPER), 3, color)
        for color in svg.DARK_COLORS:
            self.assertGreaterEqual(self.contrast(color, svg.DARK_PAPER), 4.5, color)
        light, dark = svg.STYLE.split("@media")
        for style, paper in ((light, svg.PAPER), (dark, svg.DARK_PAPER)):
            ink = re.findall(r"text\{[^}]*fill:(#\w+)|\.ink\{color:(#\w+)", style)
            self.assertEqual(len(ink), 2)
            for color in ink:
                self.assertGreaterEqual(self.contrast("".join(color), paper), 7)

    def test_every_color_switches(self) -> None:
        light, dark = svg.STYLE.split("@media")
        for style, colors in ((light, svg.COLORS), (dark, svg.DARK_COLORS)):
            self.assertEqual(re.findall(r"\.c\d+\{color:(#\w+)\}", style), list(colors))
            for part in ("text{", ".paper{", ".grid{", ".ink{", ".mark{"):
                self.assertIn(part, style)

    def test_colors_stay_apart_for_color_blind_readers(self) -> None:
        """Simulation: Machado, Oliveira and Fernandes 2009, severity 1; the distance is that of CIE L*a*b*."""
        eyes = {
            "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
            "protanopia": ((0.1523, 1.0526, -0.2049), (0.1145, 0.7863, 0.0992), (-0.0039, -0.0481, 1.0520)),
            "deuteranopia": ((0.3673, 0.8606, -0.2280), (0.2801, 0.6725, 0.0474), (-0.0118, 0.0429, 0.9689)),
            "tritanopia": ((1.2555, -0.0767, -0.1788), (-0.0784, 0.9308, 0.1476), (0.0047, 0.6914, 0.3039)),
        }

        def seen(color: str, eye: str) -> tuple[float, float, float]:
            red, green, blue = (
                min(1.0, max(0.0, sum(w * part for w, part in zip(row, self.linear(color))))) for row in eyes[eye]
            )
            x, y, z = (
                part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116
                for part in (
                    (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
                    0.2126 * red + 0.7152 * green + 0.0722 * blue,
                    (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
                )
            )
            return 116 * y - 16, 500 * (x - y), 200 * (y - z)

        for colors in (svg.COLORS, svg.DARK_COLORS):
            for eye, (one, other) in itertools.product(eyes, itertools.combinations(colors, 2)):
                pairs = zip(seen(one, eye), seen(other, eye))
                self.assertGreater(sum((a - b) ** 2 for a, b in pairs) ** 0.5, 20, (eye, one, other))


if __name__ == "__main__":
    unittest.main()

"""What every SVG drawing shares: the document, the look of its parts, and texts that fit.

A drawing is a function of the data alone, byte for byte.  It brings its own background, follows the reader's light or
dark setting, and refers to nothing outside itself, so that it works as an `<img>`.  Every colour has a contrast of at
least 3:1 with its background, and the six stay apart for readers with protanopia, deuteranopia and tritanopia.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

PAPER, DARK_PAPER = "#ffffff", "#0d1117"
COLORS = ("#2277ee", "#d55e00", "#aa3399", "#669955", "#7722ff", "#886666")  # these also pass on the dark paper
DARK_COLORS = ("#99bbee", "#bb7744", "#dd4499", "#44ee44", "#8866ee", "#eecccc")
HEAD = 26  # pixels from the top to the foot of the title

STYLE = f"""
text{{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:#1f2328}}
.head{{font-size:15px;font-weight:600}}
.paper{{fill:{PAPER}}}.grid{{fill:none;stroke:#d8dee4}}.ink{{color:#1f2328}}.mark{{fill:currentColor;stroke:{PAPER}}}
.curve{{fill:none;stroke:currentColor;stroke-linejoin:round}}.hollow{{fill:none;stroke:currentColor;stroke-width:1.8}}
{"".join(f".c{index}{{color:{color}}}" for index, color in enumerate(COLORS))}
@media (prefers-color-scheme:dark){{
text{{fill:#e6edf3}}.paper{{fill:{DARK_PAPER}}}.grid{{stroke:#30363d}}.ink{{color:#e6edf3}}.mark{{stroke:{DARK_PAPER}}}
{"".join(f".c{index}{{color:{color}}}" for index, color in enumerate(DARK_COLORS))}
}}
"""


def document(width: int, height: int, title: str, description: str, drawn: Iterable[str], style: str = STYLE) -> str:
    """Return a drawing as an SVG document of so many pixels; title and description are read out to the blind."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}">',
        f"<title>{xml_text(title)}</title>",
        f"<desc>{xml_text(description)}</desc>",
        f"<style>{style}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
        f'<text class="head" x="16" y="{HEAD}">{xml_text(fit(title, (width - 32) * 3 // 4))}</text>',
        *drawn,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def pixels(place: int) -> str:
    """Return tenths of a pixel as pixels."""
    return f"{place // 10}.{place % 10}" if place % 10 else str(place // 10)


def text_width(text: str) -> int:
    """Return about how many pixels wide a text is: rather too many, as fonts differ."""
    return sum(4 if sign in "iljtf.,:;'|()[] " else 12 if sign in "mwMW@%" or sign > "\u1100" else 8 for sign in text)


def fit(text: str, room: int) -> str:
    """Return the text, or if it is wider than `room` pixels, its start and its end."""
    short, kept = text, min(len(text), room)
    while text_width(short) > room and kept > 1:
        kept -= 1
        short = f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}"
    return short


def xml_text(text: str) -> str:
    """Return a text for an XML document; a character that XML cannot hold becomes U+FFFD."""
    return escape(re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text), quote=False)

"""Strips: what a cache does with a request sequence, a frame for each request, as text and as an SVG document.

A frame shows every block of the trie that any request uses: whether it was hit or missed, how old it is, whether it
went, as the victim or dragged along, or is not cached.  The age of a block is the number of requests since one used it.
What is drawn is a function of the data alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from unicodedata import east_asian_width

from src.page.svg import HEAD, STYLE, document, fit, pixels, text_width, xml_text

COLUMNS, NAME, INDENT = 100, 24, 12  # characters: of a line, of the longest name, of the deepest indentation
LEGEND = "hit, miss: used now.  Number: age in requests.  out: evicted.  dragged: with it.  Dot: not cached."

WIDTH, MARGIN, TOTAL, GAP = 760, 16, 88, 12  # pixels: the drawing, its margin, the last column, between frames
BOX, RISE, WIDEST = 48, 14, 110  # pixels: height of a block, from there to its child, widest block
LEAST_FRAME, PAD, TOP, LINE = 202, 10, 26, 17  # pixels: a frame's width, its edges, the room above; of a text line
LOOKS = {"absent": "faint", "cached": "ink", "hit": "c0", "miss": "c1", "gone": "c2"}
FOOTNOTE = "Age: requests since one used the block. Dashed and crossed: evicted at this request."

STRIPS_STYLE = f"""{STYLE}
.strip{{font-size:14px;font-weight:600}}.label{{font-weight:600}}.small{{font-size:11px}}.sum{{font-size:30px;font-weight:600}}
.box{{fill:none;stroke:currentColor;stroke-width:1.5}}.used{{fill:currentColor;fill-opacity:.16;stroke-width:2.5}}
.gone{{stroke-dasharray:5 3;stroke-width:2}}.cross{{stroke:currentColor;stroke-opacity:.35;stroke-width:1.5}}
.edge{{fill:none;stroke:#8c959f}}.faint{{color:#afb8c1}}.faint .box{{stroke-dasharray:2 3}}.faint text{{fill:#59636e}}
@media (prefers-color-scheme:dark){{.faint{{color:#484f58}}.faint text{{fill:#9198a1}}}}
"""


class Tree(NamedTuple):
    """The blocks by number: their labels, and their parents (-1 on the first level), which come before them."""

    labels: Sequence[str]
    parents: Sequence[int]


class Frame(NamedTuple):
    """One request: its text, its blocks hit and missed, the evictions in order: (victim, what it dragged along).

    `ages` holds the age of each block that is cached afterwards, and of each that was evicted at the moment it went.
    """

    request: str
    hits: Sequence[int]
    misses: Sequence[int]
    evictions: Sequence[tuple[int, Sequence[int]]]
    ages: Mapping[int, int]

    def evicted(self, names: Sequence[str]) -> str:
        """Return which blocks went, each victim with what it dragged along; empty if none."""
        return ", ".join(
            " ".join([names[victim], *(["with"] if dragged else []), *(names[block] for block in dragged)])
            for victim, dragged in self.evictions
        )


class Strip(NamedTuple):
    """What one cache does: its title, a frame for each request, and perhaps a note in words."""

    title: str
    frames: Sequence[Frame]
    note: str = ""

    @property
    def misses(self) -> int:
        """The missed blocks of all requests."""
        return sum(len(frame.misses) for frame in self.frames)


class Seen(NamedTuple):
    """What a frame shows of a block: a look (one of `LOOKS`), a word, and its age if it is cached or was evicted."""

    look: str
    word: str
    age: int | None


def seen(frame: Frame, block: int) -> Seen:
    """Return what a frame shows of a block."""
    used = "hit" if block in frame.hits else "miss" if block in frame.misses else ""
    fate = ""
    for victim, dragged in frame.evictions:
        fate = "out" if block == victim else "dragged" if block in dragged else fate
    age = frame.ages.get(block)
    if used and age is None:
        fate = "not kept"
    look = "gone" if fate else used or ("absent" if age is None else "cached")
    return Seen(look, ", ".join(filter(None, (used, fate))), age)


def counted(count: int, one: str, several: str) -> str:
    """Return a number with its noun."""
    return f"{count} {one if count == 1 else several}"


def shown_blocks(tree: Tree, strips: Iterable[Strip]) -> list[int]:
    """Return the blocks that any request uses, each after its parent and before its parent's next child."""
    used = {block for strip in strips for frame in strip.frames for block in (*frame.hits, *frame.misses)}
    children: dict[int, list[int]] = {}
    for block in sorted(used, reverse=True):
        children.setdefault(tree.parents[block], []).append(block)
    order, left = [], children.get(-1, [])
    while left:
        order.append(left.pop())
        left += children.get(order[-1], [])
    return order


def depths(tree: Tree) -> list[int]:
    """Return how many blocks lie above each block."""
    found: list[int] = []
    for parent in tree.parents:
        found.append(0 if parent < 0 else found[parent] + 1)
    return found


# -- as text -------------------------------------------------------------------------------------------------------


def strips_text(tree: Tree, strips: Sequence[Strip], columns: int = COLUMNS) -> str:
    """Return the strips as text below each other, with a legend; frames that do not fit in a line wrap.

    Cost: O(frames · blocks · longest path).
    """
    blocks, depth = shown_blocks(tree, strips), depths(tree)
    names = [_cut(label) for label in tree.labels]
    heads = ["request", *(" " * min(2 * depth[block], INDENT) + names[block] for block in blocks), "misses", "evicted"]
    parts = []
    for strip in strips:
        lines = [f"{strip.title}: {counted(strip.misses, 'miss', 'misses')}"]
        lines += [strip.note] if strip.note else []
        cells = [_cells(frame, blocks, names) for frame in strip.frames]
        for part in _wrapped(heads, cells, columns):
            lines += ["  ".join(_padded(part, row)).rstrip() for row in range(len(heads))] + [""]
        parts.append("\n".join(lines))
    return "\n".join([*parts, LEGEND]) + "\n"


def _cells(frame: Frame, blocks: Sequence[int], names: Sequence[str]) -> list[str]:
    """Return a frame's column: the request, a cell for each block, the misses, the evicted."""
    column = [_cut(frame.request)]
    for one in (seen(frame, block) for block in blocks):
        age = "" if one.age is None or one.look in ("hit", "miss") else str(one.age)
        column.append(" ".join(filter(None, (one.word, age))) or ".")
    evicted = frame.evicted(names)
    if len(evicted) > 2 * NAME:
        evicted = counted(sum(1 + len(dragged) for _, dragged in frame.evictions), "block", "blocks")
    return [*column, str(len(frame.misses)), evicted or "."]


def _wrapped(heads: list[str], cells: list[list[str]], columns: int) -> Iterator[list[list[str]]]:
    """Yield the columns in parts that fit in a line, each with the heads in front and at least one frame."""
    part, room = [heads], columns - _wide(heads)
    for column in cells:
        if len(part) > 1 and room < _wide(column) + 2:
            yield part
            part, room = [heads], columns - _wide(heads)
        part.append(column)
        room -= _wide(column) + 2
    yield part


def _padded(part: list[list[str]], row: int) -> Iterator[str]:
    for column in part:
        yield column[row] + " " * (_wide(column) - _wide([column[row]]))


def _wide(cells: Iterable[str]) -> int:
    """Return how many columns of a terminal the widest cell takes."""
    return max(sum(2 if east_asian_width(sign) in "WF" else 1 for sign in cell) for cell in cells)


def _cut(name: str) -> str:
    """Return a name, or the start and the end of a long one."""
    return name if len(name) <= NAME else f"{name[: NAME // 2 - 1]}..{name[1 - NAME // 2 :]}"


# -- as SVG --------------------------------------------------------------------------------------------------------


class Layout(NamedTuple):
    """Where things are within a frame, in pixels: its size, the width of a block, and the place of each block's box."""

    width: int
    height: int
    box: int
    places: dict[int, tuple[int, int]]


def strips_svg(title: str, lead: str, tree: Tree, strips: Sequence[Strip]) -> str:
    """Return the strips as an SVG document; `lead` is said below the title.

    The document is `WIDTH` pixels wide, or wider if a frame is; frames that do not fit in a row wrap.
    Cost: O(frames · blocks · longest path).
    """
    layout = _layout(tree, strips)
    width = max(WIDTH, layout.width + 2 * MARGIN + TOTAL)
    in_row = (width - 2 * MARGIN - TOTAL + GAP) // (layout.width + GAP)
    drawn, y = _paragraph(lead, HEAD + 22, width)
    for strip in strips:
        drawn.append(f'<text class="strip" x="{MARGIN}" y="{y + 12}">{_fitted(strip.title, width - 2 * MARGIN)}</text>')
        note, y = _paragraph(strip.note, y + 12 + LINE, width)
        drawn += note
        for at, frame in enumerate(strip.frames):
            x = MARGIN + at % in_row * (layout.width + GAP)
            top = y - 6 + at // in_row * (layout.height + GAP)
            drawn.append(_frame(tree, frame, at + 1, layout, x, top))
        rows = -(-len(strip.frames) // in_row)
        y += rows * (layout.height + GAP) + 4
        right = MARGIN + min(in_row, len(strip.frames)) * (layout.width + GAP)
        drawn.append(_sum(strip.misses, right + TOTAL // 2, y - 10 - GAP - layout.height // 2))
    last, y = _paragraph(FOOTNOTE, y + 6, width)
    return document(width, y - 4, title, _description(tree, lead, strips), drawn + last, STRIPS_STYLE)


def _layout(tree: Tree, strips: Sequence[Strip]) -> Layout:
    """Return the layout of all frames: the leaves from left to right, each parent amid its children."""
    blocks, depth = shown_blocks(tree, strips), depths(tree)
    texts = [tree.labels[block] for block in blocks]
    texts += {seen(frame, block).word for strip in strips for frame in strip.frames for block in blocks}
    box = min(WIDEST, max(60, *(text_width(text) + 10 for text in texts)))
    middle: dict[int, int] = {}  # in half pixels from the right edge
    below: dict[int, list[int]] = {}
    leaves = 0
    for block in reversed(blocks):  # children before parents, from right to left
        if block in below:
            middle[block] = (below[block][0] + below[block][-1]) // 2
        else:
            middle[block] = -2 * leaves * (box + 8) - box
            leaves += 1
        below.setdefault(tree.parents[block], []).append(middle[block])
    whole = leaves * (box + 8) - 8
    width = max(LEAST_FRAME, whole + 2 * PAD)
    left = (width - whole) // 2 + whole
    places = {block: (left + (middle[block] - box) // 2, TOP + depth[block] * (BOX + RISE)) for block in blocks}
    levels = max(depth[block] for block in blocks) + 1
    told = max(len(_told(tree, frame, width - 2 * PAD)) for strip in strips for frame in strip.frames)
    return Layout(width, TOP + levels * (BOX + RISE) - RISE + told * LINE + PAD, box, places)


def _frame(tree: Tree, frame: Frame, number: int, layout: Layout, x: int, y: int) -> str:
    """Return one frame with its upper left corner at a place: the request, the trie, and what happened in words."""
    inner = layout.width - 2 * PAD
    lines = [
        f'<g class="frame"><rect class="grid" x="{x}" y="{y}" width="{layout.width}" height="{layout.height}" rx="6"/>',
        f'<text x="{x + PAD}" y="{y + 18}">{_fitted(f"request {number}: {frame.request}", inner)}</text>',
    ]
    for block, (left, top) in layout.places.items():
        if tree.parents[block] in layout.places:
            over = layout.places[tree.parents[block]]
            start = f"{pixels(10 * (x + over[0]) + 5 * layout.box)} {y + over[1] + BOX}"
            lines.append(f'<path class="edge" d="M{start}L{pixels(10 * (x + left) + 5 * layout.box)} {y + top}"/>')
    for block, (left, top) in layout.places.items():
        lines.append(_block(tree.labels[block], seen(frame, block), x + left, y + top, layout.box))
    told = _told(tree, frame, inner)
    for at, text in enumerate(told):
        foot = y + layout.height - PAD - LINE * (len(told) - 1 - at)
        lines.append(f'<text x="{x + PAD}" y="{foot}">{_fitted(text, inner)}</text>')
    return "\n".join([*lines, "</g>"])


def _block(label: str, one: Seen, x: int, y: int, width: int) -> str:
    """Return a block: its box, its label, and below that what happened to it and its age."""
    kind = {"hit": " used", "miss": " used", "gone": " gone"}.get(one.look, "")
    parts = [f'<rect class="box{kind}" x="{x}" y="{y}" width="{width}" height="{BOX}" rx="5"/>']
    if one.look == "gone":
        parts.append(f'<path class="cross" d="M{x} {y}l{width} {BOX}m0-{BOX}l-{width} {BOX}"/>')
    words = [one.word, "" if one.age is None else f"age {one.age}"]
    rows = [("label", label), *(("small", word) for word in words if word)]
    first = y + BOX // 2 + 4 - 7 * (len(rows) - 1)
    for at, (style, text) in enumerate(rows):
        place = f'x="{pixels(10 * x + 5 * width)}" y="{first + 14 * at}"'
        parts.append(f'<text class="{style}" {place} text-anchor="middle">{_fitted(text, width - 8)}</text>')
    return f'<g class="block {LOOKS[one.look]}">{"".join(parts)}</g>'


def _told(tree: Tree, frame: Frame, room: int) -> list[str]:
    """Return what happened at a request, in one line if that fits in `room` pixels, else in two."""
    counts = [(len(frame.hits), "hit", "hits"), (len(frame.misses), "miss", "misses")]
    told = ", ".join(counted(*count) for count in counts if count[0])
    out = f"out: {frame.evicted(tree.labels)}" if frame.evictions else ""
    line = "; ".join(filter(None, (told, out)))
    return [line] if text_width(line) <= room else [told, out]


def _description(tree: Tree, lead: str, strips: Sequence[Strip]) -> str:
    """Return the drawing in words."""
    parts = [lead] if lead else []
    for strip in strips:
        told = "; ".join(f"request {frame.request}: {_told(tree, frame, sys.maxsize)[0]}" for frame in strip.frames)
        parts.append(f"{strip.title}, {counted(strip.misses, 'miss', 'misses')} in all: {told}.")
    return " ".join(parts)


def _sum(misses: int, x: int, y: int) -> str:
    """Return the sum of the misses, with its middle at a place."""
    number, noun = counted(misses, "miss", "misses").split()
    return (
        f'<g class="total"><text class="sum" x="{x}" y="{y}" text-anchor="middle">{number}</text>'
        f'<text x="{x}" y="{y + 18}" text-anchor="middle">{noun}</text></g>'
    )


def _paragraph(text: str, y: int, width: int) -> tuple[list[str], int]:
    """Return a text in lines, the first on a height, and the height at which the next line would be."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer) * 9 > (width - 2 * MARGIN) * 10:
            lines.append(word)
        else:
            lines[-1] = longer
    drawn = [f'<text x="{MARGIN}" y="{y + LINE * at}">{xml_text(line)}</text>' for at, line in enumerate(lines) if line]
    return drawn, y + LINE * len(drawn)


def _fitted(text: str, room: int) -> str:
    return xml_text(fit(text, room))

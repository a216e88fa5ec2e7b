"""A chart as an SVG document, written by hand: lines, steps, points and reference lines over two axes.

Numbers stay exact until they are a whole number of tenths of a pixel, and logarithms are rounded, so that the last bit
of a C library cannot show.  A name has a colour and a marker of its own, so colour is never needed to tell two series
apart.  The legend stands outside the plot and lists each name once and each kind once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import chain, groupby
from typing import Callable, NamedTuple, Union

from src.page.svg import COLORS, document, fit, pixels, text_width, xml_text

Number = Union[int, float, Fraction]
Place = tuple[int, int]  # in tenths of a pixel from the left and from the top
Places = list[Place]

MARKERS = (  # outlines, drawn from the point itself, within 5 pixels of it
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "m-3.5-3.5h7v7h-7z",
    "m0-4.6l4.4 7.8h-8.8z",
    "m0-4.9l4.9 4.9-4.9 4.9-4.9-4.9z",
    "m0 4.6l4.4-7.8h-8.8z",
    "m-1.4-4.4h2.8v3h3v2.8h-3v3h-2.8v-3h-3v-2.8h3z",
    "m-4-2l2-2 2 2 2-2 2 2-2 2 2 2-2 2-2-2-2 2-2-2 2-2z",
)
MOST_NAMES = len(COLORS) * len(MARKERS)  # no common divisor, so no pair of colour and marker comes twice before
RING = "m-7.5 0a7.5 7.5 0 1 0 15 0a7.5 7.5 0 1 0-15 0z"
UNMARKED = ((), (14, 3, 3, 3), (9, 3), (14, 3, 3, 3, 3, 3))  # dashes of the curves too dense for markers
REFERENCES = {"dashed": (12, 4), "dotted": (2, 4, 2, 4, 2, 4)}  # mark, gap, mark, gap, ...: all dashes in pixels
LAYERS = {"dashed": 0, "dotted": 0, "steps": 1, "line": 1, "points": 2, "rings": 3}  # the last are drawn on top
SUFFIXES = {10**12: "T", 10**9: "G", 10**6: "M", 10**3: "k"}

TOP, BOTTOM, PAD = 44, 54, 10  # pixels above and below the plot; within it, the room that half a ring needs
ROW, SAMPLE, TEXT = 21, 30, 230  # pixels: height of a legend row, width of its sample, widest text
LEAST_WIDTH, LEAST_HEIGHT = 300, 140  # pixels of the plot
TRACK, MOST_MARKERS = 5, 40  # tenths of a pixel that cannot be told apart; points of a line drawn with markers
LOG_UNIT = 10**10  # logarithms are whole multiples of one part in so many


class Series(NamedTuple):
    """Points (x, y) and how to draw them.

    `name`: series of the same name share a colour and a marker.  `style`: "line" (with markers up to 40 points),
    "steps" (y holds up to the next x), "points", "rings" (around points of another series), "dashed" or "dotted"
    (reference lines).  `kind`: what the style stands for; the legend then tells it once for all names.
    """

    name: str
    points: Sequence[tuple[Number, Number]]
    style: str = "line"
    kind: str = ""

    @property
    def label(self) -> str:
        """The name, and the kind if there is one."""
        return f"{self.name}, {self.kind}" if self.kind else self.name


def chart(
    title: str, x_label: str, y_label: str, series: Sequence[Series],
    x_log: bool = False, y_percent: bool = False, width: int = 760, height: int = 420,
) -> str:
    """Return the chart as an SVG document, `width` pixels wide and `height` high, or higher if the legend is.

    With `x_log` the x axis is logarithmic; with `y_percent` the y axis shows shares of one as percent, from zero.
    Raises ValueError, with the remedy, if there is nothing to draw or something that has no place.
    O(points); the length of the document is bounded by pixels times series, for points in the order of x.
    """
    _check(series, x_log)
    names = list(dict.fromkeys(one.name for one in series))
    kinds = list(dict.fromkeys(one.kind for one in series if one.kind))
    height = max(height, TOP + ROW * (len(names) + len(kinds) + 1) + BOTTOM)
    plot = _plot(series, max(map(text_width, names + kinds)), x_log, y_percent, width, height)
    placed = [plot.places(one.points) for one in series]
    spots = [_apart(points) for points in placed]
    looks = [_look(one, names.index(one.name), len(apart)) for one, apart in zip(series, spots)]
    description = _description(x_label, y_label, series, y_percent)
    drawn = [
        *plot.frame(x_label, y_label),
        *_drawings(series, looks, placed, spots),
        *_legend(series, looks, names, kinds, plot.right + 14),
    ]
    return document(width, height, title, description, drawn)


def _check(series: Sequence[Series], x_log: bool) -> None:
    """Raise ValueError if the series cannot be drawn."""
    if not series:
        raise ValueError("a chart without series: give at least one")
    if len({one.name for one in series}) > MOST_NAMES:
        raise ValueError(f"a chart with more than {MOST_NAMES} names, which cannot be told apart: draw several charts")
    for one in series:
        if one.style not in LAYERS:
            raise ValueError(f"series {one.name!r} has style {one.style!r}: choose one of {', '.join(LAYERS)}")
        if not one.points:
            raise ValueError(f"series {one.name!r} has no points: give it one or leave it out")
        for x, y in one.points:
            if any(isinstance(value, float) and not math.isfinite(value) for value in (x, y)):
                raise ValueError(f"series {one.name!r} has the point ({x}, {y}): give finite numbers")
            if x_log and x <= 0:
                raise ValueError(f"series {one.name!r} has x = {x} on a log axis: leave the point out or x_log off")


class Axis(NamedTuple):
    """The range of an axis and the numbers that are labelled on it."""

    low: Fraction
    high: Fraction
    ticks: list[Fraction]
    log: bool

    def placer(self, start: int, end: int) -> Callable[[Number], int]:
        """Return the function that places a number, in tenths of a pixel: `low` at pixel `start`, `high` at `end`."""
        low, high = (Fraction(_log10(bound)) if self.log else bound for bound in (self.low, self.high))
        scale = 10 * (end - start) / (high - low)
        shift = 10 * start - low * scale + Fraction(1, 2)  # the half makes of the floor below a rounding
        factor, added = scale.numerator * shift.denominator, shift.numerator * scale.denominator
        divisor = scale.denominator * shift.denominator

        def place(value: Number) -> int:
            """Return the place of a value on the page, rounded down to a whole unit."""
            over, under = (_log10(value) if self.log else value).as_integer_ratio()
            return (over * factor + under * added) // (under * divisor)

        return place


class Plot(NamedTuple):
    """The area between the axes: its edges in pixels, and the axes.  `percent`: y is labelled so."""

    left: int
    right: int
    bottom: int
    x_axis: Axis
    y_axis: Axis
    percent: bool

    def places(self, points: Sequence[tuple[Number, Number]]) -> Places:
        """Return where the points are drawn."""
        x_place = self.x_axis.placer(self.left + PAD, self.right - PAD)
        y_place = self.y_axis.placer(self.bottom - PAD, TOP + PAD)
        return [(x_place(x), y_place(y)) for x, y in points]

    def frame(self, x_label: str, y_label: str) -> list[str]:
        """Return the outline, the grid, and the texts of the axes."""
        left, right, bottom = self.left, self.right, self.bottom
        x_text, y_text = xml_text(fit(x_label, right - left)), xml_text(fit(y_label, bottom - TOP))
        lines = [
            f'<rect class="grid plot" x="{left}" y="{TOP}" width="{right - left}" height="{bottom - TOP}"/>',
            f'<text x="{(left + right) // 2}" y="{bottom + 40}" text-anchor="middle">{x_text}</text>',
            f'<text transform="translate(20 {(TOP + bottom) // 2})rotate(-90)" text-anchor="middle">{y_text}</text>',
        ]
        for tick, place in zip(self.x_axis.ticks, self.places([(x, self.y_axis.low) for x in self.x_axis.ticks])):
            x, label = pixels(place[0]), _label(tick)
            lines.append(f'<path class="grid" d="M{x} {TOP}V{bottom}"/>')
            lines.append(f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{label}</text>')
        for tick, place in zip(self.y_axis.ticks, self.places([(self.x_axis.low, y) for y in self.y_axis.ticks])):
            y, below, label = pixels(place[1]), pixels(place[1] + 40), _label(tick, self.percent)
            lines.append(f'<path class="grid" d="M{left} {y}H{right}"/>')
            lines.append(f'<text x="{left - 7}" y="{below}" text-anchor="end">{label}</text>')
        return lines


def _plot(series: Sequence[Series], legend: int, x_log: bool, percent: bool, width: int, height: int) -> Plot:
    """Return the plot that a legend with texts of `legend` pixels leaves room for.  Raises ValueError if it is none."""
    xs, ys = ([point[at] for one in series for point in one.points] for at in (0, 1))
    bottom = height - BOTTOM
    y_axis = _axis(min(ys), max(ys), max(3, (bottom - TOP) // 45), percent)
    left = 40 + max(text_width(_label(tick, percent)) for tick in y_axis.ticks)
    right = width - SAMPLE - 34 - min(TEXT, legend)
    if right - left < LEAST_WIDTH or bottom - TOP < LEAST_HEIGHT:
        wide, high = max(width, width + LEAST_WIDTH - right + left), max(height, LEAST_HEIGHT + TOP + BOTTOM)
        raise ValueError(f"a chart of {width} x {height} pixels has no room to plot: give at least {wide} x {high}")
    least, greatest = min(xs), max(xs)
    for most in range((right - left) // 45, 2, -1):
        x_axis = _axis(least, greatest, most, log=x_log)
        if sum(text_width(_label(tick)) + 10 for tick in x_axis.ticks) <= right - left:
            break
    return Plot(left, right, bottom, x_axis, y_axis, percent)


def _axis(least: Number, greatest: Number, most: int, percent: bool = False, log: bool = False) -> Axis:
    """Return an axis from `least` to `greatest` in about `most` steps or fewer; for `percent` it includes zero."""
    low, high = Fraction(least), Fraction(greatest)
    if percent:
        low, high = min(low, Fraction(0)), max(high, Fraction(0)) or Fraction(1)
    if log and _log10(low) == _log10(high):
        low, high = low / 2, high * 2
    elif low == high:
        low, high = low - (abs(low) / 2 or 1), high + (abs(high) / 2 or 1)
    counted = isinstance(least, int) and isinstance(greatest, int) and not percent
    step = max(_step(high - low, most), Fraction(counted))  # no ticks between whole numbers
    ticks = _log_ticks(low, high, most) if log else []
    return Axis(low, high, ticks or [step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1)], log)


def _log10(value: Number) -> int:
    """Return the decimal logarithm of a positive number in units of 1 / LOG_UNIT, the same with every C library."""
    over, under = value.as_integer_ratio()
    return int(round((math.log10(over) - math.log10(under)) * LOG_UNIT))


def _step(span: Fraction, most: int) -> Fraction:
    """Return the smallest of 1, 2, 5 times a power of ten that cuts the span into `most` parts or fewer."""
    power = Fraction(Fraction(10) ** (_log10(span / most) // LOG_UNIT))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit * most >= span)


def _log_ticks(low: Fraction, high: Fraction, most: int) -> list[Fraction]:
    """Return 1, 2 and 5 times the powers of ten from `low` to `high`, if many only powers, if less than two none."""
    power, fine, powers = Fraction(Fraction(10) ** (_log10(low) // LOG_UNIT)), [], []
    while power <= high:
        fine += [power * digit for digit in (1, 2, 5) if low <= power * digit <= high]
        powers += [power] if low <= power else []
        power *= 10
    if len(fine) <= most + 1:
        return fine if len(fine) > 1 else []
    return powers[:: -(-len(powers) // (most + 1))]


def _label(value: Number, percent: bool = False, digits: int = 15) -> str:
    """Return a number, rounded to so many digits, as a short text such as 1.5, 10k, 2M or 25%."""
    exact, suffix = Fraction(value), ""
    if percent:
        exact, suffix = exact * 100, "%"
    elif abs(exact) < 10**15:
        size = next((size for size in SUFFIXES if size <= abs(exact)), 1)
        exact, suffix = exact / size, SUFFIXES.get(size, "")
    decimal = Context(prec=digits).divide(Decimal(exact.numerator), Decimal(exact.denominator)).normalize()
    plain = not exact or -6 <= decimal.adjusted() < 15
    return f"{decimal:{'f' if plain else 'g'}}{suffix}".replace("-", "\u2212", 1 if exact < 0 else 0)


def _description(x_label: str, y_label: str, series: Sequence[Series], percent: bool) -> str:
    """Return the chart in words: what is against what, and where each series starts and ends."""
    parts = []
    for one in series:
        ends = [f"({_label(x, digits=4)}, {_label(y, percent, 4)})" for x, y in (one.points[0], one.points[-1])]
        parts.append(f"{one.label}: {' to '.join(dict.fromkeys(ends))}")
    return f"{y_label} against {x_label}. {'; '.join(parts)}."


class Look(NamedTuple):
    """How a series is drawn: its colour, a curve ("line", "steps" or none) with dashes, an outline at each point."""

    color: str
    curve: str
    dashes: tuple[int, ...]
    outline: str
    offset: int = 0
    width: int = 2

    def draw(self, points: Places, spots: Places) -> str:
        """Return the curve through the points, and the outlines at the spots: hollow if there is no curve."""
        drawn = ""
        if self.curve:
            to, then = "HV" if self.curve == "steps" else "L "
            path = "".join(f"{to}{pixels(x)}{then}{pixels(y)}" for x, y in points[1:])
            dashes = f' stroke-dasharray="{" ".join(map(str, self.dashes))}"' if self.dashes else ""
            dashes += f' stroke-dashoffset="{self.offset}"' if self.offset else ""
            start = f"M{pixels(points[0][0])} {pixels(points[0][1])}"
            drawn += f'<path class="curve" stroke-width="{self.width}"{dashes} d="{start}{path}"/>'
        if self.outline:
            path = "".join(f"M{pixels(x)} {pixels(y)}{self.outline}" for x, y in spots)
            drawn += f'<path class="{"mark" if self.curve else "hollow"}" d="{path}"/>'
        return drawn


def _look(one: Series, name: int, count: int) -> Look:
    """Return how a series is drawn whose name has this number and which has so many points apart from each other."""
    color, marker = f"c{name % len(COLORS)}", MARKERS[name % len(MARKERS)]
    if one.style in ("points", "rings"):
        return Look(color, "", (), RING if one.style == "rings" else marker)
    curve = "steps" if one.style == "steps" else "line"
    if count == 1 or one.style == "line" and count <= MOST_MARKERS:
        return Look(color, curve, (), marker)
    return Look(color, curve, REFERENCES.get(one.style, UNMARKED[name % len(UNMARKED)]), "")


def _drawings(series: Sequence[Series], looks: list[Look], placed: list[Places], spots: list[Places]) -> list[str]:
    """Return a group for each series, those of the upper layers last, so that one in the place of another is seen too.

    Reference lines in the same place take turns: each draws its own marks and leaves a gap for those of the others.
    Where later curves run along a curve, it is drawn wider, and seen on both sides of them.
    """
    groups = []
    references = [index for index, one in enumerate(series) if one.style in REFERENCES and looks[index].dashes]
    order = sorted(range(len(series)), key=lambda index: LAYERS[series[index].style])
    curves = {index: _thinned(placed[index]) for index in order if looks[index].curve and index not in references}
    segments = {index: set(zip(points, points[1:])) for index, points in curves.items()}
    for index in order:
        look, drawn = looks[index], ""
        if index in references:
            sharing = [other for other in references if placed[other] == placed[index]]
            lengths = [sum(looks[other].dashes) for other in sharing]
            dashes = (*look.dashes[:-1], look.dashes[-1] + sum(lengths) - sum(look.dashes))
            look = look._replace(dashes=dashes, offset=-sum(lengths[: sharing.index(index)]) % sum(lengths))
        elif segments.pop(index, None):
            drawn = _wider(look, curves[index], list(segments.values()))
        drawn += look.draw(curves.get(index, placed[index]), spots[index])
        groups.append(f'<g class="series {look.color}"><title>{xml_text(series[index].label)}</title>{drawn}</g>')
    return groups


def _wider(look: Look, points: Places, above: list[set[tuple[Place, Place]]]) -> str:
    """Return the parts of a curve that are also segments of curves above it, the wider the more of them."""
    drawn = ""
    for count, run in groupby(zip(points, points[1:]), key=lambda segment: sum(segment in other for other in above)):
        start, *ends = chain.from_iterable(run)
        drawn += look._replace(outline="", width=2 + 3 * count).draw([start, *ends[::2]], []) if count else ""
    return drawn


def _thinned(points: Places) -> Places:
    """Return what can be seen of a curve: in each track of x the first, the lowest, the highest and the last point.

    The curve through them covers the same pixels (M4: Jugel, Jerzak, Hackenbroich and Markl 2014).  O(points).
    """
    kept: Places = []
    for _, group in groupby(points, key=lambda point: point[0] // TRACK):
        run = list(group)
        heights = [y for _, y in run]
        chosen = {0, heights.index(min(heights)), heights.index(max(heights)), len(run) - 1}
        kept += [run[index] for index in sorted(chosen)]
    return [point for point, before in zip(kept, [None, *kept]) if point != before]


def _apart(points: Places) -> Places:
    """Return the points without those that share a square of one track each way with an earlier one.  O(points)."""
    return list({(x // TRACK, y // TRACK): (x, y) for x, y in reversed(points)}.values())[::-1]


def _legend(series: Sequence[Series], looks: list[Look], names: list[str], kinds: list[str], left: int) -> list[str]:
    """Return a row for each name, in its colour, and below them one for each kind, in that of the text."""
    rows = []
    for row, text in enumerate([*names, *kinds]):
        is_kind = row >= len(names)
        look = next(look for one, look in zip(series, looks) if text == (one.kind if is_kind else one.name))
        if is_kind:
            look = look._replace(color="ink", outline="" if look.curve else look.outline)
        y = TOP + 12 + ROW * row + 10 * is_kind
        start, middle, end = ((10 * left + 5 * SAMPLE * half, 10 * y) for half in (0, 1, 2))
        label = f'<text x="{left + SAMPLE + 8}" y="{y + 4}">{xml_text(fit(text, TEXT))}</text>'
        rows.append(f'<g class="legend {look.color}">{look.draw([start, end], [middle])}{label}</g>')
    return rows

"""Figures as SVG inside a page: horizontal bars, a histogram, lines.

They follow the page's light or dark colours, keep their text as text, and are named for people who
cannot see them. A simulated figure says so in its own title, so that it still does when somebody
copies it out of the page. A value that does not exist is a dash, not a bar of length zero.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.reports._svg import DASHES, INK, SERIES, drawn
from evenhand.reports.numbers import alike, bracket, count, number
from evenhand.reports.wording import SIMULATED, printable, simulated_suffix

Numbers = Sequence[float | None]

_TITLE_CHARACTERS = 44
_LABEL_CHARACTERS = 20
_MOST_DESCRIBED = 12


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A drawing with the words that belong to it."""

    svg: str
    """An ``<svg>`` element with ``role="img"`` and an ``aria-label``."""
    caption: str = ""
    """What stands under it."""
    alt: str = ""
    """The drawing in words; also its ``aria-label``."""
    simulated: bool = False


@dataclass(frozen=True, kw_only=True)
class Line:
    """One series of :func:`lines`."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def bars(
    title: str,
    labels: Sequence[str],
    values: Numbers,
    *,
    low: Numbers | None = None,
    high: Numbers | None = None,
    axis: str = "",
    caption: str = "",
    simulated: bool = False,
) -> Figure:
    """Horizontal bars, the first on top, with the number at the end and optional intervals."""
    names = [_wrapped(printable(label), _LABEL_CHARACTERS) for label in labels]
    lows = low if low is not None else [None] * len(values)
    highs = high if high is not None else [None] * len(values)
    texts = alike(values)
    rows = list(zip(names, values, lows, highs, texts, strict=True))
    words = [
        f"{' '.join(name.split())} {text} {bracket(a, b)}".rstrip() for name, _, a, b, text in rows
    ]

    def draw(axes: Any) -> None:
        for position, (_, value, a, b, text) in enumerate(rows):
            _bar(axes, position, value, (a, b), text)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.margins(x=0.14)
        _grid(axes, "x")

    height = 24 * sum(1 + name.count("\n") * 0.5 for name in names) + 42
    alt = _in_words("Bars", words)
    return _figure(title, height, draw, (axis, ""), caption, alt, simulated, bool(rows))


def histogram(
    title: str,
    values: Sequence[float],
    *,
    bins: int = 20,
    axis: str = "",
    caption: str = "",
    simulated: bool = False,
) -> Figure:
    """How many values fall into each of ``bins`` equal parts of their range."""
    import numpy as np

    heights, edges = np.histogram(np.asarray(values, dtype=float), bins=bins)

    def draw(axes: Any) -> None:
        axes.bar(edges[:-1], heights, np.diff(edges) * 0.94, align="edge", color=SERIES[0])
        axes.spines["left"].set_visible(False)
        axes.yaxis.set_major_formatter(lambda tick, _: count(tick))
        axes.yaxis.get_major_locator().set_params(integer=True)
        _grid(axes, "y")

    words: list[str] = []
    if len(values):
        fullest = int(heights.argmax())
        span = f"from {number(float(edges[0]))} to {number(float(edges[-1]))}"
        part = f"{number(float(edges[fullest]))} to {number(float(edges[fullest + 1]))}"
        words = [f"{count(len(values))} values {span}", f"most in {part}"]
    alt = _in_words("Histogram", words)
    labels = (axis, f"count (n = {count(len(values))})")
    return _figure(title, 190, draw, labels, caption, alt, simulated, len(values) > 0)


def lines(
    title: str,
    series: Sequence[Line],
    *,
    x_axis: str = "",
    y_axis: str = "",
    diagonal: bool = False,
    caption: str = "",
    simulated: bool = False,
) -> Figure:
    """Curves over a common x, with a band where low and high are given.

    ``diagonal`` adds the line y = x, against which calibration is read.
    """
    shown = [line for line in series if len(line.x)]

    def draw(axes: Any) -> None:
        for index, line in enumerate(shown):
            _curve(axes, index, line)
        if diagonal:
            axes.axline((0, 0), slope=1, color=INK, linewidth=0.8, alpha=0.5, zorder=1)
        axes.margins(x=0.02, y=0.03)
        if len(shown) > 1:
            axes.legend(frameon=False, handlelength=3, loc="best")
        _grid(axes, "both")

    words = [
        f"{printable(line.name)} from {number(line.y[0])} at {number(line.x[0])}"
        f" to {number(line.y[-1])} at {number(line.x[-1])}"
        for line in shown
    ]
    alt = _in_words("Lines", words)
    return _figure(title, 230, draw, (x_axis, y_axis), caption, alt, simulated, bool(shown))


def figure_of(
    title: str,
    height: float,
    draw: Callable[[Any], None],
    caption: str,
    alt: str,
    simulated: bool,
    filled: bool,
) -> Figure:
    """A figure with a drawing of its own, for other modules of this package."""
    return _figure(title, height, draw, ("", ""), caption, alt, simulated, filled)


def _figure(
    title: str,
    height: float,
    draw: Callable[[Any], None],
    axis_labels: tuple[str, str],
    caption: str,
    alt: str,
    simulated: bool,
    filled: bool,
) -> Figure:
    heading = printable(title)
    if simulated and SIMULATED not in heading.lower():
        heading += simulated_suffix([True])
    wrapped = _wrapped(heading, _TITLE_CHARACTERS)
    extra = 18 * wrapped.count("\n") + 18 * bool(axis_labels[0])
    label = f"{heading}. {alt}"

    def draw_all(axes: Any) -> None:
        draw(axes)
        axes.set_xlabel(printable(axis_labels[0]))
        axes.set_ylabel(printable(axis_labels[1]))
        _number_ticks(axes)

    if filled:
        svg = drawn(wrapped, 28 + extra + height, label, draw_all)
    else:
        svg = drawn(wrapped, 28 + extra + 40, label, _draw_nothing)
    return Figure(svg=svg, caption=caption, alt=label, simulated=simulated)


def _draw_nothing(axes: Any) -> None:
    axes.set_axis_off()
    axes.text(0, 0.5, "no values to draw", transform=axes.transAxes, va="center")


def _bar(
    axes: Any,
    position: int,
    value: float | None,
    ends: tuple[float | None, float | None],
    text: str,
) -> None:
    if value is not None:
        # Lighter under an interval, which is drawn in the colour of the text.
        strength = 1 if None in ends else 0.6
        axes.barh(position, value, height=0.62, color=SERIES[0], alpha=strength)
    if None not in ends:
        axes.plot(ends, [position] * 2, color=INK, linewidth=1.4, solid_capstyle="butt")
        for end in ends:
            axes.plot([end] * 2, [position - 0.14, position + 0.14], color=INK, linewidth=1.4)
    right = max(0.0, *(end for end in (0.0, value, ends[1]) if end is not None))
    axes.annotate(text, (right, position), (5, 0), textcoords="offset points", va="center_baseline")


def _curve(axes: Any, index: int, line: Line) -> None:
    colour = SERIES[index % len(SERIES)]
    dashes = DASHES[index % len(DASHES)]
    if line.low is not None and line.high is not None:
        around = [*line.low, *reversed(line.high)]
        axes.fill([*line.x, *reversed(line.x)], around, color=colour, alpha=0.18, linewidth=0)
    axes.plot(
        line.x, line.y, color=colour, linestyle=dashes, linewidth=1.8, label=printable(line.name)
    )


def _number_ticks(axes: Any) -> None:
    """Ticks written like all other numbers, without needless zeros."""
    from matplotlib.ticker import ScalarFormatter

    for axis in (axes.xaxis, axes.yaxis):
        if isinstance(axis.get_major_formatter(), ScalarFormatter):
            axis.set_major_formatter(lambda tick, _: _tick(tick))


def _tick(value: float) -> str:
    """A round number as short as it goes.

    >>> [_tick(x) for x in (0.0, 0.2, -0.25, 1.0, 2000.0)]
    ['0', '.2', '−.25', '1', '2,000']
    """
    text = f"{round(abs(value), 9):,.6f}".rstrip("0").rstrip(".")
    text = text.removeprefix("0") or "0"
    return text if text == "0" or value >= 0 else f"−{text}"


def _grid(axes: Any, which: str) -> None:
    axes.grid(True, axis=which, color=INK, alpha=0.14, linewidth=0.8)
    axes.set_axisbelow(True)


def _wrapped(text: str, characters: int) -> str:
    return "\n".join(textwrap.wrap(text, characters)) or text


def _in_words(kind: str, words: Sequence[str]) -> str:
    if not words:
        return f"{kind}: no values."
    more = len(words) - _MOST_DESCRIBED
    shown = [*words[:_MOST_DESCRIBED], *([f"and {more} more"] if more > 0 else [])]
    return f"{kind}: {'; '.join(shown)}."

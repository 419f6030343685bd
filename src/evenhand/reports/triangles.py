"""Annotations on a triangle: how often posts got each mix of answers.

Each corner is an answer; a post sits where its votes put it, so corners are complete agreement and
the middle is none. Posts with the same mix share a place, and the area of the circle there is their
share: with three votes there are only ten places, and circles say more than a cloud of jittered
dots.
After figure 2 of Delisle et al. 2018.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.reports._svg import INK, SERIES
from evenhand.reports.figures import Figure, figure_of
from evenhand.reports.numbers import count

Mix = tuple[int, int, int]
_HEIGHT = 3**0.5 / 2
_STEP = 2.0
_ROW = 1.8
_COLUMNS = 2
_LARGEST = 0.17


def simplex(
    title: str,
    corners: tuple[str, str, str],
    panels: Sequence[tuple[str, Mapping[Mix, int]]],
    *,
    caption: str = "",
    simulated: bool = False,
) -> Figure:
    """One triangle per panel, named; a panel maps votes per answer to the number of posts."""
    from matplotlib.patches import Circle

    def draw(axes: Any) -> None:
        axes.set_axis_off()
        axes.set_aspect("equal")
        for index, (name, mixes) in enumerate(panels):
            left, base = _STEP * (index % _COLUMNS), -_ROW * (index // _COLUMNS)
            _triangle(axes, left, base, corners, f"{name}\nn = {count(sum(mixes.values()))}")
            total = max(1, sum(mixes.values()))
            for mix, posts in sorted(mixes.items()):
                x, y = _place(mix)
                radius = _LARGEST * (posts / total) ** 0.5
                axes.add_patch(
                    Circle((left + x, base + y), radius, color=SERIES[0], alpha=0.6, linewidth=0)
                )
        rows = -(-len(panels) // _COLUMNS)
        axes.set_xlim(-0.3, _STEP * (_COLUMNS - 1) + 1.3)
        axes.set_ylim(-_ROW * (rows - 1) - 0.45, _HEIGHT + 0.6)

    words = [_words(name, mixes, corners) for name, mixes in panels]
    rows = -(-len(panels) // _COLUMNS)
    return figure_of(title, 175 * rows, draw, caption, "; ".join(words), simulated, bool(panels))


def _place(mix: Mix) -> tuple[float, float]:
    total = sum(mix)
    return (mix[1] + 0.5 * mix[2]) / total, _HEIGHT * mix[2] / total


def _triangle(axes: Any, left: float, base: float, corners: Sequence[str], name: str) -> None:
    x = [left, left + 1, left + 0.5, left]
    y = [base, base, base + _HEIGHT, base]
    axes.plot(x, y, color=INK, linewidth=0.8)
    axes.text(left, base - 0.2, corners[0], ha="center", va="top")
    axes.text(left + 1, base - 0.2, corners[1], ha="center", va="top")
    axes.text(left + 0.62, base + _HEIGHT, corners[2], ha="left", va="center")
    axes.text(left - 0.2, base + _HEIGHT + 0.36, name, ha="left", va="center", fontweight="bold")


def _words(name: str, mixes: Mapping[Mix, int], corners: Sequence[str]) -> str:
    total = max(1, sum(mixes.values()))
    agreed = sum(posts for mix, posts in mixes.items() if max(mix) == sum(mix))
    return f"{name}: {100 * agreed / total:.0f} % of posts in a corner ({', '.join(corners)})"

"""From a Matplotlib figure to an SVG that can stand inside a page.

The drawing is made with stand-in colours, which become ``currentColor`` and the classes
``series-1`` … of the page's style sheet, each with a fallback for an SVG that stands alone. Styles
become plain attributes, so that a page may forbid inline styles; fonts are the page's. Nothing in
the result has an id, so any number of drawings can share a page, and the same drawing always gives
the same bytes.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree

WIDTH = 400
"""Width of every drawing in pixels at its natural size; narrow enough to be read on a phone."""
TEXT_SIZE = 12

INK = "#000001"
"""Stand-in for the colour of the page's text."""
SERIES = ("#2a6bb0", "#b8561b", "#2b8052", "#8a55a8", "#8a7314", "#a8324a")
"""Colours of series; also what an SVG shows outside a page."""
DASHES: tuple[Any, ...] = ("-", (0, (6, 3)), (0, (2, 2)), (0, (8, 2, 2, 2)), (0, (1, 2)), "-")
"""Line styles that tell series apart without colour."""

_SVG = "http://www.w3.org/2000/svg"
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "evenhand",
    "text.parse_math": False,
    "text.usetex": False,
    "font.family": ["DejaVu Sans"],
    "font.size": TEXT_SIZE,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.bottom": False,
    "ytick.left": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "path.simplify": False,
    "axes.unicode_minus": True,
}


def drawn(title: str, height: float, label: str, draw: Callable[[Any], None]) -> str:
    """An SVG with a title and whatever ``draw`` puts on the axes it is given.

    ``label`` names the drawing for those who cannot see it.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **_SETTINGS}), _quiet():
        figure = Figure(figsize=(WIDTH / 72, height / 72), layout="constrained")
        figure.suptitle(title, x=0.004, ha="left", fontsize=TEXT_SIZE + 1, fontweight="bold")
        axes = figure.add_subplot()
        draw(axes)
        for artist in axes.findobj():
            artist.set_clip_on(False)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return _for_page(out.getvalue(), label)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the warning that a letter is not in the font: the page's fonts are used."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def _for_page(svg: str, label: str) -> str:
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        _restyle(element)
    _prune(root)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"role": "img", "aria-label": label}
    return ElementTree.tostring(root, encoding="unicode")


def _prune(element: ElementTree.Element) -> None:
    """Remove metadata, style sheets, invisible paths, empty groups and the space between."""
    for child in list(element):
        _prune(child)
        child.tail = None
        name = child.tag.removeprefix(f"{{{_SVG}}}")
        invisible = child.get("fill") == "none" and child.get("stroke") in (None, "none")
        hollow = (name == "path" and invisible) or (name == "g" and not len(child))
        if hollow or name in ("defs", "metadata"):
            element.remove(child)
    if len(element):
        element.text = None


def _restyle(element: ElementTree.Element) -> None:
    element.attrib.pop("id", None)
    style = element.attrib.pop("style", "")
    classes = []
    for declaration in filter(None, map(str.strip, style.split(";"))):
        name, value = (part.strip() for part in declaration.split(":", 1))
        if name == "font":
            _restyle_font(element, value)
        elif name == "font-family":
            continue
        elif name in ("fill", "stroke") and value in SERIES:
            classes.append(f"{name}-{SERIES.index(value) + 1}")
            element.set(name, value)
        else:
            element.set(name, "currentColor" if value == INK else value)
    if classes:
        element.set("class", " ".join(classes))


def _restyle_font(element: ElementTree.Element, value: str) -> None:
    """Size and weight of a shorthand such as ``700 13px 'DejaVu Sans'``; not the family."""
    for word in value.split():
        if word.endswith("px"):
            element.set("font-size", word)
            return
        element.set("font-weight", word)

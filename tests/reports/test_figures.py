import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from evenhand.reports.figures import Figure, Line, bars, histogram, lines

HOSTILE = "<script>alert(1)</script>"


def all_kinds(simulated: bool = False) -> list[Figure]:
    curve = Line(name="before $x$", x=[0, 0.5, 1], y=[0, 0.4, 1], low=[0, 0.3, 0.9], high=[0, 1, 1])
    return [
        bars("T", ["a", "b"], [0.9, None], low=[0.8, None], high=[0.95, None], simulated=simulated),
        histogram("T", [1.0, 2.0, 2.5, 9.0], bins=4, simulated=simulated),
        lines("T", [curve, Line(name="after", x=[0, 1], y=[1, 0])], simulated=simulated),
    ]


def texts(figure: Figure) -> str:
    found = ElementTree.fromstring(figure.svg).iter("{http://www.w3.org/2000/svg}text")
    return " ".join(element.text or "" for element in found)


@pytest.mark.parametrize("index", range(3))
def test_same_input_same_bytes(index: int) -> None:
    assert all_kinds()[index].svg == all_kinds()[index].svg


@pytest.mark.parametrize("figure", all_kinds())
def test_follows_the_page(figure: Figure) -> None:
    root = ElementTree.fromstring(figure.svg)
    assert root.get("role") == "img" and root.get("aria-label") == figure.alt
    # No ids (several drawings share a page), no styles (the page's policy forbids them), no fonts.
    for part in ("id=", "style=", "<style", "url(", "<use", "font-family", "date"):
        assert part not in figure.svg
    colours = set(re.findall('(?:fill|stroke)="([^"]+)"', figure.svg))
    assert "currentColor" in colours
    assert colours <= {"currentColor", "none", "#2a6bb0", "#b8561b"}
    assert 'class="fill-1"' in figure.svg or 'class="stroke-1"' in figure.svg


@pytest.mark.parametrize("figure", all_kinds(simulated=True))
def test_simulated_is_in_the_title_itself(figure: Figure) -> None:
    assert "T (simulated)" in texts(figure)
    assert figure.alt.startswith("T (simulated)")


def test_bars_write_values_and_a_dash_for_none() -> None:
    figure = all_kinds()[0]
    assert {".900", "–"} <= set(texts(figure).split())
    assert "a .900 [.800, .950]; b –" in figure.alt
    assert figure.svg.count('class="fill-1"') == 1


def test_dollars_and_markup_are_only_text() -> None:
    figure = bars(f"cost $x_1$ {HOSTILE}", ["$y$ 😀"], [1.0])
    assert "$x_1$" in texts(figure) and "$y$ 😀" in texts(figure)
    assert "<script" not in figure.svg


@pytest.mark.parametrize("figure", [bars("T", [], []), histogram("T", []), lines("T", [])])
def test_nothing_to_draw_is_said(figure: Figure) -> None:
    assert "no values to draw" in texts(figure)
    assert "no values" in figure.alt


def test_drawing_leaves_the_users_settings_alone() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    all_kinds()
    assert dict(matplotlib.rcParams) == before


def test_importing_reports_loads_neither_matplotlib_nor_polars() -> None:
    code = (
        "import sys, evenhand.reports.terminal, evenhand.reports.page;"
        "print({'matplotlib', 'polars', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"

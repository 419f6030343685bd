"""The page in a real browser: nothing overflows, sorting works, nothing is fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evenhand.core.records import Finding
from evenhand.reports import Case, Section, write_report

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SHARES = tuple(
    Finding(
        measure="label_share",
        value=value,
        n=n,
        group={"label": label, "set": "a_rather_long_name_without_any_space_in_it" * 2},
        why=None if value is not None else "no post in this set carries a label at all",
    )
    for label, value, n in (("b", 0.5, 90), ("a", None, 1000), ("c", 0.06, 8), ("d", 0.7, 10))
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, examples: Any) -> Path:
    post = Case("x:1", "A text of some length that is covered " * 5)
    sections = [*examples.sections(), Section("Labels", findings=SHARES, cases=(post,))]
    run = examples.run(*examples.ALL, *SHARES)
    return write_report(tmp_path_factory.mktemp("report") / "out", run, "Data card", sections)


def opened(chromium: Any, report: Path, **options: Any) -> Any:
    page = chromium.new_context(**options).new_page()
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.complaints.append(request.url))
    page.goto(report.as_uri())
    return page


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_the_screen_and_fetches_nothing(
    chromium: Any, report: Path, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 900}
    page = opened(chromium, report, viewport=size, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert page.complaints == [report.as_uri()]
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 27)"}[scheme]
    bar = page.evaluate("getComputedStyle(document.querySelector('.fill-1')).fill")
    assert bar == {"light": "rgb(42, 107, 176)", "dark": "rgb(124, 179, 236)"}[scheme]
    page.context.close()


def labels(page: Any) -> str:
    rows = page.locator("section[aria-labelledby=section-4] tbody th")
    return "".join(rows.all_inner_texts())


def test_sorts_with_mouse_and_keyboard_missing_values_last(chromium: Any, report: Path) -> None:
    page = opened(chromium, report)
    table = page.locator("section[aria-labelledby=section-4] table")
    heading = table.locator("th", has_text="value")
    assert labels(page) == "bacd"
    heading.locator("button").click()
    assert (labels(page), heading.get_attribute("aria-sort")) == ("cbda", "ascending")
    heading.locator("button").press("Enter")
    assert (labels(page), heading.get_attribute("aria-sort")) == ("dbca", "descending")
    table.locator("th button", has_text="label").press("Space")
    assert (labels(page), heading.get_attribute("aria-sort")) == ("abcd", None)
    table.get_by_role("button", name="n", exact=True).click()
    assert labels(page) == "cdba"  # 8, 10, 90, 1000: as numbers, not as text
    page.context.close()


def test_reads_without_javascript_and_covers_texts(chromium: Any, report: Path) -> None:
    page = opened(chromium, report, java_script_enabled=False)
    assert page.locator("thead button").count() == 0
    text = page.locator(".posts p")
    assert not text.is_visible()
    page.locator(".posts summary").click()
    assert text.is_visible() and not page.locator(".posts .cover").is_visible()
    page.context.close()

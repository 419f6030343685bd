"""The report card in a real browser: it fits, fetches nothing, and can be read by everybody."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from evenhand.audits.gates import Gate
from evenhand.core.provenance import Run
from evenhand.models.callables import FunctionDetector
from evenhand.reports import write_report
from evenhand.studies.audit import Wanted, audit
from evenhand.studies.suites import Judged

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def _keyword(texts: Sequence[str]) -> list[float]:
    return [0.9 if "hate" in text.lower() else 0.1 for text in texts]


def _other(texts: Sequence[str]) -> list[float]:
    return [0.9 if "disgust" in text.lower() else 0.2 for text in texts]


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = Run(["evenhand", "audit", "python:mine:keyword"], 0)
    gate = Gate(measure="accuracy", group={"suite": "emoji-hate"}, at_least=0.9)
    found = audit(
        run,
        Judged(FunctionDetector("python:mine:keyword", ("HATE",), _keyword)),
        Wanted(templates=("gender", "age"), gates=[gate], with_text=True, resamples=200),
        against=Judged(FunctionDetector("python:mine:other", ("HATE",), _other)),
    )
    parts = found.parts
    return write_report(
        tmp_path_factory.mktemp("card") / "out",
        run,
        parts.title,
        parts.sections,
        parts.tables,
        summary=parts.summary,
    )


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_card_fits_and_axe_finds_no_serious_fault(
    chromium: Any, card: Path, width: int, scheme: str
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    page = context.new_page()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(card.as_uri())
    assert fetched == [card.as_uri()]
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert page.locator(".points li").count() == 10
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [
        (rule["id"], rule["nodes"][0]["html"][:120])
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
    ]
    assert serious == []
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    context.close()


def test_texts_are_covered_until_opened(chromium: Any, card: Path) -> None:
    page = chromium.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.goto(card.as_uri())
    covered = page.locator(".posts details")
    assert covered.count() > 0
    assert not covered.first.locator("p").is_visible()
    covered.first.locator("summary").click()
    assert covered.first.locator("p").is_visible()
    page.context.close()

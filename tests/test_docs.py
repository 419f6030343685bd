"""The docs say what the code does: reference pages are made from it, every link leads somewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import evenhand
from evenhand.core.errors import EvenhandError

ROOT = Path(__file__).parents[1]
DOCS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def reference():
    spec = importlib.util.spec_from_file_location("reference", ROOT / "tools" / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["commands.md", "measures.md", "corpora.md"])
def test_reference_pages_are_up_to_date(page):
    written = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    assert written == reference().PAGES[page](), "run python tools/reference.py"


@pytest.mark.parametrize("path", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_inside_the_docs_lead_somewhere(path):
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (path.parent / link).exists()] == []


def test_every_setting_is_documented():
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    settings = set(re.findall(r"EVENHAND_[A-Z]+", source))
    docs = "".join(path.read_text(encoding="utf-8") for path in DOCS)
    assert settings
    assert {name for name in settings if name not in docs} == set()


def test_the_public_names_are_documented():
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    assert [name for name in evenhand.__all__ if name not in page] == []


def test_the_facade_loads_what_it_lists():
    assert all(getattr(evenhand, name) is not None for name in evenhand.__all__)
    assert evenhand.EvenhandError is EvenhandError
    with pytest.raises(AttributeError):
        _ = evenhand.nothing


def test_words_we_do_not_use():
    promises = re.compile(r"\bdebias|\bunbiased model|\bfair model|bias remov", re.IGNORECASE)
    found = [
        path.name
        for path in [*(ROOT / "src").rglob("*.py"), *DOCS]
        if promises.search(path.read_text(encoding="utf-8")) and path.name != "CONTRIBUTING.md"
    ]
    assert [name for name in found if name != "design.md"] == []

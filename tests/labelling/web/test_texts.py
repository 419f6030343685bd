"""Texts are data: every language says the same, and everything a page says is there."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.labelling.web import drawing
from evenhand.labelling.web.asking import Ask
from evenhand.labelling.web.gate import Raw, _language
from evenhand.labelling.web.settings import Settings
from evenhand.labelling.web.site import Site
from evenhand.labelling.web.texts import languages, texts

USED = re.compile(r"""\bt\(\s*["']([a-z_]+\.[a-z_]+)["']""")
BUILT = re.compile(r"""\bt\(\s*["']([a-z_]+\.)["']""")


def _fields(text: str) -> set[str | None]:
    return {field for _, field, _, _ in string.Formatter().parse(text) if field}


def test_all_languages_have_the_same_texts_with_the_same_values() -> None:
    assert len(languages()) >= 2
    first = texts("en")
    for language in languages():
        found = texts(language)
        assert found.keys() == first.keys()
        for name, text in found.items():
            assert text.strip(), (language, name)
            assert _fields(text) == _fields(first[name]), (language, name)


def test_every_text_is_used_and_every_used_text_is_there() -> None:
    folder = Path(drawing.__file__).parent / "templates"
    pages = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.html"))
    used, built = set(USED.findall(pages)), set(BUILT.findall(pages)) | {"fault.", "language."}
    known = set(texts("en"))
    assert used <= known
    assert {name for name in known - used if not name.startswith(tuple(built))} == set()


def test_pages_speak_the_language_of_who_reads(
    make_web: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, browser = make_web()
    assert "Invite code" in browser().go("/?language=de")  # not a language of this campaign
    campaign = replace(store.campaign, languages=("en", "de", "fr"))
    german = Ask(Site(store, Settings(folder=".")), "de", "token")
    monkeypatch.setattr(german.site, "campaign", campaign)
    assert "Einladungscode" in str(german.page("front.html", code="").body)
    french = replace(german, language="fr")
    assert "Invite code" in str(french.page("front.html", code="").body)  # we speak no French yet


@pytest.mark.parametrize(
    ("header", "query", "expected"),
    [("fr, de;q=0.5", "", "de"), ("de-AT", "", "de"), ("de", "en", "en"), ("", "xx", "en")],
)
def test_a_visitors_language(
    make_web: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    header: str,
    query: str,
    expected: str,
) -> None:
    store, _ = make_web()
    site = Site(store, Settings(folder="."))
    monkeypatch.setattr(site, "campaign", replace(store.campaign, languages=("en", "de")))
    raw = Raw(languages=header, query={"language": query})
    assert _language(site, None, raw) == expected

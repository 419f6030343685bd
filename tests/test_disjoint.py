"""Sentences made for training stand apart from every suite and template set.

Two ways to be too near, after identities, slurs and emoji have become one placeholder: token sets
with a Jaccard similarity of .5 or more, or a run of five words in common (the placeholder counts as
one). A failure names our templates only, so that nobody rewrites one with the suite's text before
their eyes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from evenhand.audits.slurs import our_slurs
from evenhand.audits.suite_files import read_source
from evenhand.audits.suites import find_suite
from evenhand.audits.templates import read_set, sentences_of, set_names
from evenhand.core import registry
from evenhand.data.duplicates import strict_key
from evenhand.models._synthetic_source import SLUR_SLOTS, TERM_SLOTS, source, words
from evenhand.models.material import _made, _own
from evenhand.models.plan import find_plan
from evenhand.models.synthetic import Sentence, sentences, templates

MOST_ALIKE = 0.5
LONGEST_RUN = 5
PUBLISHED = ("hatecheck", "hatemojicheck")
OURS = sorted(set(registry.names("suites")) - set(PUBLISHED))
PLACE = "_"
_SYMBOLS = re.compile(r"[^\w\s.,!?'’\"“”…:;#@()/&-]+")

_SPACED = re.compile(r"\b(?:[a-z][ .]){3,}[a-z]\b")
"""A word spelt with gaps: its letters are no run of words."""


def suite_texts(name: str) -> list[str]:
    return find_suite(name).cases()["text"].to_list()


def set_texts(name: str) -> list[str]:
    return sentences_of(read_set(name)).posts["text"].to_list()


@cache
def terms() -> re.Pattern[str]:
    """Every identity term and slur: ours, the suites' and the template sets'."""
    ours = [word for who in source()["identities"] for f in TERM_SLOTS for word in words(f, who)]
    ours += [word for who in source()["slurs"] for slot in SLUR_SLOTS for word in words(slot, who)]
    home = files("evenhand.audits").joinpath("sources", "suites")
    known = [read_source(home.joinpath(name), our_slurs()).identities for name in OURS]
    theirs = [word for suite in known for forms in suite.values() for word in forms.values()]
    theirs += [word for slur in our_slurs() for word in (slur.one, slur.many)]
    rows = [row for name in set_names() for row in read_set(name).pairs]
    theirs += [word for row in rows for term in row.values() for word in term.values()]
    longest_first = sorted({word.lower() for word in ours + theirs}, key=lambda w: (-len(w), w))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b")


def tokens(text: str) -> tuple[str, ...]:
    """Words in small letters; identities, slurs, emoji and open slots are one placeholder."""
    text = re.sub(r"\{a\}|~", " ", text)
    text = re.sub(r"\{\w+\}", f" {PLACE} ", text).lower().replace("’", "'")
    text = _SYMBOLS.sub(f" {PLACE} ", terms().sub(f" {PLACE} ", text))
    text = re.sub(r" 's\b", " ", text).replace("'", "")
    text = _SPACED.sub(lambda found: re.sub(r"[ .]", "", found[0]), text)
    found = [word for word in re.findall(r"\w+", text) if word not in ("a", "an")]
    return tuple(
        word for at, word in enumerate(found) if word != PLACE or found[at - 1 : at] != [PLACE]
    )


@cache
def our_sentences() -> tuple[Sentence, ...]:
    """About six of each template."""
    return (*sentences(0, many=12_000), *sentences(0, many=1200, held_out=True))


@cache
def made_of_ours() -> tuple[tuple[str, str], ...]:
    """Templates and the texts that training makes of our sentences: two halves, other words."""
    plan = replace(find_plan("evenhand-base"), parts=())
    made = _made(_own(plan, 0).filter(pl.col("split") == "train"), plan, 0)
    named = made.select(pl.col("id").str.split(" ").list.last(), "text")
    return tuple(named.iter_rows())


@cache
def our_tokens() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Template and tokens: of the templates themselves, and of texts made from each."""
    made = [(t.name, tokens(t.text)) for t in templates()]
    made += [(sentence.template, tokens(sentence.text)) for sentence in our_sentences()]
    made += [(template, tokens(text)) for template, text in made_of_ours()]
    return tuple(sorted(set(made)))


def runs(found: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Every run of five."""
    for at in range(len(found) - LONGEST_RUN + 1):
        yield found[at : at + LONGEST_RUN]


def matrix(rows: Iterable[tuple[str, ...]], numbers: dict[str, int]) -> csr_array:
    sets = [sorted({numbers.setdefault(word, len(numbers)) for word in row}) for row in rows]
    ends = np.cumsum([0, *map(len, sets)])
    columns = np.array([column for row in sets for column in row], dtype=np.int64)
    return csr_array((np.ones(len(columns), dtype=np.float32), columns, ends), (len(sets), 100_000))


def nearest(
    ours: Iterable[tuple[str, tuple[str, ...]]], theirs: Iterable[str]
) -> tuple[dict[str, float], set[str]]:
    """Of each of our templates the highest similarity; and those that share a run of words."""
    ours, others = list(ours), sorted({tokens(text) for text in theirs})
    numbers: dict[str, int] = {}
    right = matrix(others, numbers)
    left = matrix([found for _, found in ours], numbers)
    sizes = right.sum(axis=1)
    highest: dict[str, float] = {}
    for start in range(0, len(ours), 400):
        some = left[start : start + 400]
        shared = (some @ right.T).toarray()
        alike = (shared / (some.sum(axis=1)[:, None] + sizes[None, :] - shared)).max(axis=1)
        for (name, _), value in zip(ours[start : start + 400], alike, strict=True):
            highest[name] = max(highest.get(name, 0.0), float(value))
    taken = {run for found in others for run in runs(found)}
    return highest, {name for name, found in ours if any(run in taken for run in runs(found))}


def refuse_clashes(texts: list[str], where: str) -> None:
    highest, shared = nearest(our_tokens(), texts)
    near = {name: round(value, 2) for name, value in highest.items() if value >= MOST_ALIKE}
    assert not near and not shared, (
        f"too near {where}: {near}; with a run of its words: {sorted(shared)}; "
        "write others, or name them under left_alone in the plan if only what is made of them is"
    )
    keys = set(strict_key(pl.Series(texts)).to_list())
    own = strict_key(pl.Series([sentence.text for sentence in our_sentences()]))
    same = {s.template for s, key in zip(our_sentences(), own, strict=True) if key in keys}
    assert not same, f"equal to a case of {where}: {sorted(same)}"


def test_near_is_what_it_says() -> None:
    # {"_", "like", "tea", "on", "rainy", "days"} and {"_", "like", "tea", "on", "sunny", "days"}:
    # 5 shared of 7 in all; the longest common run is "_ like tea on", four words.
    highest, shared = nearest(
        [("x/1", tokens("{many} like tea on rainy days"))], ["Muslims like tea on sunny days"]
    )
    assert highest == {"x/1": pytest.approx(5 / 7)}
    assert not shared
    # Five words in a row in another sentence: 5 shared of 5 + 1 + 3.
    highest, shared = nearest(
        [("x/2", tokens("{many} put the kettle on again"))],
        ["Who will put the kettle on again?"],
    )
    assert highest == {"x/2": pytest.approx(5 / 8)}
    assert shared == {"x/2"}


def test_tokens_hide_who_it_is_about() -> None:
    assert tokens("A woman's 🐍🐍 garden") == tokens("{a} {one}'s {beast} garden")
    assert tokens("so s i l l y of b.l.o.r.p") == ("so", "silly", "of", "blorp")
    assert tokens("I don’t like it") == ("i", "dont", "like", "it")


@pytest.mark.parametrize("name", OURS)
def test_apart_from_our_suites(name: str) -> None:
    refuse_clashes(suite_texts(name), f"suite {name}")


@pytest.mark.parametrize("name", set_names())
def test_apart_from_template_sets(name: str) -> None:
    refuse_clashes(set_texts(name), f"template set {name}")


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("EVENHAND_DATA"), reason="EVENHAND_DATA is not set")
@pytest.mark.parametrize("name", PUBLISHED)
def test_apart_from_published_suites(name: str) -> None:
    refuse_clashes(suite_texts(name), f"suite {name}")

"""What every registered suite promises, and what detectors with known answers get on it."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import polars as pl
import pytest

from evenhand.audits.answers import answered
from evenhand.audits.expansion import TAGS
from evenhand.audits.slurs import masked_words
from evenhand.audits.suite_figures import suite_figures
from evenhand.audits.suites import Suite, find_suite
from evenhand.audits.weaknesses import uneven
from evenhand.core import registry
from factories import finding, value

from .corpora import MADE_UP

NAMES = registry.names("suites")


@pytest.fixture(scope="module", params=NAMES)
def suite(request, tmp_path_factory):
    """Each suite; the published ones from made-up files."""
    name = request.param
    with pytest.MonkeyPatch.context() as patch:
        if name in MADE_UP:
            folder = tmp_path_factory.mktemp(name)
            patch.setenv("EVENHAND_DATA", str(MADE_UP[name].write(folder)))
        return find_suite(name)


def coin(text: str) -> float:
    """A number in [0, 1) that has nothing to do with what the text says."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48


DETECTORS = {"always": lambda text: 1.0, "never": lambda text: 0.0, "coin": coin}


def sat(suite: Suite, detector: str) -> list:
    cases = suite.cases()
    p = [DETECTORS[detector](text) for text in cases["text"]]
    scores = pl.DataFrame({"post": cases["id"], "p": p})
    return suite_figures(answered(cases, scores), seed=0, resamples=200)


def test_cases_are_complete(suite):
    cases = suite.cases()
    assert cases.columns == ["id", "text", *TAGS, "hateful", "shown"]
    for name in {*cases.columns} - {"identity"}:
        assert cases[name].null_count() == 0, name
    assert cases["id"].is_unique().all()
    assert suite.title and suite.statement.curation


def test_no_word_of_the_list_is_shown(suite):
    words = "|".join(map(re.escape, masked_words()))
    shown = suite.cases()["shown"]
    assert not shown.str.contains(rf"(?i)\b(?:{words})\b").any()


def test_templates_hold_frames(suite):
    """A frame lies inside one template and one label: only identities change in it."""
    inside = (
        suite.cases()
        .group_by("frame")
        .agg(pl.col("template").n_unique(), pl.col("hateful").n_unique())
    )
    assert inside["template"].max() == inside["hateful"].max() == 1


def test_always_hateful(suite):
    found, cases = sat(suite, "always"), suite.cases()
    share = cases["hateful"].mean()
    assert value(found, "accuracy") == pytest.approx(share)
    if 0 < share < 1:
        assert value(found, "accuracy", baseline="always-positive") == pytest.approx(share)
        assert value(found, "accuracy", label="not hateful") == 0
    assert value(found, "accuracy", label="hateful") == 1
    assert value(found, "f1", label="hateful") == pytest.approx(2 * share / (1 + share))
    for one in found:
        group = one.group
        if one.measure == "accuracy" and {"functionality", "set", "label"} <= set(group):
            assert one.value == (group["label"] == "hateful")
        if one.measure == "emoji_difference" and group.get("form") != "as printed":
            assert one.value == 0
        if one.measure in ("recall", "fpr", "selection_rate") and one.value is not None:
            assert one.value == 1
        if one.measure in ("recall_gap", "fpr_gap", "selection_gap") and one.value is not None:
            assert one.value == 0
        if one.measure in ("demographic_parity_ratio", "equalized_odds_ratio"):
            assert one.value in (1, None)


def test_never_hateful(suite):
    found, cases = sat(suite, "never"), suite.cases()
    share = cases["hateful"].mean()
    assert value(found, "accuracy") == pytest.approx(1 - share)
    assert value(found, "f1", label="hateful") == 0
    for one in found:
        if one.measure in ("recall", "fpr", "selection_rate") and one.value is not None:
            assert one.value == 0
        ratio = one.measure in ("demographic_parity_ratio", "equalized_odds_ratio")
        if ratio and one.group.get("baseline") != "always-positive":
            assert one.value is None and one.why
        if one.measure == "precision":
            assert one.value is None and one.why


def test_a_coin(suite):
    found, cases = sat(suite, "coin"), suite.cases()
    n = cases.height
    # Five standard errors of a fair coin.
    assert abs(value(found, "accuracy") - 0.5) < 5 * 0.5 / np.sqrt(n)
    for one in found:
        if one.measure == "accuracy" and one.value is not None and "baseline" not in one.group:
            assert abs(one.value - 0.5) <= 5 * 0.5 / np.sqrt(one.n)
        if one.measure == "emoji_difference" and one.group.get("form") == "template-matched":
            assert one.low is None or one.low < 0 < one.high


@pytest.mark.parametrize("detector", list(DETECTORS))
def test_none_of_them_is_called_uneven(suite, detector):
    assert uneven(sat(suite, detector)) == []


def test_nothing_is_unscored(suite):
    assert finding(sat(suite, "coin"), "unscored").value == 0


def test_the_order_of_cases_does_not_matter(suite):
    cases = suite.cases()
    scores = pl.DataFrame({"post": cases["id"], "p": [coin(text) for text in cases["text"]]})
    one = suite_figures(answered(cases, scores), seed=0, resamples=20)
    mixed = cases.sample(fraction=1, shuffle=True, seed=3)
    other = suite_figures(answered(mixed, scores.reverse()), seed=0, resamples=20)
    assert one == other

"""The report card from Python: what is asked, what is left out, what is weighted."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.provenance import Run
from evenhand.models.callables import FunctionDetector
from evenhand.studies.audit import Wanted, audit
from evenhand.studies.audit_site import Site
from evenhand.studies.filters import fitted
from evenhand.studies.suites import Judged
from factories import finding, make_corpus, value
from spies import written

QUICK = {"suites": ("emoji-hate",), "templates": (), "resamples": 50}


def function(rule):
    return FunctionDetector("python:m:f", ("HATE",), lambda texts: [rule(text) for text in texts])


def coin(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48


def site_corpus(n=200, **more):
    rows = [
        {"id": str(i), "text": f"post number {i}", "label": "bad" if i % 4 == 0 else "fine"}
        for i in range(n)
    ]
    return make_corpus(rows, **more)


def card(detector, **options):
    run = Run(["evenhand", "audit"], 0)
    return run, audit(run, Judged(detector), Wanted(**(QUICK | options)))


def test_no_two_findings_have_the_same_name():
    run, _ = card(
        function(coin),
        suites=("emoji-hate", "hate-functions"),
        templates=("gender", "age"),
        site=Site(site_corpus(), base_rate=0.1, flag_rate=0.3),
    )
    names = [(f.measure, tuple(sorted(f.group.items()))) for f in run.findings]
    assert len(names) == len(set(names))


def test_every_figure_has_an_interval_or_a_reason():
    run, _ = card(function(coin), templates=("gender",), site=Site(site_corpus()))
    bare = [
        f
        for f in run.findings
        if f.low is None and f.why is None and f.method != "count" and f.measure != "threshold"
    ]
    assert bare == []


def test_the_same_seed_gives_the_same_card():
    one, other = (card(function(coin), templates=("gender",))[0] for _ in range(2))
    assert one.findings == other.findings


def test_a_base_rate_changes_precision_and_not_recall():
    figures = {}
    for rate in (None, 0.05):
        run, _ = card(function(coin), site=Site(site_corpus(), base_rate=rate))
        group = {"corpus": "made up", "on": "site", "at": "0.5"}
        figures[rate] = {m: value(run.findings, m, **group) for m in ("precision", "recall")}
    here, there = figures[None], figures[0.05]
    assert here["recall"] == pytest.approx(there["recall"])
    # Precision at base rate b: b·TPR / (b·TPR + (1 − b)·FPR), with FPR from the corpus' own.
    flagged = np.array([coin(f"post number {i}") >= 0.5 for i in range(200)])
    truth = np.arange(200) % 4 == 0
    tpr, fpr = flagged[truth].mean(), flagged[~truth].mean()
    assert there["precision"] == pytest.approx(0.05 * tpr / (0.05 * tpr + 0.95 * fpr))
    assert here["precision"] == pytest.approx(flagged[truth].sum() / flagged.sum())


def test_a_corpus_that_was_drawn_is_weighted():
    corpus = site_corpus()
    ids = corpus.posts["id"].to_list()
    rare = [int(i) % 4 == 0 for i in ids]
    draws = pl.DataFrame(
        {
            "post": ids,
            "stratum": ["rare" if r else "common" for r in rare],
            "flag": [False] * 200,
            "probability": [0.5 if r else 0.1 for r in rare],
            "weight": [1.0] * 200,
            "phase": [1] * 200,
        }
    )
    strata = pl.DataFrame(
        {
            "stratum": ["rare", "common"],
            "flag": [False, False],
            "volume": [100, 1500],
            "available": [100, 1500],
        }
    )
    from evenhand.core.tables import draws_table
    from evenhand.stats.weights import check_strata

    drawn = replace(corpus, draws=draws_table(draws), strata=check_strata(strata))
    run, found = card(function(coin), site=Site(drawn))
    rate = finding(run.findings, "base_rate", corpus="made up", on="site")
    # 100 of the population's 1,600 posts are in the stratum whose posts are all hateful.
    assert rate.weighted and rate.value == pytest.approx(100 / 1600)
    weighed = [f for f in run.findings if f.weighted and f.n_effective is not None]
    assert weighed and all(f.n_effective <= f.n + 1e-9 for f in weighed)
    [section] = [s for s in found.parts.sections if s.title.startswith("Thresholds")]
    assert "weighted to the population" in section.paragraphs[0]


def test_posts_the_detector_was_trained_on_are_no_test():
    corpus = replace(written(posts=120), hateful=("sexism", "racism"))
    detector = fitted("naive-bayes", corpus, seed=0)
    with pytest.raises(NotEnoughData, match="used to train the detector"):
        card(detector, site=Site(corpus))


def test_a_failing_detector_is_counted_wrong_and_named():
    def fails(texts):
        if any("👩" in text for text in texts):
            raise ValueError("cannot read this")
        return [0.0] * len(texts)

    run, found = card(FunctionDetector("python:m:f", ("HATE",), fails))
    failed = finding(run.findings, "unscored", suite="emoji-hate")
    assert failed.value > 0
    # Never flags, and the failures are wrong too, so fewer harmless cases are right than all.
    assert value(run.findings, "accuracy", suite="emoji-hate", label="not hateful") < 1
    assert "It failed on" in found.parts.summary[0]
    answers = found.parts.tables["answers"]
    assert answers.filter(pl.col("failed").is_not_null()).height == failed.value


def test_what_makes_no_sense_is_refused():
    with pytest.raises(BadInput, match="threshold"):
        Judged(function(coin), threshold=1.2)
    with pytest.raises(BadInput, match="neither a suite nor"):
        Wanted(suites=(), templates=())
    with pytest.raises(BadInput, match="--base-rate"):
        Site(site_corpus(), base_rate=1.0)
    with pytest.raises(BadInput, match="no labels"):
        card(function(coin), site=Site(replace(site_corpus(), gold=None)))

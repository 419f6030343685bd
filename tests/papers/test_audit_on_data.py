"""What a report card shows of a detector trained on a real corpus."""

from __future__ import annotations

import pytest

from evenhand.audits.weaknesses import weaknesses
from evenhand.audits.worst import worst
from evenhand.core.provenance import Run
from evenhand.data.find import find
from evenhand.studies.audit import Wanted, audit
from evenhand.studies.audit_site import Site
from evenhand.studies.filters import fitted
from evenhand.studies.suites import Judged
from factories import value

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def card():
    run = Run(["evenhand", "audit", "linear"], 0)
    detector = fitted("linear", find("davidson"), seed=0)
    site = Site(find("hateval"), base_rate=0.02, flag_rate=0.05)
    return run, audit(run, Judged(detector), Wanted(site=site, transfer=300))


def test_linear_on_davidson_is_weak_on_emoji_flips_and_has_a_profanity_reflex(card):
    run, found = card
    kinds = {
        weakness.kind for weakness in worst(weaknesses(run.findings, swearing=["profanity"])).listed
    }
    assert {"emoji", "identity flips", "profanity"} <= kinds
    assert len(found.parts.sections[0].points) == 10


def test_it_is_below_the_best_constant_on_emoji(card):
    run, _ = card
    mine = value(run.findings, "accuracy", suite="emoji-hate")
    always = value(run.findings, "accuracy", suite="emoji-hate", baseline="always-positive")
    assert mine < always == pytest.approx(0.675, abs=0.001)


def test_the_posts_it_was_trained_on_are_left_out(card):
    run, _ = card
    corpora = {f.group["corpus"] for f in run.findings if f.group.get("on") == "transfer"}
    assert "davidson" not in corpora and "hateval" in corpora


def test_a_base_rate_lowers_precision_and_not_recall():
    detector = fitted("linear", find("davidson"), seed=0)
    found = {}
    for rate in (None, 0.02):
        run = Run(["evenhand", "audit", "linear"], 0)
        site = Site(find("hateval"), base_rate=rate)
        audit(
            run,
            Judged(detector),
            Wanted(suites=("emoji-hate",), templates=(), site=site, resamples=50),
        )
        group = {"corpus": "hateval", "on": "site", "at": "0.5"}
        found[rate] = [value(run.findings, m, **group) for m in ("precision", "recall")]
    assert found[0.02][0] < found[None][0]
    assert found[0.02][1] == pytest.approx(found[None][1])

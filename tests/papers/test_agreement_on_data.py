"""Agreement on real corpora. Figures only; ``EVENHAND_DATA`` names the folder."""

from __future__ import annotations

import os

import pytest

from evenhand.data.find import find
from evenhand.stats.agreement import agreement

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not os.environ.get("EVENHAND_DATA"),
        reason="EVENHAND_DATA is not set: it names the folder of published corpora",
    ),
]
SUITE = 3_728
"""Cases of the whole HateCheck; a sample of it is often installed instead."""


def kappa(corpus, **options):
    found = agreement(corpus.judgements, question=corpus.question, resamples=0, **options)
    return {f.measure: f.value for f in found if not f.group}["fleiss_kappa"]


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("hatexplain", {}, 0.460),
        ("md_agreement", {}, 0.359),
        ("davidson", {"exactly": 3}, 0.549),
    ],
)
def test_fleiss_kappa(name, options, expected):
    assert kappa(find(name), **options) == pytest.approx(expected, abs=5e-4)


def test_fleiss_kappa_of_hatecheck():
    corpus = find("hatecheck")
    expected = 0.939 if corpus.rows == SUITE else 0.924
    assert kappa(corpus) == pytest.approx(expected, abs=5e-4)

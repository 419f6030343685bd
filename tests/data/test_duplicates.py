"""Duplicates: the strict key by hand, near pairs against brute force, counts by arithmetic."""

import random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.errors import BadInput
from evenhand.data import _edits, _jaccard, duplicates
from evenhand.data.duplicates import clean, find_duplicates, strict_key

MIDDLE = "abcdefghijklmnopqrs{}uvwxyz0123456789!?."


def texts(*values: str | None) -> pl.Series:
    return pl.Series(values, dtype=pl.String)


def grams(text: str) -> set[str]:
    return {text[at : at + 5] for at in range(len(text) - 4)}


def distance(a: str, b: str) -> int:
    """Levenshtein distance by the textbook table."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        above = row
        row = [i]
        for j, y in enumerate(b, start=1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
    return row[-1]


def similar(a: str, b: str) -> bool:
    """The rule of the module docstring, word for word."""
    if min(len(a), len(b)) < 12:
        return False
    shared, union = len(grams(a) & grams(b)), len(grams(a) | grams(b))
    return shared * 5 >= union * 4 or (max(len(a), len(b)) <= 39 and distance(a, b) <= 2)


def brute_force(cleaned: list[str]) -> list[list[int]]:
    numbers = range(len(cleaned))
    return [[i, j] for i in numbers for j in numbers if i < j and similar(cleaned[i], cleaned[j])]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("RT @some_one: Hello", "hello"),
        ("RT @a: RT @b : hello", "hello"),
        ("rt hello", "hello"),
        ("ART gehört rtl", "artgehörtrtl"),  # rt only as a word, also beside letters like ö
        ("@a @b: hello", "hello"),
        ("hello https://t.co/aB1 www.x.org/?a=1 pic.twitter.com/q t.co/xyz", "hello"),
        ("hellopic.twitter.com/q", "hello"),
        ("about.co/x", "about.co/x"),
        ("a\u00a0b\u200bc\td\ufeff e\n", "abcde"),
        ("x &lt; y", "x<y"),
        ("x &amp;lt; y", "x<y"),  # escaped twice
        (f"x &{'amp;' * 9}lt; y", "x<y"),  # ten times
        ("x &#38;#60; y", "x<y"),
        ("Cafe\u0301 CAFÉ", "cafécafé"),
        ("@a http://x.org", ""),
        (" ", ""),
        (None, ""),
    ],
)
def test_the_strict_key_drops_what_it_promises(text: str | None, key: str) -> None:
    assert strict_key(texts(text)).to_list() == [key]


def test_cleaning_some_rows_leaves_the_others_in_place() -> None:
    some = texts("plain", "A &amp; B", "plain too", "É", "@x hi", "two  spaces")
    assert clean(some).to_list() == ["plain", "a & b", "plain too", "é", "hi", "two spaces"]


def test_posts_that_differ_only_in_spacing_are_exact_duplicates() -> None:
    found = find_duplicates(texts("today is fine", "to day is fine", "TODAY  IS FINE"))
    # The first in alphabetical order stands for the key, whichever came first.
    assert (found.pairs(), found.texts.to_list()) == ((3, 0), ["to day is fine"])


def test_an_empty_key_is_nobodys_duplicate() -> None:
    found = find_duplicates(texts("@a", "@b", "", None, "x", "x"))
    assert found.pairs() == (1, 0)
    assert found.group.tolist() == [0, 1, 2, 3, 4, 4]


@pytest.mark.parametrize(
    ("a", "b", "near"),
    [
        # 11 characters: only equality counts. 12: one substitution is near.
        ("abcdefghijk", "abcdefghijX", 0),
        ("abcdefghijkl", "abcdefghijkX", 1),
        # 12 against 11 characters: one is too short.
        ("abcdefghijkl", "abcdefghijk", 0),
        # Two edits yes, three no.
        ("abcdefghijklmn", "XbcdefghijklmX", 1),
        ("abcdefghijklmn", "XbcdefXhijklmX", 0),
        # Two insertions, so that lengths differ by two; an insertion and a deletion.
        ("abcdefghijklmn", "XabcdefgXhijklmn", 1),
        ("abcdefghijklmn", "bcdefghijklmnX", 1),
        # 39 characters each, one substituted in the middle: 30 of 35 + 35 - 30 grams shared, .75,
        # so only the edit rule can say near. One inserted makes 40 characters: 31 of 40 shared,
        # .775, and the edit rule no longer holds.
        (MIDDLE.format("t"), MIDDLE.format("#"), 1),
        (MIDDLE.format("t"), MIDDLE.format("t#"), 0),
    ],
)
def test_short_texts_are_near_within_two_edits(a: str, b: str, near: int) -> None:
    assert find_duplicates(texts(a, b)).pairs() == (0, near)


def test_jaccard_of_exactly_four_fifths_is_near() -> None:
    # 48 different characters: 44 grams. Eleven more at the end: 55 grams, 44 shared, 44/55 = .8.
    long = "".join(map(chr, range(0x4E00, 0x4E00 + 60)))
    assert find_duplicates(texts(long[:48], long[:59])).pairs() == (0, 1)
    assert find_duplicates(texts(long[:48], long[:60])).pairs() == (0, 0)  # 44/56


def test_repeated_grams_count_once() -> None:
    # Both have the grams ababa and babab only: the sets are equal, the texts are not. In the second
    # each stands 256 times, which a counter of one byte would take for none.
    found = find_duplicates(texts("ab" * 20, "ab" * 258))
    assert found.near is not None
    assert found.near.tolist() == [[0, 1]]


def test_groups_are_connected_components_numbered_by_first_post() -> None:
    # 0 ~ 2 ~ 4 by two edits each, 0 and 4 are four edits apart; 1 = 3.
    a, b, c = "abcdefghijklmnop", "XYcdefghijklmnop", "XYcdefghijklmnZZ"
    found = find_duplicates(texts(a, "other", b, "OTHER", c))
    assert found.pairs() == (1, 2)
    assert found.group.tolist() == [0, 1, 0, 1, 0]
    assert find_duplicates(texts(a, b), near=False).group.tolist() == [0, 1]


def test_groups_of_both_rules_are_kept() -> None:
    # The first two by Jaccard (too long for edits), the others by edits: 8 of 16 grams shared.
    long = "".join(map(chr, range(0x4E00, 0x4E00 + 60)))
    found = find_duplicates(texts(long, long[1:], "abcdefghijklmnop", "abcdefghXjklmnop"))
    assert found.group.tolist() == [0, 0, 1, 1]


def test_pairs_are_counted_by_multiplicity_and_side() -> None:
    a, b = "abcdefghijklmnop", "abcdefghijklmnoX"
    found = find_duplicates(texts(a, a, a, b, b, "lonely post here"))
    side = pl.Series(["train", "train", "test", "test", None, "test"])
    # Exact: C(3,2) + C(2,2) = 3 + 1. Near: 3 · 2.
    assert found.pairs() == (4, 6)
    # a: 2 train, 1 test: 2 of 3 pairs differ. b: test and missing: 1 of 1. Near: 6 less the one
    # pair (test, test).
    assert found.pairs(side) == (3, 5)


def test_missing_sides_equal_each_other() -> None:
    found = find_duplicates(texts("x", "x", "x"))
    assert found.pairs(pl.Series([None, None, 1])) == (2, 0)


def test_sides_must_fit_the_posts() -> None:
    with pytest.raises(BadInput, match="1 sides for 2 posts"):
        find_duplicates(texts("a", "b")).pairs(pl.Series(["train"]))


def test_many_identical_posts_cost_nothing() -> None:
    found = find_duplicates(pl.Series(["the same text for everybody"] * 50_000))
    assert found.pairs() == (50_000 * 49_999 // 2, 0)


def test_examples_give_positions() -> None:
    a, b = "abcdefghijklmnop", "abcdefghijklmnoX"
    found = find_duplicates(texts("@x", b, "z", a, "z", a, "z"))
    assert found.examples() == [(2, 4), (3, 5)]
    assert found.examples(1) == [(2, 4)]
    assert found.examples(near=True) == [(1, 3)]


def test_nothing_to_compare() -> None:
    for posts in (texts(), texts("", None), texts("one text of some length")):
        found = find_duplicates(posts)
        assert found.pairs(pl.Series(range(len(posts)))) == (0, 0)
        assert found.examples() == found.examples(near=True) == []
        assert found.group.tolist() == list(range(len(posts)))


def family(rng: random.Random, alphabet: str, size: int, count: int) -> list[str]:
    """Texts made from one by a few edits each."""
    start = [rng.choice(alphabet) for _ in range(size)]
    made = []
    for _ in range(count):
        text = start.copy()
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(text) + 1)
            text[at : at + rng.randrange(2)] = rng.choice(alphabet) * rng.randrange(2)
        made.append("".join(text))
    return made


def corpus(seed: int, alphabet: str = "abcdefgh  ") -> list[str]:
    rng = random.Random(seed)
    sizes = (8, 12, 13, 20, 30, 39, 40, 60, 120, 300)
    return [text for size in sizes for text in family(rng, alphabet, size, 6)]


LETTERS = ["ab", "abc ", "abcdefgh  ", "日本語テキスト😀é "]
MANY = "".join(map(chr, range(0x4E00, 0x4E00 + 7000)))


@pytest.mark.parametrize("alphabet", [*LETTERS, MANY])
def test_every_pair_is_found(alphabet: str) -> None:
    found = find_duplicates(pl.Series(corpus(1, alphabet)))
    expected = brute_force(found.texts.to_list())
    assert found.near is not None
    assert found.near.tolist() == expected
    assert len(expected) > 20


def test_grams_of_a_huge_alphabet_are_told_apart() -> None:
    # As numbers in base 8000 these two differ by 2 ** 64: one word of 64 bits would not see it.
    alphabet = "".join(map(chr, range(0x4E00, 0x4E00 + 8000)))
    zero = alphabet[0] * 5
    wrapped = "".join(alphabet[2**64 // 8000**place % 8000] for place in (4, 3, 2, 1, 0))
    pairs = np.array([[0, 1], [1, 2]], dtype=np.int32)
    assert _jaccard.at_least(texts(alphabet, zero, wrapped), pairs).tolist() == [False, False]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.sampled_from(LETTERS), st.integers(1, 400), st.integers(1, 400))
def test_every_pair_is_found_in_any_made_up_corpus(
    seed: int, alphabet: str, shorter: int, longer: int
) -> None:
    rng = random.Random(seed)
    posts = family(rng, alphabet, shorter, 6) + family(rng, alphabet, longer, 6)
    found = find_duplicates(pl.Series(posts))
    assert found.near is not None
    assert found.near.tolist() == brute_force(found.texts.to_list())


@pytest.mark.parametrize("bits", [1, 4, 9])
def test_colliding_hashes_lose_no_pair(monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    monkeypatch.setattr(_jaccard, "_HASH_BITS", bits)
    test_every_pair_is_found("abcdefgh  ")


def test_one_common_id_is_enough_if_all_common_grams_collide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # 52 grams in common, all hashed to 0, and one of its own each: 52/54, but one id of two.
    def worst(some: pl.Series, bits: int) -> np.ndarray:
        code = _jaccard.code_points(some).astype(np.int64)
        return np.where(code[4:] < 128, code[4:], 0)

    monkeypatch.setattr(_jaccard, "_hashes", worst)
    long = "".join(map(chr, range(0x4E00, 0x4E00 + 56)))
    assert find_duplicates(texts(long + "#", long + "*")).pairs() == (0, 1)


def test_small_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = find_duplicates(pl.Series(corpus(2)))
    for module, name, size in [
        (_jaccard, "_BLOCK", 500),
        (_jaccard, "_CANDIDATES", 100),
        (_jaccard, "_EXACT", 500),
        (_jaccard, "_TEXTS", 1000),
        (_edits, "_CANDIDATES", 3),
    ]:
        monkeypatch.setattr(module, name, size)
    parts = find_duplicates(pl.Series(corpus(2)))
    assert whole.near is not None
    assert parts.near is not None
    assert parts.near.tolist() == whole.near.tolist()


def test_pairs_too_many_to_keep_are_found_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = find_duplicates(pl.Series(corpus(3)))
    monkeypatch.setattr(duplicates, "MOST_KEPT", 5)
    found = find_duplicates(pl.Series(corpus(3)))
    side = pl.Series(range(len(found.keys))) % 3
    assert found.near is None
    assert found.pairs(side) == kept.pairs(side)
    assert found.group.tolist() == kept.group.tolist()
    assert len(found.examples(7, near=True)) == 7


def test_the_order_of_posts_does_not_matter() -> None:
    posts = pl.Series(corpus(4) + [f"  {text}" for text in corpus(4)[::2]])
    order = np.random.default_rng(0).permutation(len(posts))
    one, other = find_duplicates(posts), find_duplicates(posts.gather(order))
    assert other.pairs() == one.pairs()
    together = one.group[:, None] == one.group
    assert ((other.group[:, None] == other.group) == together[np.ix_(order, order)]).all()


def test_the_windows_are_those_of_pass_join() -> None:
    # Li et al.: with at most two edits 5, 4 and 3 places for lengths that differ by 0, 1 and 2.
    for shift, expected in enumerate((5, 4, 3)):
        assert sum(len(places) for _, places in _edits.windows(20, 20 + shift)) == expected

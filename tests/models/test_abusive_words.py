"""The limited vocabulary: lists in files and over-represented words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evenhand.core.errors import BadInput
from evenhand.models.abusive_words import Vocabulary, listed, over_represented
from evenhand.models.front_end import FrontEnd


def test_a_plain_list_and_one_with_values(tmp_path: Path):
    plain, valued = tmp_path / "plain.txt", tmp_path / "valued.txt"
    plain.write_text("Fool\nfool\n\nvermin\ntwo words\n", encoding="utf-8")
    valued.write_text("fool_noun\tTRUE\ntable_noun\tFALSE\nrat_noun\t0.5\nbus_noun\t-1\n")

    assert listed(plain, FrontEnd()) == ["fool", "vermin"]
    assert listed(valued, FrontEnd()) == ["fool", "rat"]


def test_a_list_is_read_as_posts_are(tmp_path: Path):
    path = tmp_path / "list.txt"
    path.write_text("1d1ot\nIDIOT\n@ann\nf o o l\n", encoding="utf-8")

    # A handle would be every handle.
    assert listed(path, FrontEnd()) == ["fool", "idiot"]


def test_another_encoding_and_other_faults_are_refused(tmp_path: Path):
    path = tmp_path / "old.txt"
    path.write_bytes("fool\nna\u00efve\n".encode("latin-1"))
    with pytest.raises(BadInput, match="not UTF-8 at byte 7; save the word list as UTF-8"):
        listed(path, FrontEnd())
    path.write_bytes("fool\n".encode("utf-16-le"))
    with pytest.raises(BadInput, match="has NUL bytes, as UTF-16 has"):
        listed(path, FrontEnd())
    path.write_text("\n\n")
    with pytest.raises(BadInput, match="has no words"):
        listed(path, FrontEnd())
    path.write_text("fool\tmaybe\n")
    with pytest.raises(BadInput, match="expected TRUE, FALSE or a number"):
        listed(path, FrontEnd())
    with pytest.raises(BadInput, match="cannot be read"):
        listed(tmp_path / "absent.txt", FrontEnd())


def test_the_words_most_over_represented():
    # "fool" stands in 6 of 6 abusive posts and no other; "bus" in 6 of each; "tea" in no abusive
    # one; "rare" in 4 posts only, all abusive; "often" in 6 abusive posts and 3 others.
    abusive = [f"fool bus often {'rare' if n < 4 else ''} x{n}" for n in range(6)]
    others = [f"tea bus {'often' if n < 3 else ''} y{n}" for n in range(6)]
    truth = np.array([True] * 6 + [False] * 6)

    # Against "often" the odds of "fool" are higher, but so is their error: z is
    # ln(6.5/.5) - ln(.5/6.5) = 5.13 over sqrt(1/6.5 + 1/.5) = 1.47: 3.5 for fool, and
    # ln(6.5/.5) - ln(3.5/3.5) = 2.56 over sqrt(1/6.5 + 1/3.5) = .66: 3.9 for often.
    assert over_represented(abusive + others, truth, 1) == ["often"]
    assert over_represented(abusive + others, truth, 9) == ["fool", "often"]
    order = np.random.default_rng(0).permutation(12)
    mixed = [(abusive + others)[n] for n in order]
    assert over_represented(mixed, truth[order], 9) == ["fool", "often"]


def test_words_are_numbered_from_one():
    vocabulary = Vocabulary(("fool", "vermin"), 4, 4)

    assert vocabulary.numbered(["Vermin, you FOOL, vermin!", "nothing", ""]) == [[2, 1, 2], [], []]

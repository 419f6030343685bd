"""Counts of the real corpora, as their publishers and the papers give them.

Figures only: no text of any corpus is printed or compared. ``EVENHAND_DATA`` names the folder.
"""

from __future__ import annotations

import os
from functools import cache

import polars as pl
import pytest

from evenhand.core import registry
from evenhand.core.tables import carried, tag
from evenhand.data.corpus import Corpus
from evenhand.data.find import data_folder, reader

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not os.environ.get("EVENHAND_DATA"),
        reason="EVENHAND_DATA is not set: it names the folder of published corpora",
    ),
]

SIZES = {  # name: (rows, posts)
    "annotation_sensitivity": (44_900, 3_000),
    "arango_extended": (7_006, 6_965),
    "convabuse": (12_768, 4_185),
    "davidson": (24_783, 24_783),
    "edos": (20_000, 20_000),
    "guest": (6_567, 6_383),
    "hateval": (13_000, 13_000),
    "hatexplain": (20_148, 20_148),
    "hs_brexit": (1_120, 1_120),
    "jigsaw": (55_780, 55_780),
    "md_agreement": (10_753, 10_753),
    "perspective_scores": (7_200, 7_200),
    "stormfront": (10_944, 10_944),
    "waseem_2016": (16_091, 16_044),
    "waseem_hovy": (14_949, 14_908),
    "waseem_hovy_full": (16_849, 16_849),
}
SUITES = {"hatecheck": (3_728, 188), "hatemojicheck": (3_930, 196)}  # name: (suite, sample)
SPLITS = {  # name: rows of each file, of which the last is not installed everywhere
    "dynahate": {"train": 32_901, "dev": 4_099, "test": 4_116},
    "hatemojibuild": {"train": 4_728, "dev": 591, "test": 593},
}
LABELS = {  # the labels posts carry: both where two were published
    "arango_extended": {"none": 4_086, "hate": 1_430, "sexism": 1_231, "racism": 259},
    "davidson": {"hate_speech": 1_430, "offensive_language": 19_190, "neither": 4_163},
    "edos": {"sexist": 4_854, "not sexist": 15_146},
    "hateval": {"0": 5_217 + 573 + 1_740, "1": 3_783 + 427 + 1_260},
    "hs_brexit": {"0": 712 + 149 + 150, "1": 72 + 19 + 18},
    "jigsaw": {
        "toxic": 13_547,
        "severe_toxic": 1_494,
        "obscene": 7_087,
        "threat": 478,
        "insult": 6_580,
        "identity_hate": 1_328,
        "none": 41_314,
    },
    "md_agreement": {"0": 4_630 + 716 + 2_039, "1": 1_962 + 388 + 1_018},
    "stormfront": {"noHate": 9_507, "hate": 1_196, "relation": 168, "idk/skip": 73},
    "waseem_hovy": {"racism": 1_851, "sexism": 2_988, "none": 10_110},
    "waseem_hovy_full": {"racism": 1_970, "sexism": 3_378, "none": 11_501},
}
AUTHORS = {  # name: (known authors, posts without one)
    "stormfront": (2_792, 0),
    "waseem_hovy": (1_614, 95),
}


@cache
def _read(name: str) -> Corpus:
    return reader(name).read(data_folder())


def corpus(name: str) -> Corpus:
    """The corpus, or a skipped test where it is not installed."""
    if not reader(name).installed(data_folder()):
        pytest.skip(f"{name} is not installed in EVENHAND_DATA")
    return _read(name)


def counts(column: pl.Series) -> dict[str | None, int]:
    return dict(column.value_counts().iter_rows())


def questions(name: str) -> dict[str | None, int]:
    return counts(corpus(name).judgements["question"])


def test_every_corpus_is_counted_here():
    assert sorted([*SIZES, *SUITES, *SPLITS]) == registry.names("readers")


@pytest.mark.parametrize("name", SIZES)
def test_rows_and_posts(name):
    found = corpus(name)
    assert (found.rows, found.posts.height) == SIZES[name]


@pytest.mark.parametrize("name", SUITES)
def test_suites_are_whole_or_a_sample(name):
    found = corpus(name)
    whole, sample = SUITES[name]
    assert found.rows == found.posts.height == (sample if found.notes else whole)


@pytest.mark.parametrize("name", SPLITS)
def test_splits_that_are_installed(name):
    found = corpus(name)
    splits = counts(found.posts.select(tag("split", found.posts)).to_series())
    assert {"train", "dev"} <= splits.keys()
    assert splits == {split: SPLITS[name][split] for split in splits}


@pytest.mark.parametrize("name", LABELS)
def test_labels(name):
    assert counts(carried(corpus(name).main_gold())["label"]) == LABELS[name]


@pytest.mark.parametrize("name", AUTHORS)
def test_authors(name):
    authors = corpus(name).posts["author"]
    assert (authors.drop_nulls().n_unique(), authors.null_count()) == AUTHORS[name]


def test_arango_extended_posts_without_an_author():
    # 1,430 posts of Davidson's and 52 rows of the others, two of which are one post.
    posts = corpus("arango_extended").posts
    alone = posts.filter(pl.col("author").is_null())
    assert counts(alone.select(tag("part", posts)).to_series()) == {
        "davidson": 1_430,
        "waseem_hovy": 51,
    }


@pytest.mark.parametrize(
    ("name", "conflicts"), [("waseem_hovy", 41), ("waseem_2016", 47), ("arango_extended", 41)]
)
def test_ids_with_two_labels_have_none(name, conflicts):
    gold = corpus(name).main_gold()
    assert gold.filter(pl.col("label").is_null())["n"].to_list() == [2] * conflicts


def test_waseem_hovy_hateful_authors():
    # Arango et al. 2019: 8 authors wrote the racist posts, 491 the sexist ones.
    found = corpus("waseem_hovy")
    labels = carried(found.main_gold()).join(found.posts, left_on="post", right_on="id")
    by = labels.group_by("label").agg(pl.col("author").drop_nulls().n_unique())
    assert {label: n for label, n in by.iter_rows() if label != "none"} == {
        "racism": 8,
        "sexism": 491,
    }


def test_davidson_votes():
    # 22,807 posts with 3 votes, 211 with 4, 1,571 with 6, 27 with 7, 167 with 9.
    found = corpus("davidson")
    assert counts(found.gold["n"]) == {3: 22_807, 4: 211, 6: 1_571, 7: 27, 9: 167}
    assert found.judgements.height == 3 * 22_807 + 4 * 211 + 6 * 1_571 + 7 * 27 + 9 * 167
    assert found.judgements["anonymous"].all()


def test_convabuse_judgements_and_attempts():
    abuse = corpus("convabuse").judgements.filter(question="abuse")
    assert (abuse.height, (abuse["attempt"] > 1).sum()) == (12_768, 357)
    assert abuse["annotator"].n_unique() == 8


def test_md_agreement_five_votes_a_post():
    judgements = corpus("md_agreement").judgements
    assert judgements.height == 10_753 * 5
    assert judgements["annotator"].n_unique() == 819


def test_hs_brexit_six_votes_of_two_groups():
    found = corpus("hs_brexit").judgements.filter(question="label")
    assert counts(found["cohort"]) == {"target group": 1_120 * 3, "control group": 1_120 * 3}
    assert found["annotator"].n_unique() == 6


def test_annotation_sensitivity_answers():
    # Answered, of 44,900: hate.speech 7,811 + 3,326 + 23,421 + 10,031; offensive.language
    # 6,479 + 4,732 + 18,852 + 14,798.
    assert questions("annotation_sensitivity") == {
        "hate_speech": 44_589,
        "offensive_language": 44_861,
    }
    judgements = corpus("annotation_sensitivity").judgements
    assert (judgements["annotator"].n_unique(), judgements["cohort"].n_unique()) == (917, 5)


def test_hatexplain_judgements_and_labels():
    found = corpus("hatexplain")
    assert questions("hatexplain")["label"] == 20_148 * 3
    assert counts(found.main_gold()["label"]) == {
        "normal": 7_814,
        "hatespeech": 5_935,
        "offensive": 5_480,
        None: 919,
    }


def test_hatexplain_splits():
    posts = corpus("hatexplain").posts
    splits = counts(posts.select(tag("split", posts)).to_series())
    assert splits == {"train": 15_383, "dev": 1_922, "test": 1_924, None: 919}


def test_hatexplain_one_rationale_has_the_wrong_length():
    assert "1 rationale of the wrong length was left out." in corpus("hatexplain").notes


def test_hatecheck_five_votes_a_case():
    found = corpus("hatecheck")
    assert found.judgements.height == 5 * found.posts.height
    assert found.judgements["annotator"].n_unique() == 10


def test_guest_rows_per_label():
    # A post with several rows has shares over them; share times n gives the rows back.
    gold = corpus("guest").main_gold().explode("shares").unnest("shares", separator=".")
    rows = gold.group_by("shares.label").agg((pl.col("shares.share") * pl.col("n")).sum())
    expected = {"Nonmisogynistic": 5_868, "Misogynistic": 699}
    assert dict(rows.iter_rows()) == pytest.approx(expected)


def test_guest_empty_texts_are_kept():
    assert (corpus("guest").posts["text"] == "").sum() == 12


def test_guest_spans_lie_within_their_text():
    found = corpus("guest")
    spans = found.judgements.explode("spans").drop_nulls("spans").unnest("spans")
    ends = spans.join(found.posts, left_on="post", right_on="id")
    assert (ends["start"] < ends["end"]).all()
    assert (ends["end"] <= ends["text"].str.len_chars()).all()


def test_hateval_second_gold():
    gold = corpus("hateval").gold
    relabelled = gold.filter(pl.col("question") == "HS relabelled")
    if not relabelled.height:
        pytest.skip("relabeled_en_test.csv is not installed")
    assert counts(relabelled["label"]) == {"1": 1_901, "0": 1_099}


def test_hatemojibuild_perturbations_are_edits():
    # train 2,375 originals + 2,353 perturbations, validation 286 + 305.
    posts = corpus("hatemojibuild").posts
    posts = posts.filter(tag("split", posts) != "test")
    assert counts(posts.select(tag("set", posts)).to_series()) == {
        "original": 2_375 + 286,
        "perturbation": 2_353 + 305,
    }
    assert posts["edit_of"].drop_nulls().len() == 2_353 + 305


def test_jigsaw_weights_restore_the_published_size():
    # 143,346 rows without a label; of 16,225 with one, threats count once each.
    draws = corpus("jigsaw").draws
    sums = dict(draws.group_by("stratum").agg(pl.col("weight").sum()).iter_rows())
    labelled = 478 + (14_466 - 478) * 16_225 / 14_466
    assert sums == pytest.approx({"none": 143_346, "labelled": labelled})


def test_perspective_texts_without_scores():
    found = corpus("perspective_scores")
    unscored = found.posts.join(found.scores, left_on="id", right_on="post", how="anti")
    assert (unscored.height, found.main_gold().height) == (29, 514)


@pytest.mark.parametrize("name", registry.names("readers"))
def test_everything_belongs_to_a_post(name):
    found = corpus(name)
    ids = found.posts.select(post="id")
    for part in (found.gold, found.judgements, found.draws, found.scores):
        assert part is None or part.join(ids, on="post", how="anti").height == 0

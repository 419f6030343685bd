import polars as pl

from evenhand.models.callables import FunctionDetector
from evenhand.models.naive_bayes import NaiveBayes
from evenhand.models.seen import Seen, trained_on
from factories import make_corpus

ROWS = [
    {"id": "a", "text": "You are a fool, you fool", "label": "bad"},
    {"id": "b", "text": "A fine day to you", "label": "ok"},
    {"id": "c", "text": "Nobody knows", "label": None},
    {"id": "d", "text": "@ann", "label": "ok"},
]


def detector():
    corpus = make_corpus(ROWS)
    return NaiveBayes(hateful=("bad",), min_df=1).fit(corpus.posts, corpus.gold, seed=0)


def posts(*rows, source="made up"):
    return pl.DataFrame(
        [{"id": i, "text": text, "source": source} for i, text in rows],
        schema={"id": pl.String, "text": pl.String, "source": pl.String},
    )


def test_the_same_post_is_recognised_by_id_whatever_its_text():
    assert trained_on(detector(), posts(("x", "new"), ("b", "edited since"))) == ["b"]


def test_a_copy_under_another_id_is_recognised_by_its_text():
    copies = posts(("x", "RT @me: you are A FOOL, you fool http://t.co/1"), ("y", "Something else"))
    assert trained_on(detector(), copies) == ["x"]


def test_posts_that_gave_no_training_row_were_not_seen():
    assert trained_on(detector(), posts(("c", "Nobody knows"))) == []


def test_the_same_id_in_another_corpus_is_another_post():
    assert trained_on(detector(), posts(("a", "not at all alike"), source="other")) == []


def test_nothing_but_a_handle_is_nobodys_copy():
    assert trained_on(detector(), posts(("x", "@bob"), ("y", ""))) == []


def test_no_posts():
    assert trained_on(detector(), posts()) == []
    assert len(Seen.of(posts()).ids) == 0


def test_a_detector_that_does_not_say_is_not_taken_for_clean():
    assert trained_on(FunctionDetector("f", ("HATE",), len), posts(("a", "x"))) is None


def test_the_checksum_is_of_the_set_not_its_order():
    table = make_corpus(ROWS).posts
    assert Seen.of(table).sha256() == Seen.of(table.reverse()).sha256()
    assert Seen.of(table).sha256() != Seen.of(table.head(2)).sha256()

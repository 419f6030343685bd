import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.streams import stream
from evenhand.core.tables import scores_table
from evenhand.models.perspective_like import learn_maps, perspective_map
from evenhand.models.seen import Seen
from factories import finding, make_corpus, value


def test_a_map_by_hand():
    # .4 before .3 falls: isotonic regression gives both their mean.
    knots = perspective_map([0.9, 0.2, 0.1, 0.3], [0.8, 0.4, 0.2, 0.3])
    assert knots == ((0.1, 0.2), (0.2, 0.35), (0.3, 0.35), (0.9, 0.8))


def made_up(n=1000, seed=1):
    rng = stream(seed, "texts")
    p = rng.random(n) ** 3
    return p, np.clip(0.1 + 0.6 * np.sqrt(p) + rng.normal(0, 0.1, n), 0, 1)


def test_a_map_never_falls_stays_within_0_and_1_and_has_32_knots():
    knots = np.array(perspective_map(*made_up()))
    assert len(knots) == 32
    assert (np.diff(knots[:, 0]) > 0).all()
    assert (np.diff(knots[:, 1]) >= 0).all()
    assert ((knots >= 0) & (knots <= 1)).all()


def test_a_map_comes_near_what_was_published():
    p, published = made_up()
    known, scores = zip(*perspective_map(p, published), strict=True)
    new = np.linspace(0.02, 0.9, 50)
    assert np.interp(new, known, scores) == pytest.approx(0.1 + 0.6 * np.sqrt(new), abs=0.06)


def test_small_probabilities_keep_their_digits():
    knots = perspective_map([1.23456789e-7, 0.5], [0.0, 1.0])
    assert knots == ((1.23457e-7, 0.0), (0.5, 1.0))


def test_the_order_of_texts_changes_nothing_in_a_map():
    p, published = made_up()
    p = p.round(2)  # with ties
    order = stream(2, "order").permutation(len(p))
    assert perspective_map(p[order], published[order]) == perspective_map(p, published)


@pytest.mark.parametrize(
    ("p", "published", "error", "message"),
    [
        ([0.1, 1.2], [0.1, 0.2], BadInput, "p: some values are outside"),
        ([0.1, 0.2], [0.1, np.nan], BadInput, "published: some values"),
        ([0.1, 0.2], [0.1], BadInput, "2 probabilities, 1 published"),
        ([0.1, 0.1], [0.1, 0.2], NotEnoughData, "2 texts of one probability"),
    ],
)
def test_a_map_is_refused_in_words(p, published, error, message):
    with pytest.raises(error, match=message):
        perspective_map(p, published)


P, PUBLISHED = made_up(200)
TEXTS = {f"text {number} words": number for number in range(200)}
COLUMNS = ("HATE", "TOXICITY")


def ids(number):
    return f"rtp:{number // 2}:{'prompt' if number % 2 else 'continuation'}"


def corpus(n=200):
    rows = [{"id": ids(k), "text": text} for text, k in TEXTS.items() if k < n]
    table = {"post": [r["id"] for r in rows], "p": PUBLISHED[:n]}
    scores = pl.DataFrame(table).with_columns(
        detector=pl.lit("perspective"), attribute=pl.lit("TOXICITY")
    )
    earlier = scores.with_columns(detector=pl.lit("perspective (earlier version)"), p=0.5)
    return make_corpus(
        rows, scores=scores_table(pl.concat([scores, earlier.select(scores.columns)]))
    )


def score(texts):
    p = P[[TEXTS[text] for text in texts]]
    return np.stack([1 - p, p], axis=1)


def learned(some=None, seen=None, **options):
    return learn_maps(score, COLUMNS, some or corpus(), seen, 7, **{"resamples": 200, **options})


def test_attributes_with_published_scores_get_a_map_of_all_texts():
    maps, findings = learned()
    assert maps == {"TOXICITY": perspective_map(P, PUBLISHED)}
    assert {f.measure for f in findings} == {
        "spearman", "mean_absolute_difference", "mean_difference",
    }  # fmt: skip
    assert {f.group["attribute"] for f in findings} == {"TOXICITY"}


def test_agreement_is_that_of_texts_kept_apart():
    findings = learned()[1]
    correlation = finding(findings, "spearman", attribute="TOXICITY")
    assert correlation.value == pytest.approx(spearmanr(P, PUBLISHED).statistic)
    assert correlation.low < correlation.value < correlation.high
    assert correlation.n == 200
    known, scores = zip(*perspective_map(P, PUBLISHED), strict=True)
    seen_before = np.abs(np.interp(P, known, scores) - PUBLISHED).mean()
    apart = finding(findings, "mean_absolute_difference", attribute="TOXICITY")
    assert seen_before < apart.value < 0.12
    assert apart.low < apart.value < apart.high
    assert abs(value(findings, "mean_difference", attribute="TOXICITY")) < 0.02


def test_a_sentence_teaches_nothing_about_its_other_half():
    # All texts have .2 but the two halves of one sentence, which alone have the probability 1.
    # A map of other texts says .2 of them and is .8 off: twice of 200 texts, or .008 on average.
    p = np.where(np.arange(200) < 2, 1.0, P / 2)
    some = corpus()
    published = {ids(k): 1.0 if k < 2 else 0.2 for k in range(200)}
    scores = some.scores.with_columns(p=pl.col("post").replace_strict(published))
    rows = some.posts.select("id", "text").to_dicts()
    findings = learn_maps(
        lambda texts: p[[TEXTS[text] for text in texts]][:, None],
        ("TOXICITY",),
        make_corpus(rows, scores=scores),
        None,
        7,
        resamples=0,
    )[1]
    off = value(findings, "mean_absolute_difference", attribute="TOXICITY")
    assert 0.008 - 1e-9 <= off < 0.009


def test_texts_that_were_trained_on_are_left_out():
    trained = corpus().posts.head(60)
    findings = learned(seen=Seen.of(trained))[1]
    assert finding(findings, "spearman", attribute="TOXICITY").n == 140


def test_the_order_of_posts_changes_nothing():
    some = corpus()
    rows = some.posts.select("id", "text").reverse().to_dicts()
    turned = make_corpus(rows, scores=some.scores.reverse())
    assert learned(turned) == learned(some)


def test_equal_scores_have_no_correlation_and_say_so():
    some = corpus()
    rows = some.posts.select("id", "text").to_dicts()
    flat = make_corpus(rows, scores=some.scores.with_columns(p=pl.lit(0.5)))
    found = finding(learned(flat)[1], "spearman", attribute="TOXICITY")
    assert (found.value, found.why) == (None, "all scores are equal")


def test_a_corpus_without_scores_is_refused():
    with pytest.raises(BadInput, match="has no published scores"):
        learned(make_corpus([{"id": "a", "text": "b"}]))


def test_too_few_texts_are_refused():
    with pytest.raises(NotEnoughData, match="40 texts with a published TOXICITY"):
        learned(corpus(40))

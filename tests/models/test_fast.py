import math
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.streams import stream
from evenhand.models import _regression, fast, front_end
from evenhand.models._hashed import BITS, Hashed, buckets
from evenhand.models._regression import regression
from evenhand.models.calibration import Calibration, fitted
from evenhand.models.fast import Fast
from evenhand.models.lessons import Lessons, Task
from evenhand.models.material import Material
from evenhand.models.saving import load, save
from factories import make_corpus


def runs(text):
    """The runs of a text, made the slow way; a run of words is told from one of characters."""
    shown = f" {' '.join(text.lower().split())} "
    found = [
        shown[at : at + n]
        for n in range(2, 6)
        for at in range(len(shown) - n + 1)
        if " " not in shown[at + 1 : at + n - 1] and shown[at : at + n] != "  "
    ]
    words = "".join(c if c.isalnum() or c == "@" else " " for c in shown).split()
    return [*found, *((w,) for w in words), *zip(words, words[1:], strict=False)]


@pytest.mark.parametrize(
    "text", ["", "a", "a b", "You FOOL, you!", "  spaced   out ", "été 东西 don't", "@user 3 x_y"]
)
def test_every_run_has_a_bucket_and_equal_runs_have_the_same(text):
    numbers = buckets([text])[1]
    assert sorted(Counter(numbers.tolist()).values()) == sorted(Counter(runs(text)).values())


def test_runs_by_hand():
    # " ab ": 2 characters " a", "ab", "b "; 3 " ab", "ab "; 4 " ab "; the word ab. Of "ab ab" the
    # same twice, and the pair of words.
    one, two = buckets(["ab"])[1].tolist(), buckets(["ab ab"])[1].tolist()
    assert len(one) == 7
    extra = Counter(two) - Counter(one * 2)
    assert sum(extra.values()) == 1


def test_neighbours_and_places_change_no_bucket():
    texts = ["you fool", "", "a fool you", "you fool"]
    at, numbers = buckets(texts)
    for number, text in enumerate(texts):
        assert sorted(numbers[at == number]) == sorted(buckets([text])[1]), text


def test_buckets_stay_what_they_are():
    """A saved detector has weights by bucket: other numbers would make it nonsense."""
    assert sorted(buckets(["ab"])[1].tolist()) == [
        140499,
        428373,
        544085,
        582361,
        639927,
        811344,
        873972,
    ]


def test_buckets_are_spread_evenly():
    # 20,000 unlike words in 1,024 groups of buckets: χ² has mean 1,023 and deviation √2,046 ≈ 45.
    words = [f"w{number}x" for number in range(20_000)]
    at, numbers = buckets(words)
    first = numbers[np.unique(at, return_index=True)[1]]  # the word itself
    counts = np.bincount(first >> (BITS - 10), minlength=1024)
    expected = len(words) / 1024
    assert ((counts - expected) ** 2 / expected).sum() < 1023 + 5 * 45
    assert first.max() < 1 << BITS


def learned(texts, truth, most=1 << 17):
    shares = np.eye(2)[truth]
    return Hashed.learn(texts, shares, [slice(0, 2)], most)


def test_values_by_hand():
    # All 7 runs of "ab" are in 2 of 4 texts and so weigh the same: a row has 7 values 1/√7. In
    # "ab ab" each is there twice, so still 1/√7, for the pair is in one text only and not kept.
    texts = ["ab", "ab ab", "zz", "zz"]
    hashed = learned(texts, [1, 1, 0, 0])
    rows = hashed.rows(texts).toarray()
    assert np.sort(rows[0])[-7:] == pytest.approx(1 / math.sqrt(7))
    assert rows[1] == pytest.approx(rows[0])
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1)


def test_unlike_counts_and_weights_by_hand():
    # In "ab ab cd" ab's runs are there 2 times, cd's once. Of 4 texts ab is in 2, cd in 3:
    # ln(5/3) + 1 and ln(5/4) + 1, kept in 255 steps of the largest.
    texts = ["ab ab cd", "cd", "cd", "ab"]
    hashed = learned(texts, [1, 0, 0, 1])
    step = (math.log(5 / 3) + 1) / 255
    once = round((math.log(5 / 4) + 1) / step) * step
    twice = (math.log(5 / 3) + 1) * (1 + math.log(2))
    length = math.sqrt(7 * twice**2 + 7 * once**2)
    values = np.unique(hashed.rows(texts[:1]).toarray().round(12))
    assert values == pytest.approx([once / length, twice / length], abs=1e-9)


def test_the_buckets_that_tell_most_are_kept():
    # ab goes with yes in 8 of 8 texts, qq with either as often.
    texts = ["ab qq", "ab"] * 4 + ["zz qq", "zz"] * 4
    hashed = learned(texts, [1] * 8 + [0] * 8, most=14)
    assert len(hashed) == 14
    assert hashed.rows(["qq"]).nnz == 0
    assert (hashed.rows(["ab"]).nnz, hashed.rows(["zz"]).nnz) == (7, 7)


def test_a_run_in_one_text_only_is_not_kept():
    assert learned(["ab", "ab", "cd"], [1, 0, 1]).rows(["cd"]).nnz == 0


def test_no_run_in_two_texts_is_refused():
    with pytest.raises(NotEnoughData, match="no word or part of a word stands in 2 or more"):
        learned(["ab", "cd"], [0, 1])


def made_up(n=200, seed=1):
    rng = stream(seed, "rows")
    table = rng.normal(size=(n, 5)) * (rng.random((n, 5)) < 0.5)
    codes = (table @ rng.normal(size=(5, 3)) + rng.normal(size=(n, 3))).argmax(axis=1)
    return csr_array(table), codes, rng.random(n) + 0.5


@pytest.fixture
def to_the_end(monkeypatch):
    """Steps until they no longer matter."""
    monkeypatch.setattr(_regression, "_FLAT", 1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_regression_equals_scikit_learn(classes, to_the_end):
    table, codes, counts = made_up()
    codes = np.minimum(codes, classes - 1)
    theirs = LogisticRegression(C=0.7, tol=1e-8, max_iter=1000)
    theirs.fit(table, codes, sample_weight=counts)
    found = regression(table, np.eye(classes)[codes], counts, 0.7, single=classes == 2)
    # Of three answers the biases are known up to one number; of two scikit-learn gives the second.
    biases = found.bias - found.bias.mean() if classes > 2 else found.bias
    theirs_biases = (
        theirs.intercept_ - theirs.intercept_.mean() if classes > 2 else theirs.intercept_
    )
    np.testing.assert_allclose(found.weights.T, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(biases, theirs_biases, atol=1e-5)


def test_a_share_is_a_part_of_a_row(to_the_end):
    table, codes, counts = made_up()
    yes = np.minimum(codes, 1)
    shares = np.stack([0.25 + 0.5 * (1 - yes), 0.25 + 0.5 * yes], axis=1)
    both = csr_array(np.vstack([table.toarray()] * 2))
    hard = np.repeat(np.eye(2), len(yes), axis=0)
    doubled = regression(
        both, hard, np.concatenate([counts, counts]) * shares.T.ravel(), 1.0, single=True
    )
    soft = regression(table, shares, counts, 1.0, single=True)
    np.testing.assert_allclose(soft.weights, doubled.weights, atol=1e-5)


def test_a_start_changes_the_way_and_not_the_end(to_the_end):
    table, codes, counts = made_up()
    shares = np.eye(2)[np.minimum(codes, 1)]
    first = regression(table, shares, counts, 0.1, single=True)
    ends = [regression(table, shares, counts, 2.0, single=True, start=s) for s in (None, first)]
    np.testing.assert_allclose(ends[0].weights, ends[1].weights, atol=1e-5)


def pairs(n=90, seed=1):
    """Texts with a word that goes with each of two tasks."""
    rng = stream(seed, "texts")
    rude, threat = rng.random(n) < 0.4, rng.random(n) < 0.3
    words = rng.choice(["day", "bus", "tea", "sun", "late"], (n, 4))
    texts = [
        " ".join([*some, "fool" if a else "friend", "beware" if b else "welcome"])
        for some, a, b in zip(words.tolist(), rude, threat, strict=True)
    ]
    return texts, np.stack([rude, threat], axis=1)


def lessons(n=90, seed=1, labelled=None, weights=None):
    texts, yes = pairs(n, seed)
    known = np.ones((n, 2), dtype=bool) if labelled is None else labelled
    shares = np.zeros((n, 4), dtype=np.float32)
    shares[:, 0::2], shares[:, 1::2] = known & ~yes, known & yes
    return Lessons(
        texts=texts,
        tasks=(Task("RUDE"), Task("THREAT")),
        shares=shares,
        labelled=known,
        weights=np.ones(n, dtype=np.float32) if weights is None else weights,
        times=np.ones(n),
        parts=["made up"] * n,
    )


def trained(train=None, **options):
    nothing = pl.DataFrame(schema={"id": pl.String, "source": pl.String, "text": pl.String})
    given = Material(
        train=train or lessons(), dev=lessons(40, seed=2), held_out=nothing, posts=nothing, data=[],
        counts={}, plan="made up",
    )  # fmt: skip
    return Fast(**options).fit_material(given, seed=0)


def test_several_attributes_are_learned_at_once():
    detector = trained()
    assert detector.attributes == ("RUDE", "THREAT")
    p = detector.score(["day fool welcome", "day friend beware", "day friend welcome"])
    assert (p > 0.5).tolist() == [[True, False], [False, True], [False, False]]
    assert detector.provenance["plan"] == "made up"
    assert set(detector.provenance["c"]) == {"RUDE", "THREAT"}


def test_a_task_learns_from_the_rows_labelled_for_it():
    half = np.stack([np.arange(90) < 60, np.arange(90) >= 30], axis=1)
    detector = trained(lessons(labelled=half))
    p = detector.score(["day fool welcome", "day friend beware"])
    assert (p > 0.5).tolist() == [[True, False], [False, True]]


def test_rows_without_weight_teach_nothing():
    weights = (np.arange(90) < 50).astype(np.float32)
    lighter = lessons(weights=weights)
    others = [*lighter.texts[:50], *["fool beware welcome friend"] * 40]
    changed = Lessons(**{**vars(lighter), "texts": others})
    few = [trained(each).score(lighter.texts) for each in (lighter, changed)]
    assert few[0].tolist() == few[1].tolist()


def test_dev_rows_choose_c(monkeypatch):
    # Of RUDE .3 gives an area of .6, 1 gives .8 and 3 less, so 10 is not tried; THREAT's grow.
    areas = iter([0.6, 0.8, 0.7, 0.6, 0.7, 0.8, 0.9])
    monkeypatch.setattr(
        fast._Lesson, "area", lambda self, learned: 0.0 if learned is None else next(areas)
    )
    assert trained().provenance["c"] == {"RUDE": 1.0, "THREAT": 10.0}
    assert next(areas, None) is None


def test_margins_and_probabilities_are_of_one_mind():
    detector = trained()
    texts = pairs(30, seed=3)[0]
    np.testing.assert_allclose(detector.score(texts), 1 / (1 + np.exp(-detector.margins(texts))))


def test_calibrations_are_used_saved_and_loaded(tmp_path):
    detector = trained()
    texts, yes = pairs(60, seed=3)
    margins = detector.margins(texts)
    found = fitted(margins[:, 0], yes[:, 0], base_rate=0.5, corpus="made up")
    calibrated = detector.calibrated({"RUDE": found})
    assert calibrated.score(texts)[:, 0].tolist() == found.probability(margins[:, 0]).tolist()
    assert calibrated.score(texts)[:, 1].tolist() == detector.score(texts)[:, 1].tolist()
    save(calibrated, tmp_path / "fast")
    again = load(tmp_path / "fast")
    assert again.calibrations == {"RUDE": found}
    assert isinstance(again.calibrations["RUDE"], Calibration)
    assert again.score(texts).tolist() == calibrated.score(texts).tolist()


def test_a_long_list_of_texts_scores_as_each_text_alone(monkeypatch):
    monkeypatch.setattr(fast, "_BATCH", 7)
    detector = trained()
    texts = [*pairs(20, seed=3)[0], "", "day " * 60_000]
    alone = np.concatenate([detector.score([text]) for text in texts])
    assert detector.score(texts).tolist() == alone.tolist()


def test_disguises_and_emoji_are_read_by_the_front_end():
    detector = trained()
    plain, disguised = detector.score(["you fool", "you f00l"])
    assert plain.tolist() == disguised.tolist()


def test_handles_are_read_or_dropped(monkeypatch, tmp_path):
    named = lessons()
    named = replace(named, texts=[f"{text} @ann" for text in named.texts])
    kept, dropped = trained(named), trained(named, handles="dropped")
    assert dropped.weights.tolist() == trained().weights.tolist()
    texts = ["you fool", "you fool @ann", "RT @bob: you fool"]
    assert len(set(kept.margins(texts)[:, 0])) > 1
    assert len(set(dropped.margins(texts)[:, 0])) == 1
    save(dropped, tmp_path / "fast")
    assert load(tmp_path / "fast").margins(texts).tolist() == dropped.margins(texts).tolist()
    texts += ["@ann welcome", "welcome day"]
    plain = dropped._sums_of_clean(dropped.front_end.texts(texts), None) + dropped.bias
    monkeypatch.setattr(fast, "_MANY", 1)  # compiled
    assert dropped.margins(texts).tolist() == plain.tolist()


def test_weights_are_whole_numbers_of_8_bits_near_the_learned_ones():
    detector = trained()
    assert detector.weights.dtype == np.int8
    assert np.abs(detector.weights).max(axis=0).tolist() == [127, 127]


def three_classes(n=90):
    rows = [
        {"id": f"{k:03}", "text": f"{('fool', 'beware', 'welcome')[k % 3]} day {k % 7}",
         "label": ("rude", "threat", "ok")[k % 3]}
        for k in range(n)
    ]  # fmt: skip
    return make_corpus(rows)


def test_classes_are_told_apart_and_one_without_posts_has_probability_0():
    corpus = three_classes()
    classes = ("rude", "spam", "threat", "ok")
    detector = Fast(classes=classes, c=10.0).fit(corpus.posts, corpus.gold, seed=0)
    p = detector.score(["a fool", "beware", "you are welcome"])
    assert detector.attributes == classes
    assert p.argmax(axis=1).tolist() == [0, 2, 3]
    assert p[:, 1].tolist() == [0.0, 0.0, 0.0]
    assert p.sum(axis=1) == pytest.approx(1)


def test_one_answer_only_is_refused():
    few = lessons()
    shares = few.shares.copy()
    shares[:, 2:] = [1, 0]
    with pytest.raises(NotEnoughData, match="THREAT: 90 training rows, all with one answer"):
        trained(Lessons(**{**vars(few), "shares": shares}))


def test_a_detector_of_another_front_end_is_refused(monkeypatch, tmp_path):
    save(trained(), tmp_path / "fast")
    monkeypatch.setattr(front_end, "VERSION", 10_000)
    with pytest.raises(BadInput, match="version 10000; train it again"):
        load(tmp_path / "fast")


def test_arrays_that_do_not_fit_are_refused():
    detector = trained()
    arrays = detector.arrays()
    for name in ("weights", "idf", "kept"):
        with pytest.raises(ValueError, match="buckets"):
            Fast().restore(detector.record, {**arrays, name: arrays[name][:-1]})


def test_unknown_handles_are_refused():
    with pytest.raises(BadInput, match="handles is 'gone'; expected one of kept, dropped"):
        Fast(handles="gone")


@pytest.mark.parametrize("options", [{"buckets": 0}, {"c": 0.0}, {"c": math.inf}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(BadInput, match="expected more than 0"):
        Fast(**options)

"""What changes when a detector takes a recorded service's place."""

import json

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau, spearmanr

from evenhand.audits.index import Index
from evenhand.core.errors import BadInput
from evenhand.core.provenance import Run
from evenhand.data.find import find
from evenhand.models.callables import FunctionDetector
from evenhand.models.loaded import Loaded, load
from evenhand.serving._recording_files import Store
from evenhand.serving._recording_read import About
from evenhand.serving.mapping import Mapping
from evenhand.studies.migrate import Wanted, migrate_report
from evenhand.studies.migrate_figures import migrated
from evenhand.studies.migrate_pairs import GONE, KEPT, NEWLY, Keep, Pairs, groups_of
from evenhand.studies.migrate_rows import read_recorded
from evenhand.studies.migrate_thresholds import PRECISION, RECALL, Ranking

A = {"attribute": "TOXICITY"}


def pairs(old, new, truth=None, mentions=None):
    n = len(old)
    said = [float("nan")] * n if truth is None else truth
    return Pairs(
        "TOXICITY",
        [f"p{number:05}" for number in range(n)],
        np.array(old, dtype=float),
        np.array(new, dtype=float),
        np.array(said, dtype=float),
        mentions or [()] * n,
    )


def made_up(n=400, seed=1):
    rng = np.random.default_rng(seed)
    old = rng.random(n).round(3)
    new = np.clip(old**2 + rng.normal(0, 0.1, n), 0, 1).round(4)
    return pairs(old, new, (rng.random(n) < old).astype(float))


# Thresholds

NEW = [0.9, 0.8, 0.6, 0.6, 0.3, 0.1]
OLD = [1, 0, 1, 1, 0, 0]
TRUTH = [1, 1, 0, 1, 1, 0]


def threshold(keep, *, weight=None, truth=None, share=None):
    return Ranking.of(NEW, OLD, truth).threshold(
        np.ones(6) if weight is None else np.array(weight, dtype=float), keep, share=share
    )


def test_as_many_are_flagged_but_not_more():
    # Three were flagged. .8 flags two, .6 four (they go together): the lowest with at most three.
    assert threshold("flag-rate") == 0.8
    # With a weight of 2 on the first post four of seven were flagged; .8 flags three, .6 five.
    assert threshold("flag-rate", weight=[2, 1, 1, 1, 1, 1]) == 0.8
    # With half a post in .8, 3 were flagged, and .6 flags 3.5.
    assert threshold("flag-rate", weight=[1, 0, 1, 1, 1, 1]) == 0.6


def test_precision_is_kept_by_the_lowest_threshold_that_has_it():
    # Old: 2 of 3 flagged are positive. New from .9 1/1, .8 2/2, .6 3/4, .3 4/5, .1 4/6 = 2/3.
    assert threshold(PRECISION, truth=TRUTH) == 0.1
    # Of .75: .3 has 4/5, .1 has 4/6.
    assert threshold(PRECISION, truth=TRUTH, share=0.75) == 0.3
    # Against the old decisions: 1/1, 1/2, 3/4, 3/5, 3/6.
    assert threshold(PRECISION, share=0.7) == 0.6
    assert threshold(PRECISION, share=1.0) == 0.9


def test_recall_is_kept_by_the_highest_threshold_that_has_it():
    # Old: 2 of 4 positives were flagged. New: .9 1/4, .8 2/4.
    assert threshold(RECALL, truth=TRUTH) == 0.8
    # Against the old decisions: .9 1/3, .8 1/3, .6 3/3.
    assert threshold(RECALL, share=0.9) == 0.6


def test_where_nothing_was_flagged_there_is_nothing_to_keep():
    ranking = Ranking.of(NEW, [0] * 6)
    for keep in ("flag-rate", PRECISION, RECALL):
        assert np.isnan(ranking.threshold(np.ones(6), keep, share=None if "f" in keep else 0.9))


# Figures


def test_flips_are_counted_overall_and_by_identity():
    # Old threshold .8 flags rows 0 and 1; as many new ones are flagged from .7: rows 0 and 2.
    # Row 1 is no longer flagged, row 2 newly; of the ten that mention women: rows 0 to 9.
    old = [0.9, 0.8, 0.1] + [0.0] * 17
    new = [0.9, 0.2, 0.7] + [0.1] * 17
    one = migrated(
        pairs(old, new, mentions=[("women",)] * 10 + [()] * 10), 0.8, Keep(), seed=0, resamples=50
    )
    index = Index(one.findings)
    assert one.threshold == 0.7
    assert index.value(KEPT, **A) == pytest.approx(18 / 20)
    assert [index.get(m, **A).value for m in (NEWLY, GONE)] == [0.05, 0.05]
    assert [list(index.get(m, **A).cases) for m in (NEWLY, GONE)] == [["p00002"], ["p00001"]]
    women = {**A, "identity": "women"}
    assert [index.value(m, **women) for m in (KEPT, NEWLY, GONE)] == [0.8, 0.1, 0.1]
    assert index.get(NEWLY, **women).n == 10
    assert index.value(KEPT, **A, mentions="none") == 1.0
    # Against the old decisions one of two flagged is right, and one of two is found.
    against = {**A, "scores": "new", "against": "the old decisions"}
    assert (index.value("precision", **against), index.value("recall", **against)) == (0.5, 0.5)


def test_correlations_are_those_of_scipy():
    given = made_up()
    index = Index(migrated(given, 0.8, Keep(), seed=0, resamples=50).findings)
    assert index.value("spearman", **A) == pytest.approx(spearmanr(given.old, given.new)[0])
    assert index.value("kendall_tau", **A) == pytest.approx(kendalltau(given.old, given.new)[0])
    for measure in ("spearman", "kendall_tau", "threshold", KEPT):
        found = index.get(measure, **A)
        assert found.low < found.value < found.high, measure


def test_intervals_hold_the_truth_as_often_as_they_say():
    # The threshold of .8 in a million texts is that of the population.
    rng = np.random.default_rng(5)

    def draw(n):
        old = rng.random(n)
        return old, np.clip(0.7 * old + 0.3 * rng.random(n), 0, 1)

    old, new = draw(1_000_000)
    truth = np.quantile(new, np.mean(old < 0.8))
    inside = 0
    for _ in range(40):
        old, new = draw(300)
        one = migrated(pairs(old, new), 0.8, Keep(), seed=0, resamples=100)
        found = Index(one.findings).get("threshold", **A)
        inside += found.low <= truth <= found.high
    # 95 % of 40 is 38; fewer than 33 has a chance below one in a thousand.
    assert inside >= 33


def test_bins_of_recorded_scores_have_mean_new_scores():
    # Twenty texts in ten bins of two: the first has new scores 0 and .05, the last .9 and .95.
    scores = [number / 20 for number in range(20)]
    one = migrated(pairs(scores, scores), 0.8, Keep(), seed=0, resamples=20)
    means = [f.value for f in one.findings if f.measure == "score_mean"]
    assert means[0] == pytest.approx(0.025)
    assert means[-1] == pytest.approx(0.925)
    shares = [f.value for f in one.findings if f.measure == "reliability"]
    assert shares == [0.0] * 8 + [1.0] * 2


def test_labels_give_the_old_and_the_new_precision():
    given = made_up()
    index = Index(migrated(given, 0.8, Keep(what=PRECISION), seed=0, resamples=50).findings)
    old, new = (
        index.get("precision", **A, scores=scores, against="labels")
        for scores in ("recorded", "new")
    )
    assert new.value >= old.value - 1e-9
    assert "against labels" in index.get("threshold", **A).method


def test_without_labels_the_threshold_says_what_it_is_against():
    found = migrated(made_up(), 0.8, Keep(what=RECALL, share=0.8), seed=0, resamples=20)
    unlabelled = pairs(found.pairs.old, found.pairs.new)
    one = migrated(unlabelled, 0.8, Keep(what=RECALL, share=0.8), seed=0, resamples=20)
    index = Index(one.findings)
    assert "recall of 0.8 against the old decisions" in index.get("threshold", **A).method
    assert index.value("recall", **A, scores="new", against="the old decisions") >= 0.8


def test_the_map_keeps_every_flag_rate_and_the_chosen_threshold():
    given = made_up(2000)
    one = migrated(given, 0.8, Keep(), seed=0, resamples=20)
    mapping = Mapping(detector="m", sha256=None, maps={"TOXICITY": one.map}, about={})
    mapped = mapping.apply("TOXICITY", given.new)
    for at in (0.3, 0.5, 0.7, 0.9):
        # 64 knots: between two of them a flag rate is off by less than one in a hundred.
        assert np.mean(mapped >= at) == pytest.approx(np.mean(given.old >= at), abs=0.012)
    assert ((mapped >= 0.8) == (given.new >= one.threshold)).all()


def test_constant_scores_have_no_figures_but_reasons():
    for old, new in (([0.9] * 40, np.linspace(0, 1, 40)), (np.linspace(0, 1, 40), [0.5] * 40)):
        one = migrated(pairs(old, new), 0.8, Keep(), seed=0, resamples=20)
        index = Index(one.findings)
        for measure in ("spearman", "kendall_tau", "mean_absolute_difference"):
            assert index.get(measure, **A).value is None
            assert "equal" in index.get(measure, **A).why
        assert one.map is None


def test_few_texts_have_no_map_and_none_no_interval():
    few = migrated(pairs(*np.random.default_rng(0).random((2, 29))), 0.5, Keep(), seed=0)
    assert few.map is None
    assert "fewer than 30" in Index(few.findings).get("mean_absolute_difference", **A).why
    one = migrated(pairs([0.9], [0.4]), 0.8, Keep(), seed=0)
    assert all(finding.low is None or finding.measure != "threshold" for finding in one.findings)


def test_identities_with_few_texts_are_left_out():
    found = groups_of([("gay", "women")] * 10 + [("muslim",)] * 9 + [()])
    assert list(found) == [
        ("axis", "gender"),
        ("axis", "orientation"),
        ("identity", "gay"),
        ("identity", "women"),
        ("mentions", "any"),
    ]


# The report


def detector(attributes=("TOXICITY",)):
    def function(texts):
        return [[len(text) / 100] * len(attributes) for text in texts]

    return Loaded(FunctionDetector("mine", tuple(attributes), function))


TEXTS = ["women " * (n % 7) + "blorp " * (n % 11) + str(n) for n in range(60)]


def recorded(folder, texts=TEXTS, **about):
    store = Store.open(folder, About(**({"upstream": "http://a", "texts": True} | about)))
    for n, text in enumerate(texts):
        store.keep({"id": f"t{n:03}", "text": text, "scores": {"TOXICITY": min(1, len(text) / 60)}})
    store.close()
    return folder


def report(name, loaded=None, labels=None, **wanted):
    run = Run(["evenhand", "migrate", "report"])
    found = read_recorded(str(name), labels=labels)
    options = Wanted(**({"resamples": 20} | wanted))
    return run, migrate_report(run, found, loaded or detector(), options)


def test_a_recording_becomes_a_report_and_a_mapping(tmp_path):
    run, parts = report(recorded(tmp_path / "r"))
    index = Index(run.findings)
    # Longer texts score higher on both sides, but the recorded scores end at 1.
    assert index.value("spearman", **A) > 0.95
    document = parts.documents["mapping"]
    mapping = Mapping.from_json(document, "here")
    mapping.expect(detector())
    assert document["about"]["upstream"] == "http://a"
    assert document["about"]["first"] <= document["about"]["last"]
    assert document["attributes"]["TOXICITY"]["n"] == 60
    json.dumps(document, allow_nan=False)
    assert parts.tables["flips"].columns[-1] == "mentions"


def test_no_text_leaves_the_report_unless_asked_for(tmp_path):
    recorded(tmp_path / "r")
    run, parts = report(tmp_path / "r", keep=Keep(what=RECALL, share=1.0))
    shown = repr([parts.sections, parts.summary, parts.also, run.document()])
    assert "blorp" not in shown
    _, parts = report(tmp_path / "r", with_text=True)
    assert all(case.text for section in parts.sections for case in section.cases)


def test_the_order_of_answers_does_not_matter(tmp_path):
    run, _ = report(recorded(tmp_path / "a"))
    folder = tmp_path / "b"
    store = Store.open(folder, About(upstream="http://a", texts=True))
    for n in np.random.default_rng(0).permutation(len(TEXTS)):
        score = min(1, len(TEXTS[n]) / 60)
        store.keep({"id": f"t{n:03}", "text": TEXTS[n], "scores": {"TOXICITY": score}})
    store.close()
    other, _ = report(folder)
    assert run.findings == other.findings


def test_the_latest_answer_counts_and_refusals_are_told(tmp_path):
    recorded(tmp_path)
    store = Store.open(tmp_path, About(upstream="http://a", texts=True))
    store.keep({"id": "t000", "text": TEXTS[0], "scores": {"TOXICITY": 1.0}})
    store.keep({"id": "no", "text": "x", "refused": "language"})
    store.close()
    found = read_recorded(str(tmp_path), labels=None)
    assert found.old.filter(pl.col("id") == "t000")["old"].to_list() == [1.0]
    assert found.posts.height == 60
    assert found.notes == ["1 texts were refused by the recorded service and have no score."]


def test_moderators_decisions_are_labels(tmp_path):
    recorded(tmp_path)
    store = Store.open(tmp_path, About(upstream="http://a", texts=True))
    for n in range(60):
        store.keep({"id": f"t{n:03}", "text": TEXTS[n], "suggested": {"TOXICITY": float(n % 2)}})
    store.close()
    run, _ = report(tmp_path, labels="suggested")
    assert {f.group["against"] for f in run.findings if f.measure == "recall"} == {"labels"}
    # Thirty of sixty were rejected.
    found = Index(run.findings).get("recall", **A, scores="recorded", against="labels")
    assert found.n == 30


def test_without_texts_only_the_detector_that_scored_beside_can_be_compared(tmp_path):
    about = About(upstream="http://a", texts=False, detector="mine", sha256=None)
    store = Store.open(tmp_path, about)
    for n in range(40):
        row = {"id": f"t{n:03}", "scores": {"TOXICITY": n / 40}, "new": {"TOXICITY": n / 80}}
        store.keep({**row, "mentions": ["gay"] if n < 12 else []})
    store.close()
    run, parts = report(tmp_path, with_text=True)
    index = Index(run.findings)
    assert index.value("spearman", **A) == pytest.approx(1.0)
    assert index.get(KEPT, **A, identity="gay").n == 12
    assert "not kept" in " ".join(parts.sections[0].paragraphs)
    other = Loaded(FunctionDetector("other", ("TOXICITY",), lambda texts: [0.5] * len(texts)))
    with pytest.raises(BadInput, match="only that detector can be compared"):
        report(tmp_path, other)


def test_a_file_with_a_column_for_each_attribute(tmp_path):
    path = tmp_path / "old.csv"
    lines = [f"{n},{TEXTS[n].strip()},{n / 60:.3f},{n % 2}" for n in range(60)]
    path.write_text("\n".join(["id,text,toxicity,said", *lines]) + "\n")
    run, _ = report(path, labels="said")
    assert Index(run.findings).get("spearman", **A).n == 60
    path.write_text("id,text,TOXICITY\n1,a b,0.5\n2,c d,nine\n3,e f,1.5\n")
    with pytest.raises(BadInput, match="(?s)row 2: TOXICITY is 'nine'.*row 3: TOXICITY is '1.5'"):
        read_recorded(str(path), labels=None)
    path.write_text("id,text,score\n1,a b,0.5\n")
    with pytest.raises(BadInput, match="no column with recorded scores"):
        read_recorded(str(path), labels=None)


def test_what_is_not_a_recording_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no recording"):
        read_recorded(str(tmp_path), labels=None)
    recorded(tmp_path / "none", texts=[])
    with pytest.raises(BadInput, match="no answer with a score"):
        read_recorded(str(tmp_path / "none"), labels=None)
    with pytest.raises(BadInput, match="no labels"):
        read_recorded(str(recorded(tmp_path / "r")), labels="suggested")


def test_no_common_attribute_is_told(tmp_path):
    recorded(tmp_path)
    with pytest.raises(BadInput, match="Recorded: TOXICITY; the detector has HATE"):
        report(tmp_path, detector(("HATE",)))
    with pytest.raises(BadInput, match="no attribute THREAT on both sides"):
        report(tmp_path, attributes=["THREAT"])


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"thresholds": {"TOXICITY": 1.5}}, "--threshold TOXICITY=1.5"),
        ({"keep": Keep(what="accuracy")}, "--keep 'accuracy'; expected one of flag-rate"),
        ({"keep": Keep(share=0)}, "--share 0"),
        ({"posts": 0}, "--posts 0"),
    ],
)
def test_wrong_wishes_are_told(wanted, words):
    with pytest.raises(BadInput, match=words):
        Wanted(**wanted)


def test_few_texts_are_told(tmp_path):
    _, parts = report(recorded(tmp_path, texts=TEXTS[:20]))
    told = " ".join(parts.summary)
    assert "intervals are wide" in told
    assert "No mapping was made" in told
    assert parts.documents == {}


def test_a_random_part_is_said_so(tmp_path):
    run, parts = report(recorded(tmp_path), posts=40)
    assert Index(run.findings).get("spearman", **A).n == 40
    assert "40 of 60 texts, drawn at random." in parts.sections[0].paragraphs[-1]


@pytest.mark.data
def test_published_scores_of_perspective():
    """The ranks of the small detector and of Perspective on 7,161 texts nobody trained on."""
    run = Run(["evenhand"])
    found = read_recorded("perspective_scores", labels="toxic")
    assert found.old["id"].n_unique() == 7171
    loaded = load("evenhand-fast")
    parts = migrate_report(run, found, loaded, Wanted(attributes=["TOXICITY"], resamples=200))
    index = Index(run.findings)
    assert index.get("spearman", **A).n == 7161
    assert index.value("spearman", **A) == pytest.approx(0.714, abs=0.01)
    # Perspective flagged 836 of them at .8, and so does the detector at the chosen threshold.
    for scores in ("recorded", "new"):
        assert index.value("flagged_share", **A, scores=scores) == pytest.approx(836 / 7161)
    assert find("perspective_scores").posts["text"][0] not in repr([parts.summary, parts.also])
    mapping = Mapping.from_json(parts.documents["mapping"], "here")
    mapping.expect(loaded)
    scored = found.posts.join(found.old.filter(pl.col("attribute") == "TOXICITY"), on="id")
    mapped = mapping.apply("TOXICITY", loaded.raw.score(scored["text"].to_list())[:, 1])
    assert int((mapped >= 0.8).sum()) == 836

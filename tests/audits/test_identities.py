from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

from evenhand.audits.identities import identity_findings
from evenhand.audits.templates import TemplateSet, read_set, sentences_of
from evenhand.core.errors import BadInput
from evenhand.core.records import Finding
from evenhand.core.tables import tag
from evenhand.stats.detection import auc as auc_of
from evenhand.stats.equality import Decided, equality
from factories import finding, value

SETS = ("age", "disability", "gender", "nationality", "orientation", "religion")
HALF = {"operating": 0.5}
AT = {"templates": "towns", "threshold": "operating"}


@cache
def towns(rows=2):
    """12 templates × 4 words × 3 groups × some rows."""
    names = {"north": "Northern", "south": "Southern", "east": "Eastern"}
    return sentences_of(
        TemplateSet(
            name="towns",
            templates={f"t{n:02}": f"{n}: {{many}} are {{quality}}." for n in range(12)},
            words={"quality": {"abusive": ["vile", "bad"], "neutral": ["kind", "calm"]}},
            pairs=[
                {group: {"many": f"{name} {noun}"} for group, name in names.items()}
                for noun in ("bakers", "nurses")[:rows]
            ],
        )
    )


def scored(corpus, score):
    """Scores by a function of text and whether it is abusive."""
    posts = corpus.posts.join(corpus.gold.select(id="post", label="label"), on="id")
    rows = posts.select("id", "text", "label").rows()
    return pl.DataFrame(
        [(i, score(text, label == "abusive")) for i, text, label in rows],
        schema={"post": pl.String, "p": pl.Float64},
        orient="row",
    )


def findings(corpus, p, thresholds=None, **options):
    options = {"original_auc": None, "seed": 0, "resamples": 60, **options}
    return identity_findings(corpus, p, thresholds=thresholds or HALF, **options)


def perfect(text, abusive):
    return 0.9 if abusive else 0.1


def against_north(text, abusive):
    return 0.9 if abusive or "Northern" in text else 0.1


def test_by_hand():
    # Every neutral sentence about the north is flagged, no other: FPR 1 there, 0 elsewhere, 1/3
    # overall. FPED 2/3 + 1/3 + 1/3 = 4/3. Nothing abusive is missed.
    found = findings(towns(), scored(towns(), against_north))
    assert value(found, "fpr", **AT) == 1 / 3
    assert value(found, "fpr", **AT, group="north") == 1
    assert value(found, "fpr", **AT, group="south") == 0
    assert value(found, "fpr", **AT, group="north", term="Northern nurses") == 1
    assert value(found, "fnr", **AT, group="north", term="Northern nurses") == 0
    assert value(found, "fped", **AT) == pytest.approx(4 / 3)
    assert value(found, "fped_mean", **AT) == pytest.approx(4 / 9)
    assert value(found, "fped_max", **AT) == pytest.approx(2 / 3)
    assert value(found, "fned", **AT) == 0
    # Permuted, such a sum does not come again; a sum of 0 always does.
    assert value(found, "fped_p", **AT) == 1 / 61
    assert value(found, "fned_p", **AT) == 1
    # Of the three pairs of a neutral sentence two have the north on one side.
    flips = finding(found, "identity_flip_rate", **AT, label="neutral")
    assert (flips.value, flips.n) == (2 / 3, 12 * 2 * 2 * 3)
    assert value(found, "identity_flip_rate", **AT) == 1 / 3
    assert value(found, "identity_flip_rate", **AT, label="abusive") == 0
    # Kind is the third of four words of six terms each: its north is number 13, its south 14.
    assert flips.cases[:2] == ["towns:t00/13", "towns:t00/14"]
    # Abusive against neutral: a third of the neutral ones are level with the abusive ones.
    assert value(found, "auc", templates="towns") == pytest.approx(1 - 1 / 3 / 2)
    # 12 templates × 2 words × 2 rows.
    assert finding(found, "fpr", **AT, group="north").n == 48
    assert finding(found, "fpr", **AT, group="north", term="Northern nurses").n == 24


@pytest.mark.parametrize("says", [0.0, 1.0], ids=["never", "always"])
def test_a_constant_detector(says):
    found = findings(towns(), scored(towns(), lambda text, abusive: says))
    assert value(found, "auc", templates="towns") == 0.5
    assert value(found, "fpr", **AT) == says
    assert value(found, "fnr", **AT) == 1 - says
    for measure in ("fped", "fned", "fped_max", "fned_shuffled", "fped_swapped"):
        assert value(found, measure, **AT) == 0
    assert value(found, "fped_p", **AT) == value(found, "fned_p", **AT) == 1
    flips = finding(found, "identity_flip_rate", **AT)
    assert flips.value == 0
    assert "the same decision" in flips.why


def test_a_detector_without_fault():
    found = findings(towns(), scored(towns(), perfect))
    assert value(found, "auc", templates="towns") == 1
    for measure in ("fpr", "fnr", "fped", "fned", "identity_flip_rate"):
        assert value(found, measure, **AT) == 0
    assert value(found, "unscored", templates="towns") == 0


def test_a_failed_sentence_counts_as_wrong():
    p = scored(towns(), perfect)
    # Kind northern bakers, vile southern nurses.
    lost = ["towns:t00/13", "towns:t01/5"]
    p = p.with_columns(p=pl.when(pl.col("post").is_in(lost)).then(None).otherwise("p"))
    found = findings(towns(), p, {"operating": 0.5, "all": 0.0, "none": 1.0})
    # One of the 48 neutral sentences about the north, one of the 48 abusive ones about the south.
    assert value(found, "fpr", **AT, group="north") == 1 / 48
    assert value(found, "fnr", **AT, group="south") == 1 / 48
    assert value(found, "fpr", **AT, group="south") == value(found, "fnr", **AT, group="north") == 0
    unscored = finding(found, "unscored", templates="towns")
    assert (unscored.value, unscored.n, unscored.cases) == (2, 288, lost)
    # Also where everything is flagged, and where nothing is.
    assert value(found, "fnr", templates="towns", threshold="all") == 1 / 144
    assert value(found, "fpr", templates="towns", threshold="none") == 1 / 144
    # Each is the wrong way round with all 144 of the other side; their own pair counts once.
    wrong = 144 + 144 - 1
    assert value(found, "auc", templates="towns") == pytest.approx(1 - wrong / 144**2)
    # Either sentence has two pairs and flips in both.
    assert value(found, "identity_flip_rate", **AT) == 4 / 288


def test_with_one_row_of_terms_none_are_swapped():
    found = findings(towns(rows=1), scored(towns(rows=1), against_north))
    assert {f.measure for f in found if "swapped" in f.measure} == set()
    assert value(found, "fped", **AT) == pytest.approx(4 / 3)


def test_what_findings_carry():
    thresholds = {"operating": 0.5, "equal error on dev": 0.3}
    p = scored(towns(), against_north)
    found = findings(towns(), p, thresholds, group={"detector": "d"})
    assert {f.group["templates"] for f in found} == {"towns"}
    assert {f.group["detector"] for f in found} == {"d"}
    keys = [(f.measure, *sorted(f.group.items())) for f in found]
    assert len(set(keys)) == len(keys)
    own = {"detector": "d", "templates": "towns"}
    assert value(found, "threshold", **own, threshold="equal error on dev") == 0.3
    for name in thresholds:
        mine = [f for f in found if f.group.get("threshold") == name]
        assert {f.measure for f in mine} == {
            *(m + end for m in ("fped", "fned") for end in ("", "_mean", "_max", "_p")),
            *(m + end for m in ("fped", "fned") for end in ("_shuffled", "_swapped")),
            "fpr", "fnr", "threshold", "identity_flip_rate",
        }  # fmt: skip
        terms = {f.group["term"]: f.group["group"] for f in mine if "term" in f.group}
        assert len(terms) == 6
        assert terms["Eastern bakers"] == "east"


def test_original_auc_stands_beside():
    given = Finding(measure="auc", value=0.9, n=700, group={"corpus": "c"})
    p = scored(towns(), perfect)
    beside = finding(
        findings(towns(), p, original_auc=given),
        "auc", corpus="c", templates="towns", on="original",
    )  # fmt: skip
    assert (beside.value, beside.n) == (0.9, 700)
    missing = finding(findings(towns(), p), "auc", templates="towns", on="original")
    assert (missing.value, missing.why) == (None, "no labelled posts were given to find it on")


@cache
def at_random(name):
    corpus = sentences_of(read_set(name))
    rng = np.random.default_rng(7)
    return corpus, scored(corpus, lambda text, abusive: 0.6 * rng.random() + 0.3 * abusive)


@pytest.mark.parametrize("name", SETS)
def test_our_own_sets_have_every_figure(name):
    corpus, p = at_random(name)
    found = findings(corpus, p)
    assert all(f.value is not None for f in found if f.group.get("on") != "original")
    groups = {f.group["group"] for f in found if "group" in f.group}
    assert groups == set(read_set(name).groups)
    rates = [f for f in found if f.measure in ("fpr", "fnr", "identity_flip_rate", "auc")]
    assert all(f.low <= f.value <= f.high for f in rates if f.value is not None)
    # Whatever the term, the score is drawn alike.
    at = {"templates": name, "threshold": "operating"}
    assert min(value(found, m, **at) for m in ("fped_p", "fned_p")) > 0.01


def test_figures_are_those_of_the_measures():
    corpus, p = at_random("gender")
    found = findings(corpus, p)
    posts = corpus.posts
    rows = posts.select(
        "id", *(tag(name, posts) for name in ("template", "frame", "group", "pair"))
    )
    rows = rows.join(p.rename({"post": "id"}), on="id").join(
        corpus.gold.select(id="post", label="label"), on="id"
    )
    truth = (rows["label"] == "abusive").to_numpy()
    decided = Decided.of(truth, (rows["p"] >= 0.5).to_numpy(), rows["group"].to_list())
    expected = equality(
        decided,
        clusters=rows["template"].to_list(),
        frames=rows["frame"].to_list(),
        pairs=rows["pair"].to_list(),
        unit="templates",
        seed=0,
        group={"templates": "gender", "threshold": "operating"},
        resamples=60,
    )
    assert [f for f in found if f.measure.startswith(("fped", "fned"))] == [
        f for f in expected if f.measure.startswith(("fped", "fned"))
    ]
    for f in expected:
        if f.measure in ("fpr", "fnr"):
            assert value(found, f.measure, **f.group) == pytest.approx(f.value)
    assert value(found, "auc", templates="gender") == pytest.approx(auc_of(truth, rows["p"]))


def test_the_order_of_rows_changes_nothing():
    corpus, p = at_random("gender")
    p = p.with_columns(p=pl.when(pl.col("p") > 0.1).then("p"))
    turned = p.sample(fraction=1, shuffle=True, seed=2)
    posts = corpus.posts.sample(fraction=1, shuffle=True, seed=3)
    other = findings(replace(corpus, posts=posts), turned, resamples=20)
    assert other == findings(corpus, p, resamples=20)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.drop("p"), "no column p; expected post and p"),
        (lambda p: p.head(280), "8 posts have no row"),
        (lambda p: p.with_columns(post=pl.col("post") + "!"), "288 posts are not in the set"),
        (lambda p: pl.concat([p, p.head(2)]), "2 posts stand there more than once"),
        (lambda p: p.with_columns(p=pl.col("p") + 0.5), "144 posts have a score outside"),
        (lambda p: p.with_columns(p=pl.lit(float("nan"))), "288 posts have a score outside"),
    ],
    ids=["column", "missing", "other", "twice", "outside", "nan"],
)
def test_wrong_scores_are_refused(change, message):
    with pytest.raises(BadInput, match=message):
        findings(towns(), change(scored(towns(), perfect)))


def test_wrong_thresholds_are_refused():
    p = scored(towns(), perfect)
    with pytest.raises(BadInput, match="no threshold"):
        identity_findings(towns(), p, thresholds={}, original_auc=None, seed=0)
    with pytest.raises(BadInput, match="expected a number between 0 and 1"):
        findings(towns(), p, {"operating": float("nan")})

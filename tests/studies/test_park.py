from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.provenance import Run
from evenhand.models.naive_bayes import NaiveBayes
from evenhand.studies import park
from evenhand.studies.parts import How
from evenhand.validation.run import Setting
from factories import finding, make_corpus, value

DEV = "equal error on dev"


def made_up(posts=600, seed=1):
    """Hateful posts say "stupid" or "hate", and more often of women than of men."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(posts):
        hateful = bool(rng.random() < 0.4)
        who = "women" if rng.random() < (0.8 if hateful else 0.3) else "men"
        word = rng.choice(["stupid", "hate", "are"] if hateful else ["kind", "love", "are"])
        filler = " ".join(f"w{n}" for n in rng.integers(400, size=8))
        rows.append(
            {
                "id": f"{number:04}",
                "text": f"{word} {who} {filler}",
                "label": "bad" if hateful else "good",
                "author": f"a{rng.integers(60)}",
            }
        )
    return make_corpus(rows)


@pytest.fixture(scope="module")
def study():
    run, steps = Run(["reproduce", "park"]), []
    parts = park.reproduce(
        run,
        ["4"],
        How(step=lambda *told: steps.append(told)),
        runs=2,
        recipes={"cnn": "naive-bayes", "gru": "naive-bayes:alpha=5"},
        corpus=made_up(),
    )
    return run, parts, steps


def ours(study, measure, **group):
    found = [f for f in study[0].findings if f.origin == "data"]
    return finding(found, measure, **{"table": "4", "embedding": "random", **group})


def test_by_hand():
    # The dev posts are told apart from .8 on. There the woman's neutral sentence (.85) is flagged
    # and her abusive one (.75) is missed, the man's are judged rightly: FPR 1/2, 1 for women and 0
    # for men, so FPED 1; FNED likewise. From one half on all are flagged alike: both 0.
    rows = pl.DataFrame(
        {
            "post": list("abcdefgh"),
            "cluster": list("abcdefgh"),
            "side": ["dev"] * 2 + ["original"] * 2 + ["generated"] * 4,
            "truth": [1, 0, 1, 0, 0, 1, 0, 1],
            "template": [None] * 4 + ["t", "u"] * 2,
            "frame": [None] * 4 + ["t/w", "u/w"] * 2,
            "group": [None] * 4 + ["male"] * 2 + ["female"] * 2,
            "pair": [None] * 4 + ["man/woman"] * 4,
        }
    )
    p = np.array([[0.8, 0.6, 0.6, 0.7, 0.7, 0.9, 0.85, 0.75]])
    found = park.findings_of(park.Judged("m", rows, p, "posts", 1.0), seed=0)
    own = {"table": "4", "model": "m", "embedding": "random"}
    assert value(found, "threshold", **own, threshold=DEV) == 0.8
    for measure in ("fped", "fned"):
        assert value(found, measure, **own, threshold=DEV) == 1
        assert value(found, measure, **own, threshold="one half") == 0
    assert value(found, "fpr", **own, threshold=DEV, group="female") == 1
    assert value(found, "fped", **own, threshold=DEV, pair="man/woman") == 1
    assert value(found, "auc", **own, on="original") == 0
    # Positives .9 and .75 against negatives .7 and .85: three pairs of four the right way round.
    assert value(found, "auc", **own, on="generated") == 0.75


def test_printed_figures_stand_beside_ours(study):
    printed = [f for f in study[0].findings if f.origin == "published"]
    assert len(printed) == 9 * 4
    assert finding(printed, "auc", table="4", model="gru", embedding="word2vec", on="generated")
    assert ours(study, "auc", model="cnn", on="original").value > 0.8
    grids = study[1].sections[0].grids
    assert grids[0].rows[0][:3] == ["cnn", "random", ".881"]
    assert [len(grid.rows) for grid in grids] == [9 + 1, 2 * 8, 2 * 8]
    assert all(len(row) == len(grid.headings) for grid in grids for row in grid.rows)


def test_three_thresholds_each_with_its_chance_value(study):
    for threshold in (DEV, "equal error on generated", "one half"):
        for measure in ("fped", "fned"):
            group = {"model": "cnn", "threshold": threshold}
            mine = ours(study, measure, **group)
            assert mine.low <= mine.value <= mine.high
            shuffled, swapped = (
                ours(study, f"{measure}_{by}", **group) for by in ("shuffled", "swapped")
            )
            assert 0 <= shuffled.value <= swapped.high
            assert ours(study, measure, **group, run="range").n == 2
    assert ours(study, "threshold", model="cnn", threshold="one half").value == 0.5


def test_what_is_said_of_women_shows(study):
    group = {"model": "cnn", "threshold": DEV}
    women, men = (ours(study, "fpr", **group, group=name).value for name in ("female", "male"))
    assert women > men
    # Groups of one size: the overall rate is half way, so the sum is the distance.
    assert ours(study, "fped", **group).value == pytest.approx(women - men)


def test_pairs_stand_beside_the_sum(study):
    group = {"model": "cnn", "threshold": DEV, "pair": "man/woman"}
    women, men = (ours(study, "fpr", **group, group=name).value for name in ("female", "male"))
    assert ours(study, "fped", **group).value == pytest.approx(abs(women - men))
    assert study[1].summary[1].startswith("cnn: neutral sentences about women are flagged more")


def test_a_constant_detector_has_no_difference(study):
    for measure in ("fped", "fned"):
        assert finding(study[0].findings, measure, table="4", baseline="constant").value == 0


def test_what_is_not_to_be_had_says_why(study):
    missing = [f for f in study[0].findings if f.value is None]
    assert len(missing) == 6 * 4 + 4
    assert all(f.why for f in missing)
    assert {f.group["table"] for f in missing} == {"4", "5"}


def test_every_finding_has_a_place_of_its_own(study):
    keys = [(f.measure, f.origin, *sorted(f.group.items())) for f in study[0].findings]
    assert len(set(keys)) == len(keys)


def test_progress_counts_the_runs_of_all_models(study):
    assert [(done, total) for _, done, total in study[2]] == [(0, 4), (1, 4), (2, 4), (3, 4)]
    assert study[2][0][0].startswith("cnn, ")


def test_the_same_seed_gives_the_same_findings(study):
    again = Run(["reproduce", "park"])
    park.reproduce(again, ["4"], How(), runs=2, recipes={"cnn": "naive-bayes"}, corpus=made_up())
    mine = [f for f in again.findings if f.measure != "seconds"]
    assert all(f in study[0].findings for f in mine)


def test_an_unknown_table_is_refused():
    with pytest.raises(BadInput, match="park has table 4 here; not 5"):
        park.reproduce(Run(["x"]), ["5"], How())


def test_dev_posts_of_one_class_are_refused():
    rows = [
        {"id": f"{n:02}", "text": f"word {n * n}", "label": "bad" if n < 2 else "good"}
        for n in range(40)
    ]
    with pytest.raises(NotEnoughData, match="dev posts are of one class"):
        park.reproduce(
            Run(["x"]),
            ["4"],
            How(),
            runs=1,
            recipes={"cnn": "naive-bayes:min_df=1"},
            corpus=make_corpus(rows),
        )


@dataclass(frozen=True, kw_only=True)
class Epochs(NaiveBayes):
    """Learns something in two epochs only."""

    epochs: int = 5

    def fit(self, posts, gold, *, seed):
        return super().fit(posts, gold, seed=seed) if self.epochs == 2 else Flat()


class Flat:
    def score(self, texts):
        return np.full((len(texts), 1), 0.5)


def test_epochs_are_chosen_on_the_dev_posts():
    corpus = made_up()
    sides = park._sides(corpus, 1, 0)
    recipe = Epochs(hateful=tuple(corpus.hateful), question=corpus.question)
    tried, best = park._best_epochs("cnn", recipe, sides, Setting())
    assert best.epochs == 2
    assert [f.group["epochs"] for f in tried] == [1, 2, 3, 5]
    assert {f.n for f in tried} == {len(sides.split.dev)}
    assert tried[1].value > 0.6
    assert tried[0].value == 0.5

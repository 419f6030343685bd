"""From a population to a claim, typed: sample → label → weigh → agree → aggregate → estimate."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from evenhand.core.tables import judgements_table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two thousand made-up posts of forty days with volumes, and a file of filter scores."""
    home = tmp_path_factory.mktemp("campaign")
    rng = np.random.default_rng(0)
    n = 2000
    day = rng.integers(40, size=n)
    bad = rng.random(n) < 0.1
    score = np.clip(0.7 * bad + 0.3 * rng.random(n), 0, 1)
    posts = pl.DataFrame(
        {
            "id": [f"p{i:04d}" for i in range(n)],
            "text": [f"made-up post {i} about trams, rain and gardens" for i in range(n)],
            "day": [f"2025-01-{d + 1:02d}" if d < 31 else f"2025-02-{d - 30:02d}" for d in day],
            "targets": [f"person {i % 30}" for i in range(n)],
            "party": ["x" if i % 2 else "y" for i in range(n)],
            "bad": bad.astype(int),
        }
    )
    posts.drop("bad").write_csv(home / "posts.csv")
    posts.select("id", p=pl.Series(score)).write_csv(home / "filter.csv")
    volumes = posts["day"].value_counts().with_columns(volume=pl.col("count") * 7)
    volumes.select(stratum="day", volume="volume").write_csv(home / "volumes.csv")
    posts.select("id", "bad").write_parquet(home / "truth.parquet")
    return home


def evenhand(folder, *words):
    command = [sys.executable, "-m", "evenhand", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    return done


def figures(done):
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["findings"]
    return {(f["measure"], *sorted((k, str(v)) for k, v in f["group"].items())): f for f in found}


@pytest.fixture(scope="module")
def labelled(folder):
    """The sample, with three votes on each post by twenty people."""
    done = evenhand(
        folder, "sample", "posts.csv", "--stratum", "day", "--volumes", "volumes.csv",
        "--target", "500", "--enrich", "100", "--filter", "predictions:filter.csv",
        "--out", "sample", "--json",
    )  # fmt: skip
    found = figures(done)
    assert found["drawn", ("phase", "1")]["value"] == 600
    draws = pl.read_parquet(folder / "sample" / "draws.parquet")
    truth = pl.read_parquet(folder / "truth.parquet")
    rng = np.random.default_rng(1)
    rows = []
    for post, bad in draws.join(truth, left_on="post", right_on="id").select("post", "bad").rows():
        for person in rng.choice(20, size=3, replace=False):
            wrong = rng.random() < 0.1
            answer = "Abusive" if bool(bad) != wrong else "No"
            rows.append({"post": post, "annotator": f"v{person}", "question": "abuse",
                         "answer": [answer], "seconds": 9.0})  # fmt: skip
    judgements_table(pl.DataFrame(rows)).write_parquet(folder / "sample" / "judgements.parquet")
    about = json.loads((folder / "sample" / "corpus.json").read_text())
    about |= {"question": "abuse", "hateful": ["Abusive"]}
    (folder / "sample" / "corpus.json").write_text(json.dumps(about))
    return folder


def test_weights_lead_back_to_the_population(labelled):
    found = figures(evenhand(labelled, "weigh", "sample", "--out", "weighed", "--json"))
    assert found["response_share",]["value"] == 1
    draws = pl.read_parquet(labelled / "weighed" / "draws.parquet")
    assert draws["weight"].mean() == pytest.approx(1)
    flagged = draws.filter(pl.col("flag"))["weight"].mean()
    assert flagged < draws.filter(~pl.col("flag"))["weight"].mean()


def test_agreement_from_the_front_door(labelled):
    found = figures(evenhand(labelled, "agree", "sample", "--json"))
    assert 0.3 < found["fleiss_kappa",]["value"] < 0.8
    assert found["fleiss_kappa",]["low"] < found["fleiss_kappa",]["high"]


@pytest.mark.parametrize("method", ["shares", "majority", "dawid-skene"])
def test_gold_by_every_method(labelled, method):
    done = evenhand(labelled, "aggregate", "sample", "--method", method, "--out", method, "--json")
    assert figures(done)["gold",]["value"] == 600
    gold = pl.read_parquet(labelled / method / "gold.parquet")
    truth = pl.read_parquet(labelled / "truth.parquet")
    joined = gold.drop_nulls("label").join(truth, left_on="post", right_on="id")
    right = (joined["label"] == "Abusive") == (joined["bad"] == 1)
    assert right.mean() > 0.95


def test_the_estimate_covers_the_truth_and_can_be_quoted(labelled):
    found = figures(evenhand(labelled, "estimate", "sample", "--by", "party", "--json"))
    bad = pl.read_parquet(labelled / "truth.parquet")["bad"].mean()
    # Votes are wrong one time in ten: hateful votes are .9·bad + .1·(1 − bad).
    main = found["population_share",]
    assert main["low"] < 0.9 * bad + 0.1 * (1 - bad) < main["high"]
    assert main["unit"] == "posts"
    assert ("population_share", ("party", "x")) in found
    words = evenhand(labelled, "estimate", "sample").stdout.replace("\n", " ")
    assert "of the mentions are hateful, as judged by these annotators" in words
    assert "posts resampled" in words


def test_other_units_are_said(labelled):
    found = figures(evenhand(labelled, "estimate", "sample", "--over", "annotators", "--json"))
    assert found["population_share",]["unit"] == "posts and annotators"


def test_a_prediction_powered_estimate(labelled):
    done = evenhand(
        labelled, "estimate", "sample", "--detector", "predictions:filter.csv",
        "--frame", "posts.csv", "--stratum", "day", "--json",
    )  # fmt: skip
    found = figures(done)
    powered = found["population_share_powered", ("detector", "predictions:filter.csv")]
    assert powered["low"] < powered["value"] < powered["high"]
    assert powered["why"] == "what the detector was trained on is not known"
    ratio = found["powered_width_ratio", ("detector", "predictions:filter.csv")]["value"]
    # The filter that flagged the posts knows no more within its own cells: nothing to gain.
    assert ratio <= 1


def test_a_detector_against_people(labelled):
    done = evenhand(labelled, "compare", "predictions:filter.csv", "--data", "sample", "--json")
    found = figures(done)
    key = (("against", "people"), ("detector", "predictions:filter.csv"))
    assert found["auc", *key]["value"] > 0.8
    assert found["auc", *key]["weighted"]


def test_a_plan_from_the_pilot(labelled):
    done = evenhand(labelled, "sample", "sample", "--plan", "0.01", "--json")
    found = figures(done)
    assert found["planned_posts", ("votes_per_post", "1")]["value"] > 1000
    assert found["planned_hours", ("votes_per_post", "3")]["value"] > 1


def test_a_second_phase(labelled):
    done = evenhand(
        labelled, "sample", "sample", "--from-labelled", "flagged=30,rest=30", "--votes", "3",
        "--out", "second", "--json",
    )  # fmt: skip
    assert figures(done)["drawn", ("phase", "2")]["value"] == 60
    draws = pl.read_parquet(labelled / "second" / "draws.parquet")
    assert draws["phase"].value_counts().sort("phase")["count"].to_list() == [600, 60]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sample", "posts.csv"], "say how many posts to draw"),
        (["sample", "posts.csv", "--target", "9", "--enrich", "3"], "--enrich needs --filter"),
        (["sample", "posts.csv", "--target", "9", "--stratum", "hour"], "no post has 'hour'"),
        (["weigh", "posts.csv"], "no draws and strata"),
        (["estimate", "sample", "--over", "moons"], "expected one of posts, annotators"),
        (["estimate", "sample", "--by", "shoe"], "cannot group by shoe"),
        (["estimate", "sample", "--detector", "x"], "--detector and --frame go together"),
        (["agree", "posts.csv"], "no judgements to compare"),
        (["agree", "sample", "--question", "size"], "nobody answered 'size'"),
        (["aggregate", "sample", "--method", "guess"], "expected one of shares"),
        (["compare", "nowhere", "--data", "sample"], "no detector 'nowhere'"),
        (["reproduce", "nobody"], "no paper 'nobody'"),
    ],
)
def test_bad_input_is_named(labelled, words, message):
    done = evenhand(labelled, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_bad_volumes_are_named_with_their_line(labelled):
    (labelled / "bad.csv").write_text("stratum,volume\n2025-01-01,0\n2025-01-02,x\n")
    done = evenhand(labelled, "sample", "posts.csv", "--target", "9", "--volumes", "bad.csv")
    assert done.returncode == 2
    assert "bad.csv line 2: volume '0'; expected a number above 0" in done.stderr
    assert "bad.csv line 3: volume 'x'" in done.stderr

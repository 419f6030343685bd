"""From labelled posts to a figure that can be defended, typed: validate, train, score again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

from evenhand.models.saving import load
from spies import written


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Made-up posts with authors in a CSV file."""
    home = tmp_path_factory.mktemp("validation")
    corpus = written(posts=240)
    table = corpus.posts.join(
        corpus.gold.select("post", "label"), left_on="id", right_on="post"
    ).select("id", "text", "author", "label")
    table.write_csv(home / "posts.csv")
    return home


def evenhand(home, *words):
    command = [sys.executable, "-m", "evenhand", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=home, check=False)


HATEFUL = ("--hateful", "racism", "--hateful", "sexism")


def document(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def figure(document, measure, **group):
    [found] = [f for f in document["findings"] if f["measure"] == measure and f["group"] == group]
    return found


def test_validate_author_disjoint_beside_a_random_split(home):
    words = ["naive-bayes", "--data", "posts.csv", *HATEFUL, "--protocol", "author-disjoint:4"]
    made = document(evenhand(home, "validate", *words, "--workers", "1", "--json"))
    main = figure(made, "macro_f1")
    assert main["low"] < main["value"] < main["high"]
    assert (main["n"], main["unit"]) == (240, "authors")
    assert figure(made, "auc")["value"] > 0.5
    assert figure(made, "f1", label="hateful")["value"] is not None
    assert figure(made, "macro_f1", baseline="random-split")["value"] is not None
    assert figure(made, "macro_f1_difference", against="random-split")["low"] is not None
    assert figure(made, "macro_f1", baseline="majority")["value"] is not None
    assert figure(made, "macro_f1", fold=4)["why"] == "a point: no interval"
    assert figure(made, "macro_f1", average="fold")["value"] is not None
    assert figure(made, "left_out_of_training")["value"] > 0


def test_validate_writes_a_report_and_out_of_fold_predictions(home):
    words = ["naive-bayes", "--data", "posts.csv", "--classes", "published", "--out", "report"]
    words += ["--protocol", "kfold:4", "--against", "naive-bayes:bigrams=no", "--workers", "1"]
    done = evenhand(home, "validate", *words, *HATEFUL)
    assert done.returncode == 0, done.stderr
    assert "naive-bayes, kfold:4: macro-F1" in done.stdout
    scores = pl.read_parquet(home / "report" / "scores.parquet")
    assert scores["post"].n_unique() == 240
    assert set(scores["attribute"]) == {"none", "racism", "sexism"}
    folds = pl.read_parquet(home / "report" / "folds.parquet")
    assert folds["fold"].n_unique() == 4
    assert "naive-bayes:bigrams=no" in (home / "report" / "report.html").read_text()
    again = evenhand(home, "validate", *words, *HATEFUL, "--resume")
    assert again.returncode == 0
    assert not (home / ".report.folds").exists()  # kept only while there is something to take up


def test_a_choice_on_dev_and_the_same_on_the_test_posts(home):
    words = ["naive-bayes", "--data", "posts.csv", *HATEFUL, "--protocol", "holdout:0.3"]
    words += ["--select", "alpha=0.01|1|100", "--leak", "select-on-test", "--json"]
    made = document(evenhand(home, "validate", *words, "--workers", "1"))
    leaked = figure(made, "macro_f1", leak="select-on-test")["value"]
    assert leaked >= figure(made, "macro_f1")["value"]
    assert any(f["measure"] == "chosen" for f in made["findings"])
    assert figure(made, "macro_f1_difference", leak="select-on-test")["value"] >= 0


def test_runs_give_a_range(home):
    words = ["naive-bayes", "--data", "posts.csv", *HATEFUL, "--protocol", "kfold:3", "--runs", "3"]
    made = document(evenhand(home, "validate", *words, "--workers", "1", "--json"))
    points = [figure(made, "macro_f1", run=n)["value"] for n in (1, 2, 3)]
    spread = figure(made, "macro_f1", run="range")
    assert (spread["low"], spread["high"], spread["n"]) == (min(points), max(points), 3)
    assert figure(made, "macro_f1")["value"] == pytest.approx(sum(points) / 3)


def test_train_saves_a_detector_that_knows_where_it_comes_from(home):
    words = ["naive-bayes:min_df=1", "--data", "posts.csv", *HATEFUL, "--save", "saved"]
    done = evenhand(home, "train", *words)
    assert done.returncode == 0, done.stderr
    assert "nobody knows yet" in done.stdout
    detector = load(home / "saved")
    assert detector.provenance["classes"] == {"not hateful": 120, "hateful": 120}
    assert detector.provenance["data"][0]["name"] == "posts.csv"
    assert sorted(path.name for path in (home / "saved").iterdir()) == [
        "arrays.npz", "detector.json", "training.npz",
    ]  # fmt: skip
    capped = evenhand(home, "train", *words[:-1], "capped", "--cap", "2", "--json")
    assert figure(document(capped), "posts")["value"] < 240


def test_one_class_one_author_and_no_authors(home):
    table = pl.read_csv(home / "posts.csv")
    table.filter(pl.col("label") == "none").write_csv(home / "one_class.csv")
    table.with_columns(author=pl.lit("a")).write_csv(home / "one_author.csv")
    table.drop("author").write_csv(home / "no_author.csv")
    cases = {
        "one_class.csv": "no post has this label; the labels are none",
        "one_author.csv": "one author wrote all 240 posts",
        "no_author.csv": "name the column with --author, or use kfold",
    }
    for name, expected in cases.items():
        words = ["naive-bayes", "--data", name, *HATEFUL, "--protocol", "author-disjoint:3"]
        done = evenhand(home, "validate", *words, "--out", "wrong")
        assert done.returncode == 2
        assert expected in done.stderr
        assert not (home / "wrong").exists()
    done = evenhand(
        home, "train", "naive-bayes", "--data", "one_class.csv", *HATEFUL, "--save", "wrong"
    )
    assert done.returncode == 2
    assert "no post has this label" in done.stderr
    assert not (home / "wrong").exists()


@pytest.mark.slow
def test_a_killed_training_goes_on_and_ends_in_the_same_bits(home):
    words = ["agrawal:epochs=60,batch=16", "--data", "posts.csv", *HATEFUL]
    command = [sys.executable, "-m", "evenhand", "train", *words, "--save", "killed"]
    checkpoints = home / ".killed.checkpoints"
    with subprocess.Popen(command, cwd=home, stderr=subprocess.PIPE) as running:
        while not list(checkpoints.glob("*.npz")) and running.poll() is None:
            time.sleep(0.02)
        assert running.poll() is None, "it was done before it could be killed"
        running.send_signal(signal.SIGKILL)
    assert not (home / "killed").exists()
    assert list(checkpoints.glob("*.npz"))
    resumed = evenhand(home, "train", *words, "--save", "killed", "--resume")
    whole = evenhand(home, "train", *words, "--save", "whole")
    assert (resumed.returncode, whole.returncode) == (0, 0), resumed.stderr + whole.stderr
    texts = ["tea w1 w2", "fool w3", "", "vermin"]
    assert np.array_equal(load(home / "killed").score(texts), load(home / "whole").score(texts))
    assert not checkpoints.exists()


def test_a_ragged_vectors_file_is_refused_and_nothing_is_saved(home):
    (home / "ragged.txt").write_text("tea 0.1 0.2\nfool 0.3\n")
    words = ["agrawal:vectors=ragged.txt,embedding=2", "--data", "posts.csv", *HATEFUL]
    done = evenhand(home, "train", *words, "--save", "ragged")
    assert done.returncode == 2
    assert "ragged.txt line 2" in done.stderr
    assert not (home / "ragged").exists()
    assert not (home / ".ragged.checkpoints").exists()

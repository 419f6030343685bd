"""From a detector of any kind to its report card, typed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import polars as pl
import pytest

from evenhand.audits.suites import find_suite
from servers import stand_in

MODULE = """
import hashlib


def coin(texts):
    return [int(hashlib.sha256(t.encode()).hexdigest()[:8], 16) / 16**8 for t in texts]


def always(texts):
    return [1.0] * len(texts)


def keyword(texts):
    return [0.9 if "hate" in t.lower() or "disgust" in t.lower() else 0.1 for t in texts]


def picky(texts):
    if any("\\U0001f4a9" in t for t in texts):
        raise ValueError("cannot read this")
    return [0.2] * len(texts)


def wild(texts):
    return [1.5] * len(texts)


def nothing(texts):
    return [float("nan")] * len(texts)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with detectors of a user's own making."""
    home = tmp_path_factory.mktemp("audit")
    (home / "mine.py").write_text(MODULE, encoding="utf-8")
    return home


def evenhand(home, *words):
    command = [sys.executable, "-m", "evenhand", *words]
    environment = os.environ | {
        "EVENHAND_DATA": str(home / "no data"),
        "EVENHAND_CACHE": str(home / "cache"),
    }
    return subprocess.run(
        command, capture_output=True, text=True, cwd=home, check=False, env=environment
    )


def document(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def figure(document, measure, **group):
    [found] = [f for f in document["findings"] if f["measure"] == measure and f["group"] == group]
    return found


def test_suites_are_listed_built_and_run(home):
    listed = document(evenhand(home, "suite", "list", "--json"))
    assert figure(listed, "rows", suite="emoji-hate")["value"] == 3930
    built = evenhand(home, "suite", "build", "emoji-hate", "--out", "cases")
    assert built.returncode == 0, built.stderr
    assert "not validated by people" in built.stdout
    cases = pl.read_parquet(home / "cases" / "cases.parquet")
    assert cases.height == 3930
    run = document(
        evenhand(home, "suite", "run", "emoji-hate", "--detector", "python:mine:always", "--json")
    )
    main = figure(run, "accuracy")
    # Always hateful: 2,654 of 3,930 cases, as in HatemojiCheck.
    assert main["value"] == pytest.approx(2654 / 3930)
    assert main["low"] < main["value"] < main["high"] and main["unit"] == "templates"


@pytest.fixture(scope="module")
def card(home):
    """The card of one detector beside another."""
    done = evenhand(
        home, "audit", "python:mine:keyword", "--against", "python:mine:coin", "--out", "card"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_card_says_what_is_worst_and_how_many_were_compared(home, card):
    assert "The ten worst findings" in card
    assert "Misses" in card and "Beside python:mine:coin" in card
    page = (home / "card" / "report.html").read_text(encoding="utf-8")
    assert "possible weaknesses were compared" in page
    for title in ("Suite emoji-hate", "Suite hate-functions", "Identities", "Limits", "repeat it"):
        assert title in page
    assert "templates are not people" in page
    answers = pl.read_parquet(home / "card" / "answers.parquet")
    assert answers.height == 3930 + answers.filter(pl.col("suite") == "hate-functions").height
    assert "text" not in answers.columns


def test_no_text_is_on_the_page_unless_asked_for(home, card):
    page = (home / "card" / "report.html").read_text(encoding="utf-8")
    cases = find_suite("emoji-hate").cases()
    wrong = pl.read_parquet(home / "card" / "answers.parquet").filter(~pl.col("right"))["id"]
    texts = cases.filter(
        pl.col("id").is_in(wrong.implode()) & (pl.col("text").str.len_chars() > 25)
    )
    assert texts.height and not any(text in page for text in texts["text"])


def test_the_scores_of_a_card_can_be_audited_again(home, card):
    first = document(evenhand(home, "audit", "python:mine:keyword", "--json"))
    again = document(evenhand(home, "audit", "predictions:card/scores.parquet", "--json"))
    assert again["findings"] == first["findings"]


@pytest.mark.parametrize(
    ("limit", "code"), [("at_least = 0.2", 0), ("at_least = 0.99", 3)], ids=["holds", "broken"]
)
def test_a_gate_stops_a_release(home, limit, code):
    text = f'[[gate]]\nmeasure = "accuracy"\ngroup = {{ suite = "emoji-hate" }}\n{limit}\n'
    (home / "gates.toml").write_text(text, encoding="utf-8")
    words = ["--suite", "emoji-hate", "--templates", "none", "--transfer", "0"]
    done = evenhand(home, "audit", "python:mine:keyword", *words, "--gate", "gates.toml")
    assert done.returncode == code, done.stderr
    if code:
        assert "1 of 1 gates broken" in done.stderr and "accuracy (suite=emoji-hate)" in done.stderr


def test_a_detector_that_raises_on_some_texts_is_judged_all_the_same(home):
    words = ["--detector", "python:mine:picky", "--json"]
    found = document(evenhand(home, "suite", "run", "emoji-hate", *words))
    failed = figure(found, "unscored")
    assert failed["value"] > 0 and failed["cases"]
    # It never flags, so every harmless case is right but for the failures, which count as wrong.
    cases = find_suite("emoji-hate").cases()
    harmless = cases.filter(~pl.col("hateful"))
    failing = harmless.filter(pl.col("text").str.contains("\U0001f4a9")).height
    right = figure(found, "accuracy", label="not hateful")["value"]
    assert right == pytest.approx(1 - failing / harmless.height)
    assert figure(found, "accuracy", label="hateful")["value"] == 0
    assert failed["value"] == cases.filter(pl.col("text").str.contains("\U0001f4a9")).height


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["python:mine:wild"], "expected a number between 0 and 1"),
        (["python:mine:nothing"], "expected a number between 0 and 1"),
        (["python:mine:gone"], "has no 'gone'"),
        (["perspective:http://127.0.0.1:9"], "127.0.0.1:9"),
        (["python:mine:coin", "--suite", "emoji-hatte"], "did you mean emoji-hate"),
        (["python:mine:coin", "--templates", "genders"], "no template set 'genders'"),
        (["python:mine:coin", "--threshold", "2"], "between 0 and 1"),
        (["python:mine:coin", "--base-rate", "0.1"], "need --data"),
        (["python:mine:coin", "--gate", "nowhere.toml"], "cannot be read"),
        (["python:mine:coin", "--attribute", "RAIN"], "no attribute 'RAIN'"),
    ],
    ids=[
        "outside", "nan", "function", "dead-url", "suite", "templates", "threshold", "base-rate",
        "gate", "attribute",
    ],
)  # fmt: skip
def test_bad_input_is_named(home, words, expected):
    done = evenhand(home, "audit", *words, "--transfer", "0")
    assert done.returncode == 2, done.stderr
    assert expected in done.stderr and "Traceback" not in done.stderr


def test_predictions_must_be_of_these_cases(home):
    cases = find_suite("emoji-hate").cases().select("id", score=pl.lit(0.4))
    words = ["--suite", "emoji-hate", "--templates", "none"]
    for name, table, expected in (
        ("few", cases.head(3000), "no row for 930 of the posts to score"),
        ("more", pl.concat([cases, cases.head(1).with_columns(id=pl.lit("x:1"))]), "'x:1'"),
        ("none", cases.head(1).with_columns(id=pl.lit("x:1")), "evenhand suite texts"),
    ):
        table.write_csv(home / f"{name}.csv")
        done = evenhand(home, "audit", f"predictions:{name}.csv", *words)
        assert done.returncode == 2 and expected in done.stderr, done.stderr


def test_texts_for_a_detector_that_runs_elsewhere(home):
    done = evenhand(home, "suite", "texts", "--templates", "gender", "--out", "texts.csv")
    assert done.returncode == 0, done.stderr
    table = pl.read_csv(home / "texts.csv")
    assert table.columns == ["id", "text"] and table["id"].is_unique().all()
    assert table.filter(pl.col("id").str.starts_with("gender:")).height == 2560


def test_a_second_audit_of_a_server_asks_for_what_is_missing_only(home):
    words = ["--suite", "emoji-hate", "--templates", "none", "--json"]
    with stand_in() as server:
        url = f"perspective:{server.url}"
        first = document(evenhand(home, "audit", url, *words, "--attribute", "IDENTITY_ATTACK"))
        asked = len(server.asked)
        again = document(evenhand(home, "audit", url, *words, "--attribute", "IDENTITY_ATTACK"))
        assert len(server.asked) - asked <= 3  # a few are asked again, to see it is the same server
    assert 3900 < asked <= 3930
    assert {tuple(a.content["requestedAttributes"]) for a in server.asked} == {("IDENTITY_ATTACK",)}
    one, other = (figure(d, "accuracy", suite="emoji-hate") for d in (first, again))
    assert one == other


def test_the_documented_comparison_of_two_attributes(home):
    words = ["--suite", "emoji-hate", "--templates", "none", "--transfer", "0", "--json"]
    with stand_in() as server:
        url = f"perspective:{server.url}"
        words += ["--against", url, "--against-attribute", "IDENTITY_ATTACK"]
        found = document(evenhand(home, "audit", "python:mine:keyword", *words))
    against = [f for f in found["findings"] if f["group"].get("against") == url]
    assert any(f["measure"] == "accuracy_difference" and f["low"] is not None for f in against)


def test_a_key_is_nowhere(home):
    words = ["--suite", "emoji-hate", "--templates", "none", "--out", "keyed"]
    with stand_in() as server:
        done = evenhand(home, "audit", f"perspective:{server.url}?key=SECRET", *words)
        assert done.returncode == 0, done.stderr
        assert "SECRET" in server.asked[0].path
    assert "SECRET" not in done.stdout + done.stderr
    for file in (home / "keyed").iterdir():
        assert b"SECRET" not in file.read_bytes(), file.name


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--suite", "emoji-hate", "--suite", "emoji-hate"], "suite emoji-hate is named twice"),
        (["--templates", "gender,gender"], "template set gender is named twice"),
        (["--judgements", "card"], "no posts.parquet"),
    ],
    ids=["suites", "templates", "judgements"],
)
def test_what_is_named_twice_or_holds_nothing_is_refused(home, card, words, expected):
    done = evenhand(home, "audit", "python:mine:coin", *words, "--transfer", "0")
    assert done.returncode == 2 and expected in done.stderr, done.stderr


def test_a_gate_about_nothing_is_broken_and_the_report_is_there(home):
    text = '[[gate]]\nmeasure = "accuracy"\ngroup = { suite = "x" }\nat_least = 0.1\n'
    (home / "wrong.toml").write_text(text, encoding="utf-8")
    words = ["--suite", "emoji-hate", "--templates", "none", "--transfer", "0", "--out", "gated"]
    done = evenhand(home, "audit", "python:mine:coin", *words, "--gate", "wrong.toml")
    assert done.returncode == 3 and "no figure has exactly this group" in done.stderr
    assert (home / "gated" / "report.html").is_file()


def test_a_labelled_corpus_says_what_a_score_means(home):
    rows = [
        {"id": str(i), "text": f"I {'hate' if i % 3 == 0 else 'like'} tea {i}", "label": label}
        for i in range(300)
        for label in [("bad" if i % 3 == 0 or i % 17 == 0 else "fine")]
    ]
    pl.DataFrame(rows).write_csv(home / "site.csv")
    words = ["--data", "site.csv", "--hateful", "bad", "--base-rate", "0.05", "--flag-rate", "0.4"]
    words += ["--suite", "emoji-hate", "--templates", "gender", "--json"]
    found = document(evenhand(home, "audit", "python:mine:keyword", *words))
    site = {"corpus": "site.csv", "on": "site"}
    names = {f["group"].get("at") for f in found["findings"] if f["measure"] == "precision"}
    assert {"0.5", "0.7", "0.9", "40 % flagged"} <= names
    assert figure(found, "calibration_error", **site)["value"] is not None
    assert figure(found, "score_at_base_rate", **site, at="0.5")["value"] < 0.5
    thresholds = {f["group"].get("threshold") for f in found["findings"]}
    assert {"operating", "equal error on generated", "equal error on labelled posts"} <= thresholds

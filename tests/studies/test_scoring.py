"""What is said of texts, and what is not repeated of them."""

import json
from dataclasses import dataclass

import pytest

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.provenance import Run
from evenhand.models.calibration import Calibration
from evenhand.models.callables import FunctionDetector
from evenhand.models.loaded import Loaded
from evenhand.reports import LIMITS
from evenhand.studies import scoring
from evenhand.studies.scoring import Wanted, score_texts


@dataclass(frozen=True)
class Measured(FunctionDetector):
    calibrations: dict = None


def calibrated(rate, threshold, perspective=None):
    return Calibration(
        slope=1.0,
        intercept=0.0,
        base_rate=rate,
        n=10,
        positives=5,
        corpus="made up",
        threshold=threshold,
        perspective=perspective,
    )


KNOWN = {
    "HATE": calibrated(0.5, 0.5),
    "SEVERE_TOXICITY": calibrated(0.096, 0.2, ((0.0, 0.1), (0.4, 0.9))),
}


def made(calibrations=KNOWN, sizes=None):
    def function(texts):
        if sizes is not None:
            sizes.append(len(texts))
        return [[0.5, 0.1] if "fool" in text else [0.1, 0.1] for text in texts]

    return Loaded(Measured("mine", ("HATE", "SEVERE_TOXICITY"), function, calibrations))


def scored(texts, loaded=None, **wanted):
    run = Run(["evenhand", "score"])
    return run, score_texts(run, loaded or made(), texts, Wanted(**wanted))


def test_a_column_an_attribute_and_a_mark_at_the_threshold():
    run, parts = scored(["you fool", "day"])
    [grid] = parts.sections[0].grids
    assert grid.headings == ("", "text", "HATE", "SEVERE\nTOXICITY")
    assert grid.rows == [["1", "you fool", ".500*", ".100"], ["2", "day", ".100", ".100"]]
    assert parts.summary == [
        "mine.",
        "* at or above the shipped threshold: HATE .500, SEVERE_TOXICITY .200.",
        "Calibrated: HATE to 50 % of posts (made up), SEVERE_TOXICITY to 9.6 % of posts (made up). "
        "Where the share is another, use --base-rate.",
        LIMITS,
    ]
    assert run.data[0].rows == 2


def test_the_document_has_every_score_and_no_text():
    _, parts = scored(["you fool", "day"], evidence=True)
    assert parts.also["scores"] == [
        {
            "text": 1,
            "scores": {"HATE": 0.5, "SEVERE_TOXICITY": 0.1},
            "above_threshold": ["HATE"],
            "evidence": [[0, 3, 0.0], [4, 8, 0.4]],
        },
        {
            "text": 2,
            "scores": {"HATE": 0.1, "SEVERE_TOXICITY": 0.1},
            "above_threshold": [],
            "evidence": [[0, 3, 0.0]],
        },
    ]
    assert parts.also["detector"]["attributes"]["HATE"] == {
        "calibrated_to": 0.5,
        "corpus": "made up",
        "base_rate": 0.5,
        "threshold": 0.5,
    }
    assert parts.also["detector"]["evidence_of"] == "HATE"
    assert "fool" not in json.dumps(parts.also, allow_nan=False)


def test_evidence_lists_words_that_weigh_something():
    _, parts = scored(["you fool", "day"], evidence=True)
    grid = parts.sections[0].grids[1]
    assert grid.title == "Words that HATE goes by"
    assert grid.rows == [["1", "fool", "+.400"]]
    assert any("how far the probability of HATE falls" in sentence for sentence in parts.summary)


def test_the_ten_heaviest_words_are_shown():
    loaded = Loaded(
        FunctionDetector(
            "sum", ("HATE",), lambda texts: [sum(map(int, t.split())) / 1000 for t in texts]
        )
    )
    _, parts = scored([" ".join(map(str, range(12)))], loaded, evidence=True)
    grid = parts.sections[0].grids[1]
    assert [word for _, word, _ in grid.rows] == [str(n) for n in range(11, 1, -1)]


def test_one_attribute():
    _, parts = scored(["you fool"], attribute="SEVERE_TOXICITY", evidence=True)
    assert parts.also["scores"][0]["scores"] == {"SEVERE_TOXICITY": 0.1}
    assert parts.also["scores"][0]["evidence"] == [[0, 3, 0.0], [4, 8, 0.0]]
    with pytest.raises(BadInput, match="mine has no attribute 'INSULT'; found HATE, SEVERE_TOX"):
        scored(["a"], attribute="INSULT")


def test_another_base_rate_keeps_decisions():
    _, parts = scored(["you fool"], base_rate={"HATE": 0.01})
    [row] = parts.also["scores"]
    assert row["scores"]["HATE"] == pytest.approx(0.01)
    assert row["above_threshold"] == ["HATE"]
    assert "Mapped: HATE to 1 %" in parts.summary[2]
    about = parts.also["detector"]["attributes"]
    assert (about["HATE"]["calibrated_to"], about["HATE"]["base_rate"]) == (0.5, 0.01)
    assert about["SEVERE_TOXICITY"]["base_rate"] == 0.096


def test_perspective_like_shows_what_has_such_a_score():
    _, parts = scored(["you fool"], perspective_like=True)
    # .1 is a quarter of the way from 0 to .4: .1 + .8 / 4.
    assert parts.also["scores"][0]["scores"] == {"SEVERE_TOXICITY": pytest.approx(0.3)}
    assert parts.also["detector"]["scale"] == "perspective-like"
    assert "Perspective-like scores" in parts.summary[2]
    with pytest.raises(BadInput, match="no Perspective-like score of HATE; it has those of SEVERE"):
        scored(["a"], perspective_like=True, attribute="HATE")


def test_without_calibration_nothing_is_marked():
    _, parts = scored(["you fool"], made({}))
    assert parts.sections[0].grids[0].rows[0][2] == ".500"
    assert "mine is not calibrated: its scores rank texts" in parts.summary[1]
    assert parts.also["detector"]["attributes"] == {"HATE": None, "SEVERE_TOXICITY": None}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "(the text is empty)"),
        (" \n", "(the text is empty)"),
        ("@Jane_D write\tto\njane@example.org", "@user write to [e-mail]"),
        ("ab " * 20, "ab " * 19 + "ab"),
        ("ab " * 21, "ab " * 19 + "ab…"),
        ("a" * 100_000, "a" * 59 + "…"),
        (" " * 600 + "fool", "fool"),
    ],
)
def test_the_beginning_of_a_text_is_shown_without_names(text, shown):
    _, parts = scored([text])
    assert parts.sections[0].grids[0].rows[0][1] == shown


def test_texts_are_taken_and_scored_in_batches(monkeypatch):
    monkeypatch.setattr(scoring, "_BATCH", 4)
    sizes, taken = [], []

    def texts():
        for number in range(10):
            taken.append((number, len(sizes)))
            yield f"w{number}"

    _, parts = scored(texts(), made(sizes=sizes))
    assert sizes == [4, 4, 2]
    assert taken[4] == (4, 1)  # the fifth was taken when one batch had been scored
    assert [row["text"] for row in parts.also["scores"]] == list(range(1, 11))


def test_a_terminal_shows_the_first_texts_and_says_so(monkeypatch):
    monkeypatch.setattr(scoring, "_SHOWN_TEXTS", 2)
    _, parts = scored(["a", "b", "fool"], evidence=True)
    assert [row[0] for row in parts.sections[0].grids[0].rows] == ["1", "2"]
    assert parts.sections[0].grids[1].rows == []
    assert parts.summary[0] == "2 of 3 texts; --json has all."
    assert len(parts.also["scores"]) == 3


def test_no_text_is_not_enough():
    with pytest.raises(NotEnoughData, match="texts: no text to score"):
        scored([])

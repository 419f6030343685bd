"""The cascade: clear cases by estimates, the rest by the base detector; bands that fit."""

import importlib.util
import json
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from evenhand.core.errors import BadInput
from evenhand.models import cascade, shipped
from evenhand.models.calibration import Calibration
from evenhand.models.cascade import CASCADE, Cascade, detectors, log_odds, opened
from evenhand.models.evidence import evidence
from evenhand.models.shipped import BASE, BOX, FAST

ROOT = Path(__file__).parents[2]


def calibration(threshold):
    return Calibration(1.0, 0.0, 0.5, 10, 5, "made up", threshold, perspective=((0, 0), (1, 1)))


@dataclass(frozen=True, eq=False)
class Stub:
    """Scores by text."""

    name: str
    scores: dict
    attributes: tuple = ("HATE", "INSULT")
    calibrations: dict = field(
        default_factory=lambda: {"HATE": calibration(0.5), "INSULT": calibration(0.4)}
    )
    provenance: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)

    def score(self, texts):
        self.asked.extend(texts)
        return np.array([self.scores[text] for text in texts]).reshape(-1, 2)


FAST_SCORES = {"a": [0.1, 0.1], "b": [0.45, 0.1], "c": [0.9, 0.2], "d": [0.1, 0.4], "e": [0.6, 0.6]}
BASE_SCORES = {"a": [0.2, 0.9], "b": [0.7, 0.2], "c": [0.1, 0.1], "d": [0.3, 0.3], "e": [0.0, 0.0]}
SAME = (np.eye(2), np.zeros(2))


def made(bands=None, line=SAME):
    fast, base = Stub("fast", FAST_SCORES), Stub("base", BASE_SCORES)
    bands = {"HATE": (0.4, 0.6), "INSULT": (0.3, 0.5)} if bands is None else bands
    return Cascade(fast, base, bands, *line)


def test_only_what_is_in_a_band_is_asked_for():
    # b has HATE .45 in [.4, .6); d has INSULT .4 in [.3, .5); e has HATE .6, just outside.
    found = made()
    p = found.score(["a", "b", "c", "d", "e"])
    assert found.base.asked == ["b", "d"]
    expected = [[0.1, 0.1], [0.7, 0.2], [0.9, 0.2], [0.3, 0.3], [0.6, 0.6]]
    assert p == pytest.approx(np.array(expected))


def test_a_text_scores_alike_in_any_company():
    alone = np.concatenate([made().score([text]) for text in "abcde"])
    assert made().score(list("ebdca")).tolist() == alone[[4, 1, 3, 2, 0]].tolist()
    assert made().score([]).shape == (0, 2)


def test_evidence_is_of_the_one_that_decides():
    # "a x" is clear: by the fast scores HATE goes from .1 to .3 without x and from .1 to .45
    # without a, in the band, where the base detector would say .7. "b x" is asked for: .7 to .2.
    texts = {"a x": 0.1, "a": 0.3, "x": 0.45, "b x": 0.5, "b": 0.1}
    fast = Stub("fast", {text: [p, 0.1] for text, p in texts.items()})
    base = Stub("base", {"b x": [0.7, 0.1], "b": [0.2, 0.1], "x": [0.7, 0.1]})
    found = Cascade(fast, base, {"HATE": (0.4, 0.6)}, *SAME)
    clear, asked = evidence(found, ["a x", "b x"], attribute="HATE")
    assert [round(span.weight, 9) for span in clear] == [-0.35, -0.2]
    assert [round(span.weight, 9) for span in asked] == [0.0, 0.5]


def test_estimates_are_on_the_line():
    # Log odds of .5 and .1 are 0 and -ln 9; 2 × 0 + 1 = 1, and -ln 9 + 0 × …: 1/(1 + e^-1), .1.
    found = made({}, (np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([1.0, 0.0])))
    p = found.estimated(np.array([[0.5, 0.1]]))
    assert p == pytest.approx(np.array([[1 / (1 + np.exp(-1)), 0.1]]))


def test_certain_scores_have_finite_log_odds():
    assert np.isfinite(log_odds(np.array([0.0, 1.0]))).all()


def test_thresholds_are_those_of_the_base_detector_and_there_is_no_map_to_perspective():
    found = made().calibrations
    assert found["INSULT"].threshold == 0.4
    assert found["HATE"].perspective is None


@pytest.mark.parametrize("bands", [{"HATE": (0.6, 0.7)}, {"HATE": (0.1, 0.2)}, {"OTHER": (0, 1)}])
def test_a_band_beside_the_threshold_is_refused(bands):
    with pytest.raises(BadInput, match="expected a band around the threshold"):
        made(bands)


def test_detectors_of_other_attributes_are_refused():
    with pytest.raises(BadInput, match="needs the same attributes"):
        Cascade(Stub("fast", {}, attributes=("HATE",)), Stub("base", {}), {}, *SAME)


def test_bands_in_the_box_are_those_of_the_detectors_in_the_box():
    about = json.loads((BOX / cascade.BANDS).read_text(encoding="utf-8"))
    assert about["detectors"] == detectors(), "run python tools/cascade.py"


def test_the_cascade_in_the_box_scores_as_one_of_its_two():
    texts = ["You are a fool and an idiot.", "What a lovely morning", "", "so what then"]
    found = Cascade.in_the_box()
    p = found.score(texts)
    estimates, base = found.estimated(found.fast.score(texts)), found.base.score(texts)
    unclear = found.unclear(estimates)
    assert p.tolist() == np.where(unclear[:, None], base, estimates).tolist()
    assert opened(CASCADE).name == CASCADE
    assert list(Cascade.in_the_box("TOXICITY").bands) == ["TOXICITY"]


@pytest.fixture
def box(tmp_path, monkeypatch):
    """A box of another content."""
    for name in (FAST, BASE):
        (tmp_path / name).mkdir()
        (tmp_path / name / "detector.json").write_text(f'{{"name": "{name}"}}')
    for module in (cascade, shipped):
        monkeypatch.setattr(module, "BOX", tmp_path)
    return tmp_path


def test_bands_of_other_detectors_are_refused_in_words(box):
    (box / cascade.BANDS).write_text((BOX / cascade.BANDS).read_text())
    with pytest.raises(BadInput, match="were chosen for another evenhand-fast .SHA-256 .*alone"):
        Cascade.in_the_box()


@pytest.mark.parametrize("text", [None, "{", "[]", '{"format": 1}'])
def test_bands_that_cannot_be_read_are_refused(box, text):
    if text is not None:
        (box / cascade.BANDS).write_text(text)
    with pytest.raises(BadInput, match="has no bands .*Install evenhand again"):
        Cascade.in_the_box()


@lru_cache(1)
def tool():
    spec = importlib.util.spec_from_file_location("cascade_tool", ROOT / "tools" / "cascade.py")
    module = sys.modules["cascade_tool"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def posts(scores, yes, weights=None, costs=None):
    ones = np.ones(len(scores))
    return tool().Posts(
        np.array(scores, dtype=float)[:, None],
        np.array(yes, dtype=bool)[:, None],
        ones if weights is None else weights,
        ones if costs is None else costs,
    )


def test_a_band_by_hand():
    # Threshold .5. Wrong are .4 (yes) and .6 (no), and .1 (yes), which has .2 and .3 before it.
    # At a price of .4 asking for .4 gains .6; going on to .1 costs 3 × .4 and gains 1.
    given = posts([0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.9], [1, 0, 0, 1, 0, 1, 1])
    low, high = tool().bands(given, np.array([0.5]), 0.4)[:, 0]
    assert low == 0.4 and 0.6 < high < 0.7
    # At a price of .3 it costs .9 and gains 1.
    assert tool().bands(given, np.array([0.5]), 0.3)[0, 0] == 0.1


def test_long_posts_are_asked_for_less():
    given = posts([0.3, 0.4], [1, 1], costs=np.array([10.0, 1.0]))
    assert tool().bands(given, np.array([0.5]), 0.3)[0, 0] == 0.4


def test_shares_asked_for_and_differing_are_kept():
    rng = np.random.default_rng(1)
    scores = rng.random(400)
    given = posts(scores, scores + rng.normal(size=400) * 0.2 > 0.5)
    cut = np.array([0.5])
    found = tool().asked_at_most(given, cut, 0.2)
    assert 0.1 < given.unclear(found).mean() <= 0.2
    found = tool().differing_at_most(given, 0.5, 0.03)
    wrong = ((given.scores >= cut) != given.yes)[:, 0] & ~given.unclear(found)
    assert 0.01 < wrong.mean() <= 0.03


def test_a_line_is_found_again():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(500, 2))
    slopes, bias = np.array([[1.0, 0.5], [-2.0, 0.0]]), np.array([0.3, -1.0])
    found = tool().line(x, x @ slopes + bias, rng.random(500))
    assert found[0] == pytest.approx(slopes, abs=0.01) and found[1] == pytest.approx(bias, abs=0.01)

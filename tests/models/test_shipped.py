"""Detectors in the box, and a detector as people use it."""

import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import evenhand
from evenhand.core.errors import BadInput, UnknownComponent
from evenhand.models import shipped
from evenhand.models.calibration import Calibration
from evenhand.models.callables import FunctionDetector
from evenhand.models.find import detector
from evenhand.models.loaded import Loaded
from evenhand.models.naive_bayes import NaiveBayes
from evenhand.models.saving import save
from factories import make_corpus

ROOT = Path(__file__).parents[2]
CORPUS = make_corpus(
    [
        {"id": "a", "text": "you fool", "label": "bad"},
        {"id": "b", "text": "you fool again", "label": "bad"},
        {"id": "c", "text": "a fine day", "label": "ok"},
    ]
)
TRAINED = NaiveBayes(hateful=("bad",), min_df=1).fit(CORPUS.posts, CORPUS.gold, seed=0)


def tool():
    spec = importlib.util.spec_from_file_location("box", ROOT / "tools" / "box.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def trained(tmp_path):
    """A saved detector and its card."""
    save(TRAINED, tmp_path / "trained")
    (tmp_path / "mine.md").write_text("# A card\n")
    return tmp_path / "trained", tmp_path / "mine.md"


@pytest.fixture
def box(tmp_path, monkeypatch):
    """An empty box."""
    monkeypatch.setattr(shipped, "BOX", tmp_path / "box")
    return tmp_path / "box"


@pytest.fixture
def full(box, trained):
    """A box with evenhand-base in it."""
    tool().put("evenhand-base", *trained, box)
    return box


def test_what_is_put_in_the_box_comes_out(full):
    loaded = evenhand.load()
    assert loaded.name == "evenhand-base"
    assert loaded.attributes == ("HATE",)
    assert loaded.score(["you fool"]) == [{"HATE": TRAINED.score(["you fool"])[0, 0]}]
    assert loaded.card == full / "evenhand-base" / "card.md"
    assert (
        loaded.sha256
        == json.loads((full / "checksums.json").read_text())["evenhand-base"]["detector.json"]
    )
    assert loaded.written_by == evenhand.__version__
    assert isinstance(loaded.raw, type(TRAINED))
    assert detector("evenhand-base").name == "evenhand-base"


def test_the_box_keeps_what_else_is_in_it(full, trained):
    tool().put("evenhand-fast", *trained, full)
    assert detector("evenhand-fast").name == "evenhand-fast"
    assert detector("evenhand-base").name == "evenhand-base"
    before = (full / "checksums.json").read_bytes()
    tool().put("evenhand-fast", *trained, full)
    assert (full / "checksums.json").read_bytes() == before


def test_an_empty_box_says_so(box):
    with pytest.raises(UnknownComponent, match="no evenhand-base: .* has no detector in the box"):
        evenhand.load()


def test_a_box_without_this_one_says_which_it_has(full):
    with pytest.raises(UnknownComponent, match="no evenhand-fast: .* has only evenhand-base in"):
        detector("evenhand-fast")


def test_an_unknown_name_is_told_which_there_are():
    with pytest.raises(UnknownComponent, match="expected evenhand-base, evenhand-fast, a folder"):
        detector("evenhand-vase")


def replaced(folder):
    """Another detector, sound in itself, in the place of the shipped one."""
    other = NaiveBayes(hateful=("bad",), min_df=1, alpha=2.0)
    save(other.fit(CORPUS.posts, CORPUS.gold, seed=0), folder)


def test_a_replaced_detector_is_refused(full):
    replaced(full / "evenhand-base")
    with pytest.raises(BadInput, match=r"arrays.npz: is not the one .*Install evenhand again"):
        evenhand.load()
    assert evenhand.load(str(full / "evenhand-base")).name == "evenhand-base"  # by its path it may


@pytest.mark.parametrize("file", ["arrays.npz", "training.npz", "detector.json", "card.md"])
def test_a_missing_or_changed_file_is_refused(full, file):
    path = full / "evenhand-base" / file
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(BadInput, match=f"{file}: is not the one"):
        evenhand.load()
    path.unlink()
    with pytest.raises(BadInput, match=f"{file}: is missing"):
        evenhand.load()


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"evenhand-base": 3}'])
def test_checksums_that_are_not_there_are_refused(full, text):
    path = full / "checksums.json"
    path.unlink() if text is None else path.write_text(text)
    with pytest.raises(BadInput, match="has no checksums of evenhand-base"):
        evenhand.load()


def test_a_folder_of_that_name_here_is_not_taken_for_it(full, tmp_path, monkeypatch):
    replaced(tmp_path / "here" / "evenhand-base")
    monkeypatch.chdir(tmp_path / "here")
    assert evenhand.load().score(["fool"]) == [{"HATE": TRAINED.score(["fool"])[0, 0]}]
    assert evenhand.load("./evenhand-base").score(["fool"]) != evenhand.load().score(["fool"])


def test_what_is_too_large_unknown_or_without_a_card_stays_out(trained, box, monkeypatch):
    folder, card = trained
    with pytest.raises(BadInput, match="no place for 'mine'"):
        tool().put("mine", folder, card, box)
    with pytest.raises(BadInput, match="does not ship without its model card"):
        tool().put("evenhand-base", folder, folder / "nothing.md", box)
    monkeypatch.setitem(shipped.MOST_BYTES, "evenhand-base", 1000)
    with pytest.raises(BadInput, match=r"evenhand-base has [\d,]+ bytes of at most 1,000: det"):
        tool().put("evenhand-base", folder, card, box)
    assert not box.exists()


@dataclass(frozen=True)
class Measured(FunctionDetector):
    """A function with calibrations."""

    calibrations: dict = None


def calibration(base_rate=0.5, threshold=0.5, perspective=None):
    return Calibration(
        slope=1.0,
        intercept=0.0,
        base_rate=base_rate,
        n=10,
        positives=5,
        corpus="made up",
        threshold=threshold,
        perspective=perspective,
    )


def measured(**calibrations):
    def function(texts):
        return np.array([[0.5, 0.2] if "fool" in text else [0.1, 0.0] for text in texts])

    return Loaded(Measured("f", ("HATE", "INSULT"), function, calibrations))


def test_scores_are_a_mapping_for_each_text():
    loaded = measured()
    assert loaded.score(["fool", ""]) == [{"HATE": 0.5, "INSULT": 0.2}, {"HATE": 0.1, "INSULT": 0}]
    assert loaded.score([]) == []
    assert loaded.score(text for text in ["fool"]) == loaded.score(("fool",))
    assert all(type(p) is float for p in loaded.score(["fool"])[0].values())
    assert repr(loaded) == "<detector f of HATE, INSULT>"
    assert loaded.card is loaded.sha256 is loaded.written_by is None
    assert loaded.calibrations == loaded.thresholds() == {}


def test_one_text_in_place_of_a_list_is_refused():
    loaded = measured()
    with pytest.raises(BadInput, match=r"found one text where a list .*; write \[text\]"):
        loaded.score("fool")
    with pytest.raises(BadInput, match="one text where a list"):
        loaded.evidence("fool")
    with pytest.raises(BadInput, match="text 2 is a NoneType; expected a text"):
        loaded.score(["fool", None])


def test_evidence():
    [[you, fool]] = measured().evidence(["you fool"], attribute="INSULT")
    assert (you.weight, fool.weight) == (0, pytest.approx(0.2))
    [[_, fool]] = measured().evidence(["you fool"])
    assert (fool.start, fool.end, fool.weight) == (4, 8, pytest.approx(0.4))


def test_a_base_rate():
    loaded = measured(HATE=calibration(), INSULT=calibration(0.1, 0.3))
    # Odds times the ratio of the odds of the rates: 1 · (1/99) / (1/1) = 1/99, so p = .01;
    # (.2/.8) · (1/99) / (1/9) = 1/44, so p = 1/45.
    [found] = loaded.score(["fool"], base_rate=0.01)
    assert found == pytest.approx({"HATE": 0.01, "INSULT": 1 / 45})
    [found] = loaded.score(["fool"], base_rate={"INSULT": 0.01})
    assert found == pytest.approx({"HATE": 0.5, "INSULT": 1 / 45})
    # Thresholds move with the scores: (.3/.7) · (1/11) = 3/77, so .3 becomes 3/80.
    assert loaded.thresholds() == {"HATE": 0.5, "INSULT": 0.3}
    moved = loaded.thresholds(base_rate=0.01)
    assert moved == pytest.approx({"HATE": 0.01, "INSULT": 3 / 80})


def test_perspective_like_scores():
    loaded = measured(HATE=calibration(), INSULT=calibration(0.1, 0.3, ((0.0, 0.1), (0.4, 0.9))))
    # .2 lies half way between 0 and .4, so the score half way between .1 and .9.
    assert loaded.score(["fool"], perspective_like=True) == [{"INSULT": pytest.approx(0.5)}]
    assert loaded.thresholds(perspective_like=True) == {"INSULT": pytest.approx(0.7)}


@pytest.mark.parametrize(
    ("calibrations", "how", "words"),
    [
        ({}, {"base_rate": 0.1}, "f is not calibrated for HATE, INSULT"),
        ({"HATE": calibration()}, {"base_rate": 0.1}, "f is not calibrated for INSULT"),
        ({"HATE": calibration()}, {"base_rate": {"THREAT": 0.1}}, "no attribute 'THREAT'; found"),
        ({"HATE": calibration()}, {"base_rate": {"HATE": 1.0}}, "HATE=1.0; expected a share"),
        ({"HATE": calibration()}, {"base_rate": {"HATE": float("nan")}}, "HATE=nan; expected"),
        ({"HATE": calibration()}, {"perspective_like": True}, "f has no map to Perspective-like"),
        ({}, {"perspective_like": True, "base_rate": 0.1}, "two scales; choose one"),
    ],
)
def test_scales_that_do_not_exist_are_refused(calibrations, how, words):
    with pytest.raises(BadInput, match=words):
        measured(**calibrations).score(["fool"], **how)


def test_a_file_of_predictions_cannot_score_texts(tmp_path):
    (tmp_path / "scores.csv").write_text("id,p\na,0.5\n")
    with pytest.raises(BadInput, match="knows and cannot score other texts"):
        evenhand.load(f"predictions:{tmp_path / 'scores.csv'}")

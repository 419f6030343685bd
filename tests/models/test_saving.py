import json
import os

import numpy as np
import pytest

from evenhand.core.errors import BadInput, BrokenComponent, UnknownComponent
from evenhand.core.provenance import VERSION, DataUsed, sha256
from evenhand.models import saving
from evenhand.models.naive_bayes import NaiveBayes
from evenhand.models.saving import load, save
from evenhand.models.seen import trained_on
from factories import make_corpus

CORPUS = make_corpus(
    [
        {"id": "a", "text": "you fool", "label": "bad"},
        {"id": "b", "text": "fool again", "label": "bad"},
        {"id": "c", "text": "again a fine day", "label": "ok"},
    ]
)


@pytest.fixture
def detector():
    return NaiveBayes(hateful=("bad",), min_df=1).fit(CORPUS.posts, CORPUS.gold, seed=3)


@pytest.fixture
def folder(detector, tmp_path):
    save(detector, tmp_path / "mine", data=[DataUsed("made up", 3, "abc")])
    return tmp_path / "mine"


def edit(folder, **changes):
    path = folder / "detector.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def refused(folder):
    with pytest.raises(BadInput) as caught:
        load(folder)
    return str(caught.value)


def test_the_document_says_what_it_is_and_what_it_rests_on(folder):
    about = json.loads((folder / "detector.json").read_text())
    assert about["kind"] == "naive-bayes"
    assert about["evenhand"] == VERSION
    assert about["attributes"] == ["HATE"]
    assert about["options"]["hateful"] == ["bad"]
    assert about["provenance"]["data"] == [{"name": "made up", "rows": 3, "sha256": "abc"}]
    assert about["provenance"]["posts"] == 3
    assert about["files"] == {n: sha256(folder / n) for n in ("arrays.npz", "training.npz")}


def test_a_loaded_detector_is_the_same_but_for_its_name(detector, folder):
    again = load(folder)
    texts = ["you fool", "fine day", "unknown"]
    assert np.array_equal(again.score(texts), detector.score(texts))
    assert again.name == "mine"
    assert again.record.recipe == detector.record.recipe
    assert trained_on(again, CORPUS.posts) == ["a", "b", "c"]


def test_saving_a_loaded_detector_keeps_its_provenance(folder, tmp_path):
    save(load(folder), tmp_path / "copy")
    assert load(tmp_path / "copy").provenance == load(folder).provenance


def test_the_same_detector_is_written_the_same_way_twice(detector, tmp_path):
    for name in ("one", "two"):
        save(detector, tmp_path / name)
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("one", "two")
    )
    assert first == second


@pytest.mark.parametrize("name", ["arrays.npz", "training.npz"])
def test_a_changed_file_is_refused(folder, name):
    path = folder / name
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert f"{name}: its checksum is not the one in detector.json" in refused(folder)


@pytest.mark.parametrize("name", ["arrays.npz", "training.npz"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    assert f"{name}: is missing; copy the whole folder" in refused(folder)


def test_a_newer_format_asks_for_an_upgrade(folder):
    edit(folder, format=2, evenhand="9.9")
    assert "format 2, written by evenhand 9.9" in refused(folder)
    assert "Upgrade evenhand" in refused(folder)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": None}, "no format number"),
        ({"options": None}, "options missing or malformed"),
        ({"files": []}, "files missing or malformed"),
        ({"options": {"min_dff": 2}}, "no option 'min_dff'.*Did you mean min_df"),
        ({"options": {"min_df": "two"}}, "the options are wrong"),
        ({"options": {"alpha": -1}}, "alpha is -1"),
    ],
)
def test_a_malformed_document_is_refused(folder, changes, words):
    edit(folder, **changes)
    with pytest.raises(BadInput, match=words):
        load(folder)


def test_a_recipe_that_is_not_installed_is_named(folder):
    edit(folder, kind="naive-base")
    with pytest.raises(UnknownComponent, match="naive-base.*did you mean naive-bayes"):
        load(folder)


@pytest.mark.parametrize("content", ["{", "[]", "", "\0"])
def test_a_document_that_is_no_json_object(folder, content):
    (folder / "detector.json").write_text(content)
    assert "detector.json" in refused(folder)


def test_not_a_detector(tmp_path):
    assert "has no detector.json" in refused(tmp_path)
    assert "does not exist" in refused(tmp_path / "nowhere")


def test_arrays_of_another_detector_with_the_right_checksum(folder):
    np.savez(folder / "arrays.npz", other=np.arange(3))
    files = {name: sha256(folder / name) for name in ("arrays.npz", "training.npz")}
    edit(folder, files=files)
    assert "the arrays are not those of a naive-bayes detector" in refused(folder)


def test_weights_that_do_not_fit_the_vocabulary(folder):
    with np.load(folder / "arrays.npz") as arrays:
        short = dict(arrays) | {"log_shares": np.zeros((2, 1))}
    np.savez(folder / "arrays.npz", **short)
    edit(folder, files={n: sha256(folder / n) for n in ("arrays.npz", "training.npz")})
    assert "with 1 weights" in refused(folder)


def test_pickled_arrays_are_never_read(folder):
    np.savez(folder / "arrays.npz", words=np.array([{}], dtype=object))
    edit(folder, files={n: sha256(folder / n) for n in ("arrays.npz", "training.npz")})
    assert "allow_pickle=False" in refused(folder)


def test_objects_are_never_written(detector, tmp_path, monkeypatch):
    objects = {"odd": np.array([{}], dtype=object)}
    monkeypatch.setattr(type(detector), "arrays", lambda self: objects)
    with pytest.raises(BrokenComponent, match="objects in odd"):
        save(detector, tmp_path / "mine")
    assert list(tmp_path.iterdir()) == []


def test_the_card_of_the_detector_before_goes(detector, folder):
    (folder / "card.md").write_text("# another")
    save(detector, folder)
    assert not (folder / "card.md").exists()


def test_a_failed_save_leaves_the_older_detector(detector, folder, monkeypatch):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr(saving, "_about", lambda *_: {"not": object()})
    with pytest.raises(TypeError):
        save(NaiveBayes(hateful=("ok",)).fit(CORPUS.posts, CORPUS.gold, seed=0), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert os.listdir(folder.parent) == ["mine"]


def test_a_place_that_cannot_be_written_is_named(detector, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="file: is a file; expected a folder"):
        save(detector, tmp_path / "file")
    with pytest.raises(BadInput, match="below: cannot be written: .*file"):
        save(detector, tmp_path / "file" / "below")

"""The detectors that ship: whole, small enough, and of use without torch."""

import json
import subprocess
import sys

import pytest

import evenhand
from evenhand.core.provenance import sha256
from evenhand.models.saving import CARD
from evenhand.models.shipped import BOX, CHECKSUMS, MOST_BYTES

SEVEN = (
    "HATE", "TOXICITY", "SEVERE_TOXICITY", "IDENTITY_ATTACK", "INSULT", "PROFANITY", "THREAT",
)  # fmt: skip
TEXTS = ["You are a fool and an idiot.", "What a lovely morning", "", "👍🏽", "word " * 5_000]
CHILD = """
import json, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "transformers", "onnx"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import evenhand
print(json.dumps(evenhand.load(sys.argv[1]).score(json.loads(sys.stdin.read()))))
"""
pytestmark = pytest.mark.parametrize("name", MOST_BYTES)


def test_is_there_and_small_enough(name):
    files = [path for path in (BOX / name).rglob("*") if path.is_file()]
    assert 0 < sum(path.stat().st_size for path in files) <= MOST_BYTES[name]


def test_every_file_is_pinned(name):
    pinned = json.loads((BOX / CHECKSUMS).read_text(encoding="utf-8"))[name]
    assert pinned == {path.name: sha256(path) for path in (BOX / name).iterdir()}


def test_has_seven_attributes_each_calibrated(name):
    loaded = evenhand.load(name)
    assert loaded.attributes == SEVEN
    assert set(loaded.calibrations) == set(SEVEN)
    assert loaded.calibrations["HATE"].base_rate == 0.5
    assert loaded.thresholds()["HATE"] == 0.5


def test_has_a_card_that_names_limits_and_checksum(name):
    loaded = evenhand.load(name)
    card = loaded.card.read_text(encoding="utf-8")
    assert loaded.card.name == CARD
    assert name in card
    for words in ("licence", "not for", "base rate"):
        assert words in card.lower()


def test_scores_without_torch_and_alike(name):
    done = subprocess.run(
        [sys.executable, "-c", CHILD, name],
        input=json.dumps(TEXTS),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found == evenhand.load(name).score(TEXTS)
    assert all(0 <= p <= 1 for row in found for p in row.values())
    assert found[0]["INSULT"] > found[1]["INSULT"]


def test_a_replaced_file_is_refused(name, tmp_path, monkeypatch):
    import shutil

    from evenhand.core.errors import BadInput
    from evenhand.models import shipped

    shutil.copytree(BOX, tmp_path / "box")
    (tmp_path / "box" / name / "detector.json").write_text("{}")
    monkeypatch.setattr(shipped, "BOX", tmp_path / "box")
    with pytest.raises(BadInput, match="is not the one this version of evenhand came with"):
        evenhand.load(name)

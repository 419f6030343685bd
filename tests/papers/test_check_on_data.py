"""What `data check` and `reproduce` must show on the real corpora."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not os.environ.get("EVENHAND_DATA"), reason="EVENHAND_DATA is not set"),
]


def figures(*words):
    command = [sys.executable, "-m", "evenhand", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["findings"]
    return {(f["measure"], *sorted(f["group"].items())): f["value"] for f in found}


def test_a_few_authors_wrote_most_of_waseem_hovy():
    found = figures("data", "check", "waseem_hovy")
    assert found["rows",] == 14_949
    assert found["posts",] == 14_908
    assert found["authors", ("label", "racism")] == 8
    assert found["authors", ("label", "sexism")] == 491
    top = found["top_author_share", ("label", "hateful"), ("top", 2)]
    assert top == pytest.approx(0.65, abs=0.02)
    # The paper's 87 % is the idealised, support-weighted form; as stated it is macro .63.
    assert found["author_lookup_f1", ("average", "weighted"), ("form", "ideal")] == pytest.approx(
        0.87, abs=0.005
    )
    assert found["author_lookup_f1", ("average", "macro"), ("form", "stated")] == pytest.approx(
        0.63, abs=0.005
    )
    assert found["conflicting_labels", ("same", "id")] == 41


def test_hatemojibuild_tears_twins_apart():
    found = figures("data", "check", "hatemojibuild")
    # 223 + 238 pairs stand on two sides, two posts each; 521 twins are in a part kept elsewhere.
    assert found["twins_across_splits",] == 2 * (223 + 238)
    if found["posts",] == 5_319:
        assert found["twins_missing",] == 521


def test_delisle_on_stand_ins():
    found = figures("reproduce", "delisle", "1")
    key = (("corpus", "md_agreement"), ("table", "1"))
    assert found["fleiss_kappa", *key] == pytest.approx(0.359, abs=0.0006)
    paper = (("cohort", "crowd"), ("question", "Contain Abuse"), ("table", "1"))
    assert found["fleiss_kappa", *paper] == 0.26

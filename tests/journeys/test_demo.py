"""The demo and the other small commands from the front door."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import polars as pl
import pytest

BLOCK = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"numba", "torch", "transformers", "litestar", "sklearn"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
"""


def evenhand(folder, *words, **env):
    command = [sys.executable, "-m", "evenhand", *words]
    environment = os.environ | env
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, check=False
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    done = evenhand(folder, "demo", "--posts", "2000", "--json")
    assert done.returncode == 0, done.stderr
    return folder / "evenhand-demo", json.loads(done.stdout)


def test_everything_in_the_demo_says_that_it_is_simulated(demo):
    folder, document = demo
    assert {f["origin"] for f in document["findings"]} == {"simulated"}
    page = (folder / "report.html").read_text()
    assert page.count("<svg") >= 2
    headings = [part.split("<")[0] for part in page.split("<h2")[1:]]
    assert "simulated" in page[page.index("<title>") : page.index("</title>")]
    assert headings


def test_the_truth_stands_beside_the_findings(demo):
    rates = [f for f in demo[1]["findings"] if f["measure"] == "abuse_rate" and not f["group"]]
    shares = [
        f["value"]
        for f in demo[1]["findings"]
        if f["measure"] == "label_share" and f["group"] == {"label": "abusive"}
    ]
    assert [rates[0]["value"]] == shares


def test_the_estimate_covers_the_truth_and_the_unweighted_share_does_not(demo):
    found = {f["measure"]: f for f in demo[1]["findings"] if not f["group"]}
    over = [f for f in demo[1]["findings"] if f["measure"] == "population_share" and not f["group"]]
    truth = found["true_share"]["value"]
    both = next(f for f in over if f["unit"] == "posts and annotators")
    assert both["low"] < truth < both["high"]
    assert not both["low"] < found["unweighted_share"]["value"] < both["high"]


def test_the_split_of_ours_tears_nothing_apart(demo):
    ours = {"split": "made by evenhand"}
    torn = {f["measure"]: f["value"] for f in demo[1]["findings"] if f["group"] == ours}
    assert torn == {"authors_across_splits": 0, "duplicates_across_splits": 0}


def test_the_folder_of_the_demo_is_a_corpus_that_stays_simulated(demo):
    folder, _ = demo
    done = evenhand(folder.parent, "data", "describe", folder.name, "--json")
    findings = json.loads(done.stdout)["findings"]
    assert {f["origin"] for f in findings} == {"simulated"}
    judged = [f["n"] for f in findings if f["measure"] == "judgements"]
    assert 0 < judged[0] <= next(f["value"] for f in findings if f["measure"] == "posts") < 2000


def test_the_same_seed_gives_the_same_findings(demo, tmp_path):
    done = evenhand(tmp_path, "demo", "--posts", "2000", "--json")
    assert json.loads(done.stdout)["findings"] == demo[1]["findings"]
    other = evenhand(tmp_path, "demo", "--posts", "2000", "--seed", "1", "--json")
    assert json.loads(other.stdout)["findings"] != demo[1]["findings"]


def test_the_demo_needs_no_extra(demo, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(BLOCK)
    done = evenhand(tmp_path, "demo", "--posts", "2000", "--json", PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["findings"] == demo[1]["findings"]


def test_the_demo_prints_where_its_report_is(tmp_path):
    done = evenhand(tmp_path, "demo", "--posts", "500", "--out", "here")
    assert done.stdout.splitlines()[-1] == "Report: here/report.html"
    draws = pl.read_parquet(tmp_path / "here" / "draws.parquet")
    posts = pl.read_parquet(tmp_path / "here" / "posts.parquet")
    assert set(draws["post"]) == set(posts["id"])


def test_doctor_names_every_extra_and_the_size_of_the_install(tmp_path):
    done = evenhand(tmp_path, "doctor", "--json", EVENHAND_DATA=str(tmp_path))
    document = json.loads(done.stdout)
    lines = {line["what"]: line for line in document["machine"]}
    assert {"extra [train]", "cores", "data folder"} <= set(lines)
    sizes = [f["value"] for f in document["findings"] if f["measure"] == "install_bytes"]
    assert sizes[0] > 50e6
    assert "extra [train]" in evenhand(tmp_path, "doctor").stdout


def test_our_bug_is_exit_1_with_a_traceback(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import evenhand.core.registry as r\ndef boom(kind): raise RuntimeError('boom')\n"
        "r.names = boom\n"
    )
    done = evenhand(tmp_path, "plugins", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "Traceback" in done.stderr

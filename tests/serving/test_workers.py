"""Processes that score, forked from one that has loaded what they need."""

import os
import subprocess
import sys

import polars as pl

from evenhand.core.processes import ONE_THREAD
from evenhand.serving._files_work import Wanted
from evenhand.serving.files import score_file

MODULE = """
import os


def told(texts):
    p = float(os.environ["EVENHAND_TEST_P"])
    return [[p, float(os.environ["POLARS_MAX_THREADS"] == "1")] for _ in texts]


told.attributes = ["P", "ALONE"]
"""


def test_telling_them_to_begin_loads_nothing_here():
    heavy = ("numpy", "polars", "scipy", "numba", "onnxruntime", "litestar")
    code = (
        "import sys, evenhand.serving.workers as workers; workers.begin(); "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_they_have_one_thread_and_the_environment_of_the_moment(tmp_path, monkeypatch):
    (tmp_path / "told_for_workers.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    pl.DataFrame({"text": ["a", "b", "c"]}).write_parquet(tmp_path / "posts.parquet")
    found = []
    for p in ("0.25", "0.75"):  # the second time they come from a process that is there already
        monkeypatch.setenv("EVENHAND_TEST_P", p)
        scored = score_file(
            tmp_path / "posts.parquet",
            tmp_path / p,
            Wanted("python:told_for_workers:told"),
            workers=2,
        )
        found.append(pl.read_parquet(scored.path).select("P", "ALONE").rows())
    assert found == [[(0.25, 1.0)] * 3, [(0.75, 1.0)] * 3]


def test_what_they_are_forked_from_has_one_thread():
    code = (
        "import os; from evenhand.serving.workers import _LOADED; "
        "[__import__(name) for name in _LOADED]; print(len(os.listdir('/proc/self/task')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, **ONE_THREAD},
    )  # fmt: skip
    assert done.stdout.strip() == "1"

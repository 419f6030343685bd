import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pytest

from evenhand.core import registry
from evenhand.core.errors import BadInput, BrokenComponent, UnknownComponent
from evenhand.models.find import detector, recipe
from evenhand.models.naive_bayes import NaiveBayes
from evenhand.models.saving import save
from evenhand.models.scoring import score_posts
from factories import make_corpus

POSTS = make_corpus([{"id": name, "text": name * 3} for name in "ab"]).posts
MODULE = """
    import math

    import numpy as np

    def length(texts):
        return [min(len(text) / 10, 1) for text in texts]

    def two(texts):
        return np.array([[0.1, 0.9]] * len(texts))
    two.attributes = ["HATE", "INSULT"]

    def unnamed(texts):
        return np.array([[0.1, 0.9]] * len(texts))

    def short(texts):
        return [0.5]

    def nan(texts):
        return [0.5] * (len(texts) - 1) + [math.nan]

    def large(texts):
        return [1.5] * len(texts)

    def words(texts):
        return ["much"] * len(texts)

    def fails(texts):
        raise RuntimeError("no GPU")

    def badly_named(texts):
        return [0.5] * len(texts)
    badly_named.attributes = "HATE"

    number = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of this name lies in the current folder."""
    name = f"mine_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(MODULE))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return name


def test_a_saved_folder(tmp_path):
    corpus = make_corpus(
        [{"id": "a", "text": "fool", "label": "bad"}, {"id": "b", "text": "day", "label": "ok"}]
    )
    trained = NaiveBayes(hateful=("bad",), min_df=1).fit(corpus.posts, corpus.gold, seed=0)
    save(trained, tmp_path / "mine")
    found = score_posts(detector(str(tmp_path / "mine")), corpus.posts)
    assert found["p"].to_list() == trained.score(["fool", "day"])[:, 0].tolist()
    assert found["detector"].to_list() == ["mine", "mine"]


def test_a_file_of_predictions(tmp_path):
    (tmp_path / "s.csv").write_text("id,x,y\na,0,.25\nb,0,.5\n")
    found = detector(f"predictions:{tmp_path}/s.csv", column="y")
    assert score_posts(found, POSTS)["p"].to_list() == [0.25, 0.5]


def test_a_function_from_texts_to_numbers(module):
    found = score_posts(detector(f"python:{module}:length"), POSTS)
    assert found["p"].to_list() == [0.3, 0.3]
    assert found["detector"][0] == f"python:{module}:length"


def test_a_function_with_several_attributes(module):
    found = score_posts(detector(f"python:{module}:two"), POSTS)
    assert found.select("post", "attribute", "p").rows() == [
        ("a", "HATE", 0.1), ("a", "INSULT", 0.9), ("b", "HATE", 0.1), ("b", "INSULT", 0.9),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("unnamed", r"shape \(2, 2\) for 2 texts; expected 2 rows of 1 \(HATE\).*\.attributes"),
        ("short", r"shape \(1,\) for 2 texts"),
        ("nan", r"text 2 scores nan for HATE; expected a number between 0 and 1 \(1 like this\)"),
        ("large", r"text 1 scores 1.5 .* \(2 like this\)"),
        ("words", "raised ValueError"),
        ("fails", "raised RuntimeError: no GPU"),
    ],
)
def test_what_a_function_returns_is_checked(module, name, words):
    with pytest.raises(BrokenComponent, match=words):
        score_posts(detector(f"python:{module}:{name}"), POSTS)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("nowhere_at_all:f", "no module 'nowhere_at_all' in the current folder or on PYTHONPATH"),
        ("{}.below:f", "no module '.*below' in the current folder"),
        ("{}:lenght", "has no 'lenght'; did you mean 'length'"),
        ("{}:number", "is a int; expected a function"),
        ("{}:badly_named", ".attributes is 'HATE'; expected a list"),
        ("{}", "expected python:module:function"),
        (":f", "expected python:module:function"),
    ],
)
def test_a_function_that_is_not_there(module, place, words):
    with pytest.raises(BadInput, match=words):
        detector("python:" + place.format(module))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import nowhere_at_all", "No module named 'nowhere_at_all'"),
    ],
)
def test_a_module_that_fails_to_import(module, code, words, tmp_path):
    (tmp_path / f"failing_{module}.py").write_text(code)
    with pytest.raises(BrokenComponent, match=f"importing it raised .*{words}"):
        detector(f"python:failing_{module}:f")


def test_a_function_on_pythonpath(tmp_path):
    (tmp_path / "elsewhere_it_is.py").write_text("def half(texts): return [0.5] * len(texts)")
    code = (
        "from evenhand.models.find import detector\n"
        "print(detector('python:elsewhere_it_is:half').score(['a', 'b']).tolist())"
    )
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [[0.5], [0.5]]


@pytest.mark.parametrize("name", ["nothing", "HF:folder", "http://x/y", "predictionsx:a"])
def test_an_unknown_detector_says_what_there_is(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    forms = "train --save.*hf:FOLDER, perspective:URL, openai:URL, predictions:FILE or python:"
    with pytest.raises(UnknownComponent, match=forms):
        detector(name)


@pytest.mark.parametrize("kind", ["perspective", "openai"])
def test_a_server_and_its_attribute(kind):
    found = detector(f"{kind}:http://127.0.0.1:9/", attribute="INSULT")
    assert (found.name, found.attributes) == (f"{kind}:http://127.0.0.1:9", ("INSULT",))


def test_a_file_with_scores_of_another_attribute(tmp_path):
    (tmp_path / "s.csv").write_text("id,HATE,INSULT\na,0,.25\nb,0,.5\n")
    found = detector(f"predictions:{tmp_path}/s.csv", attribute="INSULT")
    assert (found.attributes, found.column) == (("INSULT",), "INSULT")


def test_a_folder_that_is_not_there():
    with pytest.raises(BadInput, match="does not exist"):
        detector("no/such/folder")


def test_no_name_at_all(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="train --save"):
        detector("")


def test_a_recipe_with_options():
    assert recipe("naive-bayes") == NaiveBayes()
    assert recipe("naive-bayes:min_df=3, alpha=.5,bigrams=no,hateful=a|b") == NaiveBayes(
        min_df=3, alpha=0.5, bigrams=False, hateful=("a", "b")
    )


def test_every_fault_in_the_options_is_named():
    with pytest.raises(BadInput) as caught:
        recipe("naive-bayes:min_df=two,alpha,bigrams=maybe,alhpa=1,alpha=1,alpha=2")
    assert str(caught.value).splitlines() == [
        "naive-bayes: option min_df is 'two'; expected a whole number",
        "naive-bayes: 'alpha' is no option; expected key=value",
        "naive-bayes: option bigrams is 'maybe'; expected yes or no",
        "naive-bayes: no option 'alhpa'; the options are question, hateful, classes, min_df, "
        "alpha, bigrams. Did you mean alpha?",
        "naive-bayes: option alpha stands twice",
    ]


def test_values_out_of_range_are_refused():
    with pytest.raises(BadInput, match="min_df is 0"):
        recipe("naive-bayes:min_df=0")


def test_an_unknown_recipe_suggests_the_nearest():
    with pytest.raises(UnknownComponent, match="did you mean naive-bayes"):
        recipe("naive-base:min_df=1")


@dataclass(frozen=True)
class Odd:
    name: ClassVar[str] = "odd"
    cell: Literal["lstm", "cnn"] = "lstm"
    sizes: dict = None

    def fit(self): ...


def test_other_types_of_option(monkeypatch):
    monkeypatch.setattr(registry, "get", lambda kind, name: Odd)
    assert recipe("odd:cell=cnn") == Odd(cell="cnn")
    with pytest.raises(BadInput, match="option cell is 'rnn'; expected one of lstm, cnn"):
        recipe("odd:cell=rnn")
    with pytest.raises(BrokenComponent, match="cannot be typed; set it in Python"):
        recipe("odd:sizes=3")


@pytest.mark.parametrize("thing", [3, Odd(), int])
def test_a_component_that_is_no_recipe(monkeypatch, thing):
    monkeypatch.setattr(registry, "get", lambda kind, name: thing)
    with pytest.raises(BrokenComponent, match="expected a dataclass of options"):
        recipe("odd")


def test_scores_of_no_posts():
    corpus = make_corpus(
        [{"id": "a", "text": "fool", "label": "bad"}, {"id": "b", "text": "day", "label": "ok"}]
    )
    trained = NaiveBayes(hateful=("bad",), min_df=1).fit(corpus.posts, corpus.gold, seed=0)
    assert score_posts(trained, POSTS.head(0)).height == 0
    assert np.array_equal(trained.score([]), np.empty((0, 1)))

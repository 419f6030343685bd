"""What ``validate`` refuses, before any time is spent."""

import pytest

from evenhand.core.errors import BadInput, EvenhandError, NotEnoughData, UnknownComponent
from evenhand.core.provenance import Run
from evenhand.studies.validation import Asked, validate
from factories import make_corpus, value
from spies import written

CORPUS = written()


@pytest.mark.parametrize(
    ("asked", "error", "expected"),
    [
        ({"protocol": "kfold:999"}, NotEnoughData, "120 labelled posts for 999 folds"),
        ({"protocol": "authors:3"}, UnknownComponent, "no protocol named 'authors'"),
        ({"classes": "racism|x"}, BadInput, "--classes x: made up has the labels none, racism"),
        ({"leaks": ["features"]}, BadInput, "naive-bayes learns no representation"),
        ({"leaks": ["oversample"]}, BadInput, "naive-bayes does not oversample"),
        ({"leaks": ["select-on-test"]}, BadInput, "naive-bayes has nothing to choose"),
        ({"leaks": ["magic"]}, BadInput, "--leak magic; expected features, oversample"),
        ({"select": ["alpha=1"]}, BadInput, "gives nothing to choose"),
        ({"select": ["alhpa=1|2"]}, BadInput, "Did you mean alpha"),
        ({"add": ["davidson"]}, BadInput, "expected CORPUS:LABEL"),
        ({"keep": ("readers",)}, BadInput, "--keep readers; expected some of"),
        (
            {"classes": "none|sexism", "against": "naive-bayes:classes=sexism|none"},
            BadInput,
            "its classes differ",
        ),
        ({"against": "naive-bayes:hateful=racism"}, BadInput, "its hateful differ"),
        ({"select": ["hateful=racism|sexism"]}, BadInput, "what is learned is not to be chosen"),
        ({"classes": "none|none|sexism"}, BadInput, "each named once"),
        ({"against": "bayes"}, UnknownComponent, "did you mean naive-bayes"),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, dict) else "",
)
def test_what_cannot_be_done_is_refused_before_anything_is_fitted(
    asked, error, expected, monkeypatch
):
    def fit(*_, **__):
        raise AssertionError("fitted")

    monkeypatch.setattr("evenhand.models.naive_bayes.NaiveBayes.fit", fit)
    with pytest.raises(error, match=expected):
        validate(Run(["evenhand"]), CORPUS, "naive-bayes", Asked(**asked))


def test_one_class_only():
    one = make_corpus([{"id": str(n), "label": "ok"} for n in range(30)])
    with pytest.raises(EvenhandError, match="all 30 labelled posts are not hateful"):
        validate(Run(["evenhand"]), one, "naive-bayes", Asked())


def test_classes_by_name_and_what_was_left_out():
    run = Run(["evenhand"])
    asked = Asked(protocol="kfold:3", classes="none|sexism")
    validate(run, CORPUS, "naive-bayes", asked)
    assert value(run.findings, "posts", label="sexism") == 40
    assert value(run.findings, "unlabelled", reason="another label") == 20


def test_names_of_authors_stay_where_they_are():
    parts = validate(Run(["evenhand"]), CORPUS, "naive-bayes", Asked(protocol="kfold:3"))
    written_out = repr([table.rows() for table in parts.tables.values()])
    assert not [name for name in CORPUS.posts["author"].unique() if f"'{name}'" in written_out]

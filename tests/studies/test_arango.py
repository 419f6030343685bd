"""The study of Arango's tables, on made-up posts and with a quick recipe in place of networks."""

from dataclasses import dataclass, replace

import polars as pl
import pytest

from evenhand.core.errors import BadInput
from evenhand.core.provenance import Run
from evenhand.core.tables import posts_table
from evenhand.models.naive_bayes import NaiveBayes
from evenhand.reports import write_report
from evenhand.studies import arango, arango_tables
from evenhand.studies.parts import How
from evenhand.validation import protocols
from factories import finding, make_corpus, value
from spies import written


@dataclass(frozen=True, kw_only=True)
class Quick(NaiveBayes):
    """Naive Bayes with the steps that the leaks need."""

    oversample: int = 3

    def represent(self, posts, gold, *, seed):
        return "words"

    def fit(self, posts, gold, *, seed, representation=None):
        return super().fit(posts, gold, seed=seed)


def hateval():
    rows = [
        {
            "id": f"h{number}",
            "text": f"{'fool' if number % 3 == 0 else 'tea'} sun {number}",
            "label": str(int(number % 3 == 0)),
            "split": "train" if number < 50 else "dev",
        }
        for number in range(60)
    ]
    return replace(make_corpus(rows, hateful=("1",)), name="hateval")


def extended():
    """Posts of two parts; the second gives hateful posts only."""
    base = written(posts=160, seed=4)
    part = ["waseem_hovy"] * 120 + ["davidson"] * 40
    tags = pl.DataFrame(
        {"split": [None] * 160, "part": part}, schema={"split": pl.String, "part": pl.String}
    )
    posts = base.posts.with_columns(
        tags=tags.to_struct("tags"),
        author=pl.when(pl.Series(part) == "davidson").then(None).otherwise("author"),
    )
    label = pl.when(pl.Series(part) == "davidson").then(pl.lit("sexism")).otherwise("label")
    gold = base.gold.with_columns(label=label).with_columns(
        shares=pl.concat_list(pl.struct(label=pl.col("label"), share=pl.lit(1.0)))
    )
    return replace(base, posts=posts_table(posts), gold=gold, name="arango_extended")


def davidson():
    rows = [{"id": f"d{n}", "label": "hate_speech" if n % 2 else "neither"} for n in range(20)]
    return replace(make_corpus(rows, hateful=("hate_speech",)), name="davidson")


@pytest.fixture(scope="module")
def made():
    corpora = {
        "waseem_hovy": lambda: replace(written(posts=240), name="waseem_hovy"),
        "arango_extended": extended,
        "hateval": hateval,
        "davidson": davidson,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arango, "find", lambda name: corpora[name]())
        patch.setattr(protocols, "find", lambda name: corpora[name]())
        patch.setattr(arango, "find_recipe", lambda name: Quick())
        run = Run(["evenhand"], seed=0)
        parts = arango.reproduce(run, arango.TABLES, How(quick=True))
        full = Run(["evenhand"], seed=0)
        arango.reproduce(full, ["2"], How())
        yield run, parts, full


def test_every_printed_figure_is_a_finding_with_its_difference(made):
    run, _, _ = made
    published = [f for f in run.findings if f.origin == "published" and f.measure != "posts"]
    differences = [f for f in run.findings if f.measure == "difference_from_paper"]
    # Tables 1 and 2 have five rows, the others four; two methods, three figures a row.
    assert len(published) == len(differences) == (2 * 5 + 4 * 4) * 2 * 3
    one = finding(published, "macro_f1", table="2", method="agrawal")
    assert (one.value, one.why) == (0.796, "no interval printed")
    ours = [f for f in run.findings if f.origin == "data"]
    mine = finding(ours, "macro_f1", table="2", method="agrawal")
    gap = finding(differences, "difference_from_paper", table="2", method="agrawal", of="macro_f1")
    assert gap.value == pytest.approx(mine.value - 0.796)
    assert gap.low == pytest.approx(mine.low - 0.796)


def test_printed_averages_are_consistent_with_the_printed_classes():
    """Macro averages are means of the classes; what the paper calls micro is not accuracy."""
    for table, methods in arango_tables.PRINTED.items():
        for rows in methods.values():
            classes = [row for name, row in rows.items() if name not in ("weighted", "macro")]
            for column in range(3):
                mean = sum(row[column] for row in classes) / len(classes)
                assert mean == pytest.approx(rows["macro"][column], abs=0.35), (table, column)


def test_constants_and_look_ups_stand_in_every_table(made):
    run, _, _ = made
    for table in arango.TABLES:
        assert value(run.findings, "macro_f1", table=table, baseline="majority") is not None
    assert value(run.findings, "macro_f1", table="5", baseline="source-lookup") > 0.5
    assert value(run.findings, "f1", table="3", baseline="always-positive", label="hateful") > 0


def test_the_copies_are_looked_up_by_both_formulas_and_measured(made):
    run, _, _ = made
    group = {"table": "1", "baseline": "copy-lookup"}
    assert value(run.findings, "macro_f1", **group) > 0.8
    printed = {**group, "form": "formula as printed", "test_share": "p = 0.15"}
    assert value(run.findings, "recall", **printed) == pytest.approx(0.3825)
    right = {**group, "form": "formula among test rows", "test_share": "p = 0.15"}
    assert value(run.findings, "recall", **right) == pytest.approx(0.9775)


def test_partitions_stand_beside_a_random_split_and_the_printed_counts(made):
    run, parts, _ = made
    for method in arango_tables.METHODS:
        beside = {"table": "4", "method": method, "baseline": "random-split"}
        assert value(run.findings, "macro_f1", **beside) is not None
    counts = [f for f in run.findings if f.measure == "posts" and f.group.get("table") == "7"]
    assert len(counts) == 3 * 2 * 2
    [section] = [s for s in parts.sections if s.title.startswith("Table 4")]
    assert [grid.name for grid in section.grids] == ["table_4", "table_4_posts"]


def test_directions_compare_ours_and_the_papers(made):
    _, parts, _ = made
    [grid] = parts.sections[-1].grids
    assert grid.name == "directions"
    assert len(grid.rows) == 2 * 7 + 5
    assert {cell for row in grid.rows for cell in row[-2:]} <= {"yes", "no"}


def test_grids_are_written_as_csv_and_latex(made, tmp_path):
    run, parts, _ = made
    write_report(tmp_path / "out", run, parts.title, parts.sections, summary=parts.summary)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {f"table_{table}.{kind}" for table in "123456" for kind in ("csv", "tex")} <= names
    text = (tmp_path / "out" / "table_2.csv").read_text()
    assert '"agrawal, macro",.796,' in text
    assert "booktabs" in (tmp_path / "out" / "table_2.tex").read_text()


def test_quick_says_what_is_less(made):
    _, parts, full = made
    assert parts.summary[0].startswith("Quick: 3 epochs in place of ten")
    folds = [f for f in full.findings if f.measure == "macro_f1" and "fold" in f.group]
    assert len(folds) == 2 * 10


def test_an_unknown_table_is_refused():
    with pytest.raises(BadInput, match="arango has tables 1, 2, 3, 4, 5, 6 here; not 7"):
        arango.reproduce(Run(["x"]), ["7"], How())

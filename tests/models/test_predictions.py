import gzip

import polars as pl
import pytest

from evenhand.core.errors import BadInput
from evenhand.models.predictions import predictions
from evenhand.models.scoring import classes_only, score_posts
from factories import make_corpus

POSTS = make_corpus([{"id": name, "text": name} for name in "abc"]).posts


@pytest.fixture
def file(tmp_path):
    def write(content, name="scores.csv"):
        path = tmp_path / name
        path.write_text(content)
        return path

    return write


def faults(path, posts=POSTS, **options):
    with pytest.raises(BadInput) as caught:
        score_posts(predictions(path, **options), posts)
    return str(caught.value).replace(str(path), path.name).splitlines()


def test_scores_come_in_the_order_of_the_posts(file):
    found = score_posts(predictions(file("id,p\nc,0.3\na,0.1\nb,1\n")), POSTS)
    assert found.select("post", "p").rows() == [("a", 0.1), ("b", 1.0), ("c", 0.3)]
    assert found.select("detector", "attribute").unique().row(0) == ("scores.csv", "HATE")


@pytest.mark.parametrize("header", ["id,p", "post,p", "id,score", "id,HATE"])
def test_known_columns(file, header):
    path = file(f"{header}\na,.1\nb,.2\nc,.3\n")
    assert score_posts(predictions(path), POSTS)["p"].to_list() == [0.1, 0.2, 0.3]


def test_other_formats(file, tmp_path):
    table = pl.DataFrame({"id": list("abc"), "p": [0.1, 0.2, 0.3]})
    table.write_parquet(tmp_path / "s.parquet")
    lines = '{"id": "a", "p": 0.1}\n{"id": "b", "p": 0.2}\n{"id": "c", "p": 0.3}\n'
    (tmp_path / "s.tsv.gz").write_bytes(gzip.compress(b"id\tp\na\t.1\nb\t.2\nc\t.3\n"))
    for path in (tmp_path / "s.parquet", file(lines, "s.jsonl"), tmp_path / "s.tsv.gz"):
        assert score_posts(predictions(path), POSTS)["p"].to_list() == [0.1, 0.2, 0.3]


def test_scores_as_evenhand_writes_them_are_read_for_one_attribute(file, tmp_path):
    first = score_posts(predictions(file("id,p\na,.1\nb,.2\nc,.3\n")), POSTS)
    other = first.with_columns(attribute=pl.lit("INSULT"), p=pl.lit(0.9))
    path = tmp_path / "scores.parquet"
    pl.concat([first, other]).write_parquet(path)
    assert score_posts(predictions(path), POSTS)["p"].to_list() == [0.1, 0.2, 0.3]
    assert predictions(path, attribute="INSULT").table["p"].to_list() == [0.9] * 3
    assert faults(path, attribute="THREAT") == [
        "scores.parquet: no score of attribute 'THREAT'; the attributes are HATE, INSULT"
    ]
    pl.concat([first, first.with_columns(detector=pl.lit("other"))]).write_parquet(path)
    assert faults(path) == [
        "scores.parquet: scores of several detectors (other, scores.csv); keep those of one"
    ]


def test_a_named_column(file):
    path = file("id,old,new\na,.1,.4\nb,.2,.5\nc,.3,.6\n")
    assert predictions(path, column="new").table["p"].to_list() == [0.4, 0.5, 0.6]
    assert faults(path, column="odl")[0].startswith("scores.csv: no column 'odl'; the columns are")


def test_what_is_no_probability_is_named_with_its_line(file):
    path = file('id,p\na,1.2\nb,NaN\nc,\nd,"0,5"\ne,-0.1\nf,inf\ng,0.5\n')
    assert faults(path) == [
        "scores.csv line 2: 'p' is '1.2'; expected a number between 0 and 1",
        "scores.csv line 3: 'p' is 'NaN'; expected a number between 0 and 1",
        "scores.csv line 4: 'p' is missing; every post needs one",
        "scores.csv line 5: 'p' is '0,5'; expected a number between 0 and 1",
        "scores.csv line 6: 'p' is '-0.1'; expected a number between 0 and 1",
        "scores.csv line 7: 'p' is 'inf'; expected a number between 0 and 1",
    ]


def test_ids_twice_or_missing_are_named_with_their_line(file):
    assert faults(file("id,p\na,.1\nb,.2\na,.3\n,.4\n")) == [
        "scores.csv line 4: post 'a' has a score on line 2 already",
        "scores.csv line 5: the post's id is missing",
    ]


def test_rows_of_a_parquet_file_are_called_rows(tmp_path):
    path = tmp_path / "s.parquet"
    pl.DataFrame({"id": ["a", "b"], "p": [0.5, float("nan")]}).write_parquet(path)
    assert faults(path) == ["s.parquet row 2: 'p' is 'NaN'; expected a number between 0 and 1"]


def test_missing_and_extra_cases_are_all_named(file):
    assert faults(file("id,p\nb,.1\nx,.2\ny,.3\n")) == [
        "scores.csv: no row for 2 of the posts to score: 'a', 'c'. The file has ids like 'x'.",
        "scores.csv line 3: 'x' is none of the posts to score",
        "scores.csv line 4: 'y' is none of the posts to score",
    ]


def test_many_extra_cases_are_counted(file):
    rows = "".join(f"x{i},.5\n" for i in range(100))
    found = faults(file(f"id,p\na,.1\nb,.1\nc,.1\n{rows}"))
    assert (len(found), found[-1]) == (21, "… and 80 more faults like these")


def test_a_subset_of_the_posts_may_be_asked_for_but_none_may_be_missing(file):
    detector = predictions(file("id,p\na,.1\nb,.2\n"))
    assert score_posts(detector, POSTS.head(1), subset=True)["p"].to_list() == [0.1]
    with pytest.raises(BadInput, match="no row for 1 of the posts to score: 'c'"):
        score_posts(detector, POSTS, subset=True)


def test_classes_say_yes_or_no_and_that_there_is_no_ranking(file):
    detector = predictions(file("id,class\na,hateful\nb,none\nc,other\n"))
    assert score_posts(detector, POSTS)["p"].to_list() == [1.0, 0.0, 0.0]
    assert classes_only(detector)
    assert not classes_only(predictions(file("id,p,label\na,1,x\nb,0,x\nc,0,x\n")))


def test_which_classes_are_hateful_can_be_said_and_must_be_where_names_do_not(file):
    path = file("id,label\na,sexism\nb,none\nc,racism\n")
    found = predictions(path, hateful=("sexism", "racism"))
    assert found.table["p"].to_list() == [1.0, 0.0, 1.0]
    assert faults(path) == [
        "scores.csv: which class is hateful is not said; the classes are none, racism, sexism. "
        "Name the hateful with --hateful."
    ]
    assert faults(path, hateful=("sexism", "sexist"))[0].startswith(
        "scores.csv: no class sexist; the"
    )


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("key,p", "no column 'id'"),
        ("id,probability", "no score in a column p, score or HATE, and no class"),
        ("id,p,score", "columns p and score; say which with --column"),
        ("id,post,p", "both id and post could be the post's id"),
    ],
)
def test_columns_that_are_missing_or_ambiguous(file, header, words):
    row = ",".join("1" * (header.count(",") + 1))
    assert words in faults(file(f"{header}\n{row}\n"))[0]


def test_provenance_names_the_file_and_its_bytes(file):
    found = predictions(file("id,p\na,.1\n")).provenance
    assert found["file"] == "scores.csv"
    assert len(found["sha256"]) == 64


def test_no_posts(file):
    assert score_posts(predictions(file("id,p\na,.1\n")), POSTS.head(0), subset=True).height == 0

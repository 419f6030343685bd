from datetime import UTC, datetime

import polars as pl
import pytest

from evenhand.core.errors import BadInput
from evenhand.data.user_file import Columns, FileOptions, read_user_file

ROWS = "id,text,label,author,date,mood\n1,a bus,hateful,ann,2025-03-01,calm\n2,,none,,,\n"


@pytest.fixture
def posts_csv(tmp_path):
    def write(content=ROWS, name="posts.csv"):
        path = tmp_path / name
        path.write_text(content)
        return path

    return write


def faults(path, **options):
    with pytest.raises(BadInput) as caught:
        read_user_file(path, FileOptions(**options))
    return str(caught.value).replace(str(path), path.name).splitlines()


def test_default_columns_become_a_post_and_the_rest_tags(posts_csv):
    corpus = read_user_file(posts_csv())
    first = corpus.posts.row(0, named=True)
    assert first["author"] == "ann"
    assert first["date"] == datetime(2025, 3, 1, tzinfo=UTC)
    assert first["source"] == "posts.csv"
    assert first["tags"] == {"split": None, "mood": "calm"}
    assert corpus.hateful == ("hateful",)


def test_an_empty_text_is_kept_and_empty_cells_are_null(posts_csv):
    second = read_user_file(posts_csv()).posts.row(1, named=True)
    assert (second["text"], second["author"], second["date"]) == ("", None, None)


def test_all_formats_give_the_same_corpus(posts_csv, tmp_path):
    corpus = read_user_file(posts_csv(), FileOptions(source="s"))
    frame = pl.read_csv(tmp_path / "posts.csv", infer_schema_length=0).with_columns(
        pl.col("text").fill_null("")
    )
    frame.write_parquet(tmp_path / "posts.parquet")
    frame.write_ndjson(tmp_path / "posts.jsonl")
    frame.write_csv(tmp_path / "posts.tsv", separator="\t")
    for name in ("posts.parquet", "posts.jsonl", "posts.tsv"):
        other = read_user_file(tmp_path / name, FileOptions(source="s"))
        assert other.posts.equals(corpus.posts)
        assert other.gold.equals(corpus.gold)


def test_named_columns(posts_csv):
    path = posts_csv("nr,body,class\n7,a tram,bad\n")
    corpus = read_user_file(
        path, FileOptions(columns=Columns(id="nr", text="body", label="class"), hateful=("bad",))
    )
    assert corpus.posts["id"].to_list() == ["7"]
    assert corpus.gold["label"].to_list() == ["bad"]


def test_without_ids_the_id_is_file_and_line(posts_csv):
    corpus = read_user_file(posts_csv("text\na\nb\n"))
    assert corpus.posts["id"].to_list() == ["posts.csv:2", "posts.csv:3"]


def test_a_named_column_that_is_absent_and_a_misspelt_default_are_faults(posts_csv):
    path = posts_csv("text,lable\na,none\n")
    assert "column 'lable' looks like 'label'" in faults(path)[0]
    assert "no column 'words'" in faults(path, columns=Columns(text="words"))[0]


def test_missing_and_repeated_ids_are_named_with_both_lines(posts_csv):
    path = posts_csv("id,text\n1,a\n,b\n1,c\n")
    assert faults(path) == [
        "posts.csv line 3: the id is missing",
        "posts.csv line 4: id '1' was used on line 2 already",
    ]


def test_unknown_labels_are_named_and_can_be_mapped(posts_csv):
    path = posts_csv("text,label\na,hate ful\nb,none\n")
    [fault] = faults(path, labels=("hateful", "none"))
    assert fault == (
        "posts.csv line 2: label 'hate ful'; expected one of hateful, none. "
        "Map it with --label-map OLD=NEW."
    )
    corpus = read_user_file(
        path, FileOptions(labels=("hateful", "none"), label_map={"hate ful": "hateful"})
    )
    assert corpus.gold["label"].to_list() == ["hateful", "none"]


def test_a_text_column_of_numbers_is_a_fault(posts_csv):
    [fault] = faults(posts_csv("id,text\na,12\nb,3.5\n"))
    assert fault == "posts.csv: the text column holds only numbers; name the right one with --text"


@pytest.mark.parametrize(
    "text",
    ["2025-03-01T10:00:00Z", "2025-03-01 10:00:00", "2025-03-01T12:00:00+02:00",
     "2025-03-01T10:00:00.000"],
)  # fmt: skip
def test_dates_are_read_as_utc(posts_csv, text):
    corpus = read_user_file(posts_csv(f"text,date\na,{text}\n"))
    assert corpus.posts["date"][0] == datetime(2025, 3, 1, 10, tzinfo=UTC)


def test_a_bad_date_is_named(posts_csv):
    assert faults(posts_csv("text,date\na,1.3.2025\n")) == [
        "posts.csv line 2: date '1.3.2025'; expected 2025-03-31 or 2025-03-31T12:00:00Z"
    ]


def test_targets_are_separated_by_bars(posts_csv):
    corpus = read_user_file(posts_csv("text,targets\na,ann|bea\nb,\n"))
    assert corpus.posts["targets"].to_list() == [["ann", "bea"], []]


def test_a_hateful_label_nobody_has_is_a_fault(posts_csv):
    assert "no post has this label" in faults(posts_csv(), hateful=("vile",))[0]


def test_parquet_faults_name_rows(tmp_path):
    path = tmp_path / "posts.parquet"
    pl.DataFrame({"id": ["1", "1"], "text": ["a", None]}).write_parquet(path)
    assert faults(path) == [
        "posts.parquet row 2: the text is missing (null)",
        "posts.parquet row 2: id '1' was used on row 1 already",
    ]

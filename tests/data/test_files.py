import gzip
from pathlib import Path

import polars as pl
import pytest

from evenhand.core.errors import BadInput
from evenhand.data.files import Format, read_rows


def write(tmp_path: Path, content: bytes | str, name: str = "posts.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def faults(path: Path, **options) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read_rows(path, **options)
    return str(caught.value).replace(f"{path}", path.name).splitlines()


def test_cells_come_back_as_texts_with_the_line_each_row_starts_on(tmp_path):
    path = write(tmp_path, 'id,text\n1,"two\nlines, a ""quote"""\n\n2,NA\n')
    rows = read_rows(path)
    assert rows["text"].to_list() == ['two\nlines, a "quote"', "NA"]
    assert rows["line"].to_list() == [2, 5]


def test_a_byte_order_mark_and_windows_lines_are_accepted(tmp_path):
    rows = read_rows(write(tmp_path, b"\xef\xbb\xbfid,text\r\n1,a bus\r\n"))
    assert rows.columns == ["id", "text", "line"]
    assert rows["text"].to_list() == ["a bus"]


def test_every_ragged_row_is_named(tmp_path):
    path = write(tmp_path, "id,text\n1,a\n2\n3,b\n4,c,d\n")
    assert faults(path) == [
        "posts.csv line 3: 1 cells; expected 2 (id, text)",
        "posts.csv line 5: 3 cells; expected 2 (id, text)",
    ]


def test_encoding_nul_bytes_and_inner_marks_are_named_together(tmp_path):
    path = write(tmp_path, b"id,text\n1,caf\xe9\n2,a\0b\n\xef\xbb\xbf3,c\n")
    assert faults(path) == [
        "posts.csv line 2: byte 0xe9 at position 6 is not UTF-8; save the file as UTF-8",
        "posts.csv line 3: a NUL byte; is this a text file?",
        "posts.csv line 4: a byte order mark inside the file: were two files joined?",
    ]


def test_utf16_is_refused_by_name(tmp_path):
    path = write(tmp_path, "id,text\n1,a\n".encode("utf-16"))
    assert faults(path) == ["posts.csv line 1: the file is UTF-16; save it as UTF-8"]


def test_an_open_quote_is_named_where_it_starts(tmp_path):
    path = write(tmp_path, 'id,text\n1,a\n2,"never closed\n3,b\n4,c\n')
    [fault] = faults(path)
    assert fault.startswith("posts.csv line 3: a quoted cell starts here and is never closed")


def test_letters_after_a_closing_quote_are_a_fault(tmp_path):
    [fault] = faults(write(tmp_path, 'id,text\n1,"a"b\n2,c\n'))
    assert fault.startswith("posts.csv line 2:")


def test_a_quote_inside_an_unquoted_cell_is_a_letter(tmp_path):
    rows = read_rows(write(tmp_path, 'id,text\n1,the "old" bridge\n'))
    assert rows["text"].to_list() == ['the "old" bridge']


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_twenty_megabyte_cell_is_a_fault_and_the_rest_is_still_read(tmp_path, quote):
    big = quote + "x" * 20_000_000 + quote
    lines = faults(write(tmp_path, f"id,text\n1,{big}\n2\n"))
    assert lines == [
        "posts.csv line 2: a cell with more than 1,000,000 characters; expected a post",
        "posts.csv line 3: 1 cells; expected 2 (id, text)",
    ]


def test_a_truncated_gzip_is_named_with_the_last_line(tmp_path):
    text = "id,text\n" + "".join(f"{i},post number {i * 7919 % 1009}\n" for i in range(5000))
    packed = gzip.compress(text.encode())
    [fault] = faults(write(tmp_path, packed[: len(packed) // 2], "posts.csv.gz"))
    assert "the gzip data is damaged or cut off after this line" in fault


def test_what_is_no_gzip_is_named(tmp_path):
    [fault] = faults(write(tmp_path, "id,text\n1,a\n", "posts.csv.gz"))
    assert "gzip data is damaged" in fault


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        ("", "posts.csv", "is empty; expected a header line and rows"),
        ("id,text\n", "posts.csv", "has no rows below its header"),
        ("", "posts.jsonl", "is empty; expected one JSON object a line"),
        ("id,id\n1,2\n", "posts.csv", "line 1: columns named twice: id"),
        ("a", "posts.txt", "the ending '.txt' is not known"),
        ("[]", "posts.json", "must become JSON lines"),
        ("not parquet", "posts.parquet", "cannot be read as Parquet"),
    ],
)
def test_files_that_are_not_tables(tmp_path, content, name, words):
    assert words in faults(write(tmp_path, content, name))[0]


def test_a_missing_file_and_a_folder(tmp_path):
    assert "does not exist" in faults(tmp_path / "no.csv")[0]
    (tmp_path / "dir.csv").mkdir()
    assert "is a folder" in faults(tmp_path / "dir.csv")[0]


def test_a_missing_column_names_the_nearest(tmp_path):
    path = write(tmp_path, "id,txet\n1,a\n")
    [fault] = faults(path, need=("text",))
    assert (
        fault == "posts.csv: no column 'text'; the columns are 'id', 'txet'. Did you mean 'txet'?"
    )


def test_json_lines_name_each_fault(tmp_path):
    path = write(
        tmp_path, '{"text": "a"}\n{"text": 7}\n[1]\n{"text"\n\n{"text": null}\n', "p.jsonl"
    )
    lines = faults(path, texts=("text",))
    assert lines[0] == "p.jsonl line 2: 'text' is 7; expected a text"
    assert lines[1] == "p.jsonl line 3: a JSON list; expected an object"
    assert lines[2].startswith("p.jsonl line 4: not JSON")
    assert len(lines) == 3


def test_json_lines_keep_other_values_as_text(tmp_path):
    path = write(tmp_path, '{"text": "a", "id": 7, "who": ["x", "y"]}\n{"text": "b"}\n', "p.jsonl")
    rows = read_rows(path)
    assert rows["id"].to_list() == ["7", None]
    assert rows["who"].to_list() == ["x|y", None]


def test_a_parquet_column_of_numbers_is_no_text(tmp_path):
    path = tmp_path / "posts.parquet"
    pl.DataFrame({"id": [1], "text": [2]}).write_parquet(path)
    assert "column 'text' holds Int64; expected texts" in faults(path, texts=("text",))[0]
    assert read_rows(path)["id"].to_list() == ["1"]


def test_tab_separated_without_quoting(tmp_path):
    path = write(tmp_path, 'id\ttext\n1\t"odd\n', "posts.tsv")
    rows = read_rows(path, Format("csv", "\t", quotes=False))
    assert rows["text"].to_list() == ['"odd']


def test_thousands_of_faults_are_counted(tmp_path):
    path = write(tmp_path, "id,text\n" + "1\n" * 5000)
    lines = faults(path)
    assert len(lines) == 21
    assert lines[-1] == "… and 4980 more faults like these"

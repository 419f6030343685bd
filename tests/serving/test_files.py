"""Files scored in chunks: every row once, in order, whatever is wrong with some of them."""

import gzip
import json

import numpy as np
import polars as pl
import pytest

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.serving import _files_rows, files
from evenhand.serving._files_rows import source
from evenhand.serving._files_work import Wanted, part_of
from evenhand.serving.files import FileScores, duration, score_file
from evenhand.studies.score_files import _sentences

MODULE = """
def rude(texts):
    return [[0.9, len(t) / 1000] if "fool" in t else [0.1, len(t) / 1000] for t in texts]


rude.attributes = ["HATE", "LENGTH"]


def picky(texts):
    if any("odd" in t for t in texts):
        raise RuntimeError("odd")
    return [0.5 for _ in texts]
"""
RUDE, PICKY = Wanted("python:rude_for_files:rude"), Wanted("python:rude_for_files:picky")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    import sys

    (tmp_path / "rude_for_files.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "rude_for_files", raising=False)
    monkeypatch.setattr(files, "_ROWS", 3)
    return tmp_path


def posts(n=10):
    return pl.DataFrame(
        {
            "id": [f"p{k}" for k in range(n)],
            "text": ["you fool" if k % 4 == 0 else "x" * k for k in range(n)],
            "author": ["ann"] * n,
        }
    )


def scored(path, out="out", wanted=RUDE, **options):
    return score_file(path, path.parent / out, wanted, workers=1, **options)


def test_every_row_once_and_in_order(home):
    posts().write_parquet(home / "posts.parquet")
    found = scored(home / "posts.parquet")
    table = pl.read_parquet(found.path)
    assert table.columns == ["row", "id", "HATE", "LENGTH", "skipped"]
    assert table["row"].to_list() == list(range(1, 11))
    assert table["id"].to_list() == [f"p{k}" for k in range(10)]
    assert table["HATE"].to_list() == [0.9 if k % 4 == 0 else 0.1 for k in range(10)]
    assert (found.rows, found.skipped, found.finished_before) == (10, 0, False)
    assert not (home / "out" / ".scoring").exists()


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "jsonl", "jsonl.gz", "ndjson"])
def test_every_format_gives_the_same(home, ending):
    posts().write_parquet(home / "posts.parquet")
    expected = pl.read_parquet(scored(home / "posts.parquet", "a").path)
    plain = ending.removesuffix(".gz")
    text = posts().write_ndjson() if "json" in plain else posts().write_csv(
        separator="\t" if plain == "tsv" else ","
    )  # fmt: skip
    raw = text.encode()
    (home / f"posts.{ending}").write_bytes(gzip.compress(raw) if ending.endswith("gz") else raw)
    assert pl.read_parquet(scored(home / f"posts.{ending}", "b").path).equals(expected)


def test_a_folder_of_parquet_files_in_order_of_names(home):
    (home / "in").mkdir()
    posts().tail(4).write_parquet(home / "in" / "b.parquet")
    posts().head(6).write_parquet(home / "in" / "a.parquet")
    found = pl.read_parquet(scored(home / "in").path)
    assert found["id"].to_list() == [f"p{k}" for k in range(10)]


def test_ids_keep_their_kind_and_may_be_absent(home):
    pl.DataFrame({"text": ["a", "b"], "number": [7, 5]}).write_parquet(home / "posts.parquet")
    without = pl.read_parquet(scored(home / "posts.parquet", "a").path)
    assert without.columns == ["row", "HATE", "LENGTH", "skipped"]
    found = pl.read_parquet(scored(home / "posts.parquet", "b", id="number").path)
    assert found["id"].to_list() == [7, 5]


def test_slices_of_a_parquet_file_join(home, monkeypatch):
    monkeypatch.setattr(_files_rows, "_SLICE", 4)
    posts(8).write_parquet(home / "posts.parquet")
    assert pl.read_parquet(scored(home / "posts.parquet").path)["id"].n_unique() == 8


def test_rows_of_csv_that_cannot_be_read_are_skipped_with_their_line(home):
    lines = [
        b"id,text",
        b"1,fine",
        b"2,too,many",
        b"3,\xff",
        b"",
        b'4,"two\nlines"',
        b"5,nul\x00",
        b'6,"a"b',
        b"7,",
        b"8,last",
    ]
    (home / "posts.csv").write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines) + b"\n")
    found = scored(home / "posts.csv")
    table = pl.read_parquet(found.path)
    assert table["id"].to_list() == ["1", None, None, "4", None, None, "7", "8"]
    assert found.listed == [
        (2, "the header has 2 cells, the row 3 (line 3)"),
        (3, "not UTF-8 (line 4)"),
        (5, "a NUL byte (line 8)"),
        (6, "no CSV: ',' expected after '\"' (line 9)"),
    ]
    assert table.filter(pl.col("skipped").is_null())["HATE"].to_list() == [0.1] * 4
    assert table.filter(pl.col("skipped").is_not_null())["HATE"].null_count() == 4


def test_a_quote_that_is_never_closed_ends_the_file_and_says_so(home):
    (home / "posts.csv").write_text('text\na\n"b\nc\nd\n', encoding="utf-8")
    found = scored(home / "posts.csv")
    assert found.listed == [(2, "a quote is never closed; nothing behind is read (line 3)")]


def test_lines_of_json_that_cannot_be_read(home):
    lines = [
        '{"text": "a", "id": 1}', "", "{", "[1]", '{"id": 2}', '{"text": 3, "id": "c"}',
        '{"text": "half \\ud800", "id": "\\ud800"}', '{"text": null, "id": [1]}',
    ]  # fmt: skip
    (home / "posts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = scored(home / "posts.jsonl")
    assert [why for _, why in found.listed] == [
        "not JSON (line 3)",
        "no JSON object (line 4)",
        "no text (line 5)",
        "a number or a list where a text is expected (line 6)",
        "no text (line 8)",
    ]
    ids = pl.read_parquet(found.path)["id"].to_list()
    assert ids == ["1", None, None, "2", "c", "?", "[1]"]


def test_gzip_that_is_cut_off_says_where(home):
    whole = gzip.compress(("text\n" + "\n".join(f"row {k}" for k in range(9999))).encode())
    (home / "posts.csv.gz").write_bytes(whole[: len(whole) // 2])
    found = scored(home / "posts.csv.gz")
    assert found.skipped == 1 and found.rows > 100
    assert "the gzip data is damaged or cut off (EOFError)" in found.listed[0][1]


def test_a_missing_text_in_parquet_and_one_that_is_far_too_long(home, monkeypatch):
    monkeypatch.setattr(_files_rows, "MAX_CELL", 5)
    pl.DataFrame({"text": ["a", None, "abcdef", ""]}).write_parquet(home / "posts.parquet")
    found = scored(home / "posts.parquet")
    assert found.listed == [(2, "no text"), (3, "more than 5 characters")]


def test_a_text_that_the_detector_fails_on_is_skipped_with_its_reason(home):
    pl.DataFrame({"text": ["a", "odd", "b", *"cdefg"]}).write_parquet(home / "posts.parquet")
    found = scored(home / "posts.parquet", wanted=PICKY)
    table = pl.read_parquet(found.path)
    assert table["HATE"].to_list() == [0.5, None, *[0.5] * 6]
    assert [row for row, _ in found.listed] == [2]


def test_decisions_are_at_the_shipped_thresholds(home):
    texts = ["You are a fool and an idiot.", "What a lovely morning"]
    pl.DataFrame({"text": texts}).write_parquet(home / "posts.parquet")
    found = scored(home / "posts.parquet", wanted=Wanted("evenhand-fast"))
    import evenhand

    loaded = evenhand.load("evenhand-fast")
    table = pl.read_parquet(found.path)
    for name, threshold in loaded.thresholds().items():
        expected = [row[name] for row in loaded.score(texts)]
        assert table[name].to_list() == expected
        assert table[f"{name}_flagged"].to_list() == [p >= threshold for p in expected]
        assert found.flagged[name] == sum(p >= threshold for p in expected)


def test_scales_of_another_base_rate_and_one_attribute(home):
    pl.DataFrame({"text": ["you fool"]}).write_parquet(home / "posts.parquet")
    wanted = Wanted("evenhand-fast", attribute="HATE", base_rate=0.01)
    table = pl.read_parquet(scored(home / "posts.parquet", wanted=wanted).path)
    assert table.columns == ["row", "HATE", "HATE_flagged", "skipped"]
    assert table["HATE"][0] < 0.5


def test_a_finished_file_is_not_scored_again(home, monkeypatch):
    posts().write_parquet(home / "posts.parquet")
    before = scored(home / "posts.parquet")
    monkeypatch.setattr(files, "written", None)  # would fail
    again = scored(home / "posts.parquet")
    assert again.finished_before and again.rows == before.rows


def stopped(home, monkeypatch, parts=2):
    """A run that ends after some parts."""
    real = files.written

    def some(*given):
        for number, done in enumerate(real(*given)):
            if number == parts:
                raise KeyboardInterrupt
            yield done

    monkeypatch.setattr(files, "written", some)
    with pytest.raises(KeyboardInterrupt):
        scored(home / "posts.parquet")
    monkeypatch.setattr(files, "written", real)


def test_a_stopped_run_goes_on_and_a_damaged_part_is_made_again(home, monkeypatch):
    posts().write_parquet(home / "posts.parquet")
    expected = scored(home / "posts.parquet", "whole").path.read_bytes()
    stopped(home, monkeypatch)
    part = part_of(home / "out" / ".scoring", 1)
    part.write_bytes(part.read_bytes()[:-20])
    found = scored(home / "posts.parquet")
    assert found.path.read_bytes() == expected
    assert not found.finished_before


def test_a_part_of_other_rows_is_made_again(home, monkeypatch):
    posts().write_parquet(home / "posts.parquet")
    expected = scored(home / "posts.parquet", "whole").path.read_bytes()
    stopped(home, monkeypatch)
    folder = home / "out" / ".scoring"
    part_of(folder, 1).write_bytes(part_of(folder, 0).read_bytes())
    pl.read_parquet(part_of(folder, 2)).drop("LENGTH").write_parquet(part_of(folder, 2))
    assert scored(home / "posts.parquet").path.read_bytes() == expected


def test_only_what_is_missing_is_scored(home, monkeypatch):
    posts().write_parquet(home / "posts.parquet")
    stopped(home, monkeypatch)
    real, seen = files.written, []

    def counted(chunks, *given):
        yield from real((seen.append(c.number) or c for c in chunks), *given)

    monkeypatch.setattr(files, "written", counted)
    scored(home / "posts.parquet")
    assert seen == [3]  # 10 rows are chunks 0 to 3; 0 to 2 were written before the stop


def test_the_size_of_chunks_is_not_blamed_for_another_detector(home):
    posts().write_parquet(home / "posts.parquet")
    scored(home / "posts.parquet")
    with pytest.raises(BadInput, match="made with another detector; name another folder"):
        scored(home / "posts.parquet", wanted=Wanted("evenhand-fast"))  # its chunks are larger


def test_another_base_rate_is_not_called_another_detector(home):
    posts().write_parquet(home / "posts.parquet")
    scored(home / "posts.parquet", wanted=Wanted("evenhand-fast"))
    with pytest.raises(BadInput, match="made with another base-rate; name another folder"):
        scored(home / "posts.parquet", wanted=Wanted("evenhand-fast", base_rate=0.01))


def test_what_scores_are_is_said(tmp_path):
    found = FileScores(tmp_path, "in", None, "0123456789abcdef", 1, 0, [], {}, {}, False)
    mapped = _sentences(found, Wanted("mine", base_rate={"HATE": 0.015}))
    assert mapped[0].endswith("the scores of mine (SHA-256 0123456789ab).")
    assert mapped[1].startswith("Probabilities are mapped to HATE 1.5 % of posts")
    assert "Perspective-like" in _sentences(found, Wanted("mine", perspective_like=True))[1]


def test_what_a_cascade_costs_is_said(tmp_path):
    measured = {"agree_together": 0.9836, "posts": 2809}
    found = FileScores(tmp_path, "in", None, None, 1, 0, [], {}, {}, False, measured)
    told = _sentences(found, Wanted(files.CASCADE))
    assert any("in 98.4 % of all, on 2,809 held-out comments" in one for one in told)


def test_another_input_or_detector_is_refused(home, monkeypatch):
    posts().write_parquet(home / "posts.parquet")
    stopped(home, monkeypatch)
    with pytest.raises(BadInput, match="made with another detector; name another folder"):
        scored(home / "posts.parquet", wanted=PICKY)
    posts(9).write_parquet(home / "posts.parquet")
    with pytest.raises(BadInput, match="made with another input"):
        scored(home / "posts.parquet")


def test_scores_of_another_finished_run_are_never_overwritten(home):
    posts().write_parquet(home / "posts.parquet")
    scored(home / "posts.parquet")
    with pytest.raises(BadInput, match="another detector"):
        scored(home / "posts.parquet", wanted=PICKY)
    (home / "theirs").mkdir()
    (home / "theirs" / "scores.parquet").write_bytes(b"mine")
    with pytest.raises(BadInput, match="is there and not ours"):
        scored(home / "posts.parquet", "theirs")


def test_two_at_once_are_refused(home):
    posts().write_parquet(home / "posts.parquet")
    from evenhand.serving._files_state import State

    with (
        State(home / "out", {}).held(),
        pytest.raises(BadInput, match="another process writes scores there"),
    ):
        scored(home / "posts.parquet")


def test_an_input_that_changes_meanwhile_is_refused(home, monkeypatch):
    posts().write_parquet(home / "posts.parquet")
    real = files.written

    def touched(*given):
        yield from real(*given)
        posts(11).write_parquet(home / "posts.parquet")

    monkeypatch.setattr(files, "written", touched)
    with pytest.raises(BadInput, match="was written to while it was scored"):
        scored(home / "posts.parquet")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("posts.csv", b"", "has no header line"),
        ("posts.csv", b"body\na\n", "no column 'text'; the columns are 'body'. Name the column"),
        ("posts.csv", b"text,text\na,b\n", "columns named twice: text"),
        ("posts.csv", b"\xff\xfet\x00", "the file is UTF-16"),
        ("posts.jsonl", b"[]\n", "has no JSON object"),
        ("posts.parquet", b"no", "cannot be read as Parquet"),
        ("posts.csv.gz", b"text\na\n", "is no gzip file"),
        ("posts.txt", b"a", "the ending '.txt' is not known"),
    ],
)
def test_what_is_wrong_with_the_whole_file_is_refused(home, name, content, reason):
    (home / name).write_bytes(content)
    with pytest.raises(BadInput, match=reason.replace("[", r"\[")):
        scored(home / name)


def test_no_rows_are_refused(home):
    (home / "posts.csv").write_text("text\n")
    with pytest.raises(NotEnoughData, match="has no rows to score"):
        scored(home / "posts.csv")


def test_no_such_file_column_or_attribute(home):
    with pytest.raises(BadInput, match="does not exist"):
        source(home / "nothing.csv")
    posts().write_parquet(home / "posts.parquet")
    with pytest.raises(BadInput, match="no column 'txt'.*Did you mean 'text'"):
        source(home / "posts.parquet", text="txt")
    with pytest.raises(BadInput, match="no attribute 'THREAT'"):
        scored(home / "posts.parquet", wanted=Wanted(RUDE.detector, attribute="THREAT"))


@pytest.mark.parametrize("slice_", [1, 2, 3, 100])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_chunks_end_where_there_are_many_characters(home, monkeypatch, ending, slice_):
    monkeypatch.setattr(files, "_MOST_CHARACTERS", 4)
    monkeypatch.setattr(_files_rows, "_SLICE", slice_)
    monkeypatch.setattr(_files_rows, "MAX_CELL", 5)
    frame = pl.DataFrame({"text": ["abcd", "a", "b", "c", "d", "abcdef", "abc", "é", "é", "é"]})
    getattr(frame, f"write_{ending}")(home / f"posts.{ending}")
    chunks = list(files._chunks(source(home / f"posts.{ending}"), 3))
    assert [list(chunk.texts) for chunk in chunks] == [
        ["abcd"], ["a", "b", "c"], ["d", None, "abc"], ["é", "é", "é"]
    ]  # fmt: skip
    assert [chunk.first for chunk in chunks] == [1, 2, 5, 8]
    assert [[*chunk.reasons] for chunk in chunks] == [[], [], [1], []]
    if ending == "parquet":
        assert [chunk.share for chunk in chunks] == pytest.approx([0.1, 0.4, 0.7, 1.0])


def test_time_left_is_told(home):
    told = []
    posts().write_parquet(home / "posts.parquet")
    scored(home / "posts.parquet", step=lambda *given: told.append(given))
    assert told[-1][0].startswith("Scoring, 10 rows") and "left" in told[-1][0]
    assert [share for _, share, _ in told] == pytest.approx([0.3, 0.6, 0.9, 1.0])
    assert duration(42) == "42 s" and duration(7300) == "2 h 2 min"


def test_no_text_and_no_author_is_written_anywhere(home):
    secret = posts().with_columns(author=pl.lit("zebedee"), text=pl.lit("quixotic fool"))
    secret.write_parquet(home / "posts.parquet")
    scored(home / "posts.parquet")
    for path in (home / "out").rglob("*"):
        content = path.read_bytes()
        assert b"zebedee" not in content and b"quixotic" not in content
    table = pl.read_parquet(home / "out" / "scores.parquet")
    assert "zebedee" not in json.dumps(table.to_dicts())
    assert np.isfinite(table["HATE"].to_numpy()).all()

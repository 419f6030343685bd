"""`evenhand data` from the front door: what a user types and sees."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import polars as pl
import pytest

POSTS = """id,text,label,author,split
1,The bus was late again this morning,none,ann,train
2,RT @bea: the bus was late again this morning,none,bea,test
3,Nobody asked for your opinion,hateful,ann,train
4,Gardens are lovely in the spring,none,cat,test
"""


@pytest.fixture
def evenhand(tmp_path):
    """Run the command in an empty folder; returns the finished process."""

    def run(*words, data=None, **env):
        environment = os.environ | {"EVENHAND_DATA": str(data or tmp_path / "none"), **env}
        command = [sys.executable, "-m", "evenhand", *words]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
        )

    return run


@pytest.fixture
def posts(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text(POSTS)
    return path


def figures(done):
    found = json.loads(done.stdout)["findings"]
    return {(f["measure"], *sorted(f["group"].items())): f["value"] for f in found}


def test_check_a_users_file(evenhand, posts):
    done = evenhand("data", "check", "posts.csv", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["data"][0]["name"] == "posts.csv"
    assert len(document["data"][0]["sha256"]) == 64
    found = figures(done)
    assert found["duplicate_pairs",] == 1
    assert found["authors",] == 3
    assert found["top_author_share", ("label", "hateful"), ("top", 1)] == 1


def test_the_gate_exits_3_and_says_what_leaked(evenhand, posts):
    done = evenhand("data", "check", "posts.csv", "--gate")
    assert done.returncode == 3
    assert "the gate failed: duplicates_across_splits is 2" in done.stderr
    assert "The published split leaks" in done.stdout


def test_the_gate_passes_when_nothing_crosses(evenhand, tmp_path):
    (tmp_path / "ok.csv").write_text("text,split\nA tram passes by slowly,train\nRain,test\n")
    assert evenhand("data", "check", "ok.csv", "--gate").returncode == 0


def test_tables_for_people_end_in_plain_sentences(evenhand, posts):
    done = evenhand("data", "check", "posts.csv")
    assert "\x1b" not in done.stdout
    assert "The published split leaks: duplicates across splits: 2 posts" in done.stdout.replace(
        "\n", " "
    )


def test_out_writes_a_folder_and_a_second_run_replaces_it(evenhand, posts, tmp_path):
    for _ in range(2):
        assert evenhand("data", "check", "posts.csv", "--out", "report").returncode == 0
    names = sorted(path.name for path in (tmp_path / "report").iterdir())
    assert names == ["findings.csv", "findings.parquet", "findings.tex", "report.html", "run.json"]
    run = json.loads((tmp_path / "report" / "run.json").read_text())
    table = pl.read_parquet(tmp_path / "report" / "findings.parquet")
    assert run["findings"] == table.height
    assert "late again" not in (tmp_path / "report" / "report.html").read_text()


def test_texts_appear_only_when_asked_for_and_without_handles(evenhand, posts, tmp_path):
    evenhand("data", "check", "posts.csv", "--out", "report", "--with-text")
    page = (tmp_path / "report" / "report.html").read_text()
    assert "late again" in page
    assert "@bea" not in page


def test_authors_never_appear_in_what_is_written(evenhand, tmp_path):
    (tmp_path / "p.csv").write_text("text,author,label\nRain,zebedee-the-author,hateful\n")
    done = evenhand("data", "check", "p.csv", "--out", "report", "--with-text")
    written = done.stdout + "".join(
        path.read_bytes().decode(errors="replace") for path in (tmp_path / "report").iterdir()
    )
    assert "zebedee-the-author" not in written


def test_describe_writes_a_data_card_with_not_known_parts(evenhand, posts, tmp_path):
    done = evenhand("data", "describe", "posts.csv", "--out", "card", "--json")
    assert figures(done)["rows",] == 4
    page = (tmp_path / "card" / "report.html").read_text()
    assert "Who wrote the texts: not known" in page
    assert "Data card: posts.csv" in page


def test_list_says_what_is_installed(evenhand, tmp_path):
    lines = json.loads(evenhand("data", "list", "--json").stdout)["corpora"]
    assert len(lines) >= 20
    assert {line["installed"] for line in lines} == {"no"}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"id,txet\n1,x\n", "no column 'text'"),
        ("a.csv", b"id,text,label\n1,x,none\n1,y,none\n", "line 3: id '1' was used on line 2"),
        ("a.csv", b"id,text\n,x\n", "line 2: the id is missing"),
        ("a.csv", b"id,text\n1,\xff\n", "line 2: byte 0xff"),
        ("a.csv", b"id,text\n1,a\0b\n", "line 2: a NUL byte"),
        ("a.csv", b"id,text\n1\n", "line 2: 1 cells; expected 2"),
        ("a.csv.gz", gzip.compress(b"id,text\n1,a\n" * 999, mtime=0)[:60], "gzip data is damaged"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b"id,text\n1," + b"x" * 20_000_000 + b"\n", "more than 1,000,000 characters"),
        ("a.jsonl", b'{"text": 5}\n', "line 1: 'text' is 5; expected a text"),
        ("a.csv", b"text\n1\n2\n", "holds only numbers"),
    ],
    # Ids must not hold the bytes: workers that collect different ids refuse to run.
    ids=lambda value: value if isinstance(value, str) else "bytes",
)
def test_bad_input_is_named_and_nothing_is_written(evenhand, tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    done = evenhand("data", "check", name, "--out", "report")
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_unknown_labels_name_file_line_and_remedy(evenhand, tmp_path):
    (tmp_path / "a.csv").write_text("text,label\nx,hate ful\n")
    done = evenhand("data", "check", "a.csv", "--labels", "hateful,none")
    assert done.returncode == 2
    assert "a.csv line 2: label 'hate ful'; expected one of hateful, none" in done.stderr
    mapped = ["--labels", "hateful,none", "--label-map", "hate ful=hateful", "--json"]
    assert evenhand("data", "check", "a.csv", *mapped).returncode == 0


def test_a_corpus_that_is_not_installed_says_what_to_do(evenhand):
    done = evenhand("data", "check", "davidson")
    assert done.returncode == 2
    assert "davidson2017/labeled_data.csv" in done.stderr
    assert "evenhand data get" in done.stderr


def test_an_unknown_name_suggests_and_a_missing_file_is_named(evenhand):
    assert "did you mean davidson" in evenhand("data", "check", "davidsno").stderr
    assert "no.csv: does not exist" in evenhand("data", "check", "no.csv").stderr


def test_a_corpus_given_out_by_form_says_how_to_get_it(evenhand, tmp_path):
    done = evenhand("data", "get", "hateval")
    assert done.returncode == 2
    assert "form" in done.stderr
    assert str(tmp_path / "none" / "hateval2019") in done.stderr


def test_published_options_do_not_fit_a_published_corpus(evenhand):
    done = evenhand("data", "describe", "davidson", "--text", "tweet")
    assert "its columns and labels are known" in done.stderr


def test_an_order_of_options_that_typer_refuses_is_exit_2_too(evenhand):
    assert evenhand("data", "check").returncode == 2
    assert evenhand("data", "nonsense").returncode == 2


def test_get_from_a_mirror_then_describe(evenhand, tmp_path):
    published = tmp_path / "mirror" / "davidson2017"
    published.mkdir(parents=True)
    (published / "labeled_data.csv").write_text(
        ",count,hate_speech,offensive_language,neither,class,tweet\n"
        "0,3,0,0,3,2,the tram is late\n1,3,2,1,0,0,made-up words\n"
    )
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "mirror"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    mirror = f"http://127.0.0.1:{server.server_port}"
    data = tmp_path / "data"
    try:
        first = evenhand("data", "get", "davidson", data=data, EVENHAND_MIRROR=mirror)
        again = evenhand("data", "get", "davidson", data=data, EVENHAND_MIRROR=mirror)
    finally:
        server.shutdown()
        server.server_close()
    assert first.returncode == 0, first.stderr
    assert "downloaded" in first.stdout
    assert "installed" in again.stdout
    assert figures(evenhand("data", "describe", "davidson", "--json", data=data))["rows",] == 2

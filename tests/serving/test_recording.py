"""Recordings on disk, the proxy that makes them, and the run over a file."""

import gzip
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import replace

import httpx
import pytest
import uvicorn

from evenhand.core.errors import BadInput, EvenhandError
from evenhand.core.provenance import Run
from evenhand.models._http import Patience
from evenhand.serving import _recording_files, recording
from evenhand.serving._recording_dialect import pointed_here, rows_of
from evenhand.serving._recording_files import Store
from evenhand.serving._recording_keeper import Keeper
from evenhand.serving._recording_proxy import app_of
from evenhand.serving._recording_read import About, Digest
from evenhand.serving._recording_texts import Text, record_texts
from evenhand.serving.recording import Where, mentioned, read_recording, run_proxy, upstream_of
from evenhand.studies.migrate_records import file_parts
from servers import Answer, Time, error, free_port, p_of, stand_in

KEY = "key-5f1c"
PATH = "/v1alpha1/comments:analyze"


class Scores:
    """A detector of one attribute."""

    name, sha256 = "mine", "ab" * 32

    def score(self, texts):
        return [{"TOXICITY": 0.25} for _ in texts]


def asked(text, **more):
    return {"comment": {"text": text}, "requestedAttributes": {"TOXICITY": {}}, **more}


@contextmanager
def proxy(to, folder, *, scorer=None, sample=1.0, timeout_seconds=2.0):
    keeper = Keeper(folder, to.url, sample=sample, scorer=scorer)
    app = app_of(to, keeper, timeout_seconds=timeout_seconds)
    port = free_port()
    config = uvicorn.Config(app, port=port, log_level="warning", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        client.keeper = keeper
        try:
            yield client
        finally:
            server.should_exit = True
            thread.join()


def rows_in(folder):
    return [{k: v for k, v in row.items() if k != "at"} for row in read_recording(folder).rows]


# The folder


def opened(folder, **changes):
    return Store.open(folder, About(**({"upstream": "http://a", "texts": True} | changes)))


def test_a_line_that_was_being_written_is_left_out_and_the_next_run_has_a_part_of_its_own(tmp_path):
    store = opened(tmp_path / "r")
    store.keep({"id": "a"})
    store.keep({"id": "b"})
    store.close()
    part = tmp_path / "r" / "part-000001.jsonl"
    part.write_bytes(part.read_bytes()[:-5])
    store = opened(tmp_path / "r")
    store.keep({"id": "c"})
    store.close()
    found = read_recording(tmp_path / "r")
    assert ([row["id"] for row in found.rows], found.torn) == (["a", "c"], 1)
    assert len(found.files) == 3


def test_parts_are_rotated(tmp_path):
    opened(tmp_path).close()
    store = Store(tmp_path, largest=1)
    for name in "abc":
        store.keep({"id": name})
    store.close()
    assert len(list(tmp_path.glob("part-*"))) == 3
    assert [row["id"] for row in read_recording(tmp_path).rows] == ["a", "b", "c"]


def test_two_runs_write_at_once(tmp_path):
    first, second = opened(tmp_path), opened(tmp_path)
    for store, name in ((first, "a"), (second, "b"), (first, "c")):
        store.keep({"id": name})
    first.close()
    second.close()
    assert sorted(row["id"] for row in read_recording(tmp_path).rows) == ["a", "b", "c"]


def test_a_part_that_appears_meanwhile_is_not_written_into(tmp_path, monkeypatch):
    first, second = opened(tmp_path), opened(tmp_path)
    first.keep({"id": "a"})
    monkeypatch.setattr(_recording_files, "parts_of", lambda folder: [])
    second.keep({"id": "b"})
    first.close()
    second.close()
    assert [len(path.read_text().splitlines()) for path in sorted(tmp_path.glob("part-*"))] == [
        1,
        1,
    ]


def test_nothing_is_written_behind_half_a_line(tmp_path, monkeypatch):
    store, write = opened(tmp_path), os.write

    def fills_up(file, line):
        write(file, line[:5])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_recording_files.os, "write", fills_up)
    with pytest.raises(OSError, match="No space"):
        store.keep({"id": "a"})
    monkeypatch.undo()
    store.keep({"id": "b"})
    store.close()
    found = read_recording(tmp_path)
    assert ([row["id"] for row in found.rows], found.torn) == (["b"], 1)


def test_only_its_owner_may_read_it(tmp_path):
    store = opened(tmp_path, texts=False)
    store.keep({"id": "a"})
    store.close()
    for path in tmp_path.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("line", ["nonsense", "[]", '{"text": "x"}'])
def test_damaged_lines_are_named(tmp_path, line):
    store = opened(tmp_path)
    store.keep({"id": "a"})
    store.close()
    with (tmp_path / "part-000001.jsonl").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(BadInput, match="part-000001.jsonl line 2: not a recorded answer"):
        read_recording(tmp_path)


def test_what_is_no_recording_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no recording"):
        read_recording(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match="not empty and no recording"):
        opened(tmp_path)
    (tmp_path / "recording.json").write_text("{}")
    with pytest.raises(BadInput, match="cannot be read as a recording"):
        read_recording(tmp_path)


def test_a_recording_of_another_service_is_not_mixed_in(tmp_path):
    opened(tmp_path).close()
    with pytest.raises(BadInput, match="upstream 'http://a' then, 'http://b' now"):
        opened(tmp_path, upstream="http://b")


def test_a_keyed_digest_needs_its_key(tmp_path):
    assert Digest(b"").of("a") == Digest(b"").of("a") != Digest(b"k").of("a")
    keeper = Keeper(tmp_path, "http://a", scorer=Scores())
    keeper.close()
    (tmp_path / "digest.key").write_text("gone")
    with pytest.raises(BadInput, match="record into a new folder"):
        Keeper(tmp_path, "http://a", scorer=Scores())


# What is kept of an answer


def reply(**scores):
    return {"attributeScores": {n: {"summaryScore": {"value": v}} for n, v in scores.items()}}


def test_only_text_scores_and_languages_are_kept():
    request = asked("you fool", clientToken="c-1", sessionId="s", communityId="forum")
    answer = reply(TOXICITY=0.5, THREAT=2, INSULT="x") | {"languages": ["en"], "clientToken": "c-1"}
    [row] = rows_of(PATH, json.dumps(request).encode(), "", json.dumps(answer).encode(), "")
    assert row == {
        "text": "you fool",
        "scores": {"TOXICITY": 0.5},
        "asked": ["TOXICITY"],
        "languages": ["en"],
    }


@pytest.mark.parametrize(
    ("path", "request_", "answer"),
    [
        (PATH, b"{", b"{}"),
        (PATH, b'{"comment": 3}', b"{}"),
        (PATH, b'{"comment": {"text": 3}}', b"{}"),
        (PATH, b'{"comment": {"text": "a"}}', b"[]"),
        (PATH, b'{"comment": {"text": "a"}}', b"\xff"),
        ("/v1alpha1/other", b'{"comment": {"text": "a"}}', b"{}"),
        ("/batch", b"x", b"y"),
        ("/v1alpha1/comments:suggestscore", b'{"comment": {"text": "a"}}', b"{}"),
    ],
)
def test_what_cannot_be_read_is_not_kept(path, request_, answer):
    assert list(rows_of(path, request_, "", answer, "")) == []


def test_moderators_decisions_are_kept():
    request = {"comment": {"text": "fool"}, **reply(TOXICITY=1)}
    path = "/v1alpha1/comments:suggestscore"
    [row] = rows_of(path, json.dumps(request).encode(), "", b"{}", "")
    assert row == {"text": "fool", "suggested": {"TOXICITY": 1.0}}


def part(name, first, body):
    head = f"--b\r\nContent-Type: application/http\r\nContent-ID: <{name}>\r\n\r\n{first}\r\n"
    return f"{head}Content-Type: application/json\r\n\r\n{json.dumps(body)}\r\n"


def test_every_good_part_of_a_batch_is_kept():
    line = f"POST {PATH}?key={KEY} HTTP/1.1"
    sent = part("x + 1", line, asked("one")) + part("x + 2", line, asked("two")) + "--b--"
    got = part("response-x + 2", "HTTP/1.1 200 OK", reply(TOXICITY=0.2))
    got += part("response-x + 1", "HTTP/1.1 429 Too Many Requests", reply(TOXICITY=0.1)) + "--b--"
    kind = "multipart/mixed; boundary=b"
    [row] = rows_of("/batch", sent.encode(), kind, got.encode(), kind)
    assert (row["text"], row["scores"]) == ("two", {"TOXICITY": 0.2})
    assert KEY not in json.dumps(row)


def test_a_discovery_document_points_here():
    document = {"rootUrl": "https://a.org/", "baseUrl": "https://a.org/", "name": "x"}
    found = json.loads(pointed_here(json.dumps(document).encode(), "http://127.0.0.1:1"))
    assert found == {
        "rootUrl": "http://127.0.0.1:1/",
        "baseUrl": "http://127.0.0.1:1/",
        "name": "x",
    }
    assert pointed_here(b"no JSON", "http://a") == b"no JSON"


# The proxy


def test_answers_are_passed_on_unchanged_and_kept(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    with stand_in() as server:
        to = upstream_of(server.url, None)
        with proxy(to, tmp_path) as client:
            got = client.post(f"{PATH}?key={KEY}&alt=json", json=asked("you fool"))
        [seen] = server.asked
    assert got.json() == {
        "attributeScores": {"TOXICITY": {"summaryScore": {"value": 0.4, "type": "PROBABILITY"}}}
    }
    assert (seen.path, seen.content) == (f"{PATH}?key={KEY}&alt=json", asked("you fool"))
    assert rows_in(tmp_path) == [
        {
            "id": Digest(b"").of("you fool"),
            "text": "you fool",
            "scores": {"TOXICITY": 0.4},
            "asked": ["TOXICITY"],
            "languages": [],
        }
    ]
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert KEY.encode() not in stored
    assert KEY not in caplog.text
    assert "you fool" not in caplog.text


def test_a_fault_of_ours_is_told_and_does_not_reach_the_caller(tmp_path, monkeypatch, capsys):
    def broken(*_):
        raise ValueError("blorp")

    monkeypatch.setattr("evenhand.serving._recording_proxy.rows_of", broken)
    with stand_in() as server, proxy(upstream_of(server.url, None), tmp_path) as client:
        assert client.post(PATH, json=asked("blorp")).status_code == 200
    told = capsys.readouterr().err
    assert "not all recorded: ValueError in test_recording.py line" in told
    assert "blorp" not in told


def test_an_answer_is_on_disk_before_the_caller_has_it(tmp_path):
    with stand_in() as server, proxy(upstream_of(server.url, None), tmp_path) as client:
        for number in range(5):
            client.post(PATH, json=asked(f"text {number}"))
            assert len(read_recording(tmp_path).rows) == number + 1


def test_our_key_is_used_only_where_the_caller_has_none(tmp_path):
    key_file = tmp_path / "key"
    key_file.write_text("ours\n")
    with stand_in() as server:
        to = upstream_of(server.url, key_file)
        with proxy(to, tmp_path / "r") as client:
            client.post(PATH, json=asked("a"))
            client.post(f"{PATH}?key=theirs", json=asked("b"))
            client.post(PATH, json=asked("c"), headers={"x-goog-api-key": "theirs"})
        paths = [seen.path for seen in server.asked]
    assert paths == [f"{PATH}?key=ours", f"{PATH}?key=theirs", PATH]


def test_errors_of_the_service_pass_unchanged_and_are_not_kept(tmp_path):
    body = error("Comment must be non-empty.", "COMMENT_EMPTY")
    with stand_in() as server, proxy(upstream_of(server.url, None), tmp_path) as client:
        server.script = [Answer(400, body), Answer(429, error("Quota"), {"Retry-After": "7"})]
        first = client.post(PATH, json=asked(""))
        second = client.post(PATH, json=asked("a"))
    assert (first.status_code, first.json()) == (400, body)
    assert (second.status_code, second.headers["retry-after"]) == (429, "7")
    assert read_recording(tmp_path).rows == []


def test_compressed_answers_are_read_and_passed_on_compressed(tmp_path):
    packed = gzip.compress(json.dumps(reply(TOXICITY=0.5)).encode())
    with stand_in() as server, proxy(upstream_of(server.url, None), tmp_path) as client:
        server.script = [Answer(content=packed, headers={"Content-Encoding": "gzip"})]
        got = client.post(PATH, json=asked("a"))
        encoding = server.asked[0].headers["accept-encoding"]
    assert (encoding, got.headers["content-encoding"]) == ("gzip", "gzip")
    assert got.json() == reply(TOXICITY=0.5)
    assert rows_in(tmp_path)[0]["scores"] == {"TOXICITY": 0.5}


def test_a_dead_service_is_told_in_googles_form_without_the_key(tmp_path):
    to = replace(upstream_of(f"http://127.0.0.1:{free_port()}", None), key=KEY)
    with proxy(to, tmp_path) as client:
        got = client.post(PATH, json=asked("a"))
        counts = client.keeper.counts
    assert (got.status_code, got.json()["error"]["status"]) == (503, "UNAVAILABLE")
    assert "cannot be reached" in got.json()["error"]["message"]
    assert KEY not in got.text
    assert (counts.passed, counts.unanswered, counts.stored) == (1, 1, 0)


def test_a_service_that_takes_too_long_is_told(tmp_path):
    with stand_in() as server:
        server.script = [Answer(stall_seconds=1.0)]
        with proxy(upstream_of(server.url, None), tmp_path, timeout_seconds=0.2) as client:
            got = client.post(PATH, json=asked("a"))
    assert (got.status_code, "within 0.2 s" in got.text) == (503, True)


def test_a_full_disk_stops_the_recording_not_the_caller(tmp_path, monkeypatch, capsys):
    def full(self, row):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Store, "keep", full)
    with stand_in() as server, proxy(upstream_of(server.url, None), tmp_path) as client:
        statuses = [client.post(PATH, json=asked(text)).status_code for text in "ab"]
        counts = client.keeper.counts
    assert (statuses, counts.lost) == ([200, 200], 2)
    assert capsys.readouterr().err.count("No space left on device") == 1


def test_without_texts_the_detectors_scores_stand_beside(tmp_path):
    with (
        stand_in() as server,
        proxy(upstream_of(server.url, None), tmp_path, scorer=Scores()) as client,
    ):
        client.post(PATH, json=asked("those gay foolish blorps"))
    [row] = rows_in(tmp_path)
    assert row == {
        "id": row["id"],
        "scores": {"TOXICITY": 1.0},
        "asked": ["TOXICITY"],
        "languages": [],
        "new": {"TOXICITY": 0.25},
        "mentions": ["gay"],
    }
    assert row["id"] != Digest(b"").of("those gay foolish blorps")
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"blorps" not in stored
    about = read_recording(tmp_path).about
    assert (about.texts, about.detector, about.sha256) == (False, "mine", "ab" * 32)


def test_a_detector_that_fails_is_told_without_the_text(tmp_path, capsys):
    class Broken(Scores):
        def score(self, texts):
            raise ValueError(texts[0])

    with (
        stand_in() as server,
        proxy(upstream_of(server.url, None), tmp_path, scorer=Broken()) as client,
    ):
        assert client.post(PATH, json=asked("blorp")).status_code == 200
    assert client.keeper.counts.lost == 1
    told = capsys.readouterr().err
    assert "the detector failed (ValueError)" in told
    assert "blorp" not in told


def test_a_sample_goes_by_the_text(tmp_path):
    keeper = Keeper(tmp_path, "http://a", sample=0.25)
    for _ in range(2):
        for number in range(400):
            keeper.keep({"text": f"text {number}", "scores": {"TOXICITY": 0.5}})
    keeper.close()
    ids = [row["id"] for row in read_recording(tmp_path).rows]
    # Every text is in or out, both times; 400 texts at .25 give 100, give or take 4 × 8.7.
    assert len(ids) == 2 * len(set(ids)) == keeper.counts.stored
    assert 65 < len(set(ids)) < 135


def test_a_body_that_is_too_long_is_refused(tmp_path):
    with stand_in() as server, proxy(upstream_of(server.url, None), tmp_path) as client:
        got = client.post(PATH, content=b"x" * (8 * 1024 * 1024 + 1))
    assert (got.status_code, server.asked) == (413, [])


def test_others_may_not_spend_our_key(tmp_path):
    to = replace(upstream_of("http://127.0.0.1:1", None), key=KEY)
    with pytest.raises(BadInput, match="others could spend your key"):
        run_proxy(to, tmp_path, Where("0.0.0.0", 0), ready=print)


def test_a_port_that_is_taken_is_told(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        to, port = upstream_of("http://127.0.0.1:1", None), taken.getsockname()[1]
        with pytest.raises(BadInput, match="cannot listen on 127.0.0.1 port"):
            run_proxy(to, tmp_path / "r", Where("127.0.0.1", port), ready=print)


@pytest.mark.parametrize("url", ["ftp://a.org", "a.org", "http://", "http://a.org?other=1"])
def test_a_wrong_address_is_told_without_a_key(url):
    with pytest.raises(BadInput, match="--upstream .*; expected"):
        upstream_of(url, None)


@pytest.mark.parametrize("content", [b"", b"a b\n", b"a\nb\n", "ключ".encode()])
def test_a_key_file_has_one_key(tmp_path, content):
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(BadInput, match="expected one line with the key"):
        upstream_of("https://a.org", tmp_path / "key")
    with pytest.raises(BadInput, match="cannot be read"):
        upstream_of("https://a.org", tmp_path / "none")


CODE = """
import sys
from pathlib import Path
from evenhand.serving.recording import Where, run_proxy, upstream_of
run_proxy(upstream_of(sys.argv[1], None), Path(sys.argv[2]), Where("127.0.0.1", 0),
          ready=lambda address: print(address, flush=True))
print("ended", flush=True)
"""


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_proxy_has_everything_it_answered(tmp_path, kill):
    command = [sys.executable, "-c", CODE]
    with (
        stand_in() as server,
        subprocess.Popen(
            [*command, server.url, str(tmp_path)], stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        try:
            address = process.stdout.readline().strip()
            for number in range(20):
                body = json.dumps(asked(f"text {number}")).encode()
                with urllib.request.urlopen(f"{address}{PATH}", body, timeout=20) as got:
                    assert got.status == 200
        finally:
            process.send_signal(kill)
        said = process.stdout.read()
    assert ("ended" in said) == (kill == signal.SIGINT)
    assert len(read_recording(tmp_path).rows) == 20


# Over a file


def asking(server, folder, texts, *, time_=None, attributes=("TOXICITY",), language=None):
    clock = time_ or Time()
    patience = Patience(
        timeout_seconds=1.0,
        attempts=3,
        per_second=1.0,
        in_a_row=8,
        sleep=clock.sleep,
        clock=clock.clock,
    )
    return record_texts(
        [Text(text) for text in texts],
        replace(upstream_of(server.url, None), key=KEY),
        folder,
        attributes=attributes,
        language=language,
        patience=patience,
        step=lambda *_: None,
    )


def test_each_distinct_text_is_asked_for_once_at_the_quotas_rate(tmp_path):
    clock = Time()
    with stand_in() as server:
        done = asking(server, tmp_path, ["a", "bb", "a", " ", "ccc"], time_=clock)
        assert sorted(server.texts) == ["a", "bb", "ccc"]
        [first, *_] = server.asked
    # Three requests, one a second: two pauses of a second.
    assert [round(pause, 6) for pause in clock.slept] == [1.0, 1.0]
    assert (done.scored, done.known, done.refused, done.unanswered) == (3, 0, 0, 0)
    assert done.empty == 1
    assert first.content["doNotStore"] is True
    assert {row["text"]: row["scores"]["TOXICITY"] for row in rows_in(tmp_path)} == {
        text: p_of(text) for text in ("a", "bb", "ccc")
    }
    assert KEY not in "".join(path.read_text() for path in tmp_path.iterdir())


def test_a_second_run_asks_for_nothing_it_has(tmp_path):
    with stand_in() as server:
        asking(server, tmp_path, ["a", "bb"])
        done = asking(server, tmp_path, ["a", "bb", "ccc"])
        assert server.texts == ["a", "bb", "ccc"]
        assert (done.scored, done.known) == (1, 2)
        more = asking(server, tmp_path, ["a"], attributes=("TOXICITY", "THREAT"))
        assert more.scored == 1


def test_quota_and_faults_are_waited_out(tmp_path):
    clock = Time()
    with stand_in() as server:
        server.script = [Answer(429, error("Quota"), {"Retry-After": "7"}), Answer(500)]
        done = asking(server, tmp_path, ["a"], time_=clock)
    assert done.scored == 1
    assert max(clock.slept) >= 7


def test_a_refused_text_is_kept_with_its_reason_and_not_asked_for_again(tmp_path):
    refusal = error("Attribute TOXICITY does not support request languages: sw")
    with stand_in() as server:
        server.script = [Answer(400, refusal)]
        first = asking(server, tmp_path, ["blorp"])
        again = asking(server, tmp_path, ["blorp"])
        assert (first.refused, again.known, len(server.asked)) == (1, 1, 1)
        told = file_parts(Run(["evenhand"]), first, tmp_path).summary
        assert told[0].endswith("rows without a text: 0.")
        assert told[1].startswith("Refused 1 times: Attribute TOXICITY does not support request")
        assert "does not support" in rows_in(tmp_path)[0]["refused"]
        # In a named language it is another question.
        assert asking(server, tmp_path, ["blorp"], language="en").scored == 1


def test_a_text_that_is_never_answered_is_left_for_the_next_run(tmp_path):
    with stand_in() as server:
        server.rule = lambda seen: Answer(500) if seen.texts == ["bb"] else None
        done = asking(server, tmp_path, ["a", "bb", "ccc"])
        assert (done.scored, done.unanswered) == (2, 1)
        server.rule = lambda seen: None
        assert asking(server, tmp_path, ["a", "bb", "ccc"]).scored == 1


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(400, error("API key not valid. Please pass a valid API key.")), "--key-file"),
        (Answer(403, error("Forbidden")), "does not let us in"),
        (Answer(400, error("Unknown requested attribute: X")), "--attribute"),
        (Answer(404, b"<html>"), "speaks Perspective's format"),
        (Answer(200, {"x": 1}), "no scores"),
        (Answer(200, b"<html>"), "cannot be read as JSON"),
    ],
)
def test_what_is_not_the_texts_fault_ends_the_run(tmp_path, answer, words):
    with stand_in() as server, pytest.raises(EvenhandError, match=words) as told:
        server.script = [answer]
        asking(server, tmp_path, ["blorp"])
    assert KEY not in str(told.value)


def test_a_dead_service_ends_the_run_and_says_how_to_go_on(tmp_path):
    with stand_in() as server:
        server.script = [Answer(), *[Answer(503)] * 9]
        with pytest.raises(EvenhandError, match="1 of 3 texts were scored.*run the command again"):
            asking(server, tmp_path, ["a", "bb", "ccc"])
        server.script = []
        assert asking(server, tmp_path, ["a", "bb", "ccc"]).scored == 2


def test_a_rate_and_a_key_are_needed(tmp_path):
    to = upstream_of("https://a.org", None)
    step = lambda *_: None  # noqa: E731
    with pytest.raises(BadInput, match="--rate"):
        recording.record_file([], to, tmp_path, per_second=0, step=step)
    with pytest.raises(BadInput, match="--key-file"):
        recording.record_file([], to, tmp_path, step=step)


# Mentions


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Muslims and a JEWISH neighbour", ("jewish", "muslim")),
        ("black people, a black car", ("black",)),
        ("an old car", ()),
        ("@women #gay and womens", ()),
        ("people\n who are  gay", ("gay",)),
        ("", ()),
    ],
)
def test_identities_are_found_by_their_words(text, found):
    assert mentioned(text) == found

"""``data get`` against a server on this machine that can be told to misbehave."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import os
import re
import resource
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from http.client import HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import unquote
from urllib.request import Request

import pytest

from evenhand.core.errors import BadInput, EvenhandError
from evenhand.core.provenance import VERSION
from evenhand.data import _transfer, get
from evenhand.data.corpus import Corpus, Download, Reader

BODY = bytes(range(256)) * 1200  # 307,200 bytes: several reads of 64 KiB
OTHER = BODY[::-1]
SHA = hashlib.sha256(BODY).hexdigest()
CUT = 100_000


@dataclass(frozen=True)
class Answer:
    """How the server treats one request; the default is to behave."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    """Send so many bytes, then close."""
    reset: bool = False
    """Close with a reset instead of an end."""
    stall: bool = False
    """After the cut say nothing until the client is gone."""
    ranges: bool = True
    if_range: bool = True
    shift: int = 0
    """Continue at another place than asked."""
    most: int | None = None
    """Hand out at most so many bytes of a range, and say so."""
    length: int | None = None
    """Claim another length."""
    framing: str = "length"
    """``length``, ``chunked`` or ``close``."""


class Site(ThreadingHTTPServer):
    """One file at every path, a script of answers, and a log of what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.body = BODY
        self.etag: str | None = '"one"'
        self.modified: str | None = None
        self.script: list[Answer] = []
        self.asked: list[tuple[str, dict[str, str]]] = []

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def ranges(self) -> list[str | None]:
        return [headers.get("Range") for _, headers in self.asked]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are part of the test."""


class Handler(BaseHTTPRequestHandler):
    server: Site
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        site = self.server
        site.asked.append((unquote(self.path), dict(self.headers)))
        answer = site.script.pop(0) if site.script else Answer()
        self.close_connection = True
        if answer.status is not None:
            self.respond(answer.status, answer.headers | {"Content-Length": "0"})
            return
        start = self.start(answer)
        if start is not None and start >= len(site.body):
            size = f"bytes */{len(site.body)}"
            self.respond(416, {"Content-Range": size, "Content-Length": "0"})
            return
        self.send(answer, start)

    def start(self, answer: Answer) -> int | None:
        """Where to begin, or None for the whole file."""
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        current = self.headers.get("If-Range") in (self.server.etag, self.server.modified)
        if match is None or not answer.ranges or (answer.if_range and not current):
            return None
        return int(match[1]) + answer.shift

    def send(self, answer: Answer, start: int | None) -> None:
        body = self.server.body[start or 0 :]
        named = {"ETag": self.server.etag, "Last-Modified": self.server.modified}
        headers = {name: value for name, value in named.items() if value}
        if start is not None:
            size = len(self.server.body)
            body = body[: answer.most]
            headers["Content-Range"] = f"bytes {start}-{start + len(body) - 1}/{size}"
        if answer.framing == "chunked":
            headers["Transfer-Encoding"] = "chunked"
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        elif answer.framing == "length":
            headers["Content-Length"] = str(answer.length or len(body))
        self.respond(200 if start is None else 206, headers | answer.headers)
        self.wfile.write(body[: answer.cut])
        if answer.stall:
            self.connection.recv(1)
        if answer.reset:
            linger = (1).to_bytes(4, "little") + bytes(4)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    def respond(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("no_proxy", "*")
    with Site() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def unread(data: Path) -> Corpus:
    raise NotImplementedError


def reader(*downloads: Download, folder: str = "corpus", by_hand: str | None = None) -> Reader:
    return Reader(
        name="toy",
        title="Toy",
        citation="",
        licence="",
        may_train="no",
        folder=folder,
        labels={},
        hateful=(),
        read=unread,
        downloads=downloads,
        by_hand=by_hand,
    )


def fetch(site: Site, data: Path, sha: str | None = SHA, **options: Any) -> get.Fetched:
    """Fetch one file, without waiting between tries."""
    options = {"sleep": lambda seconds: None, "timeout_seconds": 5.0} | options
    toy = reader(Download("posts.csv", f"{site.base}/posts.csv", sha))
    return get.fetch(toy, data, **options)[0]


def leave_part(site: Site, data: Path, sha: str | None = SHA) -> Path:
    """A run that breaks off after ``CUT`` bytes; the server behaves again afterwards."""
    site.script = [Answer(cut=CUT)] + [Answer(status=503)] * _transfer.ATTEMPTS
    with pytest.raises(EvenhandError):
        fetch(site, data, sha)
    site.script, site.asked = [], []
    part = data / "corpus/posts.csv.part"
    assert part.read_bytes() == BODY[:CUT]
    return part


def files(data: Path) -> set[str]:
    """What stands in the folder, without the lock."""
    found = (data / "corpus").rglob("*")
    return {str(path.relative_to(data / "corpus")) for path in found} - {".get.lock"}


# A download that goes well


def test_writes_the_bytes_as_served(site: Site, tmp_path: Path) -> None:
    site.script = [Answer(headers={"Content-Encoding": "gzip", "Content-Type": "text/csv"})]
    fetched = fetch(site, tmp_path)
    target = tmp_path / "corpus/posts.csv"
    assert target.read_bytes() == BODY
    assert fetched == get.Fetched(target, f"{site.base}/posts.csv", "downloaded", 307_200, SHA)


def test_says_who_asks_and_wants_plain_bytes(site: Site, tmp_path: Path) -> None:
    fetch(site, tmp_path)
    headers = site.asked[0][1]
    assert headers["User-Agent"] == f"evenhand/{VERSION}"
    assert headers["Accept-Encoding"] == "identity"
    assert "Range" not in headers


def test_leaves_only_the_file(site: Site, tmp_path: Path) -> None:
    fetch(site, tmp_path)
    assert files(tmp_path) == {"posts.csv"}


def test_fetches_every_download_in_order(site: Site, tmp_path: Path) -> None:
    names = ("b.csv", "sub/a.csv")
    toy = reader(*(Download(name, f"{site.base}/{name}", SHA) for name in names), by_hand="Also …")
    done = get.fetch(toy, tmp_path)
    assert [str(one.path.relative_to(tmp_path / "corpus")) for one in done] == [
        "b.csv",
        "sub/a.csv",
    ]


def test_an_empty_file_is_a_file(site: Site, tmp_path: Path) -> None:
    site.body = b""
    assert fetch(site, tmp_path, None).bytes == 0
    assert (tmp_path / "corpus/posts.csv").read_bytes() == b""


def test_an_empty_file_of_which_only_the_note_is_there(site: Site, tmp_path: Path) -> None:
    site.body = b""
    (tmp_path / "corpus").mkdir()
    note = f'{{"url": "{site.base}/posts.csv", "validator": "x", "total": 0}}'
    (tmp_path / "corpus/posts.csv.part.json").write_text(note)
    assert fetch(site, tmp_path, None).status == "downloaded"


@pytest.mark.parametrize("framing", ["chunked", "close"])
def test_length_may_be_unknown_when_the_checksum_is_known(
    site: Site, tmp_path: Path, framing: str
) -> None:
    site.script = [Answer(framing=framing)]
    assert fetch(site, tmp_path).status == "downloaded"
    assert len(site.asked) == 1


def test_progress_counts_up_to_the_length(site: Site, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    fetch(site, tmp_path, progress=lambda *step: seen.append(step))
    assert seen[0] == ("posts.csv", 0, 307_200)
    assert seen[-1] == ("posts.csv", 307_200, 307_200)
    assert [done for _, done, _ in seen] == sorted({done for _, done, _ in seen})
    assert len(seen) == 6  # 0, four times 64 KiB, the rest


# Continuing


def test_a_cut_connection_is_continued_in_the_same_run(site: Site, tmp_path: Path) -> None:
    site.script = [Answer(cut=CUT), Answer(cut=CUT)]
    assert fetch(site, tmp_path).sha256 == SHA
    assert site.ranges() == [None, "bytes=100000-", "bytes=200000-"]
    assert site.asked[1][1]["If-Range"] == '"one"'


def test_a_reset_connection_is_continued(site: Site, tmp_path: Path) -> None:
    site.script = [Answer(cut=CUT, reset=True)]
    assert fetch(site, tmp_path).status == "downloaded"


def test_a_silent_server_is_left_and_asked_again(site: Site, tmp_path: Path) -> None:
    site.script = [Answer(cut=CUT, stall=True)]
    assert fetch(site, tmp_path, timeout_seconds=0.2).status == "downloaded"
    assert site.ranges() == [None, "bytes=65536-"]  # whole reads only


def test_the_next_run_continues(site: Site, tmp_path: Path) -> None:
    leave_part(site, tmp_path)
    seen: list[int] = []
    fetch(site, tmp_path, progress=lambda file, done, total: seen.append(done))
    assert site.ranges() == ["bytes=100000-"]
    assert seen[0] == 100_000
    assert (tmp_path / "corpus/posts.csv").read_bytes() == BODY


def test_a_date_will_do_where_there_is_no_strong_etag(site: Site, tmp_path: Path) -> None:
    site.etag, site.modified = 'W/"weak"', formatdate(1_000_000_000, usegmt=True)
    leave_part(site, tmp_path)
    fetch(site, tmp_path)
    assert site.asked[0][1]["If-Range"] == "Sun, 09 Sep 2001 01:46:40 GMT"
    assert len(site.asked) == 1


def test_without_a_version_nothing_is_continued(site: Site, tmp_path: Path) -> None:
    site.etag = None
    site.script = [Answer(cut=CUT)]
    assert fetch(site, tmp_path).status == "downloaded"
    assert site.ranges() == [None, None]


def test_a_server_that_ignores_ranges_starts_again(site: Site, tmp_path: Path) -> None:
    leave_part(site, tmp_path)
    site.script = [Answer(ranges=False)]
    assert fetch(site, tmp_path).sha256 == SHA
    assert len(site.asked) == 1


@pytest.mark.parametrize("if_range", [True, False], ids=["heeds If-Range", "ignores If-Range"])
@pytest.mark.parametrize("new", [OTHER, OTHER[:-7], OTHER[: CUT - 7]], ids=len)
def test_a_changed_file_starts_again(
    site: Site, tmp_path: Path, if_range: bool, new: bytes
) -> None:
    leave_part(site, tmp_path, None)
    site.body, site.etag = new, '"two"'
    site.script = [Answer(if_range=if_range)] * 2
    fetch(site, tmp_path, None)
    assert (tmp_path / "corpus/posts.csv").read_bytes() == new
    assert len(site.asked) == (1 if if_range else 2)


def test_a_changed_length_starts_again_even_under_the_same_etag(site: Site, tmp_path: Path) -> None:
    leave_part(site, tmp_path, None)
    site.body = OTHER[:-7]
    fetch(site, tmp_path, None)
    assert (tmp_path / "corpus/posts.csv").read_bytes() == OTHER[:-7]


@pytest.mark.parametrize("answer", [Answer(shift=5), Answer(headers={"Content-Range": "nonsense"})])
def test_another_range_than_asked_is_not_appended(
    site: Site, tmp_path: Path, answer: Answer
) -> None:
    leave_part(site, tmp_path)
    site.script = [answer]
    assert fetch(site, tmp_path).sha256 == SHA
    assert site.ranges() == ["bytes=100000-", None]


def test_half_an_answer_nobody_asked_for_is_not_the_file(site: Site, tmp_path: Path) -> None:
    site.script = [Answer(status=206, headers={"Content-Range": "bytes 0-9/*"})]
    assert fetch(site, tmp_path, None).bytes == 307_200


def test_a_part_of_another_address_is_not_continued(site: Site, tmp_path: Path) -> None:
    leave_part(site, tmp_path)
    fetch(site, tmp_path, mirror=f"{site.base}/mirror")
    assert site.ranges() == [None]


@pytest.mark.parametrize("note", [None, "", "[]", '{"url": 1}'])
def test_a_part_that_does_not_say_what_it_is_starts_again(
    site: Site, tmp_path: Path, note: str | None
) -> None:
    part = leave_part(site, tmp_path)
    beside = part.with_name("posts.csv.part.json")
    beside.unlink() if note is None else beside.write_text(note)
    fetch(site, tmp_path)
    assert site.ranges() == [None]


def test_a_part_that_is_too_long_starts_again(site: Site, tmp_path: Path) -> None:
    leave_part(site, tmp_path).write_bytes(BODY + b"more")
    fetch(site, tmp_path)
    assert site.ranges() == [None]


def test_a_complete_part_is_only_checked(site: Site, tmp_path: Path) -> None:
    leave_part(site, tmp_path).write_bytes(BODY)
    assert fetch(site, tmp_path).status == "downloaded"
    assert site.asked == []


def test_a_complete_part_with_a_wrong_checksum_is_removed(site: Site, tmp_path: Path) -> None:
    leave_part(site, tmp_path).write_bytes(OTHER)
    with pytest.raises(BadInput, match="expected"):
        fetch(site, tmp_path)
    assert files(tmp_path) == set()


def test_a_cut_stream_of_unknown_length_is_continued(site: Site, tmp_path: Path) -> None:
    site.script = [Answer(framing="chunked", cut=CUT)]
    fetch(site, tmp_path, None)
    assert (tmp_path / "corpus/posts.csv").read_bytes() == BODY


@pytest.mark.parametrize(
    "rest",
    [
        Answer(most=1000),
        Answer(headers={"Content-Range": "bytes 65536-307199/*"}, cut=1000),
    ],
    ids=["a piece", "no total"],
)
def test_the_rest_of_such_a_stream_must_be_whole(site: Site, tmp_path: Path, rest: Answer) -> None:
    site.script = [Answer(framing="chunked", cut=CUT), rest]
    fetch(site, tmp_path, None)
    assert (tmp_path / "corpus/posts.csv").read_bytes() == BODY
    assert site.ranges() == [None, "bytes=65536-", "bytes=66536-"]


def test_a_server_may_hand_out_piece_by_piece(site: Site, tmp_path: Path) -> None:
    leave_part(site, tmp_path)
    site.script = [Answer(most=CUT)] * 2
    assert fetch(site, tmp_path).sha256 == SHA
    assert site.ranges() == ["bytes=100000-", "bytes=200000-", "bytes=300000-"]


# Checksums


def test_a_wrong_checksum_installs_nothing(site: Site, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"expected {'0' * 64} .*found {SHA}"):
        fetch(site, tmp_path, "0" * 64)
    assert files(tmp_path) == set()


def test_a_declared_checksum_may_be_in_capitals_and_is_not_recorded(
    site: Site, tmp_path: Path
) -> None:
    fetch(site, tmp_path, SHA.upper())
    assert fetch(site, tmp_path, SHA.upper()).status == "installed"
    assert files(tmp_path) == {"posts.csv"}


def test_the_first_checksum_is_recorded(site: Site, tmp_path: Path) -> None:
    fetch(site, tmp_path, None)
    assert (tmp_path / "corpus/SHA256SUMS").read_text() == f"{SHA}  posts.csv\n"


def test_records_of_other_files_are_kept(site: Site, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/SHA256SUMS").write_text(f"{'0' * 64} *zoo.csv\n")
    fetch(site, tmp_path, None)
    lines = (tmp_path / "corpus/SHA256SUMS").read_text().splitlines()
    assert lines == [f"{SHA}  posts.csv", f"{'0' * 64}  zoo.csv"]


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs sha256sum")
def test_sha256sum_reads_the_record(site: Site, tmp_path: Path) -> None:
    fetch(site, tmp_path, None)
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    subprocess.run(command, cwd=tmp_path / "corpus", check=True, capture_output=True)


def test_later_downloads_must_meet_the_record(site: Site, tmp_path: Path) -> None:
    fetch(site, tmp_path, None).path.unlink()
    site.body, site.etag = OTHER, '"two"'
    with pytest.raises(BadInput, match=f"expected {SHA} .recorded in .*SHA256SUMS.*delete that"):
        fetch(site, tmp_path, None)
    assert files(tmp_path) == {"SHA256SUMS"}


def test_a_broken_record_is_named_with_its_line(site: Site, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/SHA256SUMS").write_bytes(
        f"{SHA}  a.csv\nnot a sum \xff\n".encode("latin-1")
    )
    with pytest.raises(BadInput, match="SHA256SUMS line 2: expected"):
        fetch(site, tmp_path, None)


def test_a_server_that_claims_too_little_is_found_out(site: Site, tmp_path: Path) -> None:
    site.script = [Answer(length=1000)]
    with pytest.raises(BadInput, match="expected"):
        fetch(site, tmp_path)
    assert files(tmp_path) == set()


def test_a_server_that_claims_too_much_is_found_out(site: Site, tmp_path: Path) -> None:
    site.script = [Answer(length=len(BODY) + 5)] * 9
    with pytest.raises(EvenhandError, match="307200 of 307205 bytes"):
        fetch(site, tmp_path, None)
    assert not (tmp_path / "corpus/posts.csv").exists()


def test_neither_length_nor_checksum_is_refused(site: Site, tmp_path: Path) -> None:
    site.script = [Answer(framing="close", cut=CUT)]
    with pytest.raises(EvenhandError, match="does not say how long"):
        fetch(site, tmp_path, None)
    assert not (tmp_path / "corpus/posts.csv").exists()


# Already installed


@pytest.mark.parametrize("sha", [SHA, None], ids=["declared", "recorded"])
def test_an_installed_file_is_left_alone(site: Site, tmp_path: Path, sha: str | None) -> None:
    fetch(site, tmp_path, sha)
    site.asked.clear()
    assert [fetch(site, tmp_path, sha, force=force).status for force in (False, True)] == [
        "installed",
        "installed",
    ]
    assert site.asked == []


@pytest.mark.parametrize("sha", [SHA, None], ids=["declared", "recorded"])
def test_a_different_installed_file_needs_force(
    site: Site, tmp_path: Path, sha: str | None
) -> None:
    target = fetch(site, tmp_path, sha).path
    target.write_bytes(b"mine")
    with pytest.raises(BadInput, match=f"is installed, but differs.*{SHA}.*--force"):
        fetch(site, tmp_path, sha)
    assert target.read_bytes() == b"mine"
    assert fetch(site, tmp_path, sha, force=True).status == "downloaded"
    assert target.read_bytes() == BODY


def test_force_does_not_excuse_a_wrong_checksum(site: Site, tmp_path: Path) -> None:
    target = fetch(site, tmp_path, None).path
    target.write_bytes(b"mine")
    site.body, site.etag = OTHER, '"two"'
    with pytest.raises(BadInput, match="nothing was installed"):
        fetch(site, tmp_path, None, force=True)
    assert target.read_bytes() == b"mine"


def test_a_file_put_there_by_hand_is_kept_and_called_unchecked(site: Site, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/posts.csv").write_bytes(b"mine")
    assert fetch(site, tmp_path, None).status == "unchecked"
    assert files(tmp_path) == {"posts.csv"}
    assert fetch(site, tmp_path, None, force=True).sha256 == SHA


# Servers in trouble


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_passing_trouble_is_waited_out(site: Site, tmp_path: Path, status: int) -> None:
    site.script = [Answer(status=status), Answer(status=status)]
    waits: list[float] = []
    assert fetch(site, tmp_path, sleep=waits.append).status == "downloaded"
    assert waits == [1.0, 2.0]


def test_the_pause_the_server_asks_for_is_kept(site: Site, tmp_path: Path) -> None:
    past = "Sun, 09 Sep 2001 01:46:40 GMT"
    for value in ("0", "7", past, "soon"):
        site.script.append(Answer(status=503, headers={"Retry-After": value}))
    site.script.insert(3, Answer(cut=CUT))  # progress: the count of failures starts again
    waits: list[float] = []
    fetch(site, tmp_path, sleep=waits.append)
    assert waits == [0.0, 7.0, 0.0, 1.0, 2.0]


def test_too_long_a_pause_is_reported(site: Site, tmp_path: Path) -> None:
    site.script = [Answer(status=429, headers={"Retry-After": "3600"})]
    with pytest.raises(EvenhandError, match="429 .*try again in 3600 s"):
        fetch(site, tmp_path)


def test_gives_up_after_a_few_tries_and_says_how_to_go_on(site: Site, tmp_path: Path) -> None:
    site.script = [Answer(cut=CUT)] + [Answer(cut=0)] * 9
    waits: list[float] = []
    with pytest.raises(EvenhandError) as caught:
        fetch(site, tmp_path, sleep=waits.append)
    assert str(caught.value) == (
        f"{site.base}/posts.csv: the connection ended after 100000 of 307200 bytes (tries without "
        "progress: 4); 100000 bytes of posts.csv are kept. Run the command again to resume"
    )
    assert waits == [1.0, 2.0, 4.0]


def test_a_server_that_always_starts_again_is_given_up(site: Site, tmp_path: Path) -> None:
    site.script = [Answer(cut=CUT, ranges=False)] * 9
    with pytest.raises(EvenhandError, match="tries without progress: 4"):
        fetch(site, tmp_path)
    assert len(site.asked) == 4  # bytes that had been there before are no progress


def test_what_cannot_be_continued_is_not_said_to_be_kept(site: Site, tmp_path: Path) -> None:
    site.etag = None
    site.script = [Answer(cut=CUT)] * 9
    with pytest.raises(EvenhandError, match="; 0 bytes of posts.csv are kept"):
        fetch(site, tmp_path)
    assert files(tmp_path) == set()


def test_nobody_listening_is_tried_again_and_reported(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    toy = reader(Download("posts.csv", f"http://127.0.0.1:{port}/posts.csv"))
    waits: list[float] = []
    with pytest.raises(EvenhandError, match="no connection: .*refused"):
        get.fetch(toy, tmp_path, sleep=waits.append)
    assert len(waits) == 3


@pytest.mark.parametrize(
    ("status", "what"), [(404, "not there"), (410, "not there"), (403, "hand"), (401, "hand")]
)
def test_a_refusal_is_final(site: Site, tmp_path: Path, status: int, what: str) -> None:
    site.script = [Answer(status=status)]
    with pytest.raises(EvenhandError, match=f"/posts.csv: the server answered {status} .*{what}"):
        fetch(site, tmp_path)
    assert len(site.asked) == 1


def test_success_without_content_is_no_file(site: Site, tmp_path: Path) -> None:
    site.script = [Answer(status=204)]
    with pytest.raises(EvenhandError, match="answered 204"):
        fetch(site, tmp_path, None)
    assert files(tmp_path) == set()


# Redirects, addresses, names


def test_redirects_are_followed_with_the_range(site: Site, tmp_path: Path) -> None:
    leave_part(site, tmp_path)
    site.script = [Answer(status=302, headers={"Location": f"{site.base}/elsewhere"})]
    assert fetch(site, tmp_path).sha256 == SHA
    assert [path for path, _ in site.asked] == ["/posts.csv", "/elsewhere"]
    assert site.ranges() == ["bytes=100000-"] * 2


@pytest.mark.parametrize("location", ["file:///etc/hostname", "ftp://127.0.0.1/x", "data:,x"])
def test_redirects_out_of_the_web_are_refused(site: Site, tmp_path: Path, location: str) -> None:
    site.script = [Answer(status=302, headers={"Location": location})]
    with pytest.raises(EvenhandError, match="302"):
        fetch(site, tmp_path, None)
    assert files(tmp_path) == set()


def test_redirects_from_https_to_http_are_refused() -> None:
    asked = Request("https://example.org/a")
    redirects = _transfer._WebRedirects()
    with pytest.raises(HTTPError) as caught:
        redirects.redirect_request(
            asked,
            None,
            302,
            "Found",
            HTTPMessage(),
            "http://example.org/a",  # type: ignore[arg-type]
        )
    caught.value.close()


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/hostname",
        "ftp://example.org/a",
        "example.org/a",
        "https:///a",
        "https://example.org:port/a",
        "https://me:secret@example.org/a",
        "https://example.org/a b",
        "https://example.org/a\r\nX: y",
        "https://[::1/a",
    ],
)
def test_other_addresses_are_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(BadInput, match="cannot be used; expected"):
        get.fetch(reader(Download("a.csv", url)), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_host_name_that_cannot_be_is_reported(tmp_path: Path) -> None:
    with pytest.raises(EvenhandError, match="cannot be used"):
        get.fetch(reader(Download("a.csv", f"http://{'a' * 64}.example/a")), tmp_path)


UNSAFE = ["", ".", "..", "../a", "/a", "a/../../b", "a//b", "a\\b", "C:a", "a\nb", "a/", "b.part"]


@pytest.mark.parametrize("name", [*UNSAFE, "SHA256SUMS", ".get.lock", "b.part.json"])
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="not a plain path"):
        get.fetch(reader(Download(name, "https://example.org/a")), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", ["..", "/a", ""])
def test_folders_that_leave_the_data_folder_are_refused(tmp_path: Path, folder: str) -> None:
    with pytest.raises(BadInput, match="not a plain path"):
        get.fetch(reader(Download("a", "https://example.org/a"), folder=folder), tmp_path)


def test_all_faults_are_named(tmp_path: Path) -> None:
    toy = reader(Download("../a", "ftp://example.org/a"), Download("/b", "https://example.org/b"))
    with pytest.raises(BadInput) as caught:
        get.fetch(toy, tmp_path)
    assert caught.value.total == 3


@pytest.mark.parametrize("slash", ["", "/", "//"])
def test_a_mirror_replaces_the_address(site: Site, tmp_path: Path, slash: str) -> None:
    toy = reader(Download("w+ws 1.csv", "https://example.org/x/y.csv", SHA))
    done = get.fetch(toy, tmp_path, mirror=f"{site.base}/copies{slash}")
    assert site.asked[0][0] == "/copies/corpus/w+ws 1.csv"
    assert done[0].url == f"{site.base}/copies/corpus/w%2Bws%201.csv"
    assert done[0].path == tmp_path / "corpus/w+ws 1.csv"


def test_a_mirror_that_is_no_web_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="file:///mirror/corpus/a.csv"):
        get.fetch(reader(Download("a.csv", "https://e.org/a")), tmp_path, mirror="file:///mirror")


# By hand, two at once, no room


def test_what_must_be_got_by_hand_says_how_and_where(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        get.fetch(reader(by_hand="Ask the owners through their form."), tmp_path)
    assert "Ask the owners through their form." in str(caught.value)
    assert str(tmp_path / "corpus") in str(caught.value)


def test_a_reader_that_knows_no_way_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no download is known"):
        get.fetch(reader(), tmp_path)


def test_two_at_once_do_not_meet(site: Site, tmp_path: Path) -> None:
    """While one download is under way another is refused; the first is none the worse."""
    refused: list[str] = []

    def meanwhile(file: str, done: int, total: int | None) -> None:
        with pytest.raises(EvenhandError) as caught:
            fetch(site, tmp_path)
        refused.append(str(caught.value))

    assert fetch(site, tmp_path, progress=meanwhile).sha256 == SHA
    assert all("another process is downloading into this folder" in text for text in refused)
    assert len(refused) == 6
    assert len(site.asked) == 1


def test_a_lock_left_by_a_crash_does_not_matter(site: Site, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    with (tmp_path / "corpus/.get.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
    assert fetch(site, tmp_path).status == "downloaded"


def test_no_room_is_said_and_the_part_kept(site: Site, tmp_path: Path) -> None:
    """A limit on file size fails in the middle of a write, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (CUT, hard))
    try:
        with pytest.raises(EvenhandError, match="cannot write.*make room.*run the command again"):
            fetch(site, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (tmp_path / "corpus/posts.csv.part").read_bytes() == BODY[:CUT]
    fetch(site, tmp_path)
    assert site.ranges() == [None, "bytes=100000-"]


def test_a_full_disk_is_named(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*paths: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(EvenhandError, match="No space left on device"):
        fetch(site, tmp_path)


def test_short_writes_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(io.FileIO):
        def write(self, data: Any) -> int:
            return super().write(bytes(data)[:7])

    part = _transfer.Part(tmp_path / "a.part", "")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", lambda path, mode, buffering: Slow(path, mode))
        assert list(part.append(iter([b"0123456789"] * 3))) == [10, 20, 30]
    assert part.path.read_bytes() == b"0123456789" * 3


@pytest.mark.parametrize("etag", ['"one"', None])
def test_a_crash_before_the_last_step_loses_nothing(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, etag: str | None
) -> None:
    """Everything has arrived and been recorded, but the file has not got its name."""
    site.etag = etag
    real = os.replace

    def crash(source: Path, target: Path) -> None:
        if target.name == "posts.csv":
            raise KeyboardInterrupt
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", crash)
        with pytest.raises(KeyboardInterrupt):
            fetch(site, tmp_path, None)
    assert not (tmp_path / "corpus/posts.csv").exists()
    site.asked.clear()
    assert fetch(site, tmp_path, None).status == "downloaded"
    assert site.asked == []

"""Servers that score, behaving and misbehaving."""

import json
import os
import signal
import subprocess
import sys
import threading
from time import monotonic, sleep

import numpy as np
import polars as pl
import pytest

from evenhand.core.errors import BadInput, BrokenComponent, EvenhandError
from evenhand.models._address import address
from evenhand.models._http import Line, Patience, Unanswered
from evenhand.models.addresses import without_key
from evenhand.models.find import detector
from evenhand.models.openai import OpenAI
from evenhand.models.perspective import Perspective
from evenhand.models.remote import RemoteOptions
from evenhand.models.score_cache import ScoreCache, cache_folder
from evenhand.models.scoring import score_attribute, score_posts
from factories import make_corpus
from servers import Answer, Time, error, free_port, p_of, stand_in

BOTH = pytest.mark.parametrize("kind", ["perspective", "openai"])
SECRET = "s3cr3t/+key"
ASKED = {"requestedAttributes": {"TOXICITY": {}}}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where scores are kept."""
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EVENHAND_API_KEY", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def server():
    with stand_in() as found:
        yield found


@pytest.fixture
def time():
    return Time()


def at(url, time, kind="perspective", attribute=None, **options):
    options = RemoteOptions(sleep=time.sleep, clock=time.clock, **options)
    return detector(f"{kind}:{url}", attribute=attribute, remote=options)


def posts(*texts):
    return make_corpus([{"id": f"p{n}", "text": text} for n, text in enumerate(texts)]).posts


MANY = posts(*(f"text {n} " + "x" * (n % 9) for n in range(100)))


@BOTH
def test_scores_of_one_attribute(server, time, kind):
    found = score_attribute(at(server.url, time, kind), posts("ab", "abcd", "ab"))
    # p is the length over 20: .1, .2, .1
    assert found.table.rows() == [("p0", 0.1), ("p1", 0.2), ("p2", 0.1)]
    assert found.failed == {}
    assert found.attribute == {"perspective": "TOXICITY", "openai": "hate"}[kind]
    assert not found.classes_only
    assert sorted(server.texts) == ["ab", "abcd"]  # each text once
    assert time.slept == []


def test_what_perspective_is_asked(server, time):
    found = at(f"{server.url}?language=en", time, attribute="IDENTITY_ATTACK")
    assert found.score(["day 🐝"]).tolist() == [[0.25]]
    [asked] = server.asked
    assert asked.path == "/v1alpha1/comments:analyze"
    assert asked.content == {
        "comment": {"text": "day 🐝", "type": "PLAIN_TEXT"},
        "requestedAttributes": {"IDENTITY_ATTACK": {}},
        "doNotStore": True,
        "languages": ["en"],
    }


def test_what_openai_is_asked(server, time, monkeypatch):
    monkeypatch.setenv("EVENHAND_API_KEY", f" {SECRET}\n")
    found = at(f"{server.url}/v1?model=m-1", time, "openai", attribute="harassment")
    texts = [f"text {n}" for n in range(33)]
    assert found.score(texts)[:, 0].tolist() == [p_of(text) for text in texts]
    assert sorted(len(asked.texts) for asked in server.asked) == [1, 32]
    assert {asked.path for asked in server.asked} == {"/v1/moderations"}
    assert {asked.headers["Authorization"] for asked in server.asked} == {f"Bearer {SECRET}"}
    assert {asked.content["model"] for asked in server.asked} == {"m-1"}


@pytest.mark.parametrize(
    ("dialect", "base", "path"),
    [
        (Perspective(), "http://a:8080", "/v1alpha1/comments:analyze"),
        (Perspective(), "http://a:8080/", "/v1alpha1/comments:analyze"),
        (Perspective(), "https://a/x/v1alpha1/", "/x/v1alpha1/comments:analyze"),
        (Perspective(), "https://a/v1alpha1/comments:analyze", "/v1alpha1/comments:analyze"),
        (Perspective(), "https://a?key=a%26b", "/v1alpha1/comments:analyze?key=a%26b"),
        (OpenAI(), "http://a", "/v1/moderations"),
        (OpenAI(), "http://a/x/v1", "/x/v1/moderations"),
        (OpenAI(), "http://a/v1/moderations?key=k", "/v1/moderations"),
    ],
)
def test_the_base_is_completed(dialect, base, path):
    assert dialect.path(address(base, dialect.settings, dialect.kind)) == path


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "expected perspective:http"),
        ("127.0.0.1:80", "expected perspective:http"),
        ("ftp://a", "expected perspective:http"),
        ("http://a:x", "expected perspective:http"),
        ("http://a b", "expected perspective:http"),
        ("http://a#b", "expected perspective:http"),
        ("http://[1", "expected perspective:http"),
        ("http://me:s3cr3t@a", "A login in the URL is not sent"),
        ("http://a?model=x&key=s3cr3t", "no setting model .* may stand key and language"),
        ("http://a?key=s3cr3t&key=b", "stands twice"),
        ("http://a?key=s3cr3t%20", "the key has a space"),
        ("http://a?api_key=s3cr3t", "no setting api_key in .*api_key=…"),
        ("http://a?language=en&token=s3cr3t", "no setting token in .*language=en&token=…"),
        ("http://a?language=en;token=s3cr3t", "put & between settings"),
        ("http://a?key=x&s3cr3t", "no setting … in .*may stand key and language"),
        ("http://a#token=s3cr3t", "expected perspective:http"),
        ("http://a?token=s3 s3cr3t", "expected perspective:http"),
        ("http://me:a/s3cr3t@b", "expected perspective:http"),
        ("http://me:a@s3cr3t@b", "expected perspective:http|A login"),
        ("http://me:a?s3cr3t@b", "expected perspective:http|no setting"),
        ("http://a..b.org", "expected perspective:http.*found 'http://a..b.org'"),
        ("http://.a.org", "expected perspective:http"),
        (f"http://{'a' * 64}.org", "expected perspective:http"),
    ],
)
def test_urls_that_cannot_be_used(url, words):
    with pytest.raises(BadInput, match=words) as caught:
        detector(f"perspective:{url}")
    assert "s3cr3t" not in str(caught.value)


def test_a_key_in_a_misspelt_name_is_not_shown():
    with pytest.raises(EvenhandError) as caught:
        detector("perspectiv:http://a?key=s3cr3t")
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("openai:http://a/v1?model=org/m-1.5&KEY=x", "openai:http://a/v1?model=org/m-1.5&KEY=…"),
        ("http://a?language=en;key=x", "http://a?language=…"),
        ("http://a?key=x@y&language=en", "http://…"),
        ("http://me@a/b", "http://…@a/b"),
        ("https://a.org/@me/posts.csv", "https://a.org/@me/posts.csv"),
        ("a.org?api_key=x", "a.org?api_key=…"),
        ("data?.csv", "data?.csv"),
        ("naive-bayes:min_df=3", "naive-bayes:min_df=3"),
    ],
)
def test_what_was_typed_is_shown_without_keys(typed, shown):
    assert without_key(typed) == shown


@pytest.mark.parametrize("proxy", ["http://p..q:80", "http://p:x"])
def test_a_proxy_that_cannot_be_used(time, monkeypatch, proxy):
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(BadInput, match="http_proxy cannot be used; expected http://HOST:PORT"):
        at("http://scorer.invalid", time).score(["ab"])


def test_the_name_of_a_server():
    assert detector("openai:HTTPS://A.org:443/v1/?key=k").name == "openai:https://a.org/v1"
    assert detector("openai:http://[::1]:80/").name == "openai:http://[::1]"
    assert detector("perspective:http://a?language=de&key=k").name == (
        "perspective:http://a?language=de"
    )


@BOTH
def test_a_quota_is_respected_with_the_pause_the_server_asks_for(server, time, kind):
    server.script = [Answer(429, error("Quota exceeded"), {"Retry-After": "7"})]
    assert at(server.url, time, kind).score(["ab"]).tolist() == [[0.1]]
    [pause] = time.slept
    assert 7 <= pause <= 7 * 1.25
    assert len(server.asked) == 2


def test_a_pause_holds_for_a_request_that_is_waiting_already(server, time):
    """A second request waits for its turn, at 1 s, when a third is told to come back in 4 s."""
    seen = []

    def answer(asked):
        seen.append((asked.texts[0], time.now))
        return Answer(429, b"", {"Retry-After": "4"}) if asked.texts == ["third"] else None

    def wait(seconds):
        time.sleep(seconds)
        if len(seen) == 1:
            with pytest.raises(Unanswered, match="asks for a pause of 4 s"):
                post("third")

    def post(text):
        line.post("/", {}, json.dumps({"comment": {"text": text}} | ASKED).encode())

    server.rule = answer
    how = Patience(
        timeout_seconds=5, attempts=1, per_second=1, in_a_row=8, sleep=wait, clock=time.clock
    )
    with Line(address(server.url, (), "perspective"), how) as line:
        post("first")
        post("second")
    assert seen[:2] == [("first", 0), ("third", 1)]
    [(text, at_seconds)] = seen[2:]
    assert text == "second" and 1 + 4 <= at_seconds <= 1 + 4 * 1.25


def test_without_that_the_pauses_double(server, time):
    server.script = [Answer(429, error("Quota exceeded"))] * 4
    assert at(server.url, time).score(["ab"]).tolist() == [[0.1]]
    assert [4, 8, 16, 32] <= time.slept <= [5, 10, 20, 40]
    assert sum(time.slept) >= 60  # quotas are counted by the minute


@BOTH
def test_a_server_error_passes(server, time, kind):
    server.script = [Answer(reset=True), Answer(500, b"oops"), Answer(503)]
    assert at(server.url, time, kind).score(["ab"]).tolist() == [[0.1]]
    assert len(server.asked) == 4
    assert len(time.slept) == 3
    assert 0.5 <= time.slept[0] <= 0.625


def test_a_reply_that_is_cut_off_is_asked_for_again(server, time):
    server.script = [Answer(cut=10)]
    assert at(server.url, time).score(["ab"]).tolist() == [[0.1]]


def test_a_slow_server(server, time):
    server.script = [Answer(stall_seconds=0.5)] * 5
    with pytest.raises(EvenhandError, match=r"no answer within 0.1 s \(attempt 5 of 5\)"):
        at(server.url, time, timeout_seconds=0.1).score(["ab"])


def test_too_long_a_pause_is_reported_instead_of_waited_for(server, time):
    server.script = [Answer(429, error("Quota"), {"Retry-After": "3600"})]
    with pytest.raises(EvenhandError, match="429 .* asks for a pause of 3600 s"):
        at(server.url, time).score(["ab"])
    assert time.slept == []


def test_a_connection_serves_several_requests(server, time):
    at(server.url, time, threads=1).score([f"t{n}" for n in range(20)])
    assert (len(server.asked), server.connections) == (20, 1)


def test_a_connection_closed_while_idle_is_no_failure(server, time):
    server.script = [Answer(close=True)] * 3
    at(server.url, time, threads=1).score([f"t{n}" for n in range(4)])
    assert (len(server.asked), server.connections, time.slept) == (4, 4, [])


@pytest.mark.parametrize(
    ("kind", "url", "option", "interval"),
    [
        ("perspective", "http://scorer.invalid", None, 1.0),
        ("openai", "http://scorer.invalid", None, 0.2),
        ("perspective", "http://scorer.invalid", 0, 0),
        ("perspective", "", None, 0),
        ("perspective", "", 4, 0.25),
    ],
)
def test_the_rate_limit(server, time, monkeypatch, kind, url, option, interval):
    """A server elsewhere has a limit; the stand-in plays it as a proxy."""
    monkeypatch.setenv("http_proxy", server.url)
    texts = [f"t{n}" for n in range(4 if kind == "perspective" else 4 * 32)]
    at(url or server.url, time, kind, per_second=option, threads=1).score(texts)
    assert len(server.asked) == 4
    assert time.slept == pytest.approx([interval] * 3 if interval else [])
    start = "http://scorer.invalid/" if url else "/"
    assert all(asked.path.startswith(start + "v1") for asked in server.asked)


def test_a_proxy_gets_its_login_and_the_server_does_not(server, time, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://me:pw@127.0.0.1:{server.server_port}")
    at("http://scorer.invalid", time).score(["ab"])
    assert server.asked[0].headers["Proxy-Authorization"] == "Basic bWU6cHc="
    at(server.url, time).score(["abc"])
    assert "Proxy-Authorization" not in server.asked[1].headers


@pytest.mark.parametrize("option", ["timeout_seconds", "attempts", "threads"])
def test_options_out_of_range(option):
    with pytest.raises(BadInput, match=f"{option} is 0"):
        RemoteOptions(**{option: 0})
    with pytest.raises(BadInput, match="per_second is nan, threads is 5"):
        RemoteOptions(per_second=float("nan"), threads=5)


TOO_LONG = Answer(400, error("Comment text too long.", "COMMENT_TOO_LONG"))


@BOTH
def test_one_text_is_refused(server, time, kind):
    server.rule = lambda asked: TOO_LONG if "p7 fool" in asked.texts else None
    corpus = posts(*(f"p{n} fool" for n in range(40)), " ", "")
    found = score_attribute(at(server.url, time, kind), corpus)
    assert found.failed == {
        "p7": "Comment text too long.",
        "p40": "the text is empty, so that it was not sent",
        "p41": "the text is empty, so that it was not sent",
    }
    assert found.table.filter(pl.col("p").is_null())["post"].to_list() == ["p7", "p40", "p41"]
    assert not {"", " "} & set(server.texts)
    # openai: 32 + 8 texts in two requests, the refused one again one by one
    assert len(server.asked) in {"perspective": (40,), "openai": (2 + 32, 2 + 8)}[kind]


def test_a_refusal_is_an_error_where_every_post_needs_a_score(server, time):
    server.rule = lambda asked: TOO_LONG if asked.texts == ["ab"] else None
    with pytest.raises(BrokenComponent, match="1 of 3 texts were refused: Comment text too long"):
        score_posts(at(server.url, time), posts("ab", "abc", "abcd"))


@BOTH
def test_a_text_the_server_stumbles_over(server, time, kind):
    server.rule = lambda asked: Answer(500, b"") if "p7 fool" in asked.texts else None
    corpus = posts(*(f"p{n} fool" for n in range(40)))
    found = score_attribute(at(server.url, time, kind), corpus)
    assert found.failed == {"p7": "the server answered 500 Internal Server Error (attempt 5 of 5)"}


@BOTH
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(stall_seconds=0.3), "no answer within 0.1 s"),
        (Answer(reset=True), "no answer: Remote end closed connection without response"),
        (Answer(408, b""), "the server answered 408 Request Timeout"),
        (Answer(504, b""), "the server answered 504 Gateway Timeout"),
    ],
    ids=["time-out", "reset", "408", "504"],
)
def test_a_text_the_server_never_answers(server, time, kind, answer, reason):
    server.rule = lambda asked: answer if "p7 fool" in asked.texts else None
    corpus = posts(*(f"p{n} fool" for n in range(40)))
    found = score_attribute(at(server.url, time, kind, timeout_seconds=0.1), corpus)
    assert found.failed == {"p7": f"{reason} (attempt 5 of 5)"}


def test_a_server_that_hangs_is_dead(server, time):
    server.rule = lambda asked: Answer(stall_seconds=1) if len(server.asked) > 20 else None
    with pytest.raises(EvenhandError, match=r"within 0.3 s .* of 100 texts are scored and kept"):
        score_attribute(at(server.url, time, timeout_seconds=0.3, attempts=2), MANY)
    # Eight texts are given up after two attempts each; a few others may be under way.
    assert 20 + 8 * 2 - 8 <= len(server.asked) <= 20 + 8 * 2 + 8


@BOTH
@pytest.mark.parametrize("status", [500, 503])
def test_a_server_that_only_stumbles_is_dead(server, time, kind, status):
    server.rule = lambda asked: Answer(status, b"")
    with pytest.raises(EvenhandError, match=f"{status}.*0 of 100 texts are scored and kept"):
        score_attribute(at(server.url, time, kind), MANY)
    assert len(server.asked) <= 5 * 2 * 4 + 5 * 4  # given up 8 times, others under way


@BOTH
def test_when_most_texts_are_refused_it_stops(server, time, kind):
    server.rule = lambda asked: Answer(400, error("language not supported: xx"))
    with pytest.raises(BrokenComponent, match="of the first 3[2-9] texts were refused: language"):
        score_attribute(at(server.url, time, kind, threads=1), MANY)


def test_refusals_left_over_from_a_run_that_was_resumed_do_not_stop_it(server, time):
    bad = set(MANY["text"][:40])
    server.rule = lambda asked: TOO_LONG if bad & set(asked.texts) else None
    first = score_attribute(at(server.url, time), MANY)
    again = score_attribute(at(server.url, time), MANY)
    assert first.failed.keys() == again.failed.keys() == set(MANY["id"][:40])


def test_the_reason_does_not_repeat_the_text_or_the_key(server, time):
    text = "you are all vermin and nothing else"
    said = error(f"cannot read “{text}” of {SECRET}")
    server.rule = lambda asked: Answer(400, said) if asked.texts == [text] else None
    url = f"{server.url}?key=s3cr3t%2F%2Bkey"
    found = score_attribute(at(url, time), posts(text, "a", "b"))
    assert found.failed == {"p0": "cannot read […] of …"}


@BOTH
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "API key not valid. Please pass a valid API key."),
        (401, f"Incorrect API key provided: {SECRET}."),
        (403, "s3cr3t%2F%2Bkey may not"),
    ],
)
def test_a_refused_key_is_an_error_for_all(server, time, monkeypatch, kind, status, message):
    monkeypatch.setenv("EVENHAND_API_KEY", SECRET)
    server.rule = lambda asked: Answer(status, error(message))
    with pytest.raises(EvenhandError, match="does not let us in.*EVENHAND_API_KEY") as caught:
        score_attribute(at(server.url, time, kind, threads=1), MANY)
    assert "s3cr3t" not in str(caught.value)
    assert len(server.asked) <= 2


def test_an_error_for_all_does_not_repeat_the_texts(server, time):
    server.rule = lambda asked: Answer(404, error(f"no model for {asked.texts[0].lower()}"))
    with pytest.raises(BadInput, match=r"404 Not Found \(no model for \[…\]\)"):
        at(server.url, time, "openai").score(["All Vermin"])


@pytest.mark.parametrize("status", [301, 404, 204])
def test_a_server_that_does_something_else(server, time, status):
    headers = {"Location": "http://127.0.0.1:1/other"} if status == 301 else {}
    server.rule = lambda asked: Answer(status, b"", headers)
    with pytest.raises(BadInput, match=f"answered {status} .*expected one that speaks perspect"):
        at(server.url, time).score(["ab"])


def test_an_attribute_perspective_does_not_know(server, time):
    server.rule = lambda asked: Answer(400, error("Unknown requested attribute: HAET"))
    with pytest.raises(BadInput, match="no attribute 'HAET'; .* TOXICITY, .*IDENTITY_ATTACK"):
        at(server.url, time, attribute="HAET").score(["ab"])


def test_an_attribute_openai_does_not_know(server, time):
    with pytest.raises(BadInput, match="no attribute 'HATE'; the server has harassment, hate$"):
        at(server.url, time, "openai", attribute="HATE").score(["ab"])


def test_another_attribute_than_the_one_the_server_is_asked_for(server, time):
    with pytest.raises(BadInput, match="no attribute 'INSULT'; found TOXICITY"):
        score_attribute(at(server.url, time), MANY, attribute="INSULT")


def perspective(value):
    return {"attributeScores": {"TOXICITY": {"summaryScore": {"value": value}}}}


def openai(value):
    return {"results": [{"category_scores": {"hate": value}}]}


@pytest.mark.parametrize(
    ("kind", "content", "words"),
    [
        ("perspective", b"<html>", "cannot be read as JSON"),
        ("perspective", b"", "cannot be read as JSON"),
        ("perspective", {"languages": ["en"]}, "no score of TOXICITY"),
        ("perspective", [1], "no score of TOXICITY"),
        ("perspective", perspective(None), "score of TOXICITY is NoneType"),
        ("perspective", perspective(1.5), "score of TOXICITY is 1.5; expected"),
        ("perspective", perspective(float("nan")), "score of TOXICITY is nan"),
        ("perspective", perspective(True), "score of TOXICITY is bool"),
        ("openai", b"{", "cannot be read as JSON"),
        ("openai", {}, "1 texts with no list of results"),
        ("openai", {"results": []}, "1 texts with 0 results"),
        ("openai", {"results": [{}]}, "no category_scores, where hate"),
        ("openai", openai(-0.1), "score of hate is -0.1"),
        ("openai", openai("much"), "score of hate is str"),
    ],
)
def test_replies_without_a_proper_score(server, time, kind, content, words):
    server.script = [Answer(content=content)]
    with pytest.raises(BrokenComponent, match=words):
        at(server.url, time, kind).score(["ab"])


@BOTH
def test_a_port_nobody_listens_on(time, kind):
    with pytest.raises(EvenhandError, match=r"refused. 0 of 100 texts are scored and kept; run"):
        score_attribute(at(f"http://127.0.0.1:{free_port()}", time, kind), MANY)
    assert time.slept == []


def test_a_host_that_does_not_exist(time, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(EvenhandError, match=r"no answer: .*0 of 1 texts"):
        at("http://nowhere.invalid", time).score(["ab"])
    assert time.slept == []


@BOTH
def test_an_interrupted_run_goes_on_where_it_stopped(server, time, kind):
    done = 10 if kind == "perspective" else 2
    server.rule = lambda asked: Answer(503, b"") if len(server.asked) > done else None
    with pytest.raises(EvenhandError, match="503 .*texts are scored and kept; run") as caught:
        score_attribute(at(server.url, time, kind, threads=1), MANY)
    kept = 10 if kind == "perspective" else 64
    assert f" {kept} of 100 texts are scored and kept" in str(caught.value)
    server.rule, first = lambda asked: None, server.asked[:done]
    server.asked = []
    again = at(server.url, time, kind)
    found = score_attribute(again, MANY)
    assert found.table["p"].to_list() == [p_of(text) for text in MANY["text"]]
    # Up to three kept texts are asked for again, to see that the detector is the same.
    twice = {text for asked in first for text in asked.texts} & set(server.texts)
    assert 1 <= len(twice) <= 3
    assert len(server.texts) == 100 - kept + len(twice)
    assert again.provenance["texts_from_cache"] == kept
    assert again.provenance["cache_checked"]


def test_a_run_that_was_interrupted_by_hand_keeps_what_it_has(server, time):
    def step(what, done, total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_attribute(at(server.url, time), MANY, step=step)
    kept = ScoreCache.of(at(server.url, time).name, "TOXICITY", cache_folder())
    assert len(kept.find(MANY["text"].to_list())) == len(server.texts) >= 5


def test_a_process_that_is_interrupted_keeps_every_answer(server, folder):
    code = (
        "from evenhand.models.find import detector\n"
        f"found = detector('perspective:{server.url}')\n"
        "found.score([f'text {n}' for n in range(400)])\n"
    )
    # Midway the server all but stops, so that the process cannot get far before it ends.
    server.rule = lambda asked: Answer(stall_seconds=0.2) if len(server.asked) > 200 else None
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"EVENHAND_CACHE": str(folder)},
        stderr=subprocess.DEVNULL,
    )
    until = monotonic() + 20
    while len(server.asked) <= 200 and process.poll() is None and monotonic() < until:
        sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) != 0
    kept = ScoreCache.of(f"perspective:{server.url}", "TOXICITY", folder).find(server.texts)
    assert 200 <= len(kept) <= len(server.asked) < 230
    server.rule, server.asked = lambda asked: None, []
    texts = [f"text {n}" for n in range(400)]
    detector(f"perspective:{server.url}").score(texts)
    assert len(set(server.texts) - kept.keys()) == 400 - len(kept)
    assert 1 <= len(set(server.texts) & kept.keys()) <= 3


def test_progress_is_reported(server, time):
    seen = []
    score_attribute(at(server.url, time), MANY, step=lambda *step: seen.append(step))
    assert seen[-1] == (f"Scoring with perspective:{server.url}", 100, 100)
    assert [done for _, done, _ in seen] == list(range(1, 101))


def test_a_whole_run_that_is_kept_needs_no_server(time):
    with stand_in() as server:
        first = score_attribute(at(server.url, time), MANY)
        url = server.url
    gone = at(url, time)
    assert score_attribute(gone, MANY).table.equals(first.table)
    assert gone.provenance["cache_checked"] is False


def test_a_detector_that_has_changed_is_noticed(server, time):
    score_attribute(at(server.url, time), MANY)
    server.score = lambda text: 1 - p_of(text)
    with pytest.raises(BadInput, match=r"has changed: a text that scored 0.3.*delete .*sqlite"):
        score_attribute(at(server.url, time), MANY)


def kept_but_now(server, time, refused, texts):
    """Score all texts but the last ten, then all with a server that refuses some."""
    score_attribute(at(server.url, time), MANY[:-10])
    refusal = Answer(400, error("language not supported: xx"))
    server.rule = lambda asked: refusal if refused(asked.texts[0]) else None
    again = at(server.url, time)
    return again, lambda: score_attribute(again, texts)


@pytest.mark.parametrize("texts", [MANY, MANY[:-10]], ids=["more to ask", "all kept"])
def test_a_kept_text_that_is_refused_now_is_a_difference(server, time, texts):
    lowest = min(MANY["text"][:-10], key=p_of)
    refused = {text for text in MANY["text"] if p_of(text) == p_of(lowest)}
    _, score = kept_but_now(server, time, lambda text: text in refused, texts)
    with pytest.raises(BadInput, match=r"is refused now \(language not.*delete .*sqlite"):
        score()


def test_when_kept_texts_are_refused_and_others_scored_nothing_is_mixed(server, time):
    known = set(MANY["text"][:-10])
    _, score = kept_but_now(server, time, lambda text: text in known, MANY)
    with pytest.raises(BadInput, match=r"is refused now \(language not.*delete .*sqlite"):
        score()
    cache = ScoreCache.of(at(server.url, time).name, "TOXICITY", cache_folder())
    assert len(cache.find(MANY["text"].to_list())) == 90


def test_a_server_that_refuses_everything_is_not_another_one(server, time):
    again, score = kept_but_now(server, time, lambda text: True, MANY)
    with pytest.raises(BrokenComponent, match="refuses every text, also one it scored before: lan"):
        score()
    again, score = kept_but_now(server, time, lambda text: True, MANY[:-10])
    assert score().failed == {}
    assert again.provenance["cache_checked"] is False


def test_no_text_is_counted_twice(server, time):
    bad = set(MANY["text"][:10])
    server.rule = lambda asked: TOO_LONG if bad & set(asked.texts) else None
    score_attribute(at(server.url, time), MANY[:60])
    found = at(server.url, time)
    for _ in range(2):
        score_attribute(found, MANY)
    # 50 were scored before; 40 and the ten that are refused each time are asked for.
    counts = {name: n for name, n in found.provenance.items() if name.startswith("texts_")}
    assert counts == {"texts_asked": 50, "texts_refused": 10, "texts_from_cache": 50}
    server.rule = lambda asked: None
    score_attribute(found, MANY)
    counts = {name: n for name, n in found.provenance.items() if name.startswith("texts_")}
    assert counts == {"texts_asked": 50, "texts_refused": 0, "texts_from_cache": 50}


def test_without_the_cache_nothing_is_kept(server, time, folder):
    for _ in range(2):
        found = at(server.url, time, cache=False)
        score_attribute(found, MANY)
    assert len(server.asked) == 200
    assert not folder.exists()
    dead = at(f"http://127.0.0.1:{free_port()}", time, cache=False)
    with pytest.raises(EvenhandError, match="none is kept"):
        dead.score(["ab"])


def test_attributes_and_settings_are_kept_apart(server, time, folder):
    for url, attribute in (("", "TOXICITY"), ("", "INSULT"), ("?language=en", "INSULT")):
        at(server.url + url, time, attribute=attribute).score(["ab"])
    assert len(list(folder.iterdir())) == 3
    assert len(server.asked) == 3


@BOTH
def test_neither_key_nor_text_is_written_anywhere(server, time, kind, folder, capfd):
    url = f"{server.url}?key=s3cr3t%2F%2Bkey"
    found = at(url, time, kind)
    found.score(["the only text"])
    [asked] = server.asked
    sent = asked.path if kind == "perspective" else asked.headers["Authorization"]
    assert sent.endswith({"perspective": "?key=s3cr3t%2F%2Bkey", "openai": SECRET}[kind])
    [file] = folder.iterdir()
    shown = [
        file.name.encode(), file.read_bytes(), found.name.encode(), repr(found).encode(),
        json.dumps(found.provenance).encode(), "".join(capfd.readouterr()).encode(),
    ]  # fmt: skip
    assert not any(b"s3cr3t" in part or b"the only text" in part for part in shown)
    server.rule = lambda asked: Answer(503, error(f"no {SECRET}"))
    with pytest.raises(EvenhandError) as caught:
        found.score(["another"])
    assert "s3cr3t" not in f"{caught.value}{caught.value.__cause__}"


def test_one_key_does_not_change_what_is_kept(server, time, folder):
    at(f"{server.url}?key=one", time).score(["ab"])
    at(f"{server.url}?key=two", time).score(["ab", "abc"])
    assert len(list(folder.iterdir())) == 1


def test_the_order_of_rows_does_not_matter(server, time):
    bad = set(MANY["text"][:20])
    server.rule = lambda asked: TOO_LONG if bad & set(asked.texts) else None
    found = score_attribute(at(server.url, time, cache=False), MANY)
    other = score_attribute(at(server.url, time, cache=False), MANY[::-1])
    assert found.table.sort("post").equals(other.table.sort("post"))
    assert found.failed == other.failed


def test_no_posts(server, time):
    assert score_attribute(at(server.url, time), MANY.head(0)).table.height == 0
    assert np.array_equal(at(server.url, time).score([]), np.empty((0, 1)))
    assert server.asked == []


def test_two_processes_share_what_is_kept(server, folder):
    code = (
        "from evenhand.models.find import detector\n"
        f"found = detector('perspective:{server.url}')\n"
        "texts = [f'text {n}' for n in range(200)]\n"
        "assert found.score(texts)[:, 0].tolist() == [min(len(t), 20) / 20 for t in texts]\n"
    )
    env = os.environ | {"EVENHAND_CACHE": str(folder)}
    both = [subprocess.Popen([sys.executable, "-c", code], env=env) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    [file] = folder.iterdir()
    kept = ScoreCache.of(f"perspective:{server.url}", "TOXICITY", folder)
    assert kept.path == file
    assert len(kept.find([f"text {n}" for n in range(200)])) == 200


def test_threads_end_with_the_run(server, time):
    before = threading.active_count()
    score_attribute(at(server.url, time, timeout_seconds=5), MANY)
    assert not [t for t in threading.enumerate() if t.name.startswith("ThreadPoolExecutor")]
    assert threading.active_count() <= before + 4  # the stand-in's own

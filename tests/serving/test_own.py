"""Our own dialect, the page, and what those who run a server ask."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from evenhand.serving.keys import Keys


def test_many_texts_in_a_call(client):
    answer = client.post("/score", json={"texts": ["hello", "hello you"]}).json()
    assert answer["scale"] == "probability"
    assert answer["detector"]["name"] == "python:served:plain"
    assert [found["scores"]["TOXICITY"] for found in answer["results"]] == [0.25, 0.45]
    assert answer["results"][0]["scores"]["INSULT"] == 0.25


def test_thresholds_by_name_by_community_and_of_the_callers_own(app, tmp_path):
    file = tmp_path / "thresholds.toml"
    file.write_text(
        "[sets.strict]\nTOXICITY = 0.2\n[sets.lax]\nTOXICITY = 0.9\n"
        '[communities]\n"/forum/movies" = "strict"\n'
    )
    client = app(thresholds=str(file))

    def above(**more):
        answer = client.post("/score", json={"texts": ["hello"], **more})
        assert answer.status_code == 200, answer.text
        return answer.json()["results"][0]["above"]

    assert above() == []  # this detector ships no thresholds
    assert above(thresholds="strict") == ["TOXICITY"]
    assert above(thresholds="lax") == []
    assert above(community="/forum/movies") == ["TOXICITY"]
    assert above(community="/forum/other") == []
    assert above(community="/forum/movies", thresholds="lax") == []
    assert above(thresholds={"INSULT": 0.25}) == ["INSULT"]


def test_half_a_pair_of_surrogates_is_read_as_the_replacement_character(client):
    answer = client.post("/score", content=b'{"texts": ["cut \\ud83d"]}')
    # Four characters and the one that stands for the half: 5 / 20.
    assert answer.json()["results"][0]["scores"]["TOXICITY"] == 0.25
    answer = client.post("/score", content=b'{"texts": ["cut \\ud83d"], "unheard": 1}')
    assert "unknown field" in answer.json()["error"]["message"]


def test_evidence_is_what_leaving_out_a_word_does(client):
    answer = client.post(
        "/score", json={"texts": ["hello you"], "evidence": True, "evidence_of": "TOXICITY"}
    ).json()
    words = answer["results"][0]["evidence"]
    # Nine characters: .45. Without "hello" at most " you" is left, without "you" "hello ".
    assert {(word["begin"], word["end"]) for word in words} == {(0, 5), (6, 9)}
    assert all(word["weight"] > 0 for word in words)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "texts"),
        ({"texts": []}, "length >= 1"),
        ({"texts": "one"}, "Expected `array`"),
        ({"texts": ["a"], "attributes": ["SPAM"]}, "no attribute 'SPAM'"),
        ({"texts": ["a"], "evidence_of": "SPAM"}, "no attribute 'SPAM'"),
        ({"texts": ["a"], "scale": "percent"}, "scale 'percent'"),
        ({"texts": ["a"], "thresholds": "odd"}, "no thresholds are named 'odd'; found shipped"),
        ({"texts": ["a"], "thresholds": {"SPAM": 1}}, "thresholds name 'SPAM'"),
        ({"texts": ["a"], "thresholds": {"INSULT": 3}}, "expected 0 to 1"),
        ({"texts": ["a" * 20_481]}, "texts[0] is longer"),
        ({"texts": ["a"] * 1001}, "length <= 1000"),
        ({"texts": ["a"] * 21, "evidence": True}, "at most 20"),
        ({"texts": ["a"], "unheard": 1}, "unknown field"),
    ],
)
def test_bad_input_is_refused_in_words(client, body, message):
    answer = client.post("/score", json=body)
    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[sets.a]\nSPAM = 0.5", "names SPAM"),
        ("[sets.a]\nTOXICITY = 5", "expected 0 to 1"),
        ('[communities]\nx = "none"', "uses set 'none'"),
        ("[other]\na = 1", r"\[other\] is not known"),
        ("not toml", "is no TOML"),
        ("sets = 5", "expected tables"),
    ],
)
def test_a_wrong_file_of_thresholds_is_refused_at_the_start(app, tmp_path, content, message):
    from evenhand.core.errors import BadInput

    (tmp_path / "t.toml").write_text(content)
    with pytest.raises(BadInput, match=message):
        app(thresholds=str(tmp_path / "t.toml"))


def test_health_and_readiness(client):
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json()["ready"] is True


def test_metrics_count_requests_and_texts_and_hold_no_text(client):
    client.post("/score", json={"texts": ["a secret text", "b"]})
    client.post("/v1alpha1/comments:analyze?key=abc", json={"comment": {"text": ""}})
    page = client.get("/metrics").text
    assert 'evenhand_requests_total{route="score",status="200"} 1.0' in page
    assert 'evenhand_requests_total{route="analyze",status="400"} 1.0' in page
    assert "evenhand_texts_total 2.0" in page
    assert "secret" not in page and "abc" not in page


def test_texts_scored_together_are_one_batch(app):
    client = app(detector="python:served:slow", patience=60.0)
    with ThreadPoolExecutor(12) as pool:
        asked = [pool.submit(client.post, "/score", json={"texts": ["a"]}) for _ in range(12)]
        assert {one.result().status_code for one in asked} == {200}
    page = client.get("/metrics").text
    batches = float(re.search(r"^evenhand_batches_total (\S+)$", page, re.MULTILINE)[1])
    # The first is scored alone; the others wait for it and are scored together, in 50 ms each.
    assert "evenhand_texts_total 12.0" in page
    assert 1 <= batches < 12


def test_without_a_key_only_what_says_nothing_is_answered(app, tmp_path):
    client = app(require_key=True)
    made, _ = Keys(tmp_path / "keys.json").add("site")
    body = {"texts": ["a"]}
    assert client.post("/score", json=body).status_code == 401
    assert client.get("/metrics").status_code == 401
    assert client.post("/", data={"text": "a"}).status_code == 401
    for path in ("/healthz", "/readyz", "/", "/schema", "/schema/openapi.json"):
        assert client.get(path).status_code == 200
    headers = {"Authorization": f"Bearer {made}"}
    assert client.post("/score", json=body, headers=headers).status_code == 200
    assert client.get("/metrics", headers=headers).status_code == 200
    analyze = "/v1alpha1/comments:analyze"
    asked = {"comment": {"text": "a"}, "requestedAttributes": {"TOXICITY": {}}}
    assert client.post(f"{analyze}?key={made}", json=asked).status_code == 200
    assert client.post(analyze, json=asked, headers={"x-goog-api-key": made}).status_code == 200
    wrong = client.post(f"{analyze}?key=wrong", json=asked)
    assert wrong.status_code == 400
    assert wrong.json()["error"]["message"] == "API key not valid. Please pass a valid API key."
    assert client.post(analyze, json=asked).status_code == 403


def test_on_loopback_any_key_or_none_is_accepted(client):
    body = {"texts": ["a"]}
    for headers in ({}, {"Authorization": "Bearer whatever"}):
        assert client.post("/score", json=body, headers=headers).status_code == 200


def test_a_key_with_a_rate_is_held_to_it(app, tmp_path):
    client = app(require_key=True)
    made, _ = Keys(tmp_path / "keys.json").add("site", rate=6)  # one at once, then one in ten s
    asked = {"comment": {"text": "a"}, "requestedAttributes": {"TOXICITY": {}}}
    url = f"/v1alpha1/comments:analyze?key={made}"
    assert client.post(url, json=asked).status_code == 200
    answer = client.post(url, json=asked)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "10"
    error = answer.json()["error"]
    assert error["status"] == "RESOURCE_EXHAUSTED"
    assert error["message"].startswith(
        "Quota exceeded for quota metric 'Analysis requests (AnalyzeComment)' and limit '6 requests"
    )
    assert error["details"][0]["reason"] == "RATE_LIMIT_EXCEEDED"
    headers = {"Authorization": f"Bearer {made}"}
    assert client.post("/score", json={"texts": ["a"]}, headers=headers).status_code == 429
    assert client.post("/v1/moderations", json={"input": "a"}, headers=headers).status_code == 429


def test_our_own_fault_is_answered_and_logged_without_the_text(app, caplog):
    client = app(detector="python:served:broken")
    answer = client.post("/score", json={"texts": ["break this secret"]})
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "BrokenComponent at " in caplog.text
    assert "secret" not in caplog.text
    assert client.post("/score", json={"texts": ["fine"]}).status_code == 200


def test_the_page_takes_a_key_where_one_is_needed(app, tmp_path):
    assert 'name="key"' not in app().get("/").text
    client = app(require_key=True)
    made, _ = Keys(tmp_path / "keys.json").add("site")
    assert 'name="key"' in client.get("/").text
    page = client.post("/", data={"text": "hello you", "key": made})
    assert page.status_code == 200
    assert '<h2 id="scores">' in page.text
    assert made not in page.text
    page = client.post("/", data={"text": "hello you", "key": "wrong"})
    assert page.status_code == 401
    assert "hello you" in page.text  # nobody has to type it again
    counted = client.get("/metrics", headers={"x-goog-api-key": made}).text
    assert 'evenhand_requests_total{route="page",status="200"} 1.0' in counted
    assert 'evenhand_requests_total{route="page",status="401"} 1.0' in counted


def test_the_page_scores_and_escapes(client):
    page = client.get("/")
    assert "<form" in page.text
    assert "script" not in page.headers["content-security-policy"]
    page = client.post("/", data={"text": "<script>alert(1)</script> you", "attribute": "INSULT"})
    assert page.status_code == 200
    assert "<script>" not in page.text
    assert "&lt;script&gt;" in page.text
    assert "Not for decisions about a person" in page.text
    assert re.search(r"<option selected>INSULT</option>", page.text)
    assert "Type a text first." in client.post("/", data={"text": " "}).text
    assert "longer than" in client.post("/", data={"text": "a" * 20_481}).text


def test_a_detector_without_a_card(client):
    assert client.get("/card").status_code == 404


def test_the_card_of_a_shipped_detector(app):
    client = app(detector="evenhand-fast")
    card = client.get("/card")
    assert card.text.startswith("#")
    assert card.headers["content-type"] == "text/markdown; charset=utf-8"
    page = client.get("/card", headers={"Accept": "text/html"}).text
    assert "<h1>" in page and "<table>" in page


def test_what_does_not_exist(client):
    assert client.get("/nothing").status_code == 404
    assert client.get("/v1/nothing").json()["error"]["type"] == "invalid_request_error"

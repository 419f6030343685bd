"""Unmodified clients of Perspective and OpenAI drive a running server."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

import evenhand

CLIENTS = Path(__file__).parents[1] / "clients"
TEXT = "You are a fool 🙂. Have a nice day."


def node(script: str, base: str) -> dict:
    found = subprocess.run(
        ["node", str(CLIENTS / script), base], capture_output=True, text=True, timeout=120
    )
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


@pytest.fixture
def google(server):
    from googleapiclient import discovery

    with discovery.build(
        "commentanalyzer",
        "v1alpha1",
        developerKey="k",
        discoveryServiceUrl=f"{server.base}/$discovery/rest?version=v1alpha1",
        static_discovery=False,
        cache_discovery=False,
    ) as client:
        yield client


def asked(text: str = TEXT, **more) -> dict:
    return {
        "comment": {"text": text},
        "requestedAttributes": {"TOXICITY": {}},
        "languages": ["en"],
        **more,
    }


def test_google_api_python_client(google):
    answer = google.comments().analyze(body=asked(spanAnnotations=True, clientToken="c")).execute()
    scores = answer["attributeScores"]["TOXICITY"]
    units = TEXT.encode("utf-16-le")
    cut = [
        units[2 * span["begin"] : 2 * span["end"]].decode("utf-16-le")
        for span in scores["spanScores"]
    ]
    assert cut == ["You are a fool 🙂.", "Have a nice day."]
    first, second = (span["score"]["value"] for span in scores["spanScores"])
    assert first > evenhand.load().thresholds()["TOXICITY"] > second
    assert answer["clientToken"] == "c"
    assert answer["languages"] == ["en"]
    suggested = google.comments().suggestscore(
        body={
            "comment": {"text": TEXT},
            "attributeScores": {"TOXICITY": {"summaryScore": {"value": 1}}},
            "clientToken": "t",
        }
    )
    assert suggested.execute()["clientToken"] == "t"


def test_google_api_python_client_reads_our_errors(google):
    from googleapiclient.errors import HttpError

    with pytest.raises(HttpError) as caught:
        google.comments().analyze(body=asked(languages=["sw"])).execute()
    assert caught.value.status_code == 400
    assert caught.value.reason == "Attribute TOXICITY does not support request languages: sw"
    assert caught.value.error_details[0]["errorType"] == "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE"


def test_google_api_python_client_in_a_batch(google):
    found: dict[str, object] = {}

    def take(name, answer, error):
        found[name] = answer if error is None else error

    batch = google.new_batch_http_request(callback=take)
    for number in range(20):
        one = google.comments().analyze(body=asked(f"{TEXT} {number}"))
        batch.add(one, request_id=f"r{number}")
    batch.add(google.comments().analyze(body=asked("")), request_id="empty")
    batch.execute()
    assert len(found) == 21
    alone = google.comments().analyze(body=asked(f"{TEXT} 7")).execute()
    assert found["r7"] == alone
    assert found["empty"].status_code == 400
    assert found["empty"].reason == "Comment must be non-empty."


def test_openai_for_python(server):
    from openai import OpenAI

    with OpenAI(api_key="k", base_url=f"{server.base}/v1") as client:
        one = client.moderations.create(input="You are a fool.")
        many = client.moderations.create(input=["You are a fool.", "Have a nice day."])
    assert one.results[0].flagged and one.results[0].categories.harassment
    assert [result.flagged for result in many.results] == [True, False]
    assert many.results[0].category_scores == one.results[0].category_scores
    assert one.results[0].category_applied_input_types.sexual == []
    assert one.results[0].category_applied_input_types.harassment == ["text"]
    assert one.model == "evenhand-base"


def test_pyspective_redirected(server, monkeypatch):
    import requests
    from pyspective import pyspective

    plain = requests.Session.send

    def send(self, request, **options):
        request.url = request.url.replace("https://commentanalyzer.googleapis.com", server.base)
        return plain(self, request, **options)

    monkeypatch.setattr(requests.Session, "send", send)
    api = pyspective.PyspectiveAPI("k")
    assert api.score(TEXT, test="toxicity")["TOXICITY"] > 0.3
    assert api.suggest(TEXT, 1.0) == "Successed"


def test_the_client_of_conversationai_is_refused_spam(server):
    found = node("conversationai.cjs", server.base)
    assert "400" in found["byDefault"]["error"]
    assert found["named"]["TOXICITY"] > 0.5
    assert set(found["named"]) == {"TOXICITY", "INSULT"}


def test_the_client_of_conversationai_where_unsupported_attributes_are_dropped(serve):
    server = serve("--detector", "evenhand-fast", "--drop-unsupported")
    found = node("conversationai.cjs", server.base)
    assert set(found["byDefault"]) == {"TOXICITY"}


def test_googleapis_common(server):
    found = node("googleapis.cjs", server.base)
    assert found["sentences"] == ["You are a fool 🙂.", "Have a nice day."]
    assert found["suggested"] == {
        "clientToken": "t",
        "detectedLanguages": ["en"],
        "requestedLanguages": ["en"],
    }
    assert found["refused"] == {"code": 400, "message": "Comment must be non-empty."}


def test_openai_for_node(server):
    found = node("openai.cjs", server.base)
    assert found["one"]["results"][0]["flagged"] is True
    assert [result["flagged"] for result in found["many"]["results"]] == [True, False]


def test_perspective_api_client_redirected(server):
    found = node("perspective_api_client.cjs", server.base)
    assert set(found["found"]["attributeScores"]) == {"TOXICITY", "THREAT"}
    assert found["found"]["attributeScores"]["TOXICITY"]["summaryScore"]["value"] > 0.5
    assert "TOXICITY" in found["cut"]["attributeScores"]
    assert found["refused"] == "Unknown requested attribute: UNHEARD_OF"


def test_corals_request_and_feedback_with_sixteen_callers(server):
    # As Coral sends them: one attribute, a language, its tenant and comment.
    url = f"{server.base}/v1alpha1"
    body = {
        "comment": {"text": TEXT},
        "doNotStore": True,
        "requestedAttributes": {"TOXICITY": {}},
        "languages": ["en"],
    }
    feedback = {
        "comment": {"text": TEXT},
        "context": {"entries": [{"text": json.dumps({"url": "https://example.org/story"})}]},
        "communityId": "Coral:tenant",
        "clientToken": "comment:1",
        "languages": ["en"],
        "attributeScores": {"TOXICITY": {"summaryScore": {"value": 1}}},
    }

    def call(client: httpx.Client, number: int):
        asked = client.post(f"{url}/comments:analyze?key=k", json=body)
        told = client.post(f"{url}/comments:suggestscore?key=k", json=feedback)
        return asked, told

    with httpx.Client(timeout=30) as client, ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda n: call(client, n), range(48)))
    for asked, told in answers:
        assert asked.status_code == 200
        assert asked.json()["attributeScores"]["TOXICITY"]["summaryScore"]["value"] > 0.3
        assert told.json()["clientToken"] == "comment:1"

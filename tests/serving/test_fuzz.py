"""Whatever is sent, the answer is a valid reply or a well-formed error."""

from __future__ import annotations

import json
import random

import pytest

from serving_apps import application

TEXTS = [
    "", " ", "ok", "You fool.", "🙂", "👩\u200d👩\u200d👧\u200d👦🇩🇪1️⃣", "a\u0301" * 40, "\u0000",
    "\u202eabc", "\ud83d", "x" * 20_480, "x" * 20_481, "a. " * 500, "\n" * 50, "1234", "é" * 300,
    "<b>hi</b>", "'; drop table", "%s{}{{7*7}}",
]  # fmt: skip
ODD = [None, True, False, 0, -1, 1e308, 10**30, "", "x", [], {}, [1], {"a": 1}, [[]], "NaN", 0.5]
ATTRIBUTES = ["TOXICITY", "INSULT", "SPAM", "", "toxicity", "HATE", "é"]
LANGUAGES = [["en"], ["sw"], ["en", "de"], [], "en", [""], ["en-US"], ["zz-ZZ-x"], [None], None]


def value(rng: random.Random, proper):
    return rng.choice(ODD) if rng.random() < 0.12 else proper


def request(rng: random.Random) -> dict:
    names = rng.sample(ATTRIBUTES, rng.randint(0, 3)) + ["TOXICITY"]
    wanted = {}
    for name in names:
        about = {}
        if rng.random() < 0.3:
            about["scoreThreshold"] = value(rng, rng.uniform(-0.2, 1.2))
        if rng.random() < 0.2:
            about["scoreType"] = value(rng, rng.choice(["PROBABILITY", "RAW", "OTHER"]))
        wanted[name] = value(rng, about)
    found = {
        "comment": value(
            rng, {"text": value(rng, rng.choice(TEXTS)), "type": value(rng, "PLAIN_TEXT")}
        ),
        "requestedAttributes": value(rng, wanted),
    }
    for name, proper in (
        ("languages", rng.choice(LANGUAGES)),
        ("spanAnnotations", True),
        ("dropUnsupportedAttributes", True),
        ("doNotStore", True),
        ("clientToken", "t"),
        ("sessionId", "s"),
        ("communityId", "c"),
        ("context", {"entries": [{"text": "a"}]}),
    ):
        if rng.random() < 0.35:
            found[name] = value(rng, proper)
    for name in list(found):
        if rng.random() < 0.03:
            del found[name]
    return found


def content(rng: random.Random) -> bytes:
    body = bytearray(json.dumps(request(rng)).encode("utf-8", "surrogatepass"))
    if rng.random() < 0.15:  # and some that are broken on the way
        for _ in range(rng.randint(1, 4)):
            body[rng.randrange(len(body))] = rng.randrange(256)
    if rng.random() < 0.05:
        body = body[: rng.randrange(len(body))]
    return bytes(body)


def check(answer) -> int:
    found = answer.json()
    if answer.status_code == 200:
        assert set(found) <= {
            "attributeScores", "languages", "detectedLanguages", "untestedLanguages", "clientToken",
        }  # fmt: skip
        for scores in found.get("attributeScores", {}).values():
            every = [scores["summaryScore"]] if "summaryScore" in scores else []
            every += [span["score"] for span in scores.get("spanScores", [])]
            assert every and all(0 <= one["value"] <= 1 for one in every)
    else:
        assert answer.status_code in (400, 413), answer.text
        error = found["error"]
        assert error["code"] == answer.status_code
        assert error["status"] == "INVALID_ARGUMENT"
        assert error["message"]
    return answer.status_code


def run(folder, seed: int, many: int) -> set[int]:
    rng = random.Random(seed)
    seen = set()
    with application(folder) as client:
        for _ in range(many):
            seen.add(check(client.post("/v1alpha1/comments:analyze?key=k", content=content(rng))))
    return seen


def test_a_thousand_fuzzed_bodies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(tmp_path, seed=1, many=1000) == {200, 400}


@pytest.mark.soak
def test_ten_thousand_fuzzed_bodies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(tmp_path, seed=2, many=10_000) == {200, 400}

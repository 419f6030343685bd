"""Perspective's dialect through the application."""

from __future__ import annotations

import json

import pytest

URL = "/v1alpha1/comments:analyze"
ERROR = "type.googleapis.com/google.commentanalyzer.v1alpha1.Error"


def body(text="Hello there", **more):
    return {
        "comment": {"text": text},
        "requestedAttributes": {"TOXICITY": {}},
        "languages": ["en"],
        **more,
    }


def test_the_reply_has_perspectives_form(client):
    answer = client.post(URL, json=body(clientToken="c", sessionId="s", communityId="m"))
    assert answer.status_code == 200
    # "Hello there" has 11 characters: 11 / 20.
    score = {"value": 0.55, "type": "PROBABILITY"}
    assert answer.json() == {
        "attributeScores": {
            "TOXICITY": {
                "spanScores": [{"begin": 0, "end": 11, "score": score}],
                "summaryScore": score,
            }
        },
        "languages": ["en"],
        "detectedLanguages": ["en"],
        "clientToken": "c",
    }


def test_spans_are_sentences_in_utf16_units(client):
    answer = client.post(URL, json=body("Hi 👍🏽 you. Fine.", spanAnnotations=True)).json()
    spans = answer["attributeScores"]["TOXICITY"]["spanScores"]
    # The thumb and its skin tone are two units each: "Hi 👍🏽 you." has 3 + 4 + 5 of them.
    assert [(span["begin"], span["end"]) for span in spans] == [(0, 12), (13, 18)]
    # In code points the sentences have 10 and 5, the whole text 16.
    assert [span["score"]["value"] for span in spans] == [0.5, 0.25]
    assert answer["attributeScores"]["TOXICITY"]["summaryScore"]["value"] == 0.8


def test_scores_below_the_threshold_are_left_out(client):
    wanted = {"TOXICITY": {"scoreThreshold": 0.9}, "INSULT": {"scoreThreshold": 0.1}}
    answer = client.post(URL, json=body(requestedAttributes=wanted)).json()
    assert list(answer["attributeScores"]) == ["INSULT"]
    wanted = {"TOXICITY": {"scoreThreshold": 0.9}}
    answer = client.post(URL, json=body(requestedAttributes=wanted)).json()
    assert answer == {"languages": ["en"], "detectedLanguages": ["en"]}


def test_a_sentence_above_the_threshold_stays_where_the_whole_is_below(app):
    client = app(detector="python:served:other")  # shorter is higher
    wanted = {"TOXICITY": {"scoreThreshold": 0.5}}
    answer = client.post(
        URL,
        json=body("Short. And this one is long.", spanAnnotations=True, requestedAttributes=wanted),
    ).json()
    assert "summaryScore" not in answer["attributeScores"]["TOXICITY"]
    assert len(answer["attributeScores"]["TOXICITY"]["spanScores"]) == 1


def refused(client, content, code=400):
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    answer = client.post(URL, content=data, headers={"Content-Type": "application/json"})
    assert answer.status_code == code, answer.text
    error = answer.json()["error"]
    assert error["code"] == code
    assert error["status"] == "INVALID_ARGUMENT"
    assert error["details"][0]["@type"].startswith("type.googleapis.com/")
    return error


@pytest.mark.parametrize(
    ("changed", "kind", "message"),
    [
        ({"comment": {"text": ""}}, "COMMENT_EMPTY", "Comment must be non-empty."),
        ({"comment": {"text": " \n"}}, "COMMENT_EMPTY", "Comment must be non-empty."),
        ({"comment": {}}, "COMMENT_EMPTY", "Comment must be non-empty."),
        ({"comment": {"text": "a" * 20_481}}, "COMMENT_TOO_LONG", "Comment text too long."),
        ({"comment": {"text": "é" * 10_241}}, "COMMENT_TOO_LONG", "Comment text too long."),
        ({"requestedAttributes": {}}, "NO_REQUESTED_ATTRIBUTES", "Missing requested_attributes"),
        ({"requestedAttributes": None}, "NO_REQUESTED_ATTRIBUTES", "Missing requested_attributes"),
        ({"requestedAttributes": {"SPAM": {}}}, "INVALID_REQUEST",
         "Unknown requested attribute: SPAM"),
        ({"requestedAttributes": {"TOXICITY": {"scoreType": "RAW"}}}, "INVALID_REQUEST",
         "Requested score type RAW is not supported by attribute TOXICITY"),
        ({"comment": {"text": "x", "type": "HTML"}}, "INVALID_REQUEST",
         "Currently, only 'PLAIN_TEXT' comments are supported"),
        ({"context": {"entries": [{"text": "a"}], "articleAndParentComment": {"article": {}}}},
         "INVALID_REQUEST", "Context can have either entries or article_and_parent_comment, but "
         "both fields were populated."),
        ({"comment": {"text": "12345 ..."}, "languages": []}, "LANGUAGE_DETECTION_FAILED",
         "Unable to detect language"),
    ],
)  # fmt: skip
def test_errors_have_perspectives_words(client, changed, kind, message):
    error = refused(client, {**body(), **changed})
    assert error["message"] == message
    assert error["details"] == [{"@type": ERROR, "errorType": kind}]


def test_a_language_that_was_not_tested(client):
    error = refused(client, body("Habari za asubuhi", languages=["sw"]))
    assert error["message"] == "Attribute TOXICITY does not support request languages: sw"
    (detail,) = error["details"]
    assert detail["errorType"] == "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE"
    told = detail["languageNotSupportedByAttributeError"]
    assert told["requestedLanguages"] == ["sw"]
    assert told["attribute"] == "TOXICITY"


def test_a_detected_language_that_was_not_tested(client):
    german = "Das ist ein ganz gewöhnlicher deutscher Satz über das Wetter von morgen."
    asked = body(german)
    del asked["languages"]
    error = refused(client, asked)
    assert error["message"].endswith("does not support request languages: de")
    # Who names a supported language is believed.
    assert client.post(URL, json=body(german)).status_code == 200


@pytest.mark.parametrize("text", ["ok", "u r a 🤡", "🤡🤡🤡", "lol wut", "kys", "x", "\u0000"])
@pytest.mark.parametrize("languages", [["en"], ["en-GB"]])
def test_no_text_is_refused_for_being_short_where_the_language_was_named(client, text, languages):
    assert client.post(URL, json=body(text, languages=languages)).status_code == 200


@pytest.mark.parametrize("text", ["ok", "u r a 🤡", "🤡🤡🤡", "lol wut"])
def test_short_texts_without_a_language_are_taken_for_the_tested_one(client, text):
    asked = body(text)
    del asked["languages"]
    assert client.post(URL, json=asked).json()["languages"] == ["en"]


def test_untested_languages_are_marked_where_the_owner_allows_them(app):
    client = app(allow_untested_language=True)
    answer = client.post(URL, json=body(languages=["sw", "en"]))
    assert answer.status_code == 200
    assert answer.json()["untestedLanguages"] == ["sw"]
    assert "untestedLanguages" not in client.post(URL, json=body()).json()


def test_unsupported_attributes_are_dropped_where_asked(client, app):
    wanted = {"SPAM": {}, "TOXICITY": {}}
    asked = body(requestedAttributes=wanted, dropUnsupportedAttributes=True)
    assert list(client.post(URL, json=asked).json()["attributeScores"]) == ["TOXICITY"]
    asked = body(requestedAttributes={"SPAM": {}}, dropUnsupportedAttributes=True)
    assert "attributeScores" not in client.post(URL, json=asked).json()
    asked = body(languages=["sw"], dropUnsupportedAttributes=True)
    assert "attributeScores" not in client.post(URL, json=asked).json()
    always = app(drop_unsupported=True)
    asked = body(requestedAttributes=wanted)
    assert list(always.post(URL, json=asked).json()["attributeScores"]) == ["TOXICITY"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b"{'a': 1}", b"[" * 100_000, b"\x00",
     b'{"comment": {"text": "a"}, "requestedAttributes": {"TOXICITY": {"scoreThreshold": NaN}}}'],
)  # fmt: skip
def test_what_is_no_json_object_is_refused(client, content):
    assert "Invalid JSON payload" in refused(client, content)["message"]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"comment": "text"}, "comment"),
        ({"comment": {"text": 5}}, "comment.text"),
        ({"comment": {"text": ["a"]}}, "comment.text"),
        ({"requestedAttributes": ["TOXICITY"]}, "requested_attributes"),
        ({"requestedAttributes": {"TOXICITY": 1}}, "requested_attributes[TOXICITY]"),
        ({"requestedAttributes": {"TOXICITY": {"scoreThreshold": "high"}}},
         "requested_attributes[TOXICITY].score_threshold"),
        ({"requestedAttributes": {"TOXICITY": {"scoreThreshold": 10**400}}},
         "requested_attributes[TOXICITY].score_threshold"),
        ({"requestedAttributes": {"TOXICITY": {"scoreType": "OTHER"}}},
         "requested_attributes[TOXICITY].score_type"),
        ({"languages": "en"}, "languages"),
        ({"languages": [1]}, "languages"),
        ({"clientToken": 3}, "client_token"),
        ({"spanAnnotations": "yes"}, "span_annotations"),
        ({"context": []}, "context"),
        ({"context": {"entries": "x"}}, "context.entries"),
        ({"context": {"articleAndParentComment": "x"}}, "article_and_parent_comment"),
        ({"sessionId": 3}, "session_id"),
        ({"communityId": ["m"]}, "community_id"),
        ({"doNotStore": "yes"}, "do_not_store"),
    ],
)  # fmt: skip
def test_values_of_a_wrong_type_are_named(client, changed, field):
    error = refused(client, {**body(), **changed})
    assert error["details"][0]["fieldViolations"][0]["field"] == field


def test_half_a_pair_of_surrogates_is_read_as_the_replacement_character(client):
    # A client that cuts a text after so many units can cut an emoji in two.
    content = b'{"comment": {"text": "cut \\ud83d"}, "requestedAttributes": {"TOXICITY": {}}}'
    answer = client.post(URL, content=content)
    assert answer.status_code == 200
    score = answer.json()["attributeScores"]["TOXICITY"]
    assert score["spanScores"][0]["end"] == 5
    assert score["summaryScore"]["value"] == 0.25


def test_the_spelling_of_the_protocol_is_understood(client):
    asked = {
        "comment": {"text": "One two. Three."},
        "requested_attributes": {"TOXICITY": {"score_threshold": 0.0}},
        "span_annotations": True,
        "client_token": "t",
    }
    answer = client.post(URL, json=asked).json()
    assert len(answer["attributeScores"]["TOXICITY"]["spanScores"]) == 2
    assert answer["clientToken"] == "t"


def test_standard_query_parameters_are_tolerated(client):
    query = "?key=k&alt=json&prettyPrint=false&fields=attributeScores&$.xgafv=2&quotaUser=u"
    assert client.post(URL + query, json=body()).status_code == 200


def test_a_body_that_is_too_large_is_refused_in_the_dialect(client):
    answer = client.post(URL, content=b"x" * (2 << 20))
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == 413


def test_a_wrong_method_is_refused_in_the_dialect(client):
    answer = client.get(URL)
    assert answer.status_code == 405
    assert answer.json()["error"]["status"] == "UNIMPLEMENTED"
    assert answer.json()["error"]["details"] == []  # there, whatever the error


def test_discovery_names_the_address_it_was_asked_under(client):
    document = client.get("/$discovery/rest?version=v1alpha1").json()
    assert document["rootUrl"] == "http://127.0.0.1/"
    assert document["batchPath"] == "batch"
    methods = document["resources"]["comments"]["methods"]
    assert methods["analyze"]["path"] == "v1alpha1/comments:analyze"
    known = document["schemas"]

    def references(found):
        if isinstance(found, dict):
            yield from [found["$ref"]] if "$ref" in found else []
            for value in found.values():
                yield from references(value)

    assert set(references(document)) <= set(known)

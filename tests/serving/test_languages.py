"""Languages are told offline, and no short text is refused for its language."""

from __future__ import annotations

import socket

import pytest

from evenhand.data.find import find
from evenhand.serving.languages import Languages, primary


@pytest.fixture(scope="module")
def languages():
    return Languages()


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*given):
        raise AssertionError("reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("This is a plain English sentence about the weather.", "en"),
        ("Das ist ein ganz gewöhnlicher Satz über das Wetter.", "de"),
        ("Ceci est une phrase ordinaire à propos du temps qu'il fait.", "fr"),
        ("Это обычное предложение о погоде на завтрашний день.", "ru"),
        ("ok", "en"),
        ("tais-toi", "en"),  # too short to be sure
        ("🤡🤡", "en"),
        ("@someone #thing https://example.org/some/long/path/with/words", None),
        ("12345", None),
        ("?!", None),
    ],
)
def test_what_is_told(languages, text, language):
    assert languages.detected(text, ["en"]) == language


def test_the_expected_language_stands_for_what_is_not_sure(languages):
    assert languages.detected("ok", ["es", "en"]) == "es"


@pytest.mark.parametrize(
    ("tag", "found"), [("en", "en"), ("en-GB", "en"), ("EN_us", "en"), ("hi-Latn", "hi-Latn")]
)
def test_primary(tag, found):
    assert primary(tag) == found


@pytest.mark.data
@pytest.mark.parametrize("corpus", ["dynahate", "hatemojibuild", "jigsaw"])
def test_hardly_any_english_post_is_taken_for_another_language(languages, corpus):
    texts = find(corpus).posts["text"].sample(3000, seed=1, with_replacement=False).to_list()
    other = sum(languages.detected(text, ["en"]) not in ("en", None) for text in texts)
    # At most one in a hundred, some of which are in another language indeed.
    assert other <= 30

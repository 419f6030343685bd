import pytest

from evenhand.models.words import words


def of(text):
    return words([text]).to_list()[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("!? … --", []),
        ("Hello, WORLD", ["hello", "world"]),
        ("@Ann_1 @bob: hi", ["@user", "@user", "hi"]),
        ("see https://x.org/@ann?a=1 now", ["see", "@link", "now"]),
        ("www.x.org t.co/abc pic.twitter.com/q", ["@link", "@link", "@link"]),
        ("write to ann@x.org", ["write", "to", "ann", "x", "org"]),
        ("@link is a handle", ["@user", "is", "a", "handle"]),
        ("don’t 'quote' rock'n'roll", ["don't", "quote", "rock'n'roll"]),
        ("#Tag ##two # three", ["#tag", "#two", "three"]),
        ("a&amp;b &lt;3", ["a", "b", "3"]),
        ("❤️👍🏽🇫🇷🇩🇪", ["❤", "👍", "🇫🇷", "🇩🇪"]),
        ("w\u200bord so\u00adft", ["word", "soft"]),
        ("cafe\u0301", ["caf\u00e9"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("half \ud83d of a pair", ["half", "of", "a", "pair"]),
        ("a\nb\0c", ["a", "b", "c"]),
    ],
)
def test_words(text, expected):
    assert of(text) == expected


def test_every_text_has_its_own_list():
    assert words(["a b", "", "c"]).to_list() == [["a", "b"], [], ["c"]]
    assert words([]).to_list() == []


def test_handles_can_be_words_of_their_own():
    text = "RT @Ann: hello @bob_1 mail@home.net https://t.co/@x"
    assert words([text], handles=True).to_list()[0][:4] == ["rt", "@ann", "hello", "@bob_1"]
    assert words([text], handles=True).to_list()[0][-1] == "@link"
    assert words([text]).to_list()[0][:4] == ["rt", "@user", "hello", "@user"]

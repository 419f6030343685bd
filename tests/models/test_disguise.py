from __future__ import annotations

import pytest

from evenhand.models._lexicon import lexicon, split_words
from evenhand.models.front_end import FrontEnd


def cleaned(text: str) -> str:
    return FrontEnd().clean(text).text


@pytest.mark.parametrize(
    "text",
    ["1d1ot", "id10t", "!diot", "idi0t", "1D10T", "id!ot", "|diot"]
    + ["i d i o t", "I D I O T", "i  d  i  o  t", "1 d 1 o t", "i.d.i.o.t", "i-d-i-o-t"]
    + ["i_d_i_o_t", "i*d*i*o*t", "i👏d👏i👏o👏t", "i🤡d🤡i🤡o🤡t", "i..d..i..o..t"]
    + ["id*ot", "idi*t", "idio*", "*diot", "id•ot", "id🙂ot", "idi🅾️t", "id1️⃣ot", "id_ot", "id#ot"]
    + [
        "idi-ot",
        "idi.ot",
        "idi ot",
        "idiooooot",
        "іdiоt",
        "ιdιοt",
        "ιdiot",
        "ïdiot".replace("ï", "i"),
    ]
    + [
        "🇮diot",
        "🇮🇩🇮🇴🇹",
        "ＩＤ1ＯＴ",
        "i\u0336d\u0336iot",
        "#1d1ot",
        "ⓘd10t",
        "ɪᴅɪᴏᴛ",
    ],
)
def test_a_disguised_word_is_seen(text: str) -> None:
    assert cleaned(f"you are an {text}!").lower() == "you are an idiot!"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("5tup1d f00l", "stupid fool"),
        ("$tupid", "stupid"),
        ("y o u   f o o l", "you fool"),
        ("you are a f o o l", "you are a fool"),
        ("l0w-1Q id10t's", "low-1Q idiot's"),
        ("he is a dumb-1diot", "he is a dumb-idiot"),
        ("youareanidiot", "you are an idiot"),
        ("what @bout th@t", "what about that"),
        ("hell0 w0rld", "hello world"),
        ("you👏are👏dumb", "you clapping hands are clapping hands dumb"),
        ("love❤️you", "love red heart you"),
        ("you are а fооl", "you are a fool"),
    ],
)
def test_disguises_in_company(text: str, seen: str) -> None:
    assert cleaned(text) == seen


@pytest.mark.parametrize(
    "text",
    [
        "covid19",
        "mp3",
        "4chan",
        "b2b",
        "5g",
        "h1n1",
        "2nite",
        "gr8",
        "b4",
        "1st",
        "2nd",
        "4th",
        "10k",
        "80th",
        "13ft",
        "b-side",
        "though.+",
    ]
    + ["10:30", "7pm", "$500", "€5", "v1.2.3", "12/03/2020", "2020-03-12", "3.14", "50%", "1,000"]
    + [
        "C++",
        "C#",
        "A*",
        "5*****",
        "f(x*y)",
        "x*y",
        "note*",
        "*note",
        "e.g.",
        "i.e.",
        "U.S.A.",
        "p.m.",
    ]
    + ["a b c", "a b c d e", "x y z", "A B", "don?t", "it's", "AT&T", "R&B", "ma'am", "o'clock"]
    + [
        "t-shirt",
        "x-ray",
        "co-op",
        "so-so",
        "no.1",
        "end.The",
        "ps4",
        "top5",
        "level5",
        "win7",
        "F-16",
    ]
    + [
        "привет мир",
        "я и ты",
        "καλημέρα",
        "как он",
        "blorp",
        "bl*rp",
        "b1orp",
        "me@work.org",
        "US$",
    ]
    + ["in to", "can not", "criminalisation", "schoolboys", "Fitzgerald", "hahahahahaha", "$AAPL"]
    + [
        "snake_case",
        "word1 word2",
        "john5",
        "i7",
        "a1",
        "H2O",
        "3D",
        "1 2 3 4",
        "!!!",
        "4 5 6 7 8",
    ],
)
def test_what_is_no_disguise_is_left_alone(text: str) -> None:
    assert cleaned(f"we say {text} here" if text.isascii() else text).endswith(
        f"{text} here" if text.isascii() else text
    )


def test_a_word_with_several_stars_is_read_only_where_one_stands_out() -> None:
    words = lexicon()
    shaped = {w for w in words.masked if len(w) == 4 and w.startswith("f") and w[1:]}
    most = max(shaped, key=lambda word: words.masked[word])
    others = [words.masked[word] for word in shaped - {most}]
    assert all(words.masked[most] >= 3 * other for other in others)
    assert cleaned("f***") == most
    assert cleaned("z****") == "z****"


def test_a_word_of_another_script_is_read_as_latin_only_where_it_is_a_known_word() -> None:
    assert cleaned("we say кот here") == "we say кот here"
    assert cleaned("we say рот here") == "we say pot here"  # every letter was Cyrillic
    assert cleaned("we say рот и кот") == "we say рот и кот"  # и looks like no Latin letter


def test_capitals_stay_capitals() -> None:
    assert cleaned("1D10T Id10t") == "IDIOT Idiot"


def test_the_list_is_plain_words_and_counts() -> None:
    words = lexicon()
    assert 20_000 < len(words.counts) < 60_000
    assert all(word.isascii() and word.isalpha() and word.islower() for word in words.counts)
    assert min(words.counts.values()) == 0  # of the vocabulary, and in no post
    assert set(words.masked) <= set(words.counts)


@pytest.mark.parametrize(
    ("joined", "words"),
    [
        ("sendthemback", ("send", "them", "back")),
        ("partynextdoor", ("party", "next", "door")),  # not "do or"
        ("blorpfizz", ()),
        ("", ()),
        ("ofonofon", ()),  # many short words are in any letters
    ],
)
def test_compounds(joined: str, words: tuple[str, ...]) -> None:
    assert split_words(joined) == words

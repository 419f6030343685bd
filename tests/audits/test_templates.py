import hashlib
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from evenhand.audits.templates import TemplateSet, parse_set, read_set, sentences_of, set_names
from evenhand.core.errors import BadInput, UnknownComponent
from evenhand.core.tables import tag

SMALL = TemplateSet(
    name="faith",
    templates={"what": "What {a} {quality} {one}!", "all": "{many} are {quality}."},
    words={"quality": {"abusive": ["awful", "useless"], "neutral": ["honest", "kind"]}},
    pairs=[
        {
            "hindu": {"one": "Hindu", "many": "Hindus"},
            "sikh": {"one": "Sikh", "many": "Sikhs"},
            "jain": {"one": "Jain", "many": "Jains"},
        }
    ],
    an_before=["honest"],
    a_before=["useless"],
)


def tagged(corpus, *names):
    posts = corpus.posts
    columns = posts.select("id", "text", *(tag(name, posts) for name in names))
    return columns.join(corpus.gold.select(id="post", label="label"), on="id")


def test_the_whole_of_a_small_set():
    found = sentences_of(SMALL)
    # 2 templates × 4 words × 3 terms.
    assert found.posts.height == found.gold.height == 24
    hindu = tagged(found, "term").filter(pl.col("term") == "Hindu")
    assert dict(hindu.select("text", "label").rows()) == {
        "What an awful Hindu!": "abusive",
        "What a useless Hindu!": "abusive",
        "What an honest Hindu!": "neutral",
        "What a kind Hindu!": "neutral",
        "Hindus are awful.": "abusive",
        "Hindus are useless.": "abusive",
        "Hindus are honest.": "neutral",
        "Hindus are kind.": "neutral",
    }


def test_tags_say_what_a_post_was_made_from():
    found = tagged(sentences_of(SMALL), "template", "word", "frame", "term", "group", "pair")
    # Four words of three terms each: kind is the fourth, Sikh the second.
    [row] = found.filter(pl.col("id") == "faith:what/11").to_dicts()
    assert row == {
        "id": "faith:what/11",
        "text": "What a kind Sikh!",
        "template": "what",
        "word": "kind",
        "frame": "what/kind",
        "term": "Sikh",
        "group": "sikh",
        "pair": "Hindu/Sikh/Jain",
        "label": "neutral",
    }


def test_a_slot_at_the_start_gets_a_capital():
    other = replace(SMALL, templates={"q": "{quality} {many} live here."})
    assert "Kind Sikhs live here." in sentences_of(other).posts["text"].to_list()


SIZES = {
    # Frames × groups × rows; a template has as many frames as its kind of word has words.
    "age": (8 * 12 + 8 * 8) * 3 * 6,
    "disability": (8 * 12 + 8 * 8) * 7 * 3,
    "gender": (8 * 16 + 4 * 8) * 2 * 8,
    "nationality": (8 * 10 + 7 * 6) * 10 * 3,
    "orientation": (8 * 12 + 8 * 8) * 6 * 4,
    "religion": (8 * 12 + 8 * 8) * 7 * 3,
}
TAGS = ("template", "word", "frame", "term", "group", "pair")


@cache
def expanded(name):
    return tagged(sentences_of(read_set(name)), *TAGS)


every_set = pytest.mark.parametrize("name", SIZES)


def test_the_sets_there_are():
    assert set(SIZES) <= set(set_names())


@every_set
def test_size_of_a_set(name):
    found = expanded(name)
    assert 1500 <= found.height == SIZES[name] <= 4000
    assert found["text"].n_unique() == found.height
    assert found["template"].n_unique() >= 12


@every_set
@pytest.mark.parametrize("part", ["template", "term", "group", "pair"])
def test_half_of_every_part_is_abusive(name, part):
    shares = expanded(name).group_by(part).agg((pl.col("label") == "abusive").mean().alias("share"))
    assert shares["share"].to_list() == [0.5] * shares.height


@every_set
def test_every_term_gets_the_same_sentences(name):
    """With the term blanked out, all terms have the same texts with the same labels."""
    forms = [
        (form, form[0].upper() + form[1:])
        for pair in read_set(name).pairs
        for term in pair.values()
        for form in term.values()
    ]
    longest = sorted({form for both in forms for form in both}, key=lambda form: (-len(form), form))
    blank = rf"\b({'|'.join(longest)})\b"
    blanked = expanded(name).with_columns(pl.col("text").str.replace_all(blank, "X"))
    sides = [side.select("text", "label").sort(pl.all()) for _, side in blanked.group_by("term")]
    assert all(side.equals(sides[0]) for side in sides)
    assert sides[0]["text"].str.count_matches("X").to_list() == [1] * sides[0].height


@every_set
def test_articles_and_capitals(name):
    chosen = read_set(name)
    an = "|".join(["[aeiou]", *chosen.an_before])
    if chosen.a_before:
        an = f"(?!{'|'.join(chosen.a_before)})(?:{an})"
    wrong = re.compile(rf"(?i:\ba (?:{an})|\ban (?!{an}))|^[^A-Z]|[{{}}]|  ")
    texts = expanded(name)["text"]
    assert [text for text in texts if wrong.search(text)] == []
    assert texts.str.contains(r"[.!?]$").all()
    assert not texts.str.contains(r"(?i)\b(he|she|his|her|him|hers)\b").any()


def test_no_text_in_two_sets():
    texts = pl.concat([expanded(name)["text"] for name in SIZES])
    assert texts.n_unique() == len(texts)


def test_the_gender_set_is_as_it_was():
    """Figures of the study of Park et al. rest on it."""
    columns = expanded("gender").select("text", *TAGS).sort("text")
    digest = hashlib.sha256("\n".join(map("\t".join, columns.rows())).encode()).hexdigest()
    assert digest == "6f310b1bc5079a88a13e4e936a7f33b557f340fe25a400311d3e2f395e9e8d65"


@pytest.mark.parametrize("name", set_names())
def test_ids_are_numbers_within_the_template(name):
    """They are shown on pages, so they spell out no word."""
    posts = sentences_of(read_set(name)).posts
    for template in read_set(name).templates:
        mine = posts.filter(tag("template", posts) == template)["id"].to_list()
        assert mine == [f"{name}:{template}/{n}" for n in range(1, len(mine) + 1)]


def test_kinds_of_sets():
    kinds = {name: read_set(name).kind for name in set_names()}
    assert kinds == {**dict.fromkeys(SIZES, "identity"), "profanity": "profanity"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": {"quality": {"abusive": ["awful"], "neutral": []}}}, "1 abusive and 0 neutral"),
        ({"words": {"quality": {"abusive": ["mad"], "neutral": ["mad"]}}}, "'mad' stands there 2"),
        ({"templates": {"no": "What {a} {one}!"}}, "has the slots one; expected one of quality"),
        ({"templates": {"x": "{quality} {many} {one}"}}, "has the slots quality, many, one"),
        ({"templates": {"x": "{quality} {some}"}}, "has the slots quality, some"),
        ({"templates": {}}, "templates: none"),
        ({"pairs": []}, "with terms of two groups or more"),
        ({"pairs": [{"a": {"one": "A"}, "b": {"many": "Bs"}}]}, "pair 1, b: forms many"),
        ({"pairs": [*SMALL.pairs, {"sikh": {"one": "S", "many": "Ss"}}]}, "pair 2: groups sikh"),
        ({"pairs": [*SMALL.pairs, *SMALL.pairs]}, "the term 'Sikh' stands there 2 times"),
        ({"kind": "swearing"}, "kind is 'swearing'; expected 'identity' or 'profanity'"),
    ],
    ids=[
        "unbalanced", "word-twice", "no-word", "two-terms", "unknown-slot", "no-template",
        "no-pair", "forms-differ", "groups-differ", "term-twice", "kind",
    ],
)  # fmt: skip
def test_a_set_that_cannot_keep_its_promises_is_refused(change, message):
    with pytest.raises(BadInput, match=message):
        replace(SMALL, **change)


def test_every_fault_is_named():
    with pytest.raises(BadInput) as caught:
        replace(SMALL, templates={"x": "Nothing."}, words={"quality": {"abusive": ["bad"]}})
    assert caught.value.total == 2


def test_a_text_twice_is_refused():
    twice = replace(SMALL, templates={"a": "{many} are {quality}.", "b": "{many} are {quality}."})
    with pytest.raises(BadInput, match="24 posts share their text"):
        sentences_of(twice)


def test_an_unknown_set_is_refused():
    with pytest.raises(UnknownComponent, match=r"no template set 'nothing'; known: age, .*\.toml"):
        read_set("nothing")


OWN = """
name = "cities"
title = "people of two cities"
about = "Made up."
[words.quality]
abusive = ["awful"]
neutral = ["kind"]
[templates]
what = "What {a} {quality} {one}!"
[[pairs]]
north = { one = "Northerner" }
south = { one = "Southerner" }
"""


@pytest.mark.parametrize("kind", [str, Path])
def test_a_set_of_your_own(tmp_path, kind):
    file = tmp_path / "cities.toml"
    file.write_text(OWN, encoding="utf-8")
    chosen = read_set(kind(file))
    assert chosen.kind == "identity"
    assert (chosen.title, chosen.about) == ("people of two cities", "Made up.")
    assert sentences_of(chosen).posts["id"].to_list() == [
        "cities:what/1",
        "cities:what/2",
        "cities:what/3",
        "cities:what/4",
    ]


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(BadInput, match="none.toml: cannot be read"):
        read_set(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(BadInput, match="expected a UTF-8 text file"):
        read_set(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (OWN, "= 1", "not TOML"),
        (OWN, "name = 'x'", "words is missing"),
        ("about =", "size =", "unknown key 'size'; the keys are name, words"),
        ('["awful"]', '"awful"', "words.quality.abusive is 'awful'; expected a table of kinds"),
        ('["kind"]', "[1]", "words.quality.neutral.1 is 1; expected a table"),
        ('"What {a} {quality} {one}!"', "1", "templates.what is 1; expected a table of texts"),
        ('{ one = "Southerner" }', '"Southerner"', "pairs.1.south is 'Southerner'; expected"),
        ('"cities"', '""', "name is ''; expected a text"),
        ('title = "people of two cities"', 'a_before = "x"', "a_before is 'x'; expected a list"),
    ],
    ids=[
        "not-toml", "missing", "unknown", "word-list", "word-number", "template-number",
        "term-text", "no-name", "no-list",
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused(old, new, message):
    assert old in OWN
    with pytest.raises(BadInput, match=message):
        parse_set(OWN.replace(old, new), "some.toml")

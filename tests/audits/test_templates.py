import re
from dataclasses import replace

import polars as pl
import pytest

from evenhand.audits.templates import TemplateSet, expand, parse_set, read_set
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
    found = expand(SMALL)
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
    found = tagged(expand(SMALL), "template", "word", "frame", "term", "group", "pair")
    [row] = found.filter(pl.col("id") == "faith:what/kind/Sikh").to_dicts()
    assert row == {
        "id": "faith:what/kind/Sikh",
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
    assert "Kind Sikhs live here." in expand(other).posts["text"].to_list()


@pytest.fixture(scope="module")
def gender():
    return tagged(expand(read_set("gender")), "template", "word", "frame", "term", "group", "pair")


def test_size_of_the_gender_set(gender):
    # 8 templates × 16 qualities and 4 × 8 feelings, 8 pairs of 2: (128 + 32) × 16.
    assert gender.height == 2560
    assert gender["text"].n_unique() == 2560


@pytest.mark.parametrize("name", ["template", "term", "group", "pair"])
def test_half_of_every_part_is_abusive(gender, name):
    shares = gender.group_by(name).agg((pl.col("label") == "abusive").mean().alias("share"))
    assert shares["share"].to_list() == [0.5] * shares.height


def test_terms_of_a_pair_get_the_same_sentences(gender):
    """With the term blanked out, both groups have the same texts with the same labels."""
    forms = {
        form
        for pair in read_set("gender").pairs
        for term in pair.values()
        for form in (*term.values(), *(text.capitalize() for text in term.values()))
    }
    blank = rf"\b({'|'.join(sorted(forms))})\b"
    blanked = gender.with_columns(pl.col("text").str.replace_all(blank, "X"))
    sides = [
        blanked.filter(pl.col("group") == group).select("text", "label", "pair").sort(pl.all())
        for group in ("male", "female")
    ]
    assert sides[0].select("text", "label").equals(sides[1].select("text", "label"))
    assert sides[0]["text"].str.count_matches("X").to_list() == [1] * sides[0].height


def test_articles_and_capitals_of_the_gender_set(gender):
    wrong = re.compile(r"\ba (?:[aeiou]|honest)|\ban (?![aeiou]|honest)|^[^A-Z]|[{}]|  ")
    assert [text for text in gender["text"] if wrong.search(text)] == []
    assert gender["text"].str.contains(r"[.!?]$").all()


def test_no_pronoun_gives_the_gender_away(gender):
    assert not gender["text"].str.contains(r"(?i)\b(he|she|his|her|him|hers)\b").any()


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
    ],
    ids=[
        "unbalanced", "word-twice", "no-word", "two-terms", "unknown-slot", "no-template",
        "no-pair", "forms-differ", "groups-differ", "term-twice",
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
        expand(twice)


def test_an_unknown_set_is_refused():
    with pytest.raises(UnknownComponent, match="no template set 'nothing'; known: gender"):
        read_set("nothing")


@pytest.mark.parametrize(
    ("text", "message"),
    [("= 1", "not TOML"), ("name = 'x'", "words is missing"), ("size = 1", "unknown key 'size'")],
    ids=["not-toml", "missing", "unknown"],
)
def test_a_wrong_file_is_refused(text, message):
    with pytest.raises(BadInput, match=message):
        parse_set(text, "some.toml")

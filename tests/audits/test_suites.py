"""Suites from files: what is made of them, and every fault by name."""

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from evenhand.audits.expansion import cases_of
from evenhand.audits.slurs import masked_words, read_slurs, star, starred
from evenhand.audits.suite_files import read_source
from evenhand.audits.suite_records import Slur
from evenhand.audits.suites import find_suite, read_suite
from evenhand.core.errors import BadInput, UnknownComponent

SUITE = """
name = "weather"
title = "Talk of the weather"
[statement]
annotators = "None yet: not validated by people."
[identities.sailors]
many = "sailors"
one = "sailor"
[identities.archers]
many = "archers"
one = "archer"
[slots]
sky = ["rain", "hail"]
[substitutions.digit]
a = "4"
i = "1"
"""
FUNCTIONALITY = """
[[functionality]]
name = "grumble"
title = "Grumbling"
about = "A grumble at a group."
gold = { orig = "hateful", kind_perturb = "not hateful" }
[[functionality.template]]
name = "wish"
orig = "I wish {sky} on {many}."
kind_perturb = { text = "No {sky} for {a} {one}.", identities = ["archers"] }
[[functionality.template]]
name = "leet"
orig = ["{many} are [[rain]]", { text = "My [[pain]] is {many}", substitutions = ["swap"] }]
"""


SLURS = [
    Slur(one="landlubber", many="landlubbers", identity="sailors"),
    Slur(one="misser", many="missers", identity="archers"),
]


def write(folder: Path, functionality: str = FUNCTIONALITY, suite: str = SUITE) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "suite.toml").write_text(suite, encoding="utf-8")
    (folder / "f.toml").write_text(functionality, encoding="utf-8")
    return folder


def faults(folder: Path, functionality: str = FUNCTIONALITY, suite: str = SUITE) -> str:
    with pytest.raises(BadInput) as caught:
        read_suite(write(folder, functionality, suite))
    return str(caught.value)


def test_the_whole_of_a_small_suite(tmp_path):
    cases = read_suite(write(tmp_path / "s")).cases()
    found = cases.select("text", "set", "identity", "hateful", "template").rows()
    assert sorted(found) == sorted(
        [
            ("I wish rain on sailors.", "orig", "sailors", True, "grumble/wish"),
            ("I wish hail on sailors.", "orig", "sailors", True, "grumble/wish"),
            ("I wish rain on archers.", "orig", "archers", True, "grumble/wish"),
            ("I wish hail on archers.", "orig", "archers", True, "grumble/wish"),
            ("No rain for an archer.", "kind_perturb", "archers", False, "grumble/wish"),
            ("No hail for an archer.", "kind_perturb", "archers", False, "grumble/wish"),
            ("Sailors are r4in", "orig", "sailors", True, "grumble/leet"),
            ("Archers are r4in", "orig", "archers", True, "grumble/leet"),
            ("My pian is sailors", "orig", "sailors", True, "grumble/leet"),
            ("My pian is archers", "orig", "archers", True, "grumble/leet"),
        ]
    )


def test_cases_of_a_frame_differ_in_their_identity_only(tmp_path):
    cases = read_suite(write(tmp_path / "s")).cases()
    sizes = cases.group_by("frame").agg(pl.len(), pl.col("identity").n_unique())
    # Four frames with both identities (two skies, two wordings), two with archers only.
    assert sorted(sizes.select("len", "identity").rows()) == [(1, 1)] * 2 + [(2, 2)] * 4


def test_slurs_fill_their_own_slot_and_are_not_exchanged(tmp_path):
    text = FUNCTIONALITY.replace("I wish {sky} on {many}.", "Those {slurs} and the {one}.")
    corpus, _ = cases_of(read_source(write(tmp_path / "s", text), SLURS))
    posts = corpus.posts.unnest("tags").filter(pl.col("template") == "grumble/wish")
    posts = posts.filter(pl.col("set") == "orig")
    assert posts.select("text", "identity").sort("text").rows() == [
        ("Those landlubbers and the sailor.", "sailors"),
        ("Those missers and the archer.", "archers"),
    ]
    assert posts["frame"].n_unique() == 2


def shown(folder: Path, text: str) -> list[str]:
    """How the cases of one template look to people."""
    functionality = FUNCTIONALITY.replace('"I wish {sky} on {many}."', text)
    corpus, found = cases_of(read_source(write(folder, functionality), SLURS))
    wish = corpus.posts.unnest("tags").filter(
        (pl.col("template") == "grumble/wish") & (pl.col("set") == "orig")
    )
    return [found[case] for case in wish["id"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"Those {slurs}!"', ["Those l*ndlubbers!", "Those m*ssers!"]),
        ('"{slur}like"', ["L*ndlubberlike", "M*sserlike"]),
        # The substitution would write l4ndlubber and m1sser.
        ('"[[{slur}]], ahoy"', ["L*ndlubber, ahoy", "M*sser, ahoy"]),
        # Another region stays as in the text; one that only touches the slur does not.
        ('"[[Rain]] on [[any {slur}]]"', ["R4in on any l*ndlubber", "R4in on any m*sser"]),
        ('{ text = "[[{slurs}]]", substitutions = ["drop"] }', ["L*ndlubbers", "M*ssers"]),
        ('{ text = "[[My {slur}]]", substitutions = ["space"] }', ["My l*ndlubber", "My m*sser"]),
    ],
    ids=["plain", "inside", "region", "two-regions", "drop", "space"],
)
def test_a_slur_is_masked_where_people_read_it(tmp_path, text, expected):
    assert shown(tmp_path / "s", text) == expected


def test_without_slurs_a_case_is_shown_as_it_is(tmp_path):
    cases = read_suite(write(tmp_path / "s")).cases()
    assert cases.columns[-1] == "shown"
    assert cases["shown"].to_list() == cases["text"].to_list()


def test_the_digest_does_not_depend_on_what_is_shown(tmp_path):
    suite = read_suite(write(tmp_path / "s"))
    first = suite.cases()["id"][0]
    other = replace(suite, shown={first: "something else"})
    assert "something else" in other.cases()["shown"]
    assert other.sha256() == suite.sha256()


def test_every_word_of_our_list_is_changed_by_a_star():
    assert [word for word in masked_words() if "*" not in starred(word)] == []


def test_one_file_can_hold_it_all(tmp_path):
    file = tmp_path / "weather.toml"
    file.write_text(SUITE + FUNCTIONALITY, encoding="utf-8")
    whole = find_suite(str(file))
    assert whole.sha256() == read_suite(write(tmp_path / "s")).sha256()


def test_the_digest_changes_with_a_case(tmp_path):
    first = read_suite(write(tmp_path / "a"))
    other = read_suite(write(tmp_path / "b", FUNCTIONALITY.replace("I wish", "I want")))
    assert first.sha256() != other.sha256()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("{sky} on", "{clouds} on", "unknown placeholder {clouds}; known are"),
        ('about = "A grumble at a group."', "", "about is missing"),
        ('orig = "hateful"', 'orig = "bad"', "expected a set → 'hateful' or 'not hateful'"),
        ('name = "leet"', 'name = "wish"', "template 'wish' stands there twice"),
        ('["archers"]', '["bowmen"]', "identities: unknown 'bowmen'; known are sailors, archers"),
        ('["swap"]', '["twist"]', "substitutions: unknown 'twist'"),
        ('name = "wish"\n', 'name = "wish"\nmood = ["a"]\n', "'mood' is neither a set"),
        ("My [[pain]] is", "My [[oh]] is", "a substitution changes nothing in grumble/leet"),
        ("No {sky} for", "No sky for", "share their text with another"),
        ('title = "Grumbling"', 'title = "Grumbling"\nextra = 1', "unknown key 'extra'"),
    ],
    ids=[
        "placeholder", "about", "label", "template-twice", "identity", "substitution", "slot",
        "unchanged", "text-twice", "key",
    ],
)  # fmt: skip
def test_a_fault_is_named(tmp_path, old, new, expected):
    text = FUNCTIONALITY.replace(old, new)
    if expected == "share their text with another":
        text = FUNCTIONALITY.replace("No {sky} for {a} {one}.", "No {sky} for them.").replace(
            'identities = ["archers"]', 'sky = ["rain", "rain"]'
        )
    assert expected in faults(tmp_path / "s", text)


ORIG = '"I wish {sky} on {many}."'
GOLD = '{ orig = "hateful", kind_perturb = "not hateful" }'
TEMPLATE = "f.toml, functionality grumble, template wish"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (ORIG, "5", f"{TEMPLATE}, orig: the set is 5; expected a text, a table with `text`"),
        (ORIG, "[5]", f"{TEMPLATE}, orig: the set is [5]; expected a text"),
        (ORIG, "[]", f"{TEMPLATE}, orig: the set is []; expected a text"),
        (ORIG, '""', f"{TEMPLATE}, orig: text is ''; expected a text"),
        (ORIG, "{ text = 5 }", f"{TEMPLATE}, orig: text is 5; expected a text"),
        (ORIG, '{ sky = ["x"] }', f"{TEMPLATE}, orig: text is missing; expected a text"),
        (ORIG, '{ text = "Hm {many}", skies = ["x"] }', "orig: 'skies' is not used as a slot"),
        (ORIG, '"I wish {sky on {many}."', "orig: '{' stands alone; expected {slot} or [[region]]"),
        (ORIG, '"I [[wish {sky} on {many}."', "orig: '[[' stands alone"),
        (ORIG, '"{a} ☂ for {many}."', "{a} stands before no word in grumble/wish, orig"),
        (ORIG, '"The {slur} and the {one}."', "orig: slurs against Muslims, who are no identity"),
        ('["archers"]', '"archers"', f"{TEMPLATE}, kind_perturb: identities is 'archers';"),
        ('["archers"]', "[]", "kind_perturb: identities is []; expected at least one"),
        ('["archers"]', "[5]", "kind_perturb: identities.1 is 5; expected a list of texts"),
        ('["swap"]', '"swap"', "template leet, orig: substitutions is 'swap'; expected a list"),
        ('["swap"]', "[]", "template leet, orig: substitutions is []; expected at least one"),
        (f"gold = {GOLD}", 'gold = "hateful"', "grumble: gold is 'hateful'; expected a set →"),
        (f"gold = {GOLD}", "gold = {}", "grumble: gold is {}; expected a set →"),
        (f"gold = {GOLD}", "", "grumble: gold is missing; expected a set →"),
        (GOLD, '{ orig = ["hateful"] }', "grumble: gold.orig is ['hateful']; expected a set →"),
        (GOLD, '{ text = "hateful" }', "grumble: gold: a set cannot be called 'text'"),
        ('name = "wish"', "name = 5", "grumble, template 1: name is 5; expected a text"),
        ('name = "grumble"', "name = []", "f.toml, functionality 1: name is []; expected a text"),
        ('name = "wish"', 'name = "wish"\nsky = "hail"', "orig: sky is 'hail'; expected a list"),
        ('name = "wish"', 'name = "wish"\nsky = []', "orig: slot 'sky' has nothing to fill it"),
        ('name = "wish"', 'name = "wish"\nsky = ["{x}"]', "'{x}'; expected no brace or bracket"),
        ('name = "wish"', 'name = "wish"\nsky = ["[["]', "'[['; expected no brace or bracket"),
        ('name = "wish"', 'name = "wish"\nmany = ["x"]', "slot 'many' is also filled with"),
        ('title = "Grumbling"', "title = 5", "grumble: title is 5; expected a text"),
        ('title = "Grumbling"', 'title = "G"\nsection = 5', "grumble: section is 5; expected a"),
    ],
    ids=[
        "number", "list-of-numbers", "empty-list", "empty-text", "text-number", "no-text",
        "unused-slot", "brace", "bracket", "article", "slur-of-nobody", "identities-text",
        "identities-empty", "identities-number", "substitutions-text", "substitutions-empty",
        "gold-text", "gold-empty", "gold-missing", "gold-list", "gold-reserved", "template-name",
        "functionality-name", "slot-text", "slot-empty", "filler-brace", "filler-bracket",
        "slot-is-form", "title-number", "section-number",
    ],
)  # fmt: skip
def test_something_of_the_wrong_kind_is_a_fault(tmp_path, old, new, expected):
    assert old in FUNCTIONALITY
    assert expected in faults(tmp_path / "s", FUNCTIONALITY.replace(old, new))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('functionality = "x"', "f.toml: functionality is 'x'; expected a list of tables"),
        ('functionality = ["x"]', "f.toml: functionality.1 is 'x'; expected a list"),
        ("[functionality]", "f.toml: functionality is {}; expected a list of tables"),
        ("", "no functionality; expected at least one [[functionality]]"),
        ("TEMPLATE = 5", "grumble: template is 5; expected a list of tables"),
        ('TEMPLATE = ["x"]', "grumble: template.1 is 'x'; expected a list of tables"),
        ("TEMPLATE = []", "grumble: no template; expected at least one"),
    ],
    ids=[
        "text", "texts", "table", "none", "template-number", "template-texts", "template-none",
    ],
)  # fmt: skip
def test_lists_that_are_none(tmp_path, text, expected):
    head = FUNCTIONALITY.partition("[[functionality.template]]")[0]
    text = head + text.replace("TEMPLATE", "template") if "TEMPLATE" in text else text
    assert expected in faults(tmp_path / "s", text)


def test_a_fault_is_not_followed_by_others_that_come_of_it(tmp_path):
    suite = SUITE.replace('["rain", "hail"]', '"rain"').replace('many = "sailors"', "many = 5")
    assert faults(tmp_path / "s", suite=suite).splitlines() == [
        "suite.toml: identities.sailors.many is 5; expected a table of identities, each a table "
        "of texts: its forms",
        "suite.toml: slots.sky is 'rain'; expected a table of lists of texts",
    ]


def test_a_suite_without_a_case_is_a_fault(tmp_path):
    text = """
        [[functionality]]
        name = "grumble"
        title = "Grumbling"
        about = "A grumble."
        gold = { orig = "hateful" }
        template = [{ name = "wish", orig = "Those {slurs}." }]
        """
    with pytest.raises(BadInput, match="suite 'weather': its templates make no case"):
        cases_of(read_source(write(tmp_path / "s", text), []))


def test_every_fault_is_listed_with_its_file(tmp_path):
    text = FUNCTIONALITY.replace("{sky} on", "{clouds} on").replace('["swap"]', '["twist"]')
    message = faults(tmp_path / "s", text)
    assert "f.toml, functionality grumble, template wish, orig: unknown placeholder" in message
    assert "twist" in message


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('one = "archer"\n', "", "identity 'archers' has no form one"),
        ("[statement]", '[statement]\nfoo = "x"', "suite.toml, statement: unknown key 'foo'"),
        ("[statement]", "[statement]\ntext = 1", "statement.text is 1; expected a table of texts"),
        ('one = "archer"', "one = 5", "identities.archers.one is 5; expected a table of"),
        ('one = "archer"', 'one = "[x]"', "'[x]'; expected no brace or bracket in a filler"),
        ('a = "4"', 'A = "4"', "substitution 'digit' has the key 'A'; expected 'a'"),
        ('a = "4"', '"" = "4"', "substitutions.digit has an empty key; expected a table of"),
        ('a = "4"', "a = 4", "substitutions.digit.a is 4; expected a table of substitutions"),
        ('a = "4"\ni = "1"', "", "substitution 'digit' is empty; expected a letter"),
        ("[substitutions.digit]", "[unused]", "orig: a [[region]] but no substitution"),
        ('["rain", "hail"]', '["{rain}"]', "slot 'sky' is filled with '{rain}'; expected no"),
        ('["rain", "hail"]', "[]", "slot 'sky' has nothing to fill it"),
        ("sky = [", "slur = [", "slot 'slur' is the name of a built-in one"),
        ("[substitutions.digit]", "[substitutions.swap]", "is the name of a built-in one"),
        ('name = "weather"', "", "name is missing"),
        ("sky = [", "many = [", "'many' is both a slot and a form"),
    ],
    ids=[
        "form", "statement", "statement-number", "form-number", "form-bracket", "upper-case",
        "empty-key", "number", "empty-table", "no-substitution", "filler", "no-filler", "slur",
        "built-in", "name", "clash",
    ],
)  # fmt: skip
def test_a_fault_in_the_card_is_named(tmp_path, old, new, expected):
    assert expected in faults(tmp_path / "s", suite=SUITE.replace(old, new))


@pytest.mark.parametrize("key", ["statement", "identities", "slots", "substitutions"])
@pytest.mark.parametrize("value", ["[]", "5", '"women"'], ids=["list", "number", "text"])
def test_a_part_of_the_card_that_is_no_table_is_a_fault(tmp_path, key, value):
    tables = re.sub(rf"\[{key}\b.*?(?=\n\[|\Z)", "", SUITE, flags=re.DOTALL)
    message = faults(tmp_path / "s", suite=f"{key} = {value}\n{tables}")
    found = value.replace('"', "'")
    assert f"suite.toml: {key} is {found}; expected a table of" in message


def test_files_that_are_no_suite(tmp_path):
    (tmp_path / "x.toml").write_text("name = ", encoding="utf-8")
    with pytest.raises(BadInput, match=r"x\.toml: not TOML"):
        find_suite(str(tmp_path / "x.toml"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"no suite\.toml"):
        find_suite(str(tmp_path / "empty"))
    with pytest.raises(UnknownComponent, match="nor is there a file or folder"):
        find_suite("emoji-hatte")


def test_a_suite_that_is_not_installed_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    with pytest.raises(BadInput, match="evenhand data get hatecheck"):
        find_suite("hatecheck")


def test_slurs_are_read_and_starred(tmp_path):
    file = tmp_path / "slurs.toml"
    text = 'masked = ["oaf"]\n[[slur]]\none = "fool"\nmany = "fools"\nidentity = "jesters"\n'
    file.write_text(text)
    assert read_slurs(file) == ([Slur(one="fool", many="fools", identity="jesters")], ["oaf"])
    assert star("A fool, Fools and foolery", ["fools", "fool"]) == "A f*ol, F*ols and foolery"
    file.write_text("[[slur]]\none = 1\n")
    with pytest.raises(BadInput, match="expected \\[\\[slur\\]\\] with one, many, identity"):
        read_slurs(file)


@pytest.mark.parametrize("name", ["../x", "a b", "", "a/b"], ids=["up", "space", "empty", "slash"])
def test_a_name_that_cannot_be_a_file_is_refused(tmp_path, name):
    message = faults(tmp_path / "s", suite=SUITE.replace('"weather"', f'"{name}"'))
    assert "name" in message

"""Suites from files: what is made of them, and every fault by name."""

from pathlib import Path

import polars as pl
import pytest

from evenhand.audits.slurs import star
from evenhand.audits.suite_files import Slur, read_slurs, read_source
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
    slurs = [
        Slur(one="landlubber", many="landlubbers", identity="sailors"),
        Slur(one="misser", many="missers", identity="archers"),
    ]
    from evenhand.audits.expansion import expand

    corpus = expand(read_source(write(tmp_path / "s", text), slurs))
    posts = corpus.posts.unnest("tags").filter(pl.col("template") == "grumble/wish")
    posts = posts.filter(pl.col("set") == "orig")
    assert posts.select("text", "identity").sort("text").rows() == [
        ("Those landlubbers and the sailor.", "sailors"),
        ("Those missers and the archer.", "archers"),
    ]
    assert posts["frame"].n_unique() == 2


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
    ids=lambda value: value if " " not in value else None,
)
def test_a_fault_is_named(tmp_path, old, new, expected):
    text = FUNCTIONALITY.replace(old, new)
    if expected == "share their text with another":
        text = FUNCTIONALITY.replace("No {sky} for {a} {one}.", "No {sky} for them.").replace(
            'identities = ["archers"]', 'sky = ["rain", "rain"]'
        )
    assert expected in faults(tmp_path / "s", text)


def test_every_fault_is_listed_with_its_file(tmp_path):
    text = FUNCTIONALITY.replace("{sky} on", "{clouds} on").replace('["swap"]', '["twist"]')
    message = faults(tmp_path / "s", text)
    assert "f.toml, functionality grumble, template wish, orig: unknown placeholder" in message
    assert "twist" in message


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('one = "archer"\n', "", "identity 'archers' has no form one"),
        ("[statement]", "[statement]\nfoo = 1", "statement: unknown key 'foo'"),
        ("[substitutions.digit]", "[substitutions.swap]", "is the name of a built-in one"),
        ('name = "weather"', "", "name is missing"),
        ("sky = [", "many = [", "'many' is both a slot and a form"),
    ],
    ids=["form", "statement", "built-in", "name", "clash"],
)
def test_a_fault_in_the_card_is_named(tmp_path, old, new, expected):
    assert expected in faults(tmp_path / "s", suite=SUITE.replace(old, new))


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

"""One word for every group of people that a text names."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.models._one_identity import _terms, passed, source
from evenhand.models.front_end import FrontEnd


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Sikhs are kind", "Minorities are kind"),
        ("I know two Poles and some Polish people", "I know two Poles and some minorities"),
        ("a deaf person met an Irish teacher", "a minority met a minority teacher"),
        ("AN IMMIGRANT'S DOG", "A MINORITY'S DOG"),
        ("a friend with autism, people who are blind", "a minority friend, minorities"),
        ("people from Ghana know a man who uses a wheelchair", "minorities know a minority man"),
        ("He is deaf and they are Mexican", "He is minority and they are minority"),
        ("She and her sister saw a woman", "He and his brother saw a man"),
        ("women and men", "minorities and minorities"),
        ("a woman's work", "a man's work"),
        ("my mom and those gals", "my dad and those guys"),
        ("Muslim women met gay immigrants", "Minorities met minorities"),
        ("people with Alzheimer's know a Jehovah's Witness", "minorities know a minority"),
        ("people without disabilities, sighted people", "minorities, minorities"),
        ("children living with epilepsy", "minority children"),
        ("old white men met a gay man", "minorities met a minority man"),
        ("he's gay, a friend who is Mexican", "he's minority, a minority friend"),
        ("girls with autism from Ghana", "minorities"),
        ("women's team, people from Ghana's capital", "minorities' team, minorities' capital"),
        # Said of things, or part of something else.
        ("an Irish stew in the old house", "an Irish stew in the old house"),
        ("the road is straight", "the road is straight"),
        (
            "This option is disabled, he is older than me",
            "This option is disabled, he is older than me",
        ),
        ("That is what it is. Turkish coffee", "That is what it is. Turkish coffee"),
        ("people from Mexico City", "people from Mexico City"),
        ("#Sikhs @muslims x/refugees", "#Sikhs @muslims x/refugees"),
        ("", ""),
    ],
)
def test_what_a_text_becomes(written: str, read: str) -> None:
    assert passed(written) == read


@pytest.mark.parametrize("form", ["many", "one"])
def test_every_term_reads_like_every_other_of_its_form(form: str) -> None:
    # Some are of one gender and become the other: those that then are no term stay words.
    terms = [term for term, found in _terms().items() if found == form]
    texts = {passed(f"we met {term} today") for term in terms}
    usual = "we met minorities today" if form == "many" else "we met minority today"
    assert usual in texts
    assert len(texts) < 0.02 * len(terms)


WORDS = (
    "a an the old deaf gay Muslim women's Sikhs Irish woman men people who who's is are he's from "
    "with without autism Ghana disabilities no of colour groups ethnic minority Jehovah's Witness "
    "living person friend Alzheimer's Germans in wheelchairs and , . cat than"
)


@given(st.lists(st.sampled_from(WORDS.split(" ")), max_size=9).map(" ".join))
def test_nothing_is_left_to_do_for_a_second_pass(text: str) -> None:
    once = passed(text)
    assert passed(once) == once


def test_one_slur_stands_for_every_slur() -> None:
    slurs = source()["slurs"]
    assert len(slurs) > 50
    assert {passed(f"that {slur}") for slur in slurs} == {"that minority scum"}
    assert {passed(f"THOSE {slur.upper()}") for slur in slurs} == {"THOSE MINORITY SCUM"}


@pytest.mark.parametrize("tone", ["", "\U0001f3fb", "\U0001f3ff"])
@pytest.mark.parametrize("emoji", ["words", "kept"])
def test_signs_of_groups_read_alike(emoji: Literal["words", "kept"], tone: str) -> None:
    one = FrontEnd(identities="one", emoji=emoji)
    signs = [
        "🇲🇽",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "🏳️‍🌈",
        "☪️",
    ]
    people = [f"👩{tone}", f"👨{tone}‍🦽", f"👳{tone}‍♂️", f"🧕{tone}"]
    assert {one.clean(f"no {sign} here").text for sign in signs + people} == {"no minorities here"}
    # People who do something, and other flags, are what they are.
    others = [f"👩{tone}‍🚀", f"🙋{tone}‍♀️", "🏁", "🏴‍☠️"]
    assert "minorities" not in " ".join(one.texts(others))
    assert FrontEnd(identities="one", emoji="dropped").clean("no 🇲🇽 here").text == "no here"


def test_many_texts_are_read_as_each_alone() -> None:
    one = FrontEnd(identities="one")
    texts = [
        "Sikhs met 🇲🇽",
        "she’s a “Sikh”",
        "a woman 👩🏿 @x http://y.z",
        "1d1ots hate gays",
        "ok",
    ]
    assert one.texts(texts) == [one.clean(text).text for text in texts]


def test_places_lead_back_to_what_was_written() -> None:
    cleaned = FrontEnd(identities="one").clean("an Irish woman with 🏳️‍🌈")
    assert cleaned.text == "a minority man with minorities"
    # "minority" stands for "Irish", "man" for "woman".
    assert cleaned.span(2, 10) == (3, 8)
    assert cleaned.span(11, 14) == (9, 14)

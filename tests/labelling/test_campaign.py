"""A campaign is checked at the door: every fault with its file and key."""

from __future__ import annotations

import polars as pl
import pytest

from evenhand.core.errors import BadInput, UnknownComponent
from evenhand.labelling import read_campaign, read_posts, said
from evenhand.labelling.new import new_campaign, templates
from evenhand.labelling.pseudonyms import Pseudonyms
from evenhand.labelling.questionnaire import CHOICES
from factories import make_corpus

from .conftest import COHORT, HEAD, QUESTIONS, write_campaign


def faults(folder):
    with pytest.raises(BadInput) as caught:
        read_posts(read_campaign(folder))
    return str(caught.value)


def test_a_small_campaign_is_read(tmp_path):
    campaign = read_campaign(write_campaign(tmp_path / "c"))
    assert campaign.main.labels == ("No", "Problematic", "Abusive")
    assert campaign.cohort("volunteers").overlap == 3
    assert [post.id for post in read_posts(campaign).shown][:2] == ["p00000", "p00001"]


CYCLE = """
[[question]]
id = "a"
kind = "one"
when = { b = "x" }
text = "A"
[[question.answer]]
id = "x"
text = "x"
[[question.answer]]
id = "y"
text = "y"
[[question]]
id = "b"
kind = "one"
when = { a = "x", c = "x" }
text = "B"
[[question.answer]]
id = "x"
text = "x"
[[question.answer]]
id = "x"
text = "again"
"""


def test_every_fault_of_a_questionnaire_is_listed_with_its_key(tmp_path):
    found = faults(write_campaign(tmp_path / "c", questions=QUESTIONS + CYCLE))
    assert "campaign.toml: question: the conditions go in a circle: a → b → a" in found
    assert "question.6.when.c: no question 'c'" in found
    assert "question.6.answer: 2 answers have the id 'x'" in found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('main = "abuse"', 'main = "type"', "main: 'type'; expected a question"),
        ('hateful = ["Problematic", "Abusive"]', 'hateful = ["Bad"]', "hateful: 'Bad' is not an"),
        ("overlap = 3", "overlap = 0", "cohort.1.overlap: 0; expected a whole number from 1"),
        ("overlap = 3", "overlaps = 3", "cohort.1.overlaps: unknown key; expected"),
        ('title = "Small"', "", "title: missing; expected a text"),
        ('languages = ["en"]', 'languages = ["en", "en"]', "languages: ['en', 'en']"),
        ('title = "Small"', 'title = { de = "Klein" }', "title: no text in en"),
        ('kind = "several"', 'kind = "many"', "question.2.kind: 'many'; expected one of one"),
        ('of = "abuse"', 'of = "size"', "question.3.of: no question 'size'"),
        ('abuse = ["Abusive"]', 'abuse = ["Rude"]', "'Rude' is not an answer to 'abuse'"),
        ("format = 1", "format = 9", "format 9 is newer"),
        ('posts = "posts.csv"', 'posts = "none.csv"', "'none.csv' is not in"),
        ('name = "small"', "name = small", "not TOML"),
        ('id = "type"', 'id = "abuse"', "2 questions have the id 'abuse'"),
    ],
)
def test_bad_campaigns_are_refused_by_name(tmp_path, old, new, message):
    folder = write_campaign(tmp_path / "c")
    text = HEAD + QUESTIONS + COHORT
    assert old in text
    (folder / "campaign.toml").write_text(text.replace(old, new, 1))
    assert message in faults(folder)


def test_duplicate_ids_are_named_with_their_line(tmp_path):
    rows = [{"id": "a", "text": "one"}, {"id": "b", "text": "two"}, {"id": "a", "text": "three"}]
    found = faults(write_campaign(tmp_path / "c", posts=rows))
    assert "posts.csv line 4: id 'a' was used on line 2 already" in found


def test_a_secret_is_needed(tmp_path):
    folder = write_campaign(tmp_path / "c")
    (folder / "secret").unlink()
    assert "pseudonyms need the one this campaign began with" in faults(folder)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("p00000,text,No", "line 2: id 'p00000' is empty or used before"),
        ("g,text,Never", "abuse is 'Never'; expected one of No, Problematic, Abusive"),
        ("g,text,", "no answer to 'abuse'"),
    ],
)
def test_gold_posts_are_checked(tmp_path, line, message):
    folder = write_campaign(tmp_path / "c", head='gold = "gold.csv"\n')
    (folder / "gold.csv").write_text(f"id,text,abuse\n{line}\n")
    assert message in faults(folder)


def test_posts_are_shown_with_context_and_pictures_and_without_names(tmp_path):
    rows = [
        {"id": "a", "text": "hello @Jane", "reply_to": "", "picture": "cat.png", "author": "bob"},
        {"id": "b", "text": "no", "reply_to": "a", "picture": "https://x.org/y.png", "author": "x"},
    ]
    folder = write_campaign(tmp_path / "c", posts=rows)
    (folder / "cat.png").write_bytes(b"")
    first, second = read_posts(read_campaign(folder)).shown
    assert "jane" not in first.text.lower()
    assert (first.pictures, second.pictures) == (("cat.png",), ())
    assert second.context == first.text
    assert "bob" not in repr((first, second))


@pytest.mark.parametrize("name", ["dog.png", "../secret.png", "/etc/x.png"])
def test_a_picture_outside_the_folder_is_refused(tmp_path, name):
    (tmp_path / "secret.png").write_bytes(b"")
    rows = [{"id": "a", "text": "x", "picture": name}]
    found = faults(write_campaign(tmp_path / "c", posts=rows))
    assert f"row 1: picture '{name}' is not in" in found


def test_cohorts_can_have_posts_of_their_own(tmp_path):
    more = COHORT + '[[cohort]]\nname = "experts"\nrole = "expert"\nids = "experts.txt"\n'
    folder = write_campaign(tmp_path / "c", more=more)
    (folder / "experts.txt").write_text("p00001\np00003\n")
    assert read_posts(read_campaign(folder)).cohorts["experts"] == ["p00001", "p00003"]
    (folder / "experts.txt").write_text("p00001\nnobody\n")
    assert "no post 'nobody'" in faults(folder)


@pytest.mark.parametrize("template", templates())
def test_templates_are_complete_in_both_languages(tmp_path, template):
    corpus = make_corpus([{"id": "a", "text": "x @y"}, {"id": "b", "text": "z"}])
    path = new_campaign(tmp_path / "new", template, corpus)
    campaign = read_campaign(path.parent)
    assert campaign.languages == ("en", "de")
    for question in campaign.questionnaire.questions:
        assert said(question.text, "en") != said(question.text, "de")
        assert question.kind not in CHOICES or question.answers
    assert campaign.tutorial.practice
    assert campaign.wellbeing.blur
    assert (path.parent / "secret").stat().st_mode & 0o077 == 0


def test_the_templates_ask_what_the_papers_asked(tmp_path):
    corpus = make_corpus([{"id": "a", "text": "x"}])
    new_campaign(tmp_path / "d", "troll-patrol", corpus)
    patrol = read_campaign(tmp_path / "d").questionnaire
    # Appendix E defines seven types; the medium is one of four and optional.
    assert [len(q.answers) for q in patrol.questions] == [3, 7, 4, 0]
    assert patrol.question("medium").optional
    new_campaign(tmp_path / "z", "rationale", corpus)
    rationale = read_campaign(tmp_path / "z").questionnaire
    for name in ("by-context", "by-mention", "by-link", "by-picture"):
        assert rationale.question(name).labels == ("Yes", "No", "N/A")
    assert rationale.question("controversial").labels == ("Yes", "No")
    assert rationale.question("words").kind == "words"


def test_a_new_campaign_needs_a_known_template_and_an_empty_folder(tmp_path):
    corpus = make_corpus([{"id": "a", "text": "x"}])
    with pytest.raises(UnknownComponent, match="troll-patrol"):
        new_campaign(tmp_path / "n", "nothing", corpus)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BadInput, match="not an empty folder"):
        new_campaign(tmp_path, "rationale", corpus)


def test_a_new_campaign_that_fails_leaves_nothing(tmp_path):
    empty = make_corpus([{"id": "a", "text": "x"}])
    empty = type(empty)(**{**vars(empty), "posts": empty.posts.filter(pl.lit(False))})
    with pytest.raises(BadInput, match="no posts"):
        new_campaign(tmp_path / "n", "rationale", empty)
    assert not (tmp_path / "n").exists()


@pytest.mark.parametrize(
    "text",
    ["see @Jane_Doe now", "mail jane@doe.org", "https://doe.example/jane", "hi /u/janedoe",
     "@jane@doe.social wrote", "www.doe.org/@jane"],
)  # fmt: skip
def test_names_are_replaced_and_the_same_name_by_the_same_pseudonym(text):
    one, other = Pseudonyms(b"1" * 16), Pseudonyms(b"2" * 16)
    hidden = one.text(f"{text} {text}")
    assert "doe" not in hidden.lower().replace("@user-", "")
    assert len(set(hidden.split())) == len(set(text.split()))
    assert other.text(text) != one.text(text)
    assert one.handle("@JANE") == one.handle("jane")

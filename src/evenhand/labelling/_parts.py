"""The parts of a campaign besides its questions: cohorts, tutorial, wellbeing, background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.labelling._questions import read_questions
from evenhand.labelling._reading import Node, Text
from evenhand.labelling.questionnaire import CHOICES, Choice, Question, Questionnaire

ROLES = ("annotator", "expert")
RULES = ("any", "split")


@dataclass(frozen=True)
class Cohort:
    """People who judge the same posts under the same rules."""

    name: str
    role: str = "annotator"
    overlap: int = 3
    """Votes each post gets from this cohort."""
    more: int = 0
    """Votes that may be added, one at a time, to posts on which the cohort disagrees."""
    disagreement: str = "split"
    """``any``: two answers differ; ``split``: no answer has more than half of the votes."""
    lease_minutes: int = 30
    phase: int | None = None
    """Only posts drawn in this phase; None for all posts."""
    ids: str | None = None
    """A file with one post id a line: only these posts."""


@dataclass(frozen=True)
class Practice:
    """A made-up post to try the form on, with the answers we would give and why."""

    text: str
    answers: Mapping[str, Sequence[str]]
    feedback: Text
    language: str | None = None
    """Only shown to people who read this language; None for everyone."""


@dataclass(frozen=True)
class Tutorial:
    """What people see before their first post."""

    pages: Sequence[tuple[Text, Text]] = ()
    """Title and text of each page."""
    practice: Sequence[Practice] = ()
    check: Sequence[Question] = ()
    """Comprehension questions, one right answer each."""
    right: Mapping[str, str] = field(default_factory=dict)
    """Comprehension question → its right answer."""
    enough: int = 0
    """How many right answers pass."""

    def passed(self, form: Mapping[str, str]) -> tuple[bool, list[str]]:
        """Whether a filled check passes, and the questions answered wrongly."""
        wrong = [name for name, answer in self.right.items() if form.get(name) != answer]
        return len(self.right) - len(wrong) >= self.enough, wrong


@dataclass(frozen=True)
class Wellbeing:
    """How people are kept from harm. There are no speed targets."""

    blur: bool = True
    """Whether texts are blurred until asked for, unless a person chooses otherwise."""
    mask: bool = False
    mask_words: str | None = None
    """A file with one word a line: what is masked for those who ask."""
    break_after_hard: int = 10
    break_after_posts: int = 60
    hard: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Question → answers that make a post hard to read for the one who gave them."""
    hard_tag: str | None = None
    """A tag of the posts: any value but empty, 0, no or false marks a post as hard beforehand."""
    category_tag: str | None = None
    """A tag of the posts by which people can opt out."""
    categories: Sequence[Choice] = ()
    help: Sequence[tuple[Text, str]] = ()
    """Words and address of places that help."""


@dataclass(frozen=True)
class Background:
    """Optional questions about the annotators themselves, for the data statement."""

    consent: Text = field(default_factory=dict)
    questions: Questionnaire = field(default_factory=lambda: Questionnaire(()))


def read_cohort(node: Node) -> Cohort:
    """One cohort."""
    cohort = Cohort(
        name=node.string("name"),
        role=node.string("role", "annotator", ROLES),
        overlap=node.whole("overlap", 3, low=1, high=1000),
        more=node.whole("more", 0, low=0, high=1000),
        disagreement=node.string("disagreement", "split", RULES),
        lease_minutes=node.whole("lease_minutes", 30, low=1, high=60 * 24 * 7),
        phase=node.whole("phase", low=1, high=2) if node.has("phase") else None,
        ids=node.string("ids") if node.has("ids") else None,
    )
    node.close()
    return cohort


def read_tutorial(node: Node, questionnaire: Questionnaire) -> Tutorial:
    """The tutorial; practice answers are checked against the questionnaire."""
    pages = []
    for entry in node.tables("page"):
        pages.append((entry.text("title"), entry.text("text")))
        entry.close()
    practice = [_practice(entry, questionnaire) for entry in node.tables("practice")]
    right: dict[str, str] = {}
    check = []
    for entry in node.tables("check"):
        answers = [_labelled(each) for each in entry.tables("answer")]
        question = Question(entry.string("id"), "one", tuple(answers), text=entry.text("text"))
        right[question.id] = entry.string("right")
        if right[question.id] not in question.labels:
            entry.fault("right", f"{right[question.id]!r} is not among the answers")
        check.append(question)
        entry.close()
    enough = node.whole("enough", len(check), low=0, high=len(check))
    node.close()
    return Tutorial(tuple(pages), tuple(practice), tuple(check), right, enough)


def _practice(node: Node, questionnaire: Questionnaire) -> Practice:
    languages = ("", *node.languages)
    found = Practice(
        text=node.string("text"),
        answers=node.lists("answers"),
        feedback=node.text("feedback"),
        language=node.string("language", choices=languages) if node.has("language") else None,
    )
    chosen = {q.id for q in questionnaire.questions if q.kind in CHOICES}
    needed, faults = questionnaire.check(found.answers, found.text)
    for fault in faults:
        # What cannot be written down beforehand (marked words) need not be.
        if fault.question in chosen or fault.code == "unknown":
            node.fault(f"answers.{fault.question}", fault.what)
    if not needed.chosen and not faults:
        node.fault("answers", "no answers; expected what we would answer")
    node.close()
    return found


def _labelled(node: Node) -> Choice:
    choice = Choice(node.string("id"), node.text("text"))
    node.close()
    return choice


def read_wellbeing(node: Node, main: Question | None, hateful: Sequence[str]) -> Wellbeing:
    """Wellbeing settings; posts judged hateful are hard unless the file says otherwise."""
    helped = []
    for entry in node.tables("help"):
        helped.append((entry.text("text"), entry.string("address")))
        if not helped[-1][1].startswith(("https://", "http://", "tel:", "mailto:")):
            entry.fault("address", "expected an address starting with https://, tel: or mailto:")
        entry.close()
    default = {main.id: tuple(hateful)} if main else {}
    found = Wellbeing(
        blur=node.yes("blur", True),
        mask=node.yes("mask", False),
        mask_words=node.string("mask_words") if node.has("mask_words") else None,
        break_after_hard=node.whole("break_after_hard", 10, low=1),
        break_after_posts=node.whole("break_after_posts", 60, low=1),
        hard=node.lists("hard") if node.has("hard") else default,
        hard_tag=node.string("hard_tag") if node.has("hard_tag") else None,
        category_tag=node.string("category_tag") if node.has("category_tag") else None,
        categories=tuple(_labelled(entry) for entry in node.tables("category")),
        help=tuple(helped),
    )
    if found.categories and found.category_tag is None:
        node.fault("category_tag", "missing; expected the tag of the posts that holds the category")
    node.close()
    return found


def read_background(node: Node) -> Background:
    """Background questions: all optional, and none without words of consent."""
    questions = read_questions(node, kinds=CHOICES)
    consent = node.text("consent") if questions else node.text("consent", "")
    node.close()
    return Background(consent, Questionnaire(questions))

"""A campaign: a folder with ``campaign.toml``, posts and a secret.

``read_campaign`` checks everything at the door and lists every fault with its file and key. Texts
for people are in the file, in every language the campaign names, never in the code.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.core.errors import BadInput, Faults
from evenhand.data.corpus import Statement
from evenhand.labelling._parts import (
    Background,
    Cohort,
    Tutorial,
    Wellbeing,
    read_background,
    read_cohort,
    read_tutorial,
    read_wellbeing,
)
from evenhand.labelling._questions import read_questions
from evenhand.labelling._reading import Node, Text, read_toml
from evenhand.labelling.questionnaire import CHOICES, Question, Questionnaire

FILE = "campaign.toml"
SECRET = "secret"
"""Name of the file that keys pseudonyms; it is never exported."""
DATABASE = "campaign.sqlite"
FORMAT = 1
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_STATEMENT = ("curation", "language", "speakers", "situation", "text")


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """Everything the owner decides, checked."""

    folder: Path
    name: str
    title: Text
    languages: tuple[str, ...]
    """The first is the one people get who ask for another."""
    seed: int
    secret: bytes = field(repr=False)
    posts: str
    """File or folder of records with the posts, relative to the campaign's folder."""
    questionnaire: Questionnaire
    main: Question
    """The question estimates are about."""
    hateful: tuple[str, ...]
    """Its answers that count as hateful."""
    cohorts: tuple[Cohort, ...]
    about: Text
    consent: Text
    warning: Text
    thanks: Text
    definitions: Sequence[tuple[Text, Text, Sequence[Text]]] = ()
    """Term, meaning and examples of each; answers have their own."""
    gold: str | None = None
    """File of gold posts: id, text, and a column for each question with its known answer."""
    gold_rate: float = 0.0
    """Share of shown posts that are gold posts."""
    adjudicate: bool = True
    """Whether posts on which a cohort still disagrees at the end go to the experts."""
    tutorial: Tutorial = field(default_factory=Tutorial)
    wellbeing: Wellbeing = field(default_factory=Wellbeing)
    background: Background = field(default_factory=Background)
    statement: Statement = field(default_factory=Statement)
    licence: str = "not decided"

    def cohort(self, name: str) -> Cohort:
        """The cohort of that name."""
        found = next((cohort for cohort in self.cohorts if cohort.name == name), None)
        if found is None:
            names = ", ".join(cohort.name for cohort in self.cohorts)
            raise BadInput(f"{self.name}: no cohort {name!r}; expected one of {names}")
        return found

    def default_url(self) -> str:
        """The database in the campaign's folder."""
        return f"sqlite:///{self.folder / DATABASE}"


def read_campaign(folder: Path) -> Campaign:
    """Read and check a campaign's folder (posts are read by :mod:`evenhand.labelling.posts`)."""
    path = folder / FILE
    document = read_toml(path)
    faults = Faults(str(path))
    languages = _languages(document, faults)
    node = Node(document, "", faults, languages)
    node.strings("languages", languages)
    if node.whole("format", FORMAT, low=1) > FORMAT:
        raise BadInput(f"{path}: format {document['format']} is newer than this Evenhand knows")
    questionnaire = Questionnaire(read_questions(node))
    main, hateful = _main(node, questionnaire)
    if faults:
        faults.raise_if_any()  # what follows is checked against the questions
    campaign = _campaign(folder, node, questionnaire, main, hateful)
    node.close()
    for name in (campaign.posts, campaign.gold, campaign.wellbeing.mask_words):
        if name is not None and not (folder / name).exists():
            faults.add(f"{name!r} is not in {folder}")
    faults.raise_if_any()
    return campaign


def _campaign(
    folder: Path, node: Node, questionnaire: Questionnaire, main: Question, hateful: tuple[str, ...]
) -> Campaign:
    definitions = []
    for entry in node.tables("definition"):
        examples = tuple(example.text("text") for example in entry.tables("example"))
        definitions.append((entry.text("term"), entry.text("text"), examples))
        entry.close()
    statement = node.table("statement")
    parts = {name: statement.string(name) if statement.has(name) else None for name in _STATEMENT}
    licence = statement.string("licence", "not decided")
    statement.close()
    return Campaign(
        folder=folder,
        name=node.string("name"),
        title=node.text("title"),
        languages=tuple(node.languages),
        seed=node.whole("seed", 0, low=0),
        secret=read_secret(folder),
        posts=node.string("posts"),
        questionnaire=questionnaire,
        main=main,
        hateful=hateful,
        cohorts=_cohorts(node),
        about=node.text("about"),
        consent=node.text("consent"),
        warning=node.text("warning"),
        thanks=node.text("thanks"),
        definitions=tuple(definitions),
        gold=node.string("gold") if node.has("gold") else None,
        gold_rate=node.share("gold_rate", 0.05 if node.has("gold") else 0.0),
        adjudicate=node.yes("adjudicate", True),
        tutorial=read_tutorial(node.table("tutorial"), questionnaire),
        wellbeing=read_wellbeing(node.table("wellbeing"), main, hateful),
        background=read_background(node.table("background")),
        statement=Statement(**parts),
        licence=licence,
    )


def _languages(document: dict[str, object], faults: Faults) -> tuple[str, ...]:
    """Languages are read first: every text is checked against them."""
    value = document.get("languages", ["en"])
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        wrong = [v for v in value if not _LANGUAGE.fullmatch(v)]
        if not wrong and len(set(value)) == len(value):
            return tuple(value)
    faults.add(f'languages: {value!r}; expected distinct tags such as ["en", "de"]')
    return ("en",)


def _main(node: Node, questionnaire: Questionnaire) -> tuple[Question, tuple[str, ...]]:
    if not questionnaire.questions:
        node.fault("question", "no questions; expected at least one [[question]]")
    name = node.string("main", questionnaire.questions[0].id if questionnaire.questions else None)
    main = questionnaire.question(name)
    if main is None or main.kind not in CHOICES or main.when or main.optional:
        node.fault("main", f"{name!r}; expected a question with answers that everyone is asked")
        main = Question(name, "one")
    hateful = node.strings("hateful")
    for label in hateful:
        if label not in main.labels:
            node.fault("hateful", f"{label!r} is not an answer to {name!r}")
    return main, hateful


def _cohorts(node: Node) -> tuple[Cohort, ...]:
    cohorts = tuple(read_cohort(entry) for entry in node.tables("cohort"))
    if not cohorts:
        node.fault("cohort", "no cohorts; expected at least one [[cohort]]")
    for name, times in Counter(cohort.name for cohort in cohorts).items():
        if times > 1:
            node.fault("cohort", f"{times} cohorts are called {name!r}")
    return cohorts


def read_secret(folder: Path) -> bytes:
    """The campaign's secret, at least 16 bytes as hexadecimal digits."""
    path = folder / SECRET
    try:
        secret = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{path}: no secret ({error}); pseudonyms need the one this campaign began with"
        ) from error
    if len(secret) < 16:
        raise BadInput(f"{path}: {len(secret)} bytes; expected at least 16")
    return secret


def write_secret(folder: Path) -> None:
    """A new secret that only its owner can read."""
    path = folder / SECRET
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(secrets.token_hex(32) + "\n", encoding="ascii")

"""The posts of a campaign, as people will see them: pseudonyms in place, authors left out.

Posts come from a file or a folder of records. A post is shown with what it replies to (the post its
``reply_to`` names, or a tag ``context``) and with its pictures (``media``, or a tag ``picture``:
files in the campaign's folder, several separated by ``|``; links are not followed). Gold posts have
a file of their own with the known answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from evenhand.core.errors import BadInput, Faults
from evenhand.core.tables import tag
from evenhand.data.corpus import Corpus
from evenhand.data.files import LINE, read_rows
from evenhand.data.find import find
from evenhand.labelling._parts import Cohort
from evenhand.labelling.campaign import Campaign
from evenhand.labelling.pseudonyms import Pseudonyms
from evenhand.labelling.questionnaire import CHOICES

PICTURES = (".jpg", ".jpeg", ".png", ".gif", ".webp")
_NOT_HARD = (None, "", "0", "no", "false")


@dataclass(frozen=True)
class ShownPost:
    """A post as an annotator sees it (the id is for us: it may lead to the author)."""

    id: str
    text: str
    context: str | None = None
    """What it replies to."""
    pictures: tuple[str, ...] = ()
    """Paths in the campaign's folder."""
    category: str | None = None
    """What people can opt out of."""
    hard: bool = False
    """Marked beforehand as hard to read."""
    gold: bool = False


@dataclass(frozen=True)
class CampaignPosts:
    """All posts of a campaign and who is to judge which."""

    corpus: Corpus
    """As the owner gave them; for export only."""
    shown: Sequence[ShownPost]
    """Sorted by id, gold posts last."""
    cohorts: Mapping[str, Sequence[str]]
    """Cohort → ids of its posts."""
    gold: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """Gold post → question → its known answers."""


def read_posts(campaign: Campaign) -> CampaignPosts:
    """Read and check the posts; raises with every fault."""
    corpus = find(str((campaign.folder / campaign.posts).absolute()))
    faults = Faults(str(campaign.folder / campaign.posts), unit="row")
    hidden = Pseudonyms(campaign.secret)
    shown = sorted(_shown(campaign, corpus, hidden, faults), key=lambda post: post.id)
    if not shown:
        faults.add("no posts")
    ids = [post.id for post in shown]
    cohorts = {
        cohort.name: _of_cohort(campaign, cohort, corpus, ids) for cohort in campaign.cohorts
    }
    faults.raise_if_any()
    gold = _gold(campaign, set(ids))
    shown += [ShownPost(id, hidden.text(text), gold=True) for id, text in sorted(gold[0].items())]
    return CampaignPosts(corpus, shown, cohorts, gold[1])


def _shown(
    campaign: Campaign, corpus: Corpus, hidden: Pseudonyms, faults: Faults
) -> Iterator[ShownPost]:
    care = campaign.wellbeing
    posts = corpus.posts
    replies = pl.coalesce("reply_to", tag("reply_to", posts)).alias("reply_to")
    columns = {
        "context": tag("context", posts),
        "picture": tag("picture", posts),
        "category": tag(care.category_tag, posts) if care.category_tag else pl.lit(None),
        "hard": tag(care.hard_tag, posts) if care.hard_tag else pl.lit(None),
    }
    table = posts.select(
        "id", "text", "media", replies, *(value.alias(name) for name, value in columns.items())
    )
    texts = dict(zip(posts["id"], posts["text"], strict=True))
    known = {choice.id for choice in care.categories}
    for row, entry in enumerate(table.iter_rows(named=True), start=1):
        context = entry["context"] or texts.get(entry["reply_to"] or "")
        pictures = [*entry["media"], *(entry["picture"] or "").split("|")]
        if entry["category"] is not None and known and entry["category"] not in known:
            faults.add(f"category {entry['category']!r} is not in {campaign.name}'s list", row)
        yield ShownPost(
            id=entry["id"],
            text=hidden.text(entry["text"]),
            context=hidden.text(context) if context else None,
            pictures=tuple(_pictures(campaign.folder, pictures, faults, row)),
            category=entry["category"],
            hard=entry["hard"] not in _NOT_HARD,
        )


def _pictures(folder: Path, names: Sequence[str], faults: Faults, row: int) -> Iterator[str]:
    for name in filter(None, (name.strip() for name in names)):
        if "://" in name or Path(name).suffix.lower() not in PICTURES:
            continue
        path = (folder / name).resolve()
        if path.is_relative_to(folder.resolve()) and path.is_file():
            yield name
        else:
            faults.add(f"picture {name!r} is not in {folder}", row)


def _of_cohort(
    campaign: Campaign, cohort: Cohort, corpus: Corpus, ids: Sequence[str]
) -> Sequence[str]:
    wanted = list(ids)
    if cohort.phase is not None:
        if corpus.draws is None:
            raise BadInput(
                f"{campaign.posts}: no draws; cohort {cohort.name!r} judges phase {cohort.phase}"
            )
        drawn = set(corpus.draws.filter(pl.col("phase") == cohort.phase)["post"])
        wanted = [id for id in wanted if id in drawn]
    if cohort.ids is not None:
        path = campaign.folder / cohort.ids
        try:
            listed = set(path.read_text(encoding="utf-8").split())
        except OSError as error:
            raise BadInput(f"{path}: cannot be read: {error}") from error
        lost = sorted(listed - set(ids))
        if lost:
            raise BadInput(*(f"{path}: no post {id!r}" for id in lost[:20]), total=len(lost))
        wanted = [id for id in wanted if id in listed]
    if not wanted:
        raise BadInput(f"{campaign.folder}: cohort {cohort.name!r} has no posts")
    return wanted


def _gold(
    campaign: Campaign, ids: set[str]
) -> tuple[dict[str, str], dict[str, dict[str, Sequence[str]]]]:
    """Texts and known answers of the gold posts."""
    if campaign.gold is None:
        return {}, {}
    path = campaign.folder / campaign.gold
    rows = read_rows(path, need=("id", "text"))
    faults = Faults(str(path))
    questions = {q.id: q for q in campaign.questionnaire.questions if q.kind in CHOICES}
    for name in rows.columns:
        if name not in questions and name not in (LINE, "id", "text"):
            faults.add(f"column {name!r} is not a question with answers to choose from")
    texts: dict[str, str] = {}
    answers: dict[str, dict[str, Sequence[str]]] = {}
    for row in rows.iter_rows(named=True):
        id = row["id"]
        if not id or id in ids or id in texts:
            faults.add(f"id {id!r} is empty or used before", row[LINE])
        given = {name: row[name].split("|") for name in questions if row.get(name)}
        for name, labels in given.items():
            for label in labels:
                if label not in questions[name].labels:
                    expected = ", ".join(questions[name].labels)
                    faults.add(f"{name} is {label!r}; expected one of {expected}", row[LINE])
        if campaign.main.id not in given:
            faults.add(f"no answer to {campaign.main.id!r}", row[LINE])
        texts[id], answers[id] = row["text"] or "", given
    faults.raise_if_any()
    return texts, answers

"""What a campaign brought, as the records of the design.

Annotators and authors are pseudonyms, texts are as people saw them. Votes that were undone, skipped
or deleted are not there. A settled case is the post's gold (``adjudicated``), otherwise gold is the
share of votes of everyone. Votes on gold posts are kept apart (:attr:`Records.checks`): they are no
part of the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import polars as pl
import sqlalchemy as sa

from evenhand.core.tables import GOLD, JUDGEMENTS, gold_table, judgements_table
from evenhand.data.corpus import Corpus
from evenhand.labelling._tables import VOTED, Found, assignments, cases, people, posts
from evenhand.labelling.posts import CampaignPosts
from evenhand.labelling.pseudonyms import Pseudonyms
from evenhand.labelling.questionnaire import CHOICES, Answers, Questionnaire
from evenhand.labelling.store import Store
from evenhand.stats.votes import vote_shares

ADJUDICATED = "adjudicated"
_NOTE = {"post": pl.String, "annotator": pl.String, "question": pl.String, "note": pl.String}


@dataclass(frozen=True)
class Records:
    """Everything an export can write."""

    corpus: Corpus
    notes: pl.DataFrame
    """Free notes: post, annotator, question, note; may hold what nobody should publish."""
    checks: pl.DataFrame
    """Votes on gold posts: judgements with ``right``, whether they match the known answer."""
    background: Mapping[str, Mapping[str, int]]
    """Question → answer → people, of those who agreed to be counted."""
    annotators: Mapping[str, int]
    """Cohort → people with at least one vote."""


def read_records(store: Store, found: CampaignPosts) -> Records:
    """Read everything from the store, checked."""
    campaign = store.campaign
    hidden = Pseudonyms(campaign.secret)
    with store.context.database.read() as connection:
        votes = connection.execute(_VOTES).all()
        settled = connection.execute(_SETTLED).all()
        texts = {id: text for id, text in connection.execute(sa.select(posts.c.id, posts.c.text))}
        backgrounds = connection.execute(_BACKGROUND).scalars().all()
    questions = campaign.questionnaire
    labels = {q.id: q.labels for q in questions.questions if q.kind in CHOICES}
    rows = [row for vote in votes for row in _judgements(vote, questions, hidden)]
    table = pl.DataFrame(rows, schema={**JUDGEMENTS, "gold": pl.Boolean})
    judgements = judgements_table(table.filter(~pl.col("gold")).drop("gold"), labels)
    judgements = judgements.sort("post", "question", "cohort", "annotator")
    noted = [row for vote in votes for row in _notes(vote, hidden)]
    own = found.corpus
    corpus = replace(
        own,
        name=campaign.name,
        rows=own.posts.height,
        posts=_posts(own.posts, texts, hidden),
        judgements=judgements,
        gold=_gold(judgements, questions, settled),
        question=campaign.main.id,
        hateful=campaign.hateful,
        files=(),
        notes=(*own.notes, "Gold: settled by an expert where there was a case, else vote shares."),
    )
    people_per = {
        name: part["annotator"].n_unique() for (name,), part in judgements.group_by("cohort")
    }
    return Records(
        corpus,
        pl.DataFrame(noted, schema=_NOTE).sort("post", "annotator"),
        _checks(table.filter("gold").drop("gold"), found),
        _counted(backgrounds),
        dict(sorted(people_per.items())),
    )


_VOTES = (
    sa.select(
        posts.c.id,
        posts.c.gold,
        people.c.name,
        assignments.c.cohort,
        assignments.c.answers,
        assignments.c.seconds,
        assignments.c.done_at,
    )
    .join(posts, posts.c.number == assignments.c.number)
    .join(people, people.c.id == assignments.c.person)
    .where(assignments.c.state == VOTED)
)
_SETTLED = (
    sa.select(posts.c.id, cases.c.answers)
    .join(posts, posts.c.number == cases.c.number)
    .where(cases.c.settled_at.is_not(None))
)
_BACKGROUND = sa.select(people.c.background).where(
    people.c.background_at.is_not(None), people.c.erased_at.is_(None)
)


def _judgements(
    vote: Found, questions: Questionnaire, hidden: Pseudonyms
) -> Iterator[dict[str, Any]]:
    answers = Answers.from_dict(vote.answers)
    spans: dict[str, list[dict[str, int]]] = {}
    for name, marked in answers.spans.items():
        explained = questions.question(name)
        if explained is not None and explained.of:
            spans[explained.of] = [{"start": start, "end": end} for start, end in marked]
    for question, chosen in answers.chosen.items():
        yield {
            "post": vote.id,
            "annotator": hidden.annotator(vote.name),
            "cohort": vote.cohort,
            "question": question,
            "answer": list(chosen),
            "spans": spans.get(question, []),
            "seconds": vote.seconds,
            "at": datetime.fromtimestamp(vote.done_at, UTC),
            "attempt": 1,
            "anonymous": False,
            "gold": vote.gold,
        }


def _notes(vote: Found, hidden: Pseudonyms) -> Iterator[dict[str, str]]:
    for question, note in Answers.from_dict(vote.answers).notes.items():
        yield {
            "post": vote.id,
            "annotator": hidden.annotator(vote.name),
            "question": question,
            "note": hidden.text(note),
        }


def _posts(table: pl.DataFrame, texts: Mapping[str, str], hidden: Pseudonyms) -> pl.DataFrame:
    """The owner's posts with texts as shown and pseudonyms for authors; raw contexts go."""
    authors = {name: hidden.author(name) for name in table["author"].drop_nulls().unique()}
    tags = table["tags"].struct.unnest()
    kept = [name for name in tags.columns if name not in ("context", "picture")]
    return table.with_columns(
        text=pl.col("id").replace_strict(texts, return_dtype=pl.String),
        author=pl.col("author").replace_strict(authors, default=None, return_dtype=pl.String),
        tags=pl.struct(pl.col("tags").struct.field(name) for name in kept),
    )


def _gold(judgements: pl.DataFrame, questions: Questionnaire, settled: Any) -> pl.DataFrame:
    parts = [pl.DataFrame(schema=dict(GOLD))]
    for question in questions.questions:
        part = judgements.filter(pl.col("question") == question.id)
        if part.height:
            parts.append(vote_shares(part, multiple=question.kind == "several"))
    rows = []
    for case in settled:
        for name, chosen in Answers.from_dict(case.answers).chosen.items():
            asked = questions.question(name)
            rows.append(
                {
                    "post": case.id,
                    "question": name,
                    "shares": [{"label": label, "share": 1.0} for label in chosen],
                    "n": 1,
                    "origin": ADJUDICATED,
                    "label": chosen[0] if len(chosen) == 1 else None,
                    "multiple": asked is not None and asked.kind == "several",
                }
            )
    adjudicated = pl.DataFrame(rows, schema=dict(GOLD))
    votes = pl.concat(parts).join(adjudicated, on="post", how="anti")
    return gold_table(pl.concat([votes, adjudicated]).sort("post", "question"))


def _checks(table: pl.DataFrame, found: CampaignPosts) -> pl.DataFrame:
    known = [
        {"post": post, "question": question, "known": sorted(labels)}
        for post, answers in found.gold.items()
        for question, labels in answers.items()
    ]
    schema: dict[str, Any] = {"post": pl.String, "question": pl.String}
    schema["known"] = pl.List(pl.String)
    joined = table.join(pl.DataFrame(known, schema=schema), on=["post", "question"])
    right = pl.col("answer").list.sort() == pl.col("known")
    return joined.with_columns(right=right).sort("post", "question", "annotator")


def _counted(backgrounds: Any) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for answers in backgrounds:
        for question, chosen in answers.items():
            for label in chosen:
                mine = counts.setdefault(question, {})
                mine[label] = mine.get(label, 0) + 1
    return counts

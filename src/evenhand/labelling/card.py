"""The card that goes out with published records: a data statement with what is known and counted.

Background answers are totals of those who agreed to be counted; fewer than five people in a cell
are not told apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields

from evenhand.labelling._reading import said
from evenhand.labelling.campaign import Campaign
from evenhand.labelling.questionnaire import CHOICES
from evenhand.labelling.records import Records
from evenhand.reports import LIMITS

_FEWEST = 5
_STATEMENT = {
    "curation": "Curation",
    "language": "Language",
    "speakers": "Who wrote the texts",
    "situation": "When and where they were written",
    "text": "The texts",
}


def card(campaign: Campaign, records: Records, files: Sequence[str], *, texts: bool) -> str:
    """The card as Markdown with a YAML head, as dataset libraries read it."""
    head = ["---", f"license: {json.dumps(campaign.licence)}", "configs:"]
    for name in files:
        head += [f"- config_name: {name}", f"  data_files: {name}.parquet"]
    head += ["---", ""]
    return "\n".join([*head, *_body(campaign, records, texts)]) + "\n"


def _body(campaign: Campaign, records: Records, texts: bool) -> Iterator[str]:
    language = "en" if "en" in campaign.languages else campaign.languages[0]
    corpus = records.corpus
    judgements = corpus.judgements
    votes = 0 if judgements is None else judgements.height
    judged = 0 if judgements is None else judgements["post"].n_unique()
    yield f"# {said(campaign.title, language)}\n"
    yield f"{said(campaign.about, language)}\n"
    yield f"Content warning: {said(campaign.warning, language)}\n"
    yield "## What is here\n"
    yield f"{corpus.posts.height:,} posts, {judged:,} of them judged; {votes:,} answers."
    yield (
        "Handles, links and e-mail addresses in the texts are pseudonyms. Names written out are "
        "still there: do not look for the people.\n"
        if texts
        else "Texts are left out: `post` is the id under which the owner of the texts gives them."
        " Spans count Unicode code points of the text as it was shown, with pseudonyms.\n"
    )
    yield "## What people were asked\n"
    for question in campaign.questionnaire.questions:
        yield f"- `{question.id}` ({question.kind}): {said(question.text, language)}"
        if question.kind in CHOICES:
            for answer in question.answers:
                meaning = said(answer.definition, language)
                yield f"    - `{answer.id}`" + (f": {meaning}" if meaning else "")
    yield "\n## Data statement\n"
    for field in fields(campaign.statement):
        if field.name in _STATEMENT:
            known = getattr(campaign.statement, field.name) or "Not known."
            yield f"**{_STATEMENT[field.name]}.** {known}\n"
    yield from _annotators(campaign, records, language)
    yield "## What it is not for\n"
    yield LIMITS


def _annotators(campaign: Campaign, records: Records, language: str) -> Iterator[str]:
    yield "**Annotators.** " + (
        "; ".join(f"{name}: {many:,} people" for name, many in records.annotators.items())
        or "Nobody yet."
    )
    yield (
        "Everyone was warned of the content, could skip, rest and stop, and voted without seeing "
        "the votes of others.\n"
    )
    for question in campaign.background.questions.questions:
        counts = records.background.get(question.id, {})
        if not counts:
            continue
        shown = [
            f"{said(answer.text, language)} "
            + (str(counts[answer.id]) if counts[answer.id] >= _FEWEST else f"fewer than {_FEWEST}")
            for answer in question.answers
            if counts.get(answer.id)
        ]
        yield f"- {said(question.text, language)} {', '.join(shown)}."
    if records.background:
        yield "\nCounted are those who answered and agreed to be counted.\n"

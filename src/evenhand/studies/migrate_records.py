"""``evenhand migrate record``: the texts of a file, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.data.find import used
from evenhand.data.user_file import Columns, FileOptions, read_user_file
from evenhand.reports import Section
from evenhand.serving.recording import Counts, Recorded, Text
from evenhand.studies.parts import Parts

_MEASURE = "recorded_answers"
_MOST_REASONS = 5
"""That a terminal shows; the recording has the reason of every text."""


def texts_in(run: Run, path: Path, column: str | None, labels: str | None) -> list[Text]:
    """The texts of a user's file, with what people said of them where a column is named."""
    corpus = read_user_file(path, FileOptions(columns=Columns(text=column, label=labels)))
    run.data.append(used(corpus))
    gold = corpus.main_gold() if labels is not None else None
    said = {} if gold is None else dict(gold.select("post", "label").rows())
    return [Text(text, said.get(id_)) for id_, text in corpus.posts.select("id", "text").rows()]


def file_parts(run: Run, done: Recorded, out: Path) -> Parts:
    """What a run over a file did."""
    states = {
        "scored": done.scored,
        "in the recording already": done.known,
        "refused by the service": done.refused,
        "never answered": done.unanswered,
        "rows without a text": done.empty,
    }
    commonest = sorted(done.reasons.items(), key=lambda reason: (-reason[1], reason[0]))
    more = [f"Refused {many:,} times: {why}" for why, many in commonest[:_MOST_REASONS]]
    if done.unanswered:
        more.append("Texts that were never answered are asked for again by the same command.")
    return _parts(run, states, out, more)


def proxy_parts(run: Run, counts: Counts, out: Path) -> Parts:
    """What a proxy did."""
    states = {
        "stored": counts.stored,
        "outside the sample": counts.left_out,
        "lost": counts.lost,
        "calls passed on": counts.passed,
        "calls the service did not answer": counts.unanswered,
    }
    lost = f"{counts.lost:,} answers were passed on but not recorded."
    return _parts(run, states, out, [lost] if counts.lost else [])


def _parts(run: Run, states: Mapping[str, int], out: Path, more: list[str]) -> Parts:
    run.findings += [
        Finding(
            measure=_MEASURE,
            value=float(many),
            n=many,
            group={"state": state},
            why="a count, no interval",
        )
        for state, many in states.items()
    ]
    told = [
        ", ".join(f"{state}: {many:,}" for state, many in states.items()) + ".",
        *more,
        f"Compare a detector with it: evenhand migrate report {out} --out DIR",
    ]
    return Parts("Recording", [Section("Recording", findings=run.findings)], told, terminal=[])

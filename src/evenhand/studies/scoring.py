"""Texts scored for a reader: probabilities, the shipped thresholds, and the words they go by.

Texts are scored in batches as they come, so that what waits for a score is bounded. Nothing that is
shown or written repeats a text: a terminal shows the beginning of each with names masked, the JSON
document only its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.provenance import DataUsed, Run
from evenhand.models.evidence import MOST_WORDS, Span
from evenhand.models.loaded import BaseRate, Loaded, expect_attributes
from evenhand.reports import LIMITS, Grid, Section, mask
from evenhand.reports.numbers import count, number
from evenhand.studies.parts import Parts, Step, silent

_BATCH = 512
_SHOWN_CHARACTERS, _READ_CHARACTERS = 60, 500
_SHOWN_WORDS = 10
_SHOWN_TEXTS = 1000
"""So many a terminal shows; laying out a table takes longer than scoring."""
_MARK = "*"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is to be said of each text."""

    attribute: str | None = None
    """The only one to show, and what evidence is of; without it all, and evidence of the first of
    these."""
    evidence: bool = False
    base_rate: BaseRate = None
    perspective_like: bool = False


@dataclass(frozen=True, eq=False)
class _Row:
    """What is said of one text."""

    number: int
    shown: str
    scores: Mapping[str, float]
    above: Sequence[str]
    """The attributes at or above their threshold."""
    spans: Sequence[Span] | None
    words: Sequence[str]
    """What stands in each span, for people."""


def score_texts(
    run: Run,
    loaded: Loaded,
    texts: Iterable[str],
    wanted: Wanted,
    *,
    source: str = "texts",
    step: Step = silent,
) -> Parts:
    """Score texts with a detector; ``source`` says where they are from."""
    if wanted.attribute is not None:
        expect_attributes(loaded, [wanted.attribute])
    scales = loaded.scales(base_rate=wanted.base_rate, perspective_like=wanted.perspective_like)
    attributes = [name for name in scales if wanted.attribute in (None, name)]
    if not attributes:
        raise BadInput(
            f"{loaded.name} has no Perspective-like score of {wanted.attribute}; it has those of "
            f"{', '.join(scales)}"
        )
    thresholds = _thresholds(loaded, wanted, attributes)
    rows = list(_rows(loaded, texts, attributes, thresholds, wanted, step))
    if not rows:
        raise NotEnoughData(f"{source}: no text to score")
    run.data.append(DataUsed(source, len(rows), None))
    shown = rows[:_SHOWN_TEXTS]
    grids = [_table(shown, attributes)]
    if wanted.evidence:
        grids.append(_evidence_table(shown, attributes[0]))
    summary = _sentences(loaded, attributes, thresholds, wanted)
    if len(rows) > len(shown):
        summary.insert(0, f"{count(len(shown))} of {count(len(rows))} texts; --json has all.")
    return Parts(
        f"Scores of {loaded.name}",
        [Section("Scores", grids=grids)],
        summary,
        also={
            "detector": _about(loaded, attributes, thresholds, wanted),
            "scores": [_document(row) for row in rows],
        },
    )


def _rows(
    loaded: Loaded,
    texts: Iterable[str],
    attributes: Sequence[str],
    thresholds: Mapping[str, float],
    wanted: Wanted,
    step: Step,
) -> Iterator[_Row]:
    waiting = iter(texts)
    done = 0
    while batch := list(islice(waiting, _BATCH)):
        found = loaded.score(
            batch, base_rate=wanted.base_rate, perspective_like=wanted.perspective_like
        )
        spans: Sequence[Sequence[Span] | None] = [None] * len(batch)
        if wanted.evidence:
            spans = loaded.evidence(batch, attribute=attributes[0])
        for text, p, of_text in zip(batch, found, spans, strict=True):
            done += 1
            yield _Row(
                done,
                _shown(text),
                {name: p[name] for name in attributes},
                [name for name in thresholds if p[name] >= thresholds[name]],
                of_text,
                [_shown(text[start:end]) for start, end, _ in of_text or ()],
            )
        step("Scoring", done, None)


def _thresholds(loaded: Loaded, wanted: Wanted, attributes: Sequence[str]) -> dict[str, float]:
    every = loaded.thresholds(base_rate=wanted.base_rate, perspective_like=wanted.perspective_like)
    return {name: every[name] for name in attributes if name in every}


def _shown(text: str) -> str:
    """The beginning of a text on one line, without names."""
    text = text.strip()
    line = " ".join(mask(text[:_READ_CHARACTERS]).split()) or "(the text is empty)"
    if len(line) <= _SHOWN_CHARACTERS and len(text) <= _READ_CHARACTERS:
        return line
    return f"{line[: _SHOWN_CHARACTERS - 1]}…"


def _table(rows: Sequence[_Row], attributes: Sequence[str]) -> Grid:
    headings = ("", "text", *(name.replace("_", "\n") for name in attributes))
    cells = [
        [
            str(row.number),
            row.shown,
            *(number(row.scores[a]) + _MARK * (a in row.above) for a in attributes),
        ]
        for row in rows
    ]
    return Grid("scores", "Scores", headings, cells, words=2)


def _evidence_table(rows: Sequence[_Row], attribute: str) -> Grid:
    cells = []
    for row in rows:
        pairs = [(s.weight, word) for s, word in zip(row.spans or (), row.words, strict=True)]
        heavy = sorted((pair for pair in pairs if pair[0]), key=lambda pair: -abs(pair[0]))
        cells += [
            [str(row.number), word, ("+" if weight > 0 else "") + number(weight)]
            for weight, word in heavy[:_SHOWN_WORDS]
        ]
    title = f"Words that {attribute} goes by"
    return Grid("evidence", title, ("", "word", "weight"), cells, words=2)


def _sentences(
    loaded: Loaded, attributes: Sequence[str], thresholds: Mapping[str, float], wanted: Wanted
) -> list[str]:
    saved = f", saved by evenhand {loaded.written_by}" if loaded.folder else ""
    checksum = f", SHA-256 {loaded.sha256[:12]}" if loaded.sha256 else ""
    told = [f"{loaded.name}{saved}{checksum}."]
    if thresholds:
        at = ", ".join(f"{name} {number(p)}" for name, p in thresholds.items())
        told.append(f"{_MARK} at or above the shipped threshold: {at}.")
    told.append(_calibrated(loaded, attributes, wanted))
    if wanted.evidence:
        told.append(
            f"A weight is how far the probability of {attributes[0]} falls when the word is left "
            f"out, 0 where another word suffices; of each text at most {_SHOWN_WORDS} words with a "
            f"weight are shown, of texts of more than {MOST_WORDS} words runs of neighbouring ones."
            + (" --attribute asks of another." if len(attributes) > 1 else "")
        )
    return [*told, LIMITS]


def _calibrated(loaded: Loaded, attributes: Sequence[str], wanted: Wanted) -> str:
    """What the probabilities are for."""
    known = {name: loaded.calibrations[name] for name in attributes if name in loaded.calibrations}
    if not known:
        return f"{loaded.name} is not calibrated: its scores rank texts and have no threshold."
    if wanted.perspective_like:
        return "Perspective-like scores: this detector's order in the scale of published scores."
    parts = [
        f"{name} to {100 * found.base_rate:.3g} % of posts ({found.corpus})"
        for name, found in known.items()
    ]
    told = f"Calibrated: {', '.join(parts)}."
    rates = _rates(wanted, attributes)
    if not rates:
        return f"{told} Where the share is another, use --base-rate."
    mapped = ", ".join(f"{name} to {100 * rate:.3g} %" for name, rate in rates.items())
    return f"{told} Mapped: {mapped}, as if only the share were another; thresholds alike."


def _rates(wanted: Wanted, attributes: Sequence[str]) -> dict[str, float]:
    rate = wanted.base_rate
    if isinstance(rate, Mapping):
        return {name: rate[name] for name in attributes if name in rate}
    return {} if rate is None else dict.fromkeys(attributes, rate)


def _about(
    loaded: Loaded, attributes: Sequence[str], thresholds: Mapping[str, float], wanted: Wanted
) -> dict[str, Any]:
    rates = _rates(wanted, attributes)
    return {
        "name": loaded.name,
        "saved_by": loaded.written_by,
        "sha256": loaded.sha256,
        "scale": "perspective-like" if wanted.perspective_like else "probability",
        "attributes": {
            name: None
            if name not in loaded.calibrations
            else {
                "calibrated_to": loaded.calibrations[name].base_rate,
                "corpus": loaded.calibrations[name].corpus,
                "base_rate": rates.get(name, loaded.calibrations[name].base_rate),
                "threshold": thresholds[name],
            }
            for name in attributes
        },
        "evidence_of": attributes[0] if wanted.evidence else None,
    }


def _document(row: _Row) -> dict[str, Any]:
    found: dict[str, Any] = {
        "text": row.number,
        "scores": dict(row.scores),
        "above_threshold": list(row.above),
    }
    return found if row.spans is None else found | {"evidence": [list(s) for s in row.spans]}

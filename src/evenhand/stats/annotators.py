"""The annotator sheet: how each person's answers stand to those of the others on the same posts.

For every person, in order of id and never of score: agreement (the mean over posts of the share of
*other* people who gave the same answer), a confusion matrix against the others' majority (the
person's own vote left out; posts on which the others tie are left out), and the median time. The
sheet ranks nobody and excludes nobody: people from targeted groups disagree with the majority for
a reason, and a person who sees what others miss looks here like one who errs.

Intervals are over posts. Agreement on one post lies between 0 and 1, so its variance is at most
that of a yes or no with the same mean; Wilson's interval for that mean and number of posts is
therefore on the wide side, also for three posts on which all agree, where a bootstrap would have
no width. Someone who shares no post, and judgements of nobody knows whom, are null with a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import ndtri

from evenhand.core.records import Finding
from evenhand.stats._coding import Codes, Floats, Votes, code_votes, person_keys
from evenhand.stats.intervals import LEVEL, median_interval

Group = Mapping[str, str | int]
_ALONE = "nobody else judged any of these posts"
_AGREEMENT = "mean over posts of the share of others with the same answer; Wilson interval"
_CONFUSION = "share of posts with this majority of the others; Wilson interval"


def annotator_sheet(
    judgements: pl.DataFrame, *, question: str, group: Group | None = None
) -> list[Finding]:
    """Findings about each person who answered a single-choice question, in order of id.

    Measures: ``annotator_agreement``; ``annotator_confusion`` with group keys ``truth`` (the
    majority of the others) and ``answer``; ``annotator_seconds``. ``group`` is added to every
    finding's group.
    """
    votes = code_votes(judgements, question)
    sheet = _Sheet(votes)
    base = dict(group or {})
    findings = []
    for number, row in enumerate(votes.people.iter_rows(named=True)):
        if sheet.named[number]:
            keys = {**base, **person_keys(row)}
            findings += [sheet.agreement(number, keys), *sheet.confusion(number, keys)]
            findings.append(sheet.time(number, keys))
    unknown = int(votes.rows["anonymous"].sum())
    if unknown:
        findings.append(
            Finding(
                measure="annotator_agreement",
                value=None,
                n=unknown,
                group={**base, "annotator": "unknown"},
                unit="judgements",
                why="the judgements do not say who answered",
            )
        )
    return findings


@dataclass(frozen=True)
class _Shares:
    """Shares with their intervals and the number of posts behind each."""

    share: Floats
    low: Floats
    high: Floats
    n: Codes


class _Sheet:
    """Every person's figures, computed at once."""

    def __init__(self, votes: Votes) -> None:
        people, self.labels = votes.people.height, tuple(votes.labels)
        self.named = np.bincount(votes.person, ~votes.rows["anonymous"].to_numpy()) > 0
        self.n = np.bincount(votes.person)
        self._agreement = _agreement(votes, people)
        self._confusion = _confusion(votes, people)
        timed = votes.rows.select("seconds", person=pl.Series(votes.person)).filter(
            pl.col("seconds").is_finite()
        )
        self._seconds = {
            key: part["seconds"].to_numpy()
            for (key,), part in timed.partition_by("person", as_dict=True).items()
        }

    def agreement(self, person: int, keys: Group) -> Finding:
        figures, at = self._agreement, (person,)
        return _share("annotator_agreement", figures, at, keys, _AGREEMENT, _ALONE)

    def confusion(self, person: int, keys: Group) -> Iterator[Finding]:
        for t, truth in enumerate(self.labels):
            for a, answer in enumerate(self.labels):
                pair = {**keys, "truth": truth, "answer": answer}
                why = f"the others' majority is {truth!r} on none of these posts"
                at = (person, t, a)
                yield _share("annotator_confusion", self._confusion, at, pair, _CONFUSION, why)

    def time(self, person: int, keys: Group) -> Finding:
        seconds = self._seconds.get(person)
        if seconds is None:
            return Finding(
                measure="annotator_seconds",
                value=None,
                n=int(self.n[person]),
                group=keys,
                unit="judgements",
                why="no times were recorded",
            )
        low, high = median_interval(seconds)
        return Finding(
            measure="annotator_seconds",
            value=float(np.median(seconds)),
            n=len(seconds),
            group=keys,
            low=low,
            high=high,
            level=LEVEL,
            method="median; order-statistic interval",
            unit="judgements",
        )


def _agreement(votes: Votes, people: int) -> _Shares:
    counts = votes.counts()
    others = counts.sum(axis=1)[votes.post] - 1
    same = counts[votes.post, votes.answer] - 1
    shared = np.lexsort((votes.post, votes.person))  # a fixed order of addition
    shared = shared[others[shared] > 0]
    n = np.bincount(votes.person[shared], minlength=people)
    sums: Floats = np.bincount(
        votes.person[shared], same[shared] / others[shared], minlength=people
    ).astype(np.float64)
    return _wilson(sums, n)


def _confusion(votes: Votes, people: int) -> _Shares:
    """Person × majority of the others × answer."""
    others = votes.counts()[votes.post]
    others[np.arange(len(votes.post)), votes.answer] -= 1
    most = others == others.max(axis=1, keepdims=True)
    clear = most.sum(axis=1) == 1
    if len(votes.labels) == 1:
        clear &= others[:, 0] > 0
    truth, width = most.argmax(axis=1), len(votes.labels)
    cell = (votes.person * width + truth) * width + votes.answer
    hits = np.bincount(cell[clear], minlength=people * width * width)
    hits = hits.reshape(people, width, width)
    return _wilson(hits.astype(np.float64), np.broadcast_to(hits.sum(2, keepdims=True), hits.shape))


def _wilson(sums: Floats, n: Codes) -> _Shares:
    """Wilson's intervals for many shares at once; nothing is to be read where n is 0."""
    size = np.maximum(n, 1)
    z = float(ndtri(0.5 + LEVEL / 2))
    share = sums / size
    centre = (share + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * np.sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2)
    low, high = np.clip(centre - half, 0, share), np.clip(centre + half, share, 1)
    return _Shares(share, low, high, n)


def _share(
    measure: str, figures: _Shares, at: tuple[int, ...], keys: Group, method: str, why: str
) -> Finding:
    n = int(figures.n[at])
    if not n:
        return Finding(measure=measure, value=None, n=0, group=keys, unit="posts", why=why)
    return Finding(
        measure=measure,
        value=float(figures.share[at]),
        n=n,
        group=keys,
        low=float(figures.low[at]),
        high=float(figures.high[at]),
        level=LEVEL,
        method=method,
        unit="posts",
    )

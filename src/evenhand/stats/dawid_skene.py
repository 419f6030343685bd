"""Dawid–Skene: gold from judgements that weighs people by how they answer, and says whom.

Each person has a confusion matrix, the probability of each answer given the true label; true labels
and matrices are found together by expectation and maximisation, starting from vote shares (Dawid
and Skene 1979). Vote shares stay the default: someone from a targeted group who disagrees with the
majority for a reason is taken for a poor annotator here, so ``weights`` says how much each person
counts. Nobody is excluded.

Equal to crowd-kit's at the same number of iterations. Different: it stops when the log-likelihood
per judgement grows by less than ``tolerance`` (crowd-kit's bound counts the prior once per
judgement instead of once per post); posteriors within 1e-9 are a tie and the label is null; the
order of rows and the names of people and labels change nothing.

At the edges: anonymous judgements are refused, because a matrix needs a person. Someone who only
ever gave one answer has a matrix that says nothing, and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from evenhand.core.errors import BadInput
from evenhand.core.records import Finding
from evenhand.core.tables import GOLD, SHARES
from evenhand.stats._coding import Codes, Floats, Votes, code_votes, person_keys

_LEAST = 1e-10
_TIE = 1e-9
_SPLIT = float(2**13 + 1)


@dataclass(frozen=True)
class DawidSkene:
    """Gold by Dawid–Skene, and what was learned about people on the way."""

    gold: pl.DataFrame
    """One row per post, in order of post; shares are posterior probabilities."""
    labels: tuple[str, ...]
    """The labels, sorted: the order of ``prior`` and of both sides of ``confusion``."""
    prior: Floats
    """Share of posts by label."""
    confusion: Floats
    """Probability of an answer given the true label: person × truth × answer."""
    weights: pl.DataFrame
    """Per person (the order of ``confusion``): annotator, cohort, n (judgements), accuracy (mean of
    the diagonal), information (bits one answer gives about the label) and weight (information
    relative to the mean judgement of this crowd: below 1 counts less than others; null where no
    answer says anything)."""
    iterations: int
    converged: bool
    """False where the iterations ran out first."""
    log_likelihood: float
    """Per judgement."""

    def findings(self, group: Mapping[str, str | int] | None = None) -> list[Finding]:
        """How much each person counts, in order of id."""
        return [_weight(row, group or {}) for row in self.weights.iter_rows(named=True)]


def dawid_skene(
    judgements: pl.DataFrame, *, question: str, iterations: int = 100, tolerance: float = 1e-5
) -> DawidSkene:
    """Fit the model to the first attempts at one single-choice question.

    A ``tolerance`` of ``-inf`` runs all iterations.

    >>> from evenhand.core.tables import judgements_table
    >>> votes = pl.DataFrame({"post": ["a", "a", "b", "b"], "annotator": ["x", "y"] * 2,
    ...     "question": "q", "answer": [["yes"], ["yes"], ["no"], ["no"]]})
    >>> dawid_skene(judgements_table(votes), question="q").gold["label"].to_list()
    ['yes', 'no']
    """
    if iterations < 1 or np.isnan(tolerance):
        raise BadInput(
            f"dawid_skene: iterations is {iterations} and tolerance {tolerance}; "
            "expected at least 1 and a number"
        )
    votes = code_votes(judgements, question)
    anonymous = int(votes.rows["anonymous"].sum())
    if anonymous:
        raise BadInput(
            f"judgements: {anonymous} of {votes.rows.height} answers to {question!r} are "
            "anonymous; Dawid–Skene needs to know who answered. Use vote shares"
        )
    fit = _Fit(votes)
    used, converged = fit.run(iterations, tolerance)
    return DawidSkene(
        gold=_gold(votes, fit.posterior, question),
        labels=tuple(votes.labels),
        prior=fit.prior,
        confusion=np.ascontiguousarray(fit.answers.transpose(0, 2, 1)),
        weights=_weights(votes, fit.prior, fit.answers.transpose(0, 2, 1)),
        iterations=used,
        converged=converged,
        log_likelihood=fit.log_likelihood,
    )


class _Fit:
    """The state of expectation and maximisation; label is the first axis of ``posterior``."""

    def __init__(self, votes: Votes) -> None:
        self.people, self.labels = votes.people.height, len(votes.labels)
        pair = votes.person * self.labels + votes.answer
        shape = (len(votes.posts), self.people * self.labels)
        given = sparse.csr_array((np.ones(len(pair)), (votes.post, pair)), shape=shape)
        self.by_post, self.by_pair = given, given.T.tocsr()
        self.observed = np.bincount(pair, minlength=shape[1]).reshape(-1, self.labels, 1) > 0
        counts = votes.counts().T
        self.posterior: Floats = counts / counts.sum(axis=0)
        self.log_likelihood = -np.inf
        self.maximise()

    def run(self, iterations: int, tolerance: float) -> tuple[int, bool]:
        for number in range(1, iterations + 1):
            before = self.log_likelihood
            self.expect()
            self.maximise()
            if self.log_likelihood - before < tolerance:
                return number, True
        return iterations, False

    def maximise(self) -> None:
        """The prior and the matrices (person × answer × truth) from the posterior.

        An answer somebody never gave has probability 0; one they gave at least 1e-10.
        """
        self.prior = np.maximum(self.posterior.mean(axis=1), _LEAST)
        sums = np.stack([self.by_pair @ part for part in self.posterior], axis=1)
        sums = sums.reshape(self.people, self.labels, self.labels)
        sums = np.where(self.observed, np.maximum(sums, _LEAST), 0)
        self.answers: Floats = sums / sums.sum(axis=1, keepdims=True)

    def expect(self) -> None:
        """The posterior from the prior and the matrices."""
        logs = np.log(np.where(self.observed, self.answers, 1)).reshape(-1, self.labels)
        joint = np.stack([self.by_post @ column for column in np.ascontiguousarray(logs.T)])
        joint += np.log(self.prior)[:, None]
        top = joint.max(axis=0)
        joint -= top
        likelihood = np.exp(joint, out=joint)
        total = likelihood.sum(axis=0)
        likelihood /= total
        self.posterior = _shorten(likelihood)
        top += np.log(total)
        self.log_likelihood = float(top.sum() / self.by_post.nnz)


def _shorten(values: Floats) -> Floats:
    """Keep 40 bits of each value (Veltkamp's splitting), in place.

    The last bits depend on the order of addition, that is on names, and from an exact tie the
    iterations would blow them up into a label.
    """
    large = values * _SPLIT
    np.subtract(large, values, out=values)
    return np.subtract(large, values, out=values)


def _gold(votes: Votes, posterior: Floats, question: str) -> pl.DataFrame:
    shape = (len(votes.posts), len(votes.labels))
    shares = pl.DataFrame(
        {
            "label": votes.labels.gather(np.tile(np.arange(shape[1]), shape[0])),
            "share": np.clip(posterior.T, 0, 1).reshape(-1),
        }
    )
    likeliest = posterior >= posterior.max(axis=0) - _TIE
    only = np.where(likeliest.sum(axis=0) == 1, likeliest.argmax(axis=0), shape[1])
    names = pl.concat([votes.labels, pl.Series([None], dtype=pl.String)])
    gold = pl.DataFrame(
        {
            "post": votes.posts,
            "shares": shares.to_struct().reshape(shape).cast(SHARES),
            "n": pl.Series(np.bincount(votes.post), dtype=pl.Int32),
            "label": names.gather(only),
        }
    )
    gold = gold.with_columns(
        question=pl.lit(question), origin=pl.lit("dawid-skene"), multiple=pl.lit(False)
    )
    return gold.select(*GOLD)


def _weights(votes: Votes, prior: Floats, confusion: Floats) -> pl.DataFrame:
    n: Codes = np.bincount(votes.person)
    bits = _information(prior / prior.sum(), confusion)
    mean = float(bits @ n / n.sum())
    return votes.people.with_columns(
        n=pl.Series(n),
        accuracy=pl.Series(np.diagonal(confusion, axis1=1, axis2=2).mean(axis=1)),
        information=pl.Series(bits),
        weight=pl.Series(bits / mean) if mean > _LEAST else pl.lit(None, dtype=pl.Float64),
    )


def _information(prior: Floats, confusion: Floats) -> Floats:
    """Mutual information of label and answer, in bits, for each person."""
    answer = np.einsum("t,ptr->pr", prior, confusion)[:, None, :]
    ratio = np.divide(confusion, answer, out=np.ones_like(confusion), where=confusion > 0)
    bits: Floats = np.einsum("t,ptr->p", prior, confusion * np.log2(ratio))
    return np.maximum(bits, 0)


def _weight(row: Mapping[str, Any], group: Mapping[str, str | int]) -> Finding:
    nothing = "nobody's answers say anything about the label"
    return Finding(
        measure="annotator_weight",
        value=row["weight"],
        n=row["n"],
        group={**group, **person_keys(row)},
        method="Dawid–Skene: bits an answer gives about the label, relative to the mean judgement",
        unit="judgements",
        why=nothing if row["weight"] is None else "no interval: fitted together with the labels",
    )

"""Whether people have judged the cases of a suite, and how far they agreed.

Randolph's κ is free of the shares of the answers, which suits cases whose labels were decided when
they were written. A case somebody called unrealistic is counted. Where nobody has judged the cases,
or the votes were not published, that is what is said.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from evenhand.audits.index import Index, figure
from evenhand.audits.suites import NOT_VALIDATED, Suite
from evenhand.core.records import Finding
from evenhand.reports.numbers import count
from evenhand.stats.agreement import agreement

UNREALISTIC = "unrealistic"
"""The question of a campaign whose answer "yes" means so."""
_FLAGS = "unrealistic_flags"
_SHOWN = ("posts_judged", "percent_agreement", "randolph_kappa")

Group = Mapping[str, str | int]


def validated(
    suite: Suite, votes: pl.DataFrame | None = None, *, seed: int, group: Group | None = None
) -> list[Finding]:
    """Agreement of the people who judged the cases; ``votes`` from a campaign add to it."""
    own = dict(group or {})
    flags = _published_flags(suite, own)
    given = suite.corpus.judgements if votes is None else votes
    if given is None:
        return flags
    cases = suite.cases()
    known = given.filter(pl.col("post").is_in(cases["id"].implode()))
    question = suite.corpus.question
    if not known.filter(pl.col("question") == question).height:
        return flags
    agreed = agreement(known, question=question, seed=seed, group=own)
    return [f for f in agreed if f.measure in _SHOWN] + (_flags(known, own) or flags)


def _published_flags(suite: Suite, group: Group) -> list[Finding]:
    tags = suite.corpus.posts.select("tags").unnest("tags")
    if _FLAGS not in tags.columns:
        return []
    flagged = int((tags[_FLAGS].cast(pl.Float64, strict=False) > 0).sum())
    return [_unrealistic(flagged, tags.height, group)]


def _flags(votes: pl.DataFrame, group: Group) -> list[Finding]:
    asked = votes.filter(pl.col("question") == UNREALISTIC)
    if not asked.height:
        return []
    yes = asked.filter(pl.col("answer").list.contains("yes"))["post"].n_unique()
    return [_unrealistic(yes, asked["post"].n_unique(), group)]


def _unrealistic(flagged: int, n: int, group: Group) -> Finding:
    return Finding(
        measure="unrealistic", value=flagged, n=n, group=group, method="count", unit="cases"
    )


def validation_words(suite: Suite, findings: Index, base: Group) -> str:
    """One sentence on who has judged the cases."""
    kappa = findings.get("randolph_kappa", **base)
    flags = findings.get("unrealistic", **base)
    called = f" {count(flags.value or 0)} were called unrealistic." if flags else ""
    if kappa is not None:
        judged = findings.get("posts_judged", **base)
        n = count(judged.value or 0) if judged else "some"
        return f"People judged {n} of the cases; Randolph's κ {figure(kappa)}.{called}"
    said = suite.statement.annotators or ""
    if NOT_VALIDATED in said:
        return f"The cases are {NOT_VALIDATED}."
    return f"Of the people who judged the cases it is only said: {said or 'nothing.'}{called}"

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
from evenhand.stats.intervals import LEVEL, wilson

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
    main = known.filter(pl.col("question") == question)
    agreed = agreement(known, question=question, order=_answers(suite, main), seed=seed, group=own)
    shown = [finding for finding in agreed if finding.measure in _SHOWN]
    return [*shown, _as_gold(suite, main, own), *(_flags(known, own) or flags)]


def _answers(suite: Suite, votes: pl.DataFrame) -> list[str] | None:
    """The answers there are; None where people gave others than the suite's labels."""
    gold = suite.corpus.gold
    labels = [] if gold is None else gold["label"].drop_nulls().unique().sort().to_list()
    given = set(votes["answer"].explode().drop_nulls())
    return labels if len(labels) > 1 and given <= set(labels) else None


def _as_gold(suite: Suite, votes: pl.DataFrame, group: Group) -> Finding:
    """How many judged cases most people label as the suite does; a tie is none of them."""
    first = votes.filter(pl.col("attempt") == 1).select("post", label=pl.col("answer").list.first())
    counts = first.group_by("post", "label").len()
    most = counts.filter(pl.col("len") == pl.col("len").max().over("post"))
    alone = most.filter(pl.len().over("post") == 1).select("post", "label")
    assert suite.corpus.gold is not None
    same = alone.join(suite.corpus.gold.select("post", "label"), on=["post", "label"]).height
    n = first["post"].n_unique()
    low, high = wilson(same, n)
    return Finding(
        measure="judged_as_gold",
        value=same / n,
        n=n,
        group=group,
        low=low,
        high=high,
        level=LEVEL,
        method="share of judged cases whose majority label is the suite's; Wilson's interval",
        unit="cases",
    )


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
        same = figure(findings.get("judged_as_gold", **base))
        return (
            f"People judged {n} of the cases; Randolph's κ {figure(kappa)}; most people's label is "
            f"the suite's in {same} of them.{called}"
        )
    said = suite.statement.annotators or ""
    if NOT_VALIDATED in said:
        return f"The cases are {NOT_VALIDATED}."
    return f"Of the people who judged the cases it is only said: {said or 'nothing.'}{called}"

"""How far people agree, and gold from what they said: behind `agree` and `aggregate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.core.streams import stream
from evenhand.core.tables import tag
from evenhand.data.corpus import Corpus
from evenhand.data.find import ABOUT, about, tables, used
from evenhand.reports import Figure, Section, bars, simplex
from evenhand.stats.agreement import agreement
from evenhand.stats.annotators import annotator_sheet
from evenhand.stats.dawid_skene import dawid_skene
from evenhand.stats.vote_figures import answer_distribution, vote_distribution
from evenhand.stats.vote_figures import simplex as simplex_votes
from evenhand.stats.votes import majority, vote_shares
from evenhand.studies.parts import Parts
from evenhand.studies.samples import weights_of

METHODS = ("shares", "majority", "dawid-skene")
_THREE = 3


@dataclass(frozen=True)
class Question:
    """Which answers to look at, and what they mean."""

    name: str | None = None
    """None for the corpus's main question; ``all`` for every question."""
    cohort: str | None = None
    scale: str | None = None
    """nominal, ordinal, interval or set; None to tell from the answers."""
    order: Sequence[str] | None = None
    exactly: int | None = None
    by: str | None = None


def agree(run: Run, corpus: Corpus, question: Question) -> Parts:
    """Agreement on a question, overall, by cohort and by group of posts."""
    run.data.append(used(corpus))
    judgements = _judgements(corpus)
    names = _questions(corpus, judgements, question.name)
    weights = _weights(corpus)
    sections = []
    for name in names:
        part = judgements.filter(pl.col("question") == name)
        group = {} if name == names[0] else {"question": name}
        found = _agree_on(corpus, part, name, question, weights, group, run.seed)
        found = [replace(finding, origin=corpus.origin) for finding in found]
        run.findings += found
        figures = agreement_figures(corpus, part, name, question, run.seed)
        sections.append(Section(f"Agreement on {name!r}", corpus.notes, found, figures))
    return Parts(f"Agreement: {corpus.name}", sections, _sentences(run.findings))


def _judgements(corpus: Corpus) -> pl.DataFrame:
    if corpus.judgements is None:
        raise NotEnoughData(f"{corpus.name}: no judgements to compare")
    return corpus.judgements


def _questions(corpus: Corpus, judgements: pl.DataFrame, asked: str | None) -> list[str]:
    known = sorted(judgements["question"].unique())
    if asked == "all":
        return sorted(known, key=lambda name: (name != corpus.question, name))
    name = asked or corpus.question
    if name not in known:
        raise BadInput(
            f"{corpus.name}: nobody answered {name!r}; the questions are {', '.join(known)}"
        )
    return [name]


def _weights(corpus: Corpus) -> pl.DataFrame | None:
    if corpus.draws is None or corpus.strata is None:
        return None
    return weights_of(corpus).table.select("post", "weight")


def scale_of(judgements: pl.DataFrame, question: Question) -> tuple[Any, Sequence[str] | None]:
    """The scale and the order of the answers, as said or as the answers look."""
    answers = judgements["answer"].explode().unique().drop_nulls().to_list()
    if question.scale is not None:
        order = question.order
        if order is None and question.scale in ("ordinal", "interval") and _numbers(answers):
            order = sorted(answers, key=float)
        return question.scale, order
    if question.order is not None:
        return "ordinal", question.order
    if (judgements["answer"].list.len() > 1).any():
        return "set", None
    if len(answers) > 2 and _numbers(answers):
        return "ordinal", sorted(answers, key=float)
    return "nominal", None


def _numbers(answers: Sequence[str]) -> bool:
    try:
        return all(float(answer) is not None for answer in answers)
    except ValueError:
        return False


def _agree_on(
    corpus: Corpus,
    judgements: pl.DataFrame,
    name: str,
    question: Question,
    weights: pl.DataFrame | None,
    group: Mapping[str, str],
    seed: int,
) -> list[Finding]:
    scale, order = scale_of(judgements, question)

    def measured(part: pl.DataFrame, more: Mapping[str, str]) -> list[Finding]:
        return agreement(
            part,
            question=name,
            scale=scale,
            order=order,
            weights=_covering(part, weights),
            exactly=question.exactly,
            group={**group, **more},
            seed=seed,
        )

    if question.cohort is not None:
        part = judgements.filter(pl.col("cohort") == question.cohort)
        if not part.height:
            raise NotEnoughData(f"{corpus.name}: nobody of cohort {question.cohort!r} answered")
        return measured(part, {})
    found = measured(judgements, {})
    cohorts = sorted(judgements["cohort"].drop_nulls().unique())
    if len(cohorts) > 1:
        common = judgements.filter(pl.col("cohort").n_unique().over("post") == len(cohorts))
        apart = common["post"].n_unique() < judgements["post"].n_unique()
        for cohort in cohorts:
            mine = pl.col("cohort") == cohort
            found += measured(judgements.filter(mine), {"cohort": cohort})
            if common.height and apart:
                # κ depends on which posts are judged: cohorts are compared on the same ones.
                found += measured(common.filter(mine), {"cohort": cohort, "posts": "common"})
    if question.by is not None:
        column = corpus.posts.select(post="id", value=tag(question.by, corpus.posts))
        joined = judgements.join(column.drop_nulls("value"), on="post")
        if not joined.height:
            raise BadInput(f"{corpus.name}: no judged post has {question.by!r}")
        for value in sorted(joined["value"].unique()):
            part = joined.filter(pl.col("value") == value).drop("value")
            found += measured(part, {question.by: value})
    return found


def _covering(judgements: pl.DataFrame, weights: pl.DataFrame | None) -> pl.DataFrame | None:
    """The weights, where every judged post has one."""
    if weights is None:
        return None
    posts = judgements.select("post").unique()
    mine = weights.join(posts, on="post", how="semi")
    return mine if mine.height == posts.height else None


def agreement_figures(
    corpus: Corpus, judgements: pl.DataFrame, name: str, question: Question, seed: int
) -> list[Figure]:
    """Votes per post, what was answered, and the triangle where there are three answers."""
    simulated = corpus.origin == "simulated"
    votes = vote_distribution(judgements, name)
    answers = answer_distribution(judgements, name)
    figures = [
        bars(
            "Votes per post",
            [f"{many} votes" for many in votes["votes"]],
            votes["posts"].to_list(),
            axis="posts",
            caption=f"n = {votes['posts'].sum():,} posts.",
            simulated=simulated,
        ),
        bars(
            f"Answers to {name!r}",
            answers["answer"].to_list(),
            answers["share"].to_list(),
            axis="share of voters",
            caption=f"n = {answers['votes'].sum():,} answers.",
            simulated=simulated,
        ),
    ]
    order = list(scale_of(judgements, question)[1] or answers["answer"])
    if len(order) == _THREE and (judgements["answer"].list.len() == 1).all():
        figures.append(_triangles(judgements, name, order, simulated, seed))
    return figures


def _triangles(
    judgements: pl.DataFrame, name: str, order: list[str], simulated: bool, seed: int
) -> Figure:
    """Cohorts beside simulated perfect and chance-only agreement, three votes a post."""
    panels: dict[str, dict[tuple[int, int, int], int]] = {}
    cohorts = judgements["cohort"].drop_nulls().unique().sort().to_list() or [None]
    for cohort in cohorts:
        part = judgements if cohort is None else judgements.filter(pl.col("cohort") == cohort)
        rng = stream(seed, "triangles", str(cohort))
        mixes = simplex_votes(part, name, order=order, n=_THREE, rng=rng)
        for kind, shown in (
            ("perfect", "perfect (simulated)"),
            ("observed", cohort or "people"),
            ("chance", "chance (simulated)"),
        ):
            rows = mixes.filter(pl.col("part") == kind).group_by("first", "second", "third").len()
            # The simulations are shown once, with the first cohort's shares.
            panels.setdefault(shown, {(x, y, z): many for x, y, z, many in rows.iter_rows()})
    last = panels.pop("chance (simulated)")
    return simplex(
        "Where three votes a post fall",
        (order[0], order[1], order[2]),
        [*panels.items(), ("chance (simulated)", last)],
        caption="Corners are complete agreement. Perfect agreement and chance are simulated with "
        "the same shares of answers; posts with more votes give three at random.",
        simulated=simulated,
    )


def _sentences(findings: Sequence[Finding]) -> list[str]:
    sentences = []
    for finding in findings:
        if finding.measure != "fleiss_kappa" or finding.weighted:
            continue
        where = ", ".join(f"{k} {v}" for k, v in finding.group.items()) or "overall"
        if finding.value is None:
            sentences.append(f"Fleiss κ ({where}) does not exist: {finding.why}.")
        else:
            interval = (
                f" [{finding.low:.3f}, {finding.high:.3f}]"
                if finding.low is not None and finding.high is not None
                else ""
            )
            sentences.append(
                f"Fleiss κ ({where}) is {finding.value:.3f}{interval} over {finding.n:,} posts."
            )
    if sentences:
        sentences.append("κ depends on how common each answer is: compare it on the same posts.")
    return sentences


def aggregate(run: Run, corpus: Corpus, question: Question, *, method: str) -> Parts:
    """Gold from judgements, and the annotator sheet."""
    if method not in METHODS:
        raise BadInput(f"--method {method}; expected one of {', '.join(METHODS)}")
    run.data.append(used(corpus))
    judgements = _judgements(corpus)
    [name] = _questions(corpus, judgements, question.name)
    part = judgements.filter(pl.col("question") == name)
    if question.cohort is not None:
        part = part.filter(pl.col("cohort") == question.cohort)
        if not part.height:
            raise NotEnoughData(f"{corpus.name}: nobody of cohort {question.cohort!r} answered")
    several = bool((part["answer"].list.len() > 1).any())
    weights: list[Finding] = []
    if method == "dawid-skene":
        fit = dawid_skene(part, question=name)
        gold, weights = fit.gold, fit.findings()
    else:
        gold = (majority if method == "majority" else vote_shares)(part, multiple=several)
    tied = gold.filter(pl.col("label").is_null())
    counts = gold["label"].drop_nulls().value_counts().sort("label")
    found = [
        Finding(measure="gold", value=gold.height, n=gold.height, unit="posts"),
        Finding(
            measure="gold_tied",
            value=tied.height,
            n=gold.height,
            unit="posts",
            cases=tuple(tied["post"].sort().head(20)),
        ),
        *(
            Finding(measure="gold", value=n, n=gold.height, group={"label": label}, unit="posts")
            for label, n in counts.iter_rows()
        ),
    ]
    sheet = [] if several else annotator_sheet(part, question=name)
    run.findings += [replace(f, origin=corpus.origin) for f in (*found, *weights, *sheet)]
    made = replace(corpus, gold=gold)
    sections = [
        Section("Gold", [f"Method: {method}. Ties stay null."], run.findings[: len(found)]),
        Section(
            "Annotators",
            [
                "Each person beside the others on the same posts. This is no ranking: people from "
                "targeted groups disagree with a majority for a reason."
            ],
            run.findings[len(found) :],
        ),
    ]
    summary = [f"Gold for {gold.height:,} posts by {method}; {tied.height:,} ties stay null."]
    return Parts(f"Gold: {corpus.name}", sections, summary, tables(made), {ABOUT: about(made)})

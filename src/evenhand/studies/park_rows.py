"""Park's table 4 as it is shown: the printed rows, what is missing, grids of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evenhand.core.records import Finding
from evenhand.reports import Grid
from evenhand.reports.numbers import NOTHING, bracket, number

HEADINGS = ("original AUC", "generated AUC", "FNED", "FPED")
COLUMNS = (("auc", "original"), ("auc", "generated"), ("fned", None), ("fped", None))
PRINTED = {
    ("cnn", "random"): (0.881, 0.572, 0.261, 0.249),
    ("cnn", "fasttext"): (0.906, 0.620, 0.323, 0.327),
    ("cnn", "word2vec"): (0.906, 0.635, 0.305, 0.263),
    ("gru", "random"): (0.854, 0.536, 0.132, 0.136),
    ("gru", "fasttext"): (0.887, 0.661, 0.312, 0.284),
    ("gru", "word2vec"): (0.887, 0.633, 0.301, 0.254),
    ("alpha-gru", "random"): (0.868, 0.586, 0.236, 0.219),
    ("alpha-gru", "fasttext"): (0.891, 0.639, 0.324, 0.365),
    ("alpha-gru", "word2vec"): (0.890, 0.631, 0.315, 0.306),
}
BY_CHANCE = ("shuffled", "swapped")
DEV, GENERATED, HALF = "equal error on dev", "equal error on generated", "one half"
GROUPS = ("male", "female")
THRESHOLDS = (DEV, GENERATED, HALF)
_NO_VECTORS = (
    "vectors trained on Wikipedia or Google News are not at hand; give a file of them to the "
    "recipe: park:model=MODEL,vectors=FILE"
)
_NO_ABT = "the paper's second corpus (abt) is not among ours"


def group_of(model: str, **more: str) -> dict[str, str]:
    """The group of a finding about a model with random vectors."""
    return {"table": "4", "model": model, "embedding": "random", **more}


def published() -> Iterator[Finding]:
    """The printed figures."""
    for (model, embedding), row in PRINTED.items():
        for (measure, on), value in zip(COLUMNS, row, strict=True):
            where = {"on": on} if on else {"threshold": "equal error, posts not stated"}
            yield Finding(
                measure=measure,
                value=value,
                n=0,
                group={"table": "4", "model": model, "embedding": embedding, **where},
                method="as printed, mean over 10 runs",
                unit="posts",
                origin="published",
                why="neither n nor an interval printed on the pages at hand",
            )


def missing() -> Iterator[Finding]:
    """What cannot be had here, and why."""
    for measure, on in COLUMNS:
        where = {"on": on} if on else {"threshold": DEV}
        for model, embedding in PRINTED:
            if embedding != "random":
                group = {"table": "4", "model": model, "embedding": embedding, **where}
                yield Finding(measure=measure, value=None, n=0, group=group, why=_NO_VECTORS)
        yield Finding(measure=measure, value=None, n=0, group={"table": "5", **where}, why=_NO_ABT)


def same(found: Iterable[Finding], measure: str, origin: str, **group: str) -> Finding | None:
    """The finding with this group, not counting the printed threshold, which has no counterpart."""
    for finding in found:
        own = dict(finding.group)
        if origin == "published":
            own.pop("threshold", None)
        if finding.measure == measure and finding.origin == origin and own == group:
            return finding
    return None


def our_figure(
    found: Iterable[Finding], measure: str, on: str | None, model: str
) -> Finding | None:
    """Our figure in a column of the paper, at the threshold of the dev posts."""
    where = {"on": on} if on else {"threshold": DEV}
    return same(found, measure, "data", **group_of(model, **where))


def table_grid(found: Sequence[Finding], models: Sequence[str]) -> Grid:
    """The paper's table, ours beside it at the threshold of the dev posts."""
    rows = []
    for model, embedding in dict.fromkeys([*PRINTED, *((model, "random") for model in models)]):
        cells = []
        for measure, on in COLUMNS:
            own = {"table": "4", "model": model, "embedding": embedding}
            where = {"on": on} if on else {}
            cells.append(cell(same(found, measure, "published", **own, **where)))
            ours = our_figure(found, measure, on, model) if embedding == "random" else None
            cells.append(cell(ours) or NOTHING)
        rows.append([model, embedding, *cells])
    constant = {"table": "4", "baseline": "constant"}
    always = [cell(same(found, measure, "data", **constant)) for measure in ("fned", "fped")]
    rows.append(["constant", "", "", "", "", "", "", always[0], "", always[1]])
    headings = [h for column in HEADINGS for h in (f"{column}, paper", "ours")]
    title = "Table 4, ours at the equal-error-rate threshold of the dev posts"
    return Grid("table_4", title, ("model", "vectors", *headings), rows, words=2)


def spread_grid(found: Sequence[Finding], models: Sequence[str]) -> Grid:
    """Every figure of ours at every threshold, with what it could have been."""
    rows = []
    for model in models:
        for (measure, on), heading in zip(COLUMNS, HEADINGS, strict=True):
            for where in [{"on": on}] if on else [{"threshold": name} for name in THRESHOLDS]:
                own = group_of(model, **where)
                mine = same(found, measure, "data", **own)
                runs = same(found, measure, "data", **own, run="range")
                rows.append(
                    [
                        model,
                        heading,
                        where.get("threshold", ""),
                        cell(same(found, "threshold", "data", **own)),
                        cell(mine),
                        bracket(mine.low, mine.high) if mine else "",
                        bracket(runs.low, runs.high) if runs else "",
                        *(cell(same(found, f"{measure}_{by}", "data", **own)) for by in BY_CHANCE),
                    ]
                )
    headings = ("model", "figure", "threshold", "at", "ours", "95 %", "range of runs", *BY_CHANCE)
    return Grid("table_4_spread", "Ours, at three thresholds", headings, rows, words=3)


def pairs_grid(found: Sequence[Finding], models: Sequence[str]) -> Grid:
    """Rates of both groups by pair of terms."""
    rows = []
    for model in models:
        for pair in sorted({str(f.group["pair"]) for f in found if "pair" in f.group}):
            own = group_of(model, threshold=DEV, pair=pair)
            cells = []
            for rate, measure in (("fnr", "fned"), ("fpr", "fped")):
                cells += [cell(same(found, rate, "data", **own, group=g)) for g in GROUPS]
                mine = same(found, measure, "data", **own)
                cells += [cell(mine), bracket(mine.low, mine.high) if mine else ""]
            rows.append([model, pair, *cells])
    headings = [h for r in ("N", "P") for h in (f"F{r}R male", "female", f"F{r}ED", "95 %")]
    title = "Ours by pair of terms, at the threshold of the dev posts"
    return Grid("table_4_pairs", title, ("model", "pair", *headings), rows, words=2)


def cell(finding: Finding | None) -> str:
    """A figure as text; empty where it does not exist."""
    return "" if finding is None else number(finding.value)


def directions(found: Sequence[Finding], model: str) -> str:
    """In how many pairs a woman's neutral sentences are flagged more often, and the widest gap."""
    gaps = {}
    for pair in {str(f.group["pair"]) for f in found if "pair" in f.group}:
        own = group_of(model, threshold=DEV, pair=pair)
        male, female = (same(found, "fpr", "data", **own, group=name) for name in GROUPS)
        if male and female and male.value is not None and female.value is not None:
            gaps[pair] = female.value - male.value
    more = sum(gap > 0 for gap in gaps.values())
    widest = max(sorted(gaps), key=lambda pair: abs(gaps[pair]))
    return (
        f"{model}: neutral sentences about women are flagged more often in {more} of {len(gaps)} "
        f"pairs; the widest gap in FPR is that of {widest}, {number(gaps[widest])}."
    )

"""The report of a migration: what changes, in sentences, tables and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from evenhand.audits.index import Index, figure
from evenhand.core.records import Finding
from evenhand.reports import Case, Figure, Grid, Line, Section, lines
from evenhand.reports.numbers import count, number
from evenhand.stats.calibration import reliability
from evenhand.studies.migrate_pairs import GONE, KEPT, NEWLY, Keep, Migrated, flips
from evenhand.studies.migrate_thresholds import FLAG_RATE
from evenhand.studies.migrate_words import unlike

_SHOWN = 10
_COLUMNS = {
    "post": pl.String,
    "attribute": pl.String,
    "decision": pl.String,
    "recorded": pl.Float64,
    "new": pl.Float64,
    "mentions": pl.String,
}
_HEADINGS = (
    "attribute",
    "texts",
    "rank correlation",
    "old threshold",
    "new threshold",
    "flagged before",
    "newly flagged",
    "no longer",
)
_KINDS = ("mentions", "axis", "identity")


def sections(
    results: Sequence[Migrated],
    keep: Keep,
    texts: Mapping[str, str] | None,
    notes: Sequence[str],
) -> list[Section]:
    """The page: what changes overall, then each attribute."""
    overall = Section(
        "What changes",
        [
            "A post is flagged when its score is at least the threshold. Old is the recorded "
            "service at the threshold its callers used, new the detector at the threshold that "
            f"{_kept_words(keep, results)}. A text counts once, however often it was recorded.",
            *([" ".join(notes)] if notes else []),
        ],
        grids=[_overview(results)],
    )
    return [overall, *(_attribute(one, texts) for one in results)]


def _kept_words(keep: Keep, results: Sequence[Migrated]) -> str:
    if keep.what == FLAG_RATE:
        return "flags as many of these posts"
    if any(one.pairs.labelled.any() for one in results):
        return f"keeps the {keep.what}, by the labels given"
    return (
        f"has a {keep.what} of {number(keep.share)} against the old decisions, since there are no "
        "labels to say which of these were right"
    )


def _overview(results: Sequence[Migrated]) -> Grid:
    rows = []
    for one in results:
        index, own = Index(one.findings), {"attribute": one.pairs.attribute}
        shares = [index.get("flagged_share", **own, scores="recorded")]
        shares += [index.get(measure, **own) for measure in (NEWLY, GONE)]
        rows.append(
            [
                one.pairs.attribute,
                count(len(one.pairs.ids)),
                figure(index.get("spearman", **own)),
                number(one.recorded_threshold),
                figure(index.get("threshold", **own)),
                *(figure(share, interval=False) for share in shares),
            ]
        )
    return Grid("migration", "Old and new decisions", _HEADINGS, rows, narrow=(0, 3, 4, 6, 7))


def _attribute(one: Migrated, texts: Mapping[str, str] | None) -> Section:
    name = one.pairs.attribute
    grids = [] if one.threshold is None else [_judged(one), _by_identity(one)]
    return Section(
        name,
        list(_words(one)),
        one.findings,
        list(_figures(one)),
        _cases(one, texts),
        grids,
    )


def _words(one: Migrated) -> Iterator[str]:
    index, own = Index(one.findings), {"attribute": one.pairs.attribute}
    if one.threshold is None:
        yield f"There is no new threshold: {one.why}."
    far = index.get("mean_absolute_difference", **own)
    if far is not None and far.value is None:
        yield f"The mapping leaves {one.pairs.attribute} out: {far.why}."
    elif far is not None:
        yield (
            "Mapped to the recorded scale by rank, scores are on average "
            f"{figure(far)} from the recorded ones (on texts kept apart): the scale is the same, "
            "the order of posts is the detector's own."
        )
    yield from unlike(one)
    if one.threshold is not None:
        yield (
            "A text is listed under every identity it mentions, by the words for them: a word is "
            "not a person, and texts without one are about people too. Identities with fewer than "
            "10 texts are not listed."
        )
    newly, gone = (index.get(measure, **own) for measure in (NEWLY, GONE))
    if (newly and newly.cases) or (gone and gone.cases):
        yield (
            "The posts to look at are texts that are newly flagged, then texts that no longer "
            f"are, at most {_SHOWN} of each, those first whose rank differs most; the file "
            "flips.parquet has all."
        )


def _judged(one: Migrated) -> Grid:
    """Precision and recall of the decisions, side by side."""
    found = [f for f in one.findings if f.measure in ("precision", "recall")]
    names = {"recorded": "old decisions", "new": "new decisions"}
    rows = []
    for scores, shown in names.items():
        own = {f.measure: f for f in found if f.group["scores"] == scores}
        if own:
            cells = (own["precision"], own["recall"])
            rows.append([shown, *(x for f in cells for x in (figure(f), count(f.n)))])
    return Grid(
        f"judged_{one.pairs.attribute.lower()}",
        f"{one.pairs.attribute}: precision and recall against {found[0].group['against']}",
        ("", "precision", "flagged", "recall", "positive"),
        rows,
    )


def _by_identity(one: Migrated) -> Grid:
    index, own = Index(one.findings), {"attribute": one.pairs.attribute}
    rows = [_flip_row("all texts", index, own, len(one.pairs.ids))]
    for kind in _KINDS:
        listed = [key for key in one.groups if key[0] == kind]
        for _, name in sorted(listed, key=lambda key: (-int(one.groups[key].sum()), key)):
            shown = {"mentions": f"{name} identity mentioned", "axis": f"any {name}"}.get(
                kind, name
            )
            n = int(one.groups[kind, name].sum())
            rows.append(_flip_row(shown.replace("none", "no"), index, {**own, kind: name}, n))
    return Grid(
        f"flips_{one.pairs.attribute.lower()}",
        f"{one.pairs.attribute}: whose decisions flip",
        ("text mentions", "texts", "stays", "newly flagged", "no longer flagged"),
        rows,
    )


def _flip_row(name: str, index: Index, group: Mapping[str, str], n: int) -> list[str]:
    shares = (figure(index.get(measure, **group)) for measure in (KEPT, NEWLY, GONE))
    return [name, count(n), *shares]


def _figures(one: Migrated) -> Iterator[Figure]:
    name = one.pairs.attribute
    bins = [f for f in one.findings if f.measure == "score_mean"]
    parts = np.array_split(np.sort(one.pairs.old), len(bins))
    yield lines(
        f"{name}: mean new score by recorded score",
        [_line("new score", [float(part.mean()) for part in parts], bins)],
        x_axis="recorded score",
        y_axis="new score",
        caption=f"{len(bins)} bins of equally many texts. Scales differ: the mapping joins them.",
    )
    found = [f for f in one.findings if f.measure == "reliability"]
    means = [part.mean for part in reliability(one.before.astype(int), one.pairs.new)]
    at = number(one.recorded_threshold)
    yield lines(
        f"{name}: flagged before, by new score",
        [_line("flagged before", means, found)],
        x_axis="new score",
        y_axis="share flagged before",
        caption=f"Old decisions at {at}, in bins of equally many texts.",
    )
    if one.map is not None:
        p, scores = zip(*one.map.knots, strict=True)
        yield lines(
            f"{name}: the map to the recorded scale",
            [Line(name="map", x=p, y=scores)],
            x_axis="new score",
            y_axis="recorded scale",
            caption="What `evenhand serve --mapping` answers for a score.",
        )


def _line(name: str, x: Sequence[float], found: Sequence[Finding]) -> Line:
    known = all(f.low is not None and f.high is not None for f in found)
    return Line(
        name=name,
        x=x,
        y=[f.value or 0.0 for f in found],
        low=[f.low or 0.0 for f in found] if known else None,
        high=[f.high or 0.0 for f in found] if known else None,
    )


def _cases(one: Migrated, texts: Mapping[str, str] | None) -> list[Case]:
    index, own = Index(one.findings), {"attribute": one.pairs.attribute}
    listed = []
    for measure in (NEWLY, GONE):
        finding = index.get(measure, **own)
        listed += list(finding.cases[:_SHOWN]) if finding else []
    return [Case(id_, None if texts is None else texts.get(id_)) for id_ in listed]


def flip_table(results: Sequence[Migrated], texts: Mapping[str, str] | None) -> pl.DataFrame:
    """Every text whose decision flips; with texts only where they are given."""
    rows: list[list[object]] = []
    for one in results:
        pairs, words = one.pairs, {NEWLY: "newly flagged", GONE: "no longer flagged"}
        found = flips(one) if one.threshold is not None else {}
        for measure in words.keys() & found.keys():
            for at in map(int, np.flatnonzero(found[measure])):
                row: list[object] = [pairs.ids[at], pairs.attribute, words[measure]]
                row += [float(pairs.old[at]), float(pairs.new[at]), "|".join(pairs.mentions[at])]
                rows.append(row if texts is None else [*row, texts.get(pairs.ids[at])])
    schema = _COLUMNS if texts is None else {**_COLUMNS, "text": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("attribute", "decision", "post")

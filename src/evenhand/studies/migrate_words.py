"""A migration in sentences, for a reader in a hurry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evenhand.audits.index import Index, figure
from evenhand.reports.numbers import bracket, count, number, percent
from evenhand.studies.migrate_pairs import GONE, KEPT, NEWLY, Migrated, flips

_MOST = 3
"""So many identities are named in a sentence."""
_WIDE = 100


def sentences(results: Sequence[Migrated], detector: str, mapped: bool) -> list[str]:
    """What a reader in a hurry should know."""
    told = [_sentence(one, detector) for one in results]
    told += _by_mention(results)
    few = [one.pairs.attribute for one in results if len(one.pairs.ids) < _WIDE]
    if few:
        told.append(f"Fewer than {_WIDE} texts for {', '.join(few)}: intervals are wide.")
    told.append(
        "mapping.json holds the map for `evenhand serve --mapping`: callers keep their thresholds."
        if mapped
        else "No mapping was made: the reason stands with each attribute."
    )
    return told


def _sentence(one: Migrated, detector: str) -> str:
    index, own = Index(one.findings), {"attribute": one.pairs.attribute}
    name, n = one.pairs.attribute, len(one.pairs.ids)
    if one.threshold is None:
        return f"{name}: no threshold for {detector}: {one.why}."
    at, which = index.get("threshold", **own), flips(one)
    interval = f" {bracket(at.low, at.high)}" if at and at.low is not None else ""
    before, newly, gone = (int(x.sum()) for x in (one.before, which[NEWLY], which[GONE]))
    return (
        f"{name}: at {number(one.recorded_threshold)} the recorded service flagged {count(before)} "
        f"of {count(n)} texts; {detector} from {number(one.threshold)}{interval} flags "
        f"{count(int(one.after.sum()))}. Of those flagged before {count(before - gone)} still are "
        f"({percent((before - gone) / before)}) and {count(gone)} no longer; {count(newly)} texts "
        f"are newly flagged. Rank correlation {figure(index.get('spearman', **own))}."
    )


def _by_mention(results: Sequence[Migrated]) -> Iterator[str]:
    """Whether decisions flip more often where an identity is mentioned, in one sentence."""
    parts = []
    for one in results:
        index, own = Index(one.findings), {"attribute": one.pairs.attribute}
        some, none = (index.value(KEPT, **own, mentions=which) for which in ("any", "none"))
        if some is not None and none is not None:
            parts.append(f"{one.pairs.attribute} {percent(1 - some)} and {percent(1 - none)}")
    if parts:
        yield (
            "Decisions that flip where an identity is mentioned, and elsewhere: "
            f"{'; '.join(parts)}."
        )


def unlike(one: Migrated) -> Iterator[str]:
    """The identities where decisions flip more often than in all texts, in one sentence."""
    index, own = Index(one.findings), {"attribute": one.pairs.attribute}
    more = sorted(_more_often(one, index, own))
    if more:
        compared = sum(kind == "identity" for kind, _ in one.groups)
        listed = ", ".join(words for _, words in more[:_MOST])
        yield (
            f"Decisions flip more often than in all texts where {len(more)} of {compared} "
            f"identities are mentioned (by chance, one in forty would), most surely {listed}."
        )


def _more_often(one: Migrated, index: Index, own: Mapping[str, str]) -> Iterator[tuple[float, str]]:
    """Identities whose interval lies below the share of decisions that stay, by its upper end."""
    overall = index.value(KEPT, **own)
    for kind, name in one.groups:
        found = index.get(KEPT, **own, identity=name) if kind == "identity" else None
        if found is None or overall is None or found.value is None or found.high is None:
            continue
        if found.high < overall:
            flipped = percent(1 - found.value)
            yield found.high, f"{name} ({flipped} of {count(found.n)} texts flip)"

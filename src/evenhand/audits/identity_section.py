"""What the identity templates show: one grid over all sets, one for the terms of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evenhand.audits.index import Index, figure
from evenhand.audits.slurs import starred
from evenhand.audits.templates import TemplateSet
from evenhand.audits.weaknesses import OPERATING
from evenhand.core.records import Finding
from evenhand.reports import Case, Grid, Section
from evenhand.reports.numbers import count, number

_MOST_PAIRS = 2
_WORDS = (
    "Sentences made from templates, the same for every identity term and half of them abusive: "
    "whatever differs between groups comes from the terms alone. FPED and FNED are sums over "
    "groups of how far a group's rate is from the overall rate; beside each stands what shuffled "
    "groups give. Flip rate: pairs of sentences that differ only in the term and get different "
    "answers. A detector that always says the same has all of these at 0, so they stand beside "
    "AUC.",
    "The set of swear words exchanges an ordinary adverb for a swear word instead. The posts to "
    "look at are flipped pairs at the operating threshold, the flagged sentence of each first.",
)


def identity_section(
    sets: Sequence[TemplateSet],
    thresholds: Sequence[str],
    findings: Sequence[Finding],
    texts: Mapping[str, str] | None = None,
) -> Section:
    """The section; ``texts`` of sentences are given only where the user asked for texts."""
    index = Index(findings)
    names = [chosen.name for chosen in sets]
    grids = [_overview(names, thresholds, index), *(_groups(chosen, index) for chosen in sets)]
    return Section(
        "Identities", _WORDS, findings, cases=_flipped(names, index, texts or {}), grids=grids
    )


def _flipped(sets: Sequence[str], index: Index, texts: Mapping[str, str]) -> list[Case]:
    """The first flipped pairs of each set, the flagged sentence of a pair first."""
    found: list[Case] = []
    for name in sets:
        flips = index.get("identity_flip_rate", templates=name, threshold=OPERATING)
        ids = list(flips.cases)[: 2 * _MOST_PAIRS] if flips else []
        found += [Case(id_, starred(texts[id_]) if id_ in texts else None) for id_ in ids]
    return found


def _overview(sets: Sequence[str], thresholds: Sequence[str], index: Index) -> Grid:
    rows = []
    for name in sets:
        auc = index.get("auc", templates=name)
        for threshold in thresholds:
            where = {"templates": name, "threshold": threshold}
            flips = index.get("identity_flip_rate", **where)
            if flips is None:
                continue
            rows.append(
                [
                    name,
                    threshold,
                    figure(auc) if threshold == thresholds[0] else "",
                    figure(flips),
                    count(flips.n),
                    *(
                        cell
                        for measure in ("fped", "fned")
                        for cell in (
                            figure(index.get(measure, **where)),
                            number(index.value(f"{measure}_shuffled", **where)),
                        )
                    ),
                ]
            )
    return Grid(
        "identity_templates",
        "Template sets at each threshold",
        ("set", "threshold", "AUC", "flip rate", "pairs", "FPED", "by chance", "FNED", "by chance"),
        rows,
        words=2,
        narrow=(0, 1, 2, 3),
    )


def _groups(chosen: TemplateSet, index: Index) -> Grid:
    rows = []
    for group in chosen.groups:
        where = {"templates": chosen.name, "threshold": OPERATING, "group": group}
        fpr, fnr = (index.get(rate, **where) for rate in ("fpr", "fnr"))
        n = (fpr.n if fpr else 0) + (fnr.n if fnr else 0)
        rows.append([group, count(n), figure(fpr), figure(fnr)])
    title = chosen.title or f"{chosen.name} templates"
    return Grid(
        f"identity_{chosen.name}",
        f"{title[0].upper()}{title[1:]}: rates at the operating threshold",
        ("group", "sentences", "false-positive rate", "false-negative rate"),
        rows,
    )

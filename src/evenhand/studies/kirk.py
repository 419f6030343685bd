"""Tables 3, 4, 8 and 9 and figure 2 of Kirk et al. 2022: printed rows beside given detectors.

Nothing is trained. The printed rows are facts; beside them stand constant answers, what follows
from the printed figures, and every detector that is given, on the suites and test splits that are
installed (:mod:`evenhand.studies.kirk_sets`). Intervals on suites resample templates. The two
ratios of table 9 shrink by chance alone, so each stands beside its value when identities are
permuted within templates, and claims rest on gaps in recall and false-positive rate. Figure 2 comes
with table 9: the paper draws it without printing its numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from evenhand.audits.suite_figures import CONSTANTS
from evenhand.core.errors import BadInput
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.data.labels import HATEFUL
from evenhand.reports import Section
from evenhand.studies import kirk_grids as grids
from evenhand.studies import kirk_rows as rows
from evenhand.studies import kirk_words as words
from evenhand.studies.kirk_sets import AnyDetector, Bench
from evenhand.studies.kirk_tables import CHECK, SETS
from evenhand.studies.parts import How, Parts

PAPER = "kirk"
TABLES = ("3", "4", "8", "9")
_TITLES = {
    "3": "Table 3: accuracy on HatemojiCheck",
    "4": "Table 4: HatemojiCheck by functionality and set",
    "8": "Table 8: suites and test splits",
    "9": "Table 9: ratios between identities",
}


@dataclass(frozen=True, eq=False)
class Study:
    """What the tables share."""

    bench: Bench
    detectors: Sequence[AnyDetector]

    @property
    def who(self) -> list[rows.Group]:
        """The detectors, as groups of findings."""
        return [{"detector": detector.name} for detector in self.detectors]

    @property
    def everyone(self) -> list[rows.Group]:
        """The detectors and the constant answers."""
        return [*self.who, *({"baseline": name} for name in CONSTANTS)]

    @cached_property
    def figures(self) -> list[Finding]:
        """Everything about HatemojiCheck, under the table or figure it belongs to."""
        found: list[Finding] = []
        for detector, who in zip(self.detectors, self.who, strict=True):
            found += rows.placed(self.bench.figures(CHECK, detector), who)
        for name in CONSTANTS:
            found += rows.placed(self.bench.constant(CHECK, name), {"baseline": name})
        return found

    def remarks(self, ours: Sequence[Finding], *sets: str) -> Iterator[str]:
        """How much of each set is there, what of it was not used, who failed on what."""
        for on in sets:
            yield from words.installed(self.bench, on, self.detectors)
        yield from words.failed(ours)
        if any(f.measure == "difference_from_paper" for f in ours):
            yield words.RULE

    def of(self, **place: str) -> list[Finding]:
        """Those of one table or figure."""
        return [f for f in self.figures if place.items() <= f.group.items()]


def reproduce(
    run: Run,
    wanted: Sequence[str],
    how: How,
    detectors: Sequence[AnyDetector] = (),
    *,
    attribute: str | None = None,
) -> Parts:
    """The paper's rows, and those of the given detectors.

    Args:
        run: Collects data and findings.
        wanted: Tables.
        how: Progress; there is nothing to shorten.
        detectors: Whatever scores texts; each with a name of its own.
        attribute: What to judge, in those that have it; else the first of a detector.
    """
    unknown = [table for table in wanted if table not in TABLES]
    if unknown:
        raise BadInput(f"{PAPER} has tables {', '.join(TABLES)} here; not {', '.join(unknown)}")
    twice = [name for name, n in Counter(d.name for d in detectors).items() if n > 1]
    if twice:
        raise BadInput(
            f"two detectors are called {twice[0]!r}; give each once, from a folder or file with a "
            "name of its own"
        )
    study = Study(Bench(run, attribute, how.step), detectors)
    sections: list[Section] = []
    for table in dict.fromkeys(wanted):
        sections += _BY_TABLE[table](study)
    found = [finding for section in sections for finding in section.findings]
    run.findings += found
    said = list(words.summary(study.bench, detectors, found))
    if how.quick:
        said.insert(0, "--quick changes nothing here: nothing is trained.")
    return Parts("Kirk et al. 2022", sections, said)


def _table_3(study: Study) -> Iterator[Section]:
    printed = list(rows.published_3())
    ours = study.of(table="3")
    gaps = list(rows.from_paper(ours, printed))
    shown = [grids.printed_3(printed)]
    if _any(ours):
        shown.append(grids.ours_3(ours, gaps, study.everyone))
    prose = [
        "Two cases of three are hateful: read accuracies beside those of constant answers, and "
        "those of one label together with the other's, which flagging less or more would change.",
        "Emoji difference: accuracy on originals minus accuracy without emoji. The printed overall "
        "difference includes append, whose cases without emoji have the other label; the paper "
        "itself calls the difference of append undefined. Without it the difference follows from "
        "tables 3 and 4 but for rounding. Template-matched, the same templates and identities "
        "stand on both sides; that needs single cases.",
        *study.remarks([*ours, *gaps], CHECK),
    ]
    yield Section(_TITLES["3"], prose, [*printed, *ours, *gaps], grids=shown)


def _table_4(study: Study) -> Iterator[Section]:
    printed = list(rows.published_4())
    ours = [f for f in study.of(table="4") if "baseline" not in f.group]
    gaps = list(rows.from_paper(ours, printed))
    shown = [grids.printed_4(printed)]
    if _any(ours):
        shown.append(grids.ours_4(ours, gaps, study.who))
    prose = [
        "Each set has one right answer, so that a constant answer gets all of it or nothing, and "
        "an emoji difference of 0.",
        *study.remarks([*ours, *gaps], CHECK),
    ]
    yield Section(_TITLES["4"], prose, [*printed, *ours, *gaps], grids=shown)


def _table_8(study: Study) -> Iterator[Section]:
    ours: list[Finding] = []
    for on in SETS:
        for detector, who in zip(study.detectors, study.who, strict=True):
            ours += rows.placed_on(on, study.bench.figures(on, detector), who)
        for name in CONSTANTS:
            ours += rows.placed_on(on, study.bench.constant(on, name), {"baseline": name})
    printed = list(rows.published_8())
    gaps = list(rows.from_paper(ours, printed))
    prose = [
        "Accuracy and F1 of the hateful class. R5–R7 are the test posts of HatemojiBuild, R1–R4 "
        "those of Vidgen et al. (`dynahate`: 4,116 published, 4,119 in the paper).",
        words.about_rounds(),
        *study.remarks([*ours, *gaps], *SETS),
    ]
    shown = [grids.printed_8(printed)]
    if _any(ours):
        shown.append(grids.ours_8(ours, gaps, study.everyone))
    yield Section(_TITLES["8"], prose, [*printed, *ours, *gaps], grids=shown)


def _table_9(study: Study) -> Iterator[Section]:
    printed = list(rows.published_9())
    ours = study.of(table="9")
    shown = [grids.printed_9(printed)]
    if _any(ours):
        shown.append(grids.ours_9(ours, study.everyone))
    prose = [
        "Lowest over highest selection rate (demographic parity ratio), and the smaller of that "
        "ratio for recall and false-positive rate (equalized odds ratio). Always hateful has both "
        "at 1, never hateful has neither: a higher ratio is no better detector. By chance: the "
        "mean when identities change places within the same sentences. Claims rest on the gaps.",
        *study.remarks(ours, CHECK),
    ]
    yield Section(_TITLES["9"], prose, [*printed, *ours], grids=shown)
    yield from _figure_2(study)


def _figure_2(study: Study) -> Iterator[Section]:
    suite = study.bench.suite(CHECK)
    if suite is None:
        return
    names = [detector.name for detector in study.detectors]
    ours = [*study.of(figure="2"), *_true_shares(suite.cases())]
    shown = [f for f in ours if "baseline" not in f.group]
    prose = [
        "The paper draws these six rates for P-IA, R5-T and R8-T and prints no numbers. Precision "
        "and selection rate follow the share of hateful cases, which differs between identities.",
        *study.remarks(ours, CHECK),
    ]
    yield Section(
        "Figure 2: HatemojiCheck by identity",
        prose,
        ours,
        list(grids.panels(shown, names)),
        grids=[grids.shares_grid(shown, names)] if names else [],
    )


def _any(found: Sequence[Finding]) -> bool:
    return any(finding.value is not None for finding in found)


def _true_shares(cases: pl.DataFrame) -> Iterator[Finding]:
    known = cases.drop_nulls("identity").group_by("identity")
    for identity, n, share in known.agg(pl.len(), pl.mean("hateful")).sort("identity").rows():
        yield Finding(
            measure="label_share",
            value=share,
            n=n,
            group={"figure": "2", "identity": identity, "label": HATEFUL},
            unit="cases",
            why="no interval: every case is counted",
        )


_BY_TABLE: Mapping[str, Callable[[Study], Iterator[Section]]] = {
    "3": _table_3,
    "4": _table_4,
    "8": _table_8,
    "9": _table_9,
}

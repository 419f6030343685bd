"""Whether a detector carries over: a sample of every installed corpus that has labels."""

from __future__ import annotations

from evenhand.audits.index import Index, figure
from evenhand.audits.weaknesses import TRANSFER
from evenhand.core import registry
from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.data.find import data_folder, reader, used
from evenhand.reports import Grid, Section
from evenhand.reports.numbers import count
from evenhand.studies.audit_site import score_labelled
from evenhand.studies.parts import Step
from evenhand.studies.suites import Judged

_MEASURES = ("auc", "recall", "precision", "f1", "base_rate")
_HEADINGS = ("AUC", "recall", "precision", "F1", "base rate")
_INTRO = (
    "What counts as hateful differs between corpora; a figure says how far this detector agrees "
    "with that corpus's labels. Posts it was trained on are left out where it says which they are."
)


def transfer_part(run: Run, judged: Judged, most: int, step: Step) -> list[Section]:
    """The detector on a sample of every installed corpus with labels; suites are no corpora."""
    found: list[Finding] = []
    rows, words = [], []
    for name in registry.names("readers"):
        if name in registry.names("suites") or not reader(name).installed(data_folder()):
            continue
        group = {"corpus": name, "on": TRANSFER}
        try:
            corpus = reader(name).read(data_folder())
            known = score_labelled(run, judged, corpus, group, step, most=most)
        except (BadInput, NotEnoughData) as error:
            words.append(f"Left out: {error}")
            continue
        run.data.append(used(corpus))
        found += known.found
        index = Index(known.found)
        cells = [figure(index.get(measure, **group)) for measure in _MEASURES]
        rows.append([name, count(known.table.height), *cells])
        if known.failed:
            words.append(f"{name}: the detector failed on {count(len(known.failed))} posts.")
    if not (rows or words):
        return []
    run.findings += found
    grid = Grid(
        "transfer",
        f"At most {count(most)} posts of every installed corpus, threshold {judged.threshold}",
        ("corpus", "posts", *_HEADINGS),
        rows,
        narrow=(0, 1, 2, 3),
    )
    return [Section("Transfer to installed corpora", [_INTRO, *words], found, grids=[grid])]

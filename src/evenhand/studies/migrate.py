"""``evenhand migrate report``: what changes when a detector takes the place of a recorded service.

For each attribute that was recorded and that the detector has: how alike the scores rank texts, the
threshold that keeps what the old one did, whose decision flips, and by identity mentioned; and the
map that ``evenhand serve --mapping`` applies. Texts the detector was trained on are left out.
"""

from __future__ import annotations

from collections.abc import Mapping as Table
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from evenhand.core.errors import BadInput
from evenhand.core.provenance import VERSION, Run
from evenhand.core.streams import stream
from evenhand.models.loaded import Loaded
from evenhand.models.seen import trained_on
from evenhand.serving.mapping import Mapping
from evenhand.stats.intervals import RESAMPLES
from evenhand.studies.migrate_figures import migrated
from evenhand.studies.migrate_page import flip_table, sections
from evenhand.studies.migrate_pairs import Keep, Migrated, Pairs
from evenhand.studies.migrate_rows import Recorded
from evenhand.studies.migrate_thresholds import KEEP
from evenhand.studies.migrate_words import sentences
from evenhand.studies.parts import Parts, Step, silent

USUAL_THRESHOLD = 0.8
"""Coral's, for an attribute that none is given for."""
_BATCH = 512


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a report is to show."""

    attributes: Sequence[str] = ()
    """Empty for all that both sides have."""
    keep: Keep = field(default_factory=Keep)
    thresholds: Table[str, float] = field(default_factory=dict)
    """Of the recorded service, by attribute."""
    posts: int | None = None
    """At most so many texts, drawn at random."""
    with_text: bool = False
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        faults = [
            f"--threshold {name}={value}; expected a score above 0 and at most 1"
            for name, value in self.thresholds.items()
            if not 0 < value <= 1
        ]
        if self.keep.what not in KEEP:
            faults.append(f"--keep {self.keep.what!r}; expected one of {', '.join(KEEP)}")
        if not 0 < self.keep.share <= 1:
            faults.append(f"--share {self.keep.share}; expected a share above 0 and at most 1")
        if self.posts is not None and self.posts < 1:
            faults.append(f"--posts {self.posts}; expected at least 1")
        if faults:
            raise BadInput(*faults)


def migrate_report(
    run: Run, recorded: Recorded, loaded: Loaded, wanted: Wanted, *, step: Step = silent
) -> Parts:
    """Compare a detector with recorded scores."""
    run.data.append(recorded.used)
    attributes = _common(recorded, loaded, wanted)
    posts, notes = _posts(recorded, loaded, wanted, run.seed)
    new = _new(recorded, loaded, posts, step)
    results = []
    for number, attribute in enumerate(attributes):
        step(f"Comparing {attribute}", number, len(attributes))
        pairs = _pairs(recorded, posts, new, attribute)
        at = wanted.thresholds.get(attribute, USUAL_THRESHOLD)
        results.append(migrated(pairs, at, wanted.keep, seed=run.seed, resamples=wanted.resamples))
    for result in results:
        run.findings += result.findings
    texts = dict(posts.select("id", "text").rows()) if wanted.with_text else None
    if wanted.with_text and recorded.about is not None and not recorded.about.texts:
        notes.append("No texts can be shown: they were not kept.")
        texts = None
    mapping = _mapping(run, recorded, loaded, results)
    documents = {} if mapping is None else {"mapping": mapping.to_json()}
    shown = sections(results, wanted.keep, texts, [*recorded.notes, *notes])
    return Parts(
        f"From recorded scores to {loaded.name}",
        shown,
        sentences(results, loaded.name, mapping is not None),
        tables={"flips": flip_table(results, texts)},
        documents=documents,
        also=documents,
        terminal=shown[:1],
    )


def _common(recorded: Recorded, loaded: Loaded, wanted: Wanted) -> list[str]:
    """The attributes that were recorded and that the detector has."""
    both = [name for name in loaded.attributes if name in recorded.attributes]
    unknown = [name for name in (*wanted.attributes, *wanted.thresholds) if name not in both]
    if unknown or not both:
        what = f"no attribute {', '.join(unknown)} on both sides" if unknown else "no common one"
        raise BadInput(
            f"{recorded.used.name} and {loaded.name}: {what}. Recorded: "
            f"{', '.join(recorded.attributes)}; the detector has {', '.join(loaded.attributes)}"
        )
    return [name for name in both if not wanted.attributes or name in wanted.attributes]


def _posts(
    recorded: Recorded, loaded: Loaded, wanted: Wanted, seed: int
) -> tuple[pl.DataFrame, list[str]]:
    """The texts that are compared, and what to know of the others."""
    posts, notes = recorded.posts, []
    seen = trained_on(loaded.raw, posts) if recorded.new is None else None
    if seen:
        posts = posts.filter(~pl.col("id").is_in(seen))
        notes.append(f"{len(seen):,} texts are left out because {loaded.name} was trained on them.")
    if wanted.posts is not None and wanted.posts < posts.height:
        rows = stream(seed, "migrate", "posts").permutation(posts.height)[: wanted.posts]
        notes.append(f"{wanted.posts:,} of {posts.height:,} texts, drawn at random.")
        posts = posts[np.sort(rows)]
    if not posts.height:
        raise BadInput(f"{recorded.used.name}: no text is left to compare")
    return posts, notes


def _new(recorded: Recorded, loaded: Loaded, posts: pl.DataFrame, step: Step) -> pl.DataFrame:
    """The detector's scores: columns id and one for each attribute."""
    about = recorded.about
    if recorded.new is not None and about is not None:
        if about.sha256 != loaded.sha256 or about.detector != loaded.name:
            raise BadInput(
                f"{recorded.used.name}: was recorded without texts beside {about.detector} "
                f"(SHA-256 {(about.sha256 or 'unknown')[:12]}); only that detector can be "
                f"compared, not {loaded.name} ({(loaded.sha256 or 'unknown')[:12]}). Name it with "
                "--detector, or record again"
            )
        return recorded.new.pivot("attribute", index="id", values="new")
    texts = posts["text"].to_list()
    parts = []
    for start in range(0, len(texts), _BATCH):
        step("Scoring", start, len(texts))
        parts.append(loaded.raw.score(texts[start : start + _BATCH]))
    columns = dict(zip(loaded.attributes, np.concatenate(parts).T, strict=True))
    return pl.DataFrame({"id": posts["id"], **columns})


def _pairs(recorded: Recorded, posts: pl.DataFrame, new: pl.DataFrame, attribute: str) -> Pairs:
    rows = (
        posts.join(recorded.old.filter(pl.col("attribute") == attribute), on="id")
        .join(new.select("id", new=attribute), on="id")
        .drop_nulls("new")
    )
    if recorded.truth is None:
        rows = rows.with_columns(truth=pl.lit(None, dtype=pl.Int64))
    else:
        own = pl.col("attribute").is_null() | (pl.col("attribute") == attribute)
        said = recorded.truth.filter(own).select("id", "truth").unique("id", keep="last")
        rows = rows.join(said, on="id", how="left")
    rows = rows.sort("id")
    if not rows.height:
        raise BadInput(f"{recorded.used.name}: no text has a score of {attribute}")
    truth = rows["truth"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return Pairs(
        attribute,
        rows["id"].to_list(),
        rows["old"].to_numpy(),
        rows["new"].to_numpy(),
        truth,
        rows["mentions"].to_list(),
    )


def _mapping(
    run: Run, recorded: Recorded, loaded: Loaded, results: Sequence[Migrated]
) -> Mapping | None:
    maps = {one.pairs.attribute: one.map for one in results if one.map is not None}
    if not maps:
        return None
    return Mapping(
        detector=loaded.name,
        sha256=loaded.sha256,
        maps=maps,
        about={
            "evenhand": VERSION,
            "recording": recorded.used.name,
            "sha256": recorded.used.sha256,
            "upstream": recorded.about.upstream if recorded.about else None,
            "first": recorded.first,
            "last": recorded.last,
            "origin": "data",
            "seed": run.seed,
        },
    )

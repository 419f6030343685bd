"""From templates to cases: every text filled with every identity, slur, filler and substitution.

A case is a post with gold, tagged with functionality, section, set, identity, ``template`` (the
group of all cases that came from one template, which intervals resample) and ``frame`` (the case
without its identity: cases of one frame differ in nothing else, so identities can be exchanged
within it). No text occurs twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product

import polars as pl

from evenhand.audits.filling import MISSPELLINGS, filled, has_region, plain, slots, substituted
from evenhand.audits.suite_files import Functionality, Source, Template, Wording, slurs_of
from evenhand.core.errors import BadInput
from evenhand.core.tables import posts_table
from evenhand.data.corpus import Corpus
from evenhand.data.labels import HATEFUL
from evenhand.data.user_file import single_labels

TAGS = ("functionality", "section", "set", "identity", "template", "frame")


def expand(source: Source) -> Corpus:
    """Every case of the suite, with its gold."""
    rows = pl.DataFrame(list(_rows(source)), schema_overrides={"identity": pl.String})
    twice = rows.filter(pl.col("text").is_duplicated()).sort("text", "id")
    if twice.height:
        listed = ", ".join(twice["id"].head(8))
        raise BadInput(
            f"suite {source.name!r}: {twice.height} cases share their text with another "
            f"({listed}); expected every text once"
        )
    return Corpus(
        name=source.name,
        rows=rows.height,
        posts=posts_table(
            rows.select("id", "text", source=pl.lit(source.name), tags=pl.struct(TAGS))
        ),
        gold=single_labels(rows),
        hateful=(HATEFUL,),
        notes=("Made from templates: nobody wrote these sentences to anybody.",),
    )


def _rows(source: Source) -> Iterator[dict[str, str | None]]:
    unchanged: list[str] = []
    for functionality in source.functionalities:
        for template in functionality.templates:
            for set_ in functionality.gold:
                rows = _set_rows(source, functionality, template, set_, unchanged)
                yield from rows
    if unchanged:
        listed = "; ".join(f"{place} ({n} cases)" for place, n in Counter(unchanged).items())
        raise BadInput(
            f"suite {source.name!r}: a substitution changes nothing in {listed}; leave it out of "
            "`substitutions` there, or mark another region"
        )


def _set_rows(
    source: Source,
    functionality: Functionality,
    template: Template,
    set_: str,
    unchanged: list[str],
) -> Iterator[dict[str, str | None]]:
    group = f"{functionality.name}/{template.name}"
    number = 0
    for at, wording in enumerate(template.sets.get(set_, ())):
        for identity, frame, text, way in _texts(source, wording):
            if way is not None:
                done = substituted(text, MISSPELLINGS.get(way) or source.substitutions[way])
                if done == plain(text):
                    unchanged.append(f"{group}, {set_}, {way}")
                text = done
            number += 1
            yield {
                "id": f"{source.name}:{group}/{set_}/{number}",
                "text": text,
                "label": functionality.gold[set_],
                "functionality": functionality.name,
                "section": functionality.section or functionality.title,
                "set": set_,
                "identity": identity,
                "template": group,
                "frame": "/".join([group, set_, str(at), *frame, way or ""]),
            }


def _texts(
    source: Source, wording: Wording
) -> Iterator[tuple[str | None, tuple[str, ...], str, str | None]]:
    """Identity, fillers, text and substitution of every case of a wording."""
    ways = list(wording.substitutions) if has_region(wording.text) else [None]
    fillers = [wording.lists[slot] for slot in wording.lists]
    for identity, mark, who in _people(source, wording):
        for chosen in product(*fillers):
            fill = {**who, **dict(zip(wording.lists, chosen, strict=True))}
            for way in ways:
                yield identity, (*chosen, mark), filled(wording.text, fill), way


def _people(
    source: Source, wording: Wording
) -> Iterator[tuple[str | None, str, Mapping[str, str]]]:
    """Whom the cases are about (slurs, identities, or nobody), and what sets their frames apart.

    A slur belongs to one identity and cannot be exchanged for another, so each has its own frame.
    """
    if slurs_of(wording):
        for number, slur in enumerate(wording.slurs, start=1):
            forms = source.identities.get(slur.identity, {})
            words = {**forms, "slur": slur.one, "slurs": slur.many}
            yield slur.identity, f"slur {number}", words
    elif any(slot in forms for forms in source.identities.values() for slot in slots(wording.text)):
        for identity in wording.identities:
            yield identity, "", source.identities[identity]
    else:
        yield None, "", {}

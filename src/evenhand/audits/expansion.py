"""From templates to cases: every text filled with every identity, slur, filler and substitution.

A case is a post with gold, tagged with functionality, section, set, identity, ``template`` (the
group of all cases that came from one template, which intervals resample) and ``frame`` (the case
without its identity: cases of one frame differ in nothing else, so identities can be exchanged
within it). No text occurs twice. Beside each case stands its text fit for people: here it is known
which slur fills it, also where the slur is spelt in another way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product

import polars as pl

from evenhand.audits.filling import (
    ARTICLE,
    MISSPELLINGS,
    filled,
    has_region,
    plain,
    shown,
    slots,
    substituted,
)
from evenhand.audits.slurs import star, starred
from evenhand.audits.suite_records import SLUR_SLOTS, Functionality, Source, Template, Wording
from evenhand.core.errors import BadInput
from evenhand.core.tables import posts_table
from evenhand.data.corpus import Corpus
from evenhand.data.labels import HATEFUL
from evenhand.data.user_file import single_labels

_ARTICLE = f"{{{ARTICLE}}}"
TAGS = ("functionality", "section", "set", "identity", "template", "frame")


def cases_of(source: Source) -> tuple[Corpus, Mapping[str, str]]:
    """Every case of the suite with its gold; and, by case, its text fit for people."""
    made = list(_rows(source))
    if not made:
        raise BadInput(
            f"suite {source.name!r}: its templates make no case; expected at least one, so see "
            "that every slot has something to fill it"
        )
    rows = pl.DataFrame(made, schema_overrides={"identity": pl.String})
    twice = rows.filter(pl.col("text").is_duplicated()).sort("text", "id")
    if twice.height:
        listed = ", ".join(twice["id"].head(8))
        raise BadInput(
            f"suite {source.name!r}: {twice.height} cases share their text with another "
            f"({listed}); expected every text once"
        )
    corpus = Corpus(
        name=source.name,
        rows=rows.height,
        posts=posts_table(
            rows.select("id", "text", source=pl.lit(source.name), tags=pl.struct(TAGS))
        ),
        gold=single_labels(rows),
        hateful=(HATEFUL,),
        notes=("Made from templates: nobody wrote these sentences to anybody.",),
    )
    return corpus, dict(rows.select("id", "shown").iter_rows())


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
        for identity, frame, slurs, whole, name in _texts(source, wording):
            if _ARTICLE in whole:
                raise BadInput(
                    f"suite {source.name!r}: {_ARTICLE} stands before no word in {group}, {set_}; "
                    "expected a word behind it, or the article written out"
                )
            way = None if name is None else MISSPELLINGS.get(name) or source.substitutions[name]
            text = whole if way is None else substituted(whole, way)
            if way is not None and text == plain(whole):
                unchanged.append(f"{group}, {set_}, {name}")
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
                "frame": "/".join([group, set_, str(at), *frame, name or ""]),
                "shown": shown(whole, way, partial(_masked, slurs)),
            }


def _masked(slurs: tuple[str, ...], text: str) -> str:
    return starred(star(text, slurs, within=True))


def _texts(
    source: Source, wording: Wording
) -> Iterator[tuple[str | None, tuple[str, ...], tuple[str, ...], str, str | None]]:
    """Identity, fillers, slurs, text and substitution of every case of a wording."""
    ways = list(wording.substitutions) if has_region(wording.text) else [None]
    fillers = [wording.lists[slot] for slot in wording.lists]
    for identity, mark, who in _people(source, wording):
        slurs = tuple(who[slot] for slot in SLUR_SLOTS if slot in who)
        for chosen in product(*fillers):
            fill = {**who, **dict(zip(wording.lists, chosen, strict=True))}
            for way in ways:
                yield identity, (*chosen, mark), slurs, filled(wording.text, fill), way


def _people(
    source: Source, wording: Wording
) -> Iterator[tuple[str | None, str, Mapping[str, str]]]:
    """Whom the cases are about (slurs, identities, or nobody), and what sets their frames apart.

    A slur belongs to one identity and cannot be exchanged for another, so each has its own frame.
    """
    if wording.has_slurs:
        for number, slur in enumerate(wording.slurs, start=1):
            forms = source.identities.get(slur.identity, {})
            words = {**forms, "slur": slur.one, "slurs": slur.many}
            yield slur.identity, f"slur {number}", words
    elif any(slot in forms for forms in source.identities.values() for slot in slots(wording.text)):
        for identity in wording.identities:
            yield identity, "", source.identities[identity]
    else:
        yield None, "", {}

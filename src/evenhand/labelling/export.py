"""Exports of a campaign, each a folder.

- ``records``: the owner's working copy, read by ``evenhand agree``, ``estimate`` and the others:
  Parquet, and the same tables as CSV and JSON lines. People mentioned (``targets``) stay as the
  owner gave them, so that groups can be joined.
- ``dataset``: to publish with texts: Parquet files and a card. Posts have keyed ids (a real one
  leads to the author) and neither authors, tags nor media.
- ``release``: to publish without texts: real ids, for others who may get the texts themselves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from evenhand.core.errors import BadInput
from evenhand.core.provenance import folder_at_once
from evenhand.core.tables import write_parquet
from evenhand.data.find import tables, write_folder
from evenhand.labelling.campaign import Campaign
from evenhand.labelling.card import card
from evenhand.labelling.pseudonyms import Pseudonyms
from evenhand.labelling.records import Records

FORMS = ("records", "dataset", "release")


def export(out: Path, form: str, campaign: Campaign, records: Records) -> Path:
    """Write one of the three forms; a failure leaves nothing half-written."""
    if form not in FORMS:
        raise BadInput(f"--form {form}; expected one of {', '.join(FORMS)}")
    with folder_at_once(out) as folder:
        if form == "records":
            _records(folder, records)
        else:
            _public(folder, form, campaign, records)
    return out


def _records(folder: Path, records: Records) -> None:
    write_folder(records.corpus, folder)
    named = tables(records.corpus)
    for name, table in {"notes": records.notes, "checks": records.checks}.items():
        if table.height:
            write_parquet(table, folder / f"{name}.parquet")
            named[name] = table
    for name, table in named.items():
        flat(table).write_csv(folder / f"{name}.csv")
        table.write_ndjson(folder / f"{name}.jsonl")


def _public(folder: Path, form: str, campaign: Campaign, records: Records) -> None:
    corpus, hidden = records.corpus, Pseudonyms(campaign.secret)
    texts = form == "dataset"
    people = {t: hidden.target(t) for t in set(corpus.posts["targets"].explode().drop_nulls())}
    mentioned = pl.col("targets").list.eval(
        pl.element().replace_strict(people, default=None, return_dtype=pl.String)
    )
    columns = ["id", "text"] if texts else ["id"]
    found: dict[str, pl.DataFrame] = {"posts": corpus.posts.select(*columns, mentioned)}
    for name in ("judgements", "gold", "draws", "strata"):
        table = getattr(corpus, name)
        if table is not None:
            found[name] = table
    if texts:
        found = _renamed(found, {id: hidden.post(id) for id in corpus.posts["id"]})
    for name, table in found.items():
        write_parquet(table, folder / f"{name}.parquet")
    text = card(campaign, records, list(found), texts=texts)
    (folder / "README.md").write_text(text, encoding="utf-8", newline="\n")


def _renamed(
    found: Mapping[str, pl.DataFrame], names: Mapping[str, str]
) -> dict[str, pl.DataFrame]:
    """The tables with other post ids, and rows in an order that says nothing."""
    renamed = {}
    for name, table in found.items():
        key = {"posts": "id", "strata": None}.get(name, "post")
        if key is not None:
            column = pl.col(key).replace_strict(names, return_dtype=pl.String)
            table = table.with_columns(column).sort(key, maintain_order=True)
        renamed[name] = table
    return renamed


def flat(table: pl.DataFrame) -> pl.DataFrame:
    """Lists and structs as texts, for CSV: ``a|b``, and JSON where it is deeper.

    >>> flat(pl.DataFrame({"answer": [["a", "b"]], "n": [1]})).rows()
    [('a|b', 1)]
    """
    columns = []
    for name, kind in table.schema.items():
        if kind == pl.List(pl.String):
            columns.append(pl.col(name).list.join("|"))
        elif kind.is_nested():
            texts = [None if v is None else json.dumps(_plain(v), ensure_ascii=False)
                     for v in table[name]]  # fmt: skip
            columns.append(pl.lit(pl.Series(name, texts, dtype=pl.String)).alias(name))
        else:
            columns.append(pl.col(name))
    return table.select(columns)


def _plain(value: object) -> object:
    return value.to_list() if isinstance(value, pl.Series) else value

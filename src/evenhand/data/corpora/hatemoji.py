"""Kirk et al. 2022: HatemojiBuild (human-and-model rounds) and HatemojiCheck (a suite)."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evenhand.core.errors import Faults
from evenhand.data.corpora._published import expect, locate, locate_optional, published_corpus
from evenhand.data.corpus import Corpus, Download, Reader, Statement
from evenhand.data.files import LINE, read_rows

_BUILD = "hatemojibuild"
_CHECK = "hatemojicheck"
_URL = (
    "https://raw.githubusercontent.com/HannahKirk/Hatemoji/"
    "a626f63216158748d072e581efc00267031f4404/"
)
_LABELS = {"1": "hateful", "0": "not hateful"}
_NEED = ("entry_id", "text", "type", "target", "round.base", "set", "split", "label_gold")


def _read_build(data: Path) -> Corpus:
    names = ("train.csv", "validation.csv", "test.csv")
    paths = [path for name in names if (path := locate_optional(data, _BUILD, name))]
    if not paths:
        locate(data, _BUILD, names[0])
    frames = []
    for path in paths:
        rows = read_rows(path, need=(*_NEED, "matched_id"))
        expect(path, rows, "label_gold", _LABELS)
        frames.append(rows)
    rows = pl.concat(frames, how="diagonal").rename(
        {"entry_id": "id", "label_gold": "label", "matched_id": "twin", "round.base": "round"}
    )
    rows = rows.with_columns(
        pl.col("twin").replace("", None),
        edit_of=pl.when(pl.col("set") == "perturbation").then(pl.col("twin").replace("", None)),
        # Published as the text of a Python list, e.g. "['wom', 'gay']".
        target=pl.col("target").str.extract_all(r"[\w.]+").list.join("|"),
    )
    return published_corpus(
        _BUILD,
        rows,
        files=paths,
        hateful=("1",),
        tags=("split", "twin", "set", "round", "type", "target"),
    )


def _read_check(data: Path) -> Corpus:
    path = locate_optional(data, _CHECK, "test.csv") or locate_optional(data, _CHECK, "sample.csv")
    if path is None:
        path = locate(data, _CHECK, "test.csv")
    need = ("case_id", "templ_id", "test_group_id", "text", "target", "functionality", "set")
    rows = read_rows(path, need=(*need, "label_gold"))
    expect(path, rows, "label_gold", _LABELS)
    rows = rows.rename(
        {
            "case_id": "id",
            "label_gold": "label",
            "test_group_id": "template",
            "target": "identity",
            "templ_id": "case_template",
        }
    ).with_columns(pl.col("identity").replace("None", None))
    faults = Faults(path.name)
    lost = rows.filter(pl.col("template") == "")
    faults.add_lines("a case without test_group_id", lost[LINE])
    faults.raise_if_any()
    tags = ["functionality", "set", "identity", "template", "case_template"]
    tags += [name for name in ("unrealistic_flags",) if name in rows.columns]
    sampled = path.name.startswith("sample")
    return published_corpus(
        _CHECK,
        rows,
        files=(path,),
        hateful=("1",),
        tags=tags,
        notes=("A sample of the suite, not all of it.",) if sampled else (),
    )


HATEMOJIBUILD = Reader(
    name=_BUILD,
    title="HatemojiBuild, rounds 5 to 7",
    citation="Kirk, Vidgen, Röttger, Thrush, Hale 2022, NAACL",
    licence="CC BY 4.0",
    may_train="yes",
    folder=_BUILD,
    labels=_LABELS,
    hateful=("1",),
    read=_read_build,
    files=("|".join(f"{_BUILD}/{n}" for n in ("train.csv", "validation.csv", "test.csv")),),
    homepage="https://github.com/HannahKirk/Hatemoji",
    downloads=tuple(
        Download(name, f"{_URL}HatemojiBuild/{name}")
        for name in ("train.csv", "validation.csv", "test.csv")
    ),
    statement=Statement(
        curation="Written by annotators to fool the model of the round; each accepted entry has a"
        " perturbed twin, usually with the other label.",
        language="English with emoji",
        annotators="Trained annotators; two more validated, an expert settled disagreement.",
        situation="Three rounds in 2021.",
        text="Short made-up posts with emoji, not found in the wild.",
    ),
)
HATEMOJICHECK = Reader(
    name=_CHECK,
    title="HatemojiCheck, a functional suite for emoji-based hate",
    citation="Kirk, Vidgen, Röttger, Thrush, Hale 2022, NAACL",
    licence="CC BY 4.0",
    may_train="never: a test suite",
    folder=_CHECK,
    labels=_LABELS,
    hateful=("1",),
    read=_read_check,
    files=(f"{_CHECK}/test.csv|{_CHECK}/sample.csv",),
    homepage="https://github.com/HannahKirk/Hatemoji",
    downloads=(Download("test.csv", f"{_URL}HatemojiCheck/test.csv"),),
    statement=Statement(
        curation="Templates × emoji × identities for seven functionalities, with perturbations.",
        language="English with emoji",
        annotators="Three a case validated the labels.",
        text="Made-up sentences from templates.",
    ),
)

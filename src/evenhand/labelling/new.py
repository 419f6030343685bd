"""A new campaign from a template and a file of posts.

The folder gets ``campaign.toml`` to be edited, the posts as a folder of records (with draws and
strata where the posts come from ``evenhand sample``), a secret, and an empty list of masked words.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from evenhand.core.errors import BadInput, UnknownComponent
from evenhand.core.provenance import refuse_unwritable
from evenhand.data.corpus import Corpus
from evenhand.data.find import write_folder
from evenhand.labelling.campaign import FILE, read_campaign, write_secret
from evenhand.labelling.posts import read_posts

_POSTS = "posts"
_WORDS = "masked-words.txt"
_ABOUT_WORDS = "# One word a line: what people who ask for it see masked.\n"
_PRIVATE = """\
# The secret keys pseudonyms, and the posts have their authors: publish what
# `evenhand label export` writes, never these.
secret
posts/
campaign.sqlite*
"""


def templates() -> list[str]:
    """The names of the templates that come with Evenhand."""
    folder = files("evenhand.labelling") / "templates"
    return sorted(path.name.removesuffix(".toml") for path in folder.iterdir())


def new_campaign(folder: Path, template: str, corpus: Corpus, *, name: str | None = None) -> Path:
    """Write a campaign and check it; labels and judgements of the posts are left out."""
    if template not in templates():
        raise UnknownComponent(
            f"no template {template!r}; expected one of {', '.join(templates())}"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder}: not an empty folder; a campaign needs one of its own")
    refuse_unwritable(folder)
    there = folder.exists()
    try:
        _write(folder, template, corpus, name)
        read_posts(read_campaign(folder))
    except BaseException:
        for path in folder.iterdir() if there else ():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if not there:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder / FILE


def _write(folder: Path, template: str, corpus: Corpus, name: str | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = (files("evenhand.labelling") / "templates" / f"{template}.toml").read_text("utf-8")
    called = re.sub(r"[^\w.-]+", "-", name or folder.resolve().name).strip("-") or template
    text = text.replace(f'name = "{template}"', f'name = "{called}"', 1)
    (folder / FILE).write_text(text, encoding="utf-8")
    plain = replace(corpus, gold=None, judgements=None, scores=None)
    write_folder(plain, folder / _POSTS)
    (folder / _WORDS).write_text(_ABOUT_WORDS, encoding="utf-8")
    (folder / ".gitignore").write_text(_PRIVATE, encoding="utf-8")
    write_secret(folder)

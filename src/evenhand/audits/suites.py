"""Functional suites: cases with one right answer each, by functionality, set and identity.

Two suites come with Evenhand, written by us (``emoji-hate``, ``hate-functions``); the published
HatemojiCheck and HateCheck load as they are; a user's own is a folder or file of templates. A suite
is never trained or tuned on. Nobody has judged our cases yet, and each card says so until
judgements exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import polars as pl

from evenhand.audits.digests import rows_sha256
from evenhand.audits.expansion import TAGS, cases_of
from evenhand.audits.slurs import our_slurs, starred
from evenhand.audits.suite_files import Place, read_source
from evenhand.audits.suite_records import Functionality
from evenhand.core import registry
from evenhand.core.errors import BadInput, BrokenComponent, UnknownComponent
from evenhand.data.corpus import Corpus, Statement
from evenhand.data.find import data_folder, reader

ORIGINAL = "orig"
NOT_VALIDATED = "not validated by people"
_SECTIONS = {
    "derog": "derogation",
    "threat": "threats",
    "slur": "slurs",
    "profanity": "profanity",
    "ref": "pronoun reference",
    "negate": "negation",
    "phrase": "phrasing",
    "ident": "identity mentions",
    "counter": "counter-speech",
    "target": "abuse of non-protected targets",
    "spell": "spelling variations",
}


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Cases with gold, and what they are."""

    name: str
    title: str
    corpus: Corpus
    """Posts tagged with functionality, section, set, identity, template, frame; gold for each."""
    statement: Statement
    about: Mapping[str, str]
    """Functionality → what it tests, in a sentence; empty for one whose name says it all."""

    shown: Mapping[str, str] = field(default_factory=dict)
    """Case → its text fit for people; of a case that is not in it, the words of our list are
    starred."""

    def cases(self) -> pl.DataFrame:
        """One row per case: id, text, tags, whether it is hateful, and its text fit for people."""
        return self._cases

    @cached_property
    def _cases(self) -> pl.DataFrame:
        gold = self.corpus.gold
        assert gold is not None
        right = gold.select(id="post", hateful=pl.col("label").is_in(list(self.corpus.hateful)))
        posts = self.corpus.posts.select("id", "text", "tags").unnest("tags")
        rows = posts.select("id", "text").iter_rows()
        shown = [self.shown.get(case) or starred(text) for case, text in rows]
        return (
            posts.with_columns(shown=pl.Series(shown, dtype=pl.String))
            .join(right, on="id", maintain_order="left")
            .select("id", "text", *TAGS, "hateful", "shown")
        )

    def sha256(self) -> str:
        """A digest of every case, whatever their order."""
        return rows_sha256(self.cases().drop("shown"))


def find_suite(name: str) -> Suite:
    """The suite a user named: a registered one, or a folder or file of templates."""
    if name in registry.names("suites"):
        make = registry.get("suites", name)
        suite = make() if callable(make) else make
        if not isinstance(suite, Suite):
            raise BrokenComponent(
                f"suites {name!r} gives a {type(suite).__name__}; expected a Suite"
            )
        return suite
    path = Path(name)
    if not path.exists():
        raise UnknownComponent(
            f"{registry.unknown('suites', name)}; nor is there a file or folder {name!r}"
        )
    return read_suite(path)


def read_suite(place: Place | Path) -> Suite:
    """A suite from its files."""
    source = read_source(place, our_slurs())
    corpus, shown = cases_of(source)
    return Suite(
        name=source.name,
        title=source.title,
        corpus=corpus,
        shown=shown,
        statement=source.statement,
        about={found.name: _about(found) for found in source.functionalities},
    )


def _about(functionality: Functionality) -> str:
    return f"{functionality.title}: {functionality.about}"


def _ours(name: str) -> Callable[[], Suite]:
    home = files("evenhand.audits").joinpath("sources", "suites")
    return lambda: read_suite(home.joinpath(name))


def _published(name: str, retag: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[], Suite]:
    def make() -> Suite:
        known = reader(name)
        if not known.installed(data_folder()):
            raise BadInput(
                f"suite {name!r} is not installed: `evenhand data get {name}` downloads it"
            )
        corpus = known.read(data_folder())
        rows = retag(corpus.posts.select("id", "tags").unnest("tags"))
        tags = rows.select("id", tags=pl.struct(pl.exclude("id")))
        posts = corpus.posts.drop("tags").join(tags, on="id", maintain_order="left")
        return Suite(
            name=name,
            title=known.title,
            corpus=replace(corpus, posts=posts),
            statement=known.statement,
            about={},
        )

    return make


def _hatemojicheck(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(
        section=pl.col("functionality"), frame=pl.format("{}/{}", "case_template", "set")
    )


def _hatecheck(rows: pl.DataFrame) -> pl.DataFrame:
    section = pl.col("functionality").str.split("_").list.first()
    return rows.with_columns(
        section=section.replace(_SECTIONS), set=pl.lit(ORIGINAL), frame=pl.col("template")
    )


EMOJI_HATE = _ours("emoji-hate")
HATE_FUNCTIONS = _ours("hate-functions")
HATEMOJICHECK = _published("hatemojicheck", _hatemojicheck)
HATECHECK = _published("hatecheck", _hatecheck)

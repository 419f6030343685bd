"""What the pages say, by language, as data: a language is a file beside this one."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

_FIRST = "en"


@cache
def languages() -> tuple[str, ...]:
    """The languages the pages speak."""
    names = (path.name for path in files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


@cache
def texts(language: str) -> dict[str, str]:
    """All texts of a language, ``section.name`` → text."""
    document = tomllib.loads((files(__package__) / f"{language}.toml").read_text(encoding="utf-8"))
    return {
        f"{section}.{name}": text
        for section, entries in document.items()
        for name, text in entries.items()
    }


def text(language: str, name: str, /, **values: object) -> str:
    """A text with its values; in English where the pages do not speak the language."""
    known = language if language in languages() else _FIRST
    found = texts(known)[name]
    return found.format(**values) if values else found


def called(language: str) -> str:
    """What a language calls itself."""
    return texts(language)["language.name"] if language in languages() else language

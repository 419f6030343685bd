"""Reading a TOML file so that every fault is named with its file and key.

A :class:`Node` is a table and its place in the file. Asking it for a value checks the value, notes
a fault where it does not fit, and hands back something of the right type, so that reading goes on
to the next fault. What nobody asked for is a fault too (:meth:`Node.close`).
"""

from __future__ import annotations

import reprlib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from evenhand.core.errors import BadInput, Faults

_T = TypeVar("_T")
Text = Mapping[str, str]
"""A text in every language of the campaign, by language."""


def said(text: Text, language: str) -> str:
    """The text in a language, or in the campaign's first where there is no such translation."""
    return text[language] if language in text else next(iter(text.values()), "")


def read_toml(path: Path) -> dict[str, Any]:
    """The document of a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadInput(f"{path}: not there; `evenhand label new` writes one") from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: not TOML: {error}") from error


class Node:
    """A table of a TOML file."""

    def __init__(
        self, value: Mapping[str, Any], key: str, faults: Faults, languages: Sequence[str] = ()
    ) -> None:
        self.key = key
        self.faults = faults
        self.languages = languages
        self._value = value
        self._asked: set[str] = set()

    def fault(self, name: str, what: str) -> None:
        """Remember a fault of one key."""
        self.faults.add(f"{self._place(name)}: {what}")

    def has(self, name: str) -> bool:
        """Whether the key is there."""
        return name in self._value

    def string(
        self, name: str, default: str | None = None, choices: Sequence[str] | None = None
    ) -> str:
        """A text that is not for people to read, such as a name."""
        value = self._get(name, default)
        if not isinstance(value, str) or not value.strip():
            return self._wrong(name, value, "a text", default or "")
        if choices is not None and value not in choices:
            return self._wrong(name, value, f"one of {', '.join(choices)}", choices[0])
        return value

    def strings(self, name: str, default: Sequence[str] = ()) -> tuple[str, ...]:
        """A list of texts."""
        value = self._get(name, list(default))
        if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
            return self._wrong(name, value, "a list of texts", tuple(default))
        return tuple(value)

    def whole(self, name: str, default: int | None = None, *, low: int, high: int = 10**9) -> int:
        """A whole number within limits."""
        value = self._get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            return self._wrong(
                name, value, f"a whole number from {low} to {high:,}", default or low
            )
        return value

    def share(self, name: str, default: float) -> float:
        """A number from 0 to below 1."""
        value = self._get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
            return self._wrong(name, value, "a number from 0 to below 1", default)
        return float(value)

    def yes(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self._get(name, default)
        return (
            value if isinstance(value, bool) else self._wrong(name, value, "true or false", default)
        )

    def text(self, name: str, default: str | None = None) -> Text:
        """A text for people: one for all languages, or a table with one for each."""
        value = self._get(name, default)
        if isinstance(value, str) and (value.strip() or default == ""):
            return {language: value.strip() for language in self.languages}
        if isinstance(value, dict) and all(
            isinstance(v, str) and v.strip() for v in value.values()
        ):
            lost = [language for language in self.languages if language not in value]
            more = [language for language in value if language not in self.languages]
            if lost:
                self.fault(name, f"no text in {', '.join(lost)}")
            if more:
                self.fault(name, f"{', '.join(more)} is not among the campaign's languages")
            return {language: value.get(language, "").strip() for language in self.languages}
        return self._wrong(name, value, "a text, or a table of texts by language", {})

    def table(self, name: str) -> Node:
        """A table; an empty one where the key is absent."""
        value = self._get(name, {})
        if not isinstance(value, dict):
            value = self._wrong(name, value, "a table", {})
        return Node(value, self._place(name), self.faults, self.languages)

    def tables(self, name: str) -> list[Node]:
        """A list of tables (headed by double brackets)."""
        value = self._get(name, [])
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            value = self._wrong(name, value, f"tables headed [[{self._place(name)}]]", [])
        return [
            Node(entry, f"{self._place(name)}.{number}", self.faults, self.languages)
            for number, entry in enumerate(value, start=1)
        ]

    def lists(self, name: str) -> dict[str, tuple[str, ...]]:
        """A table from names to a text or a list of texts."""
        node = self.table(name)
        found = {}
        for key in node._value:
            one = isinstance(node._value[key], str)
            found[key] = (node.string(key),) if one else node.strings(key)
        return found

    def close(self) -> None:
        """Name the keys nobody asked for: misspelt, or not of this version."""
        for name in self._value:
            if name not in self._asked:
                self.fault(name, f"unknown key; expected {', '.join(sorted(self._asked))}")

    def _get(self, name: str, default: Any) -> Any:
        self._asked.add(name)
        return self._value.get(name, default)

    def _place(self, name: str) -> str:
        return f"{self.key}.{name}" if self.key else name

    def _wrong(self, name: str, value: object, expected: str, instead: _T) -> _T:
        found = "missing" if value is None else reprlib.repr(value)
        self.fault(name, f"{found}; expected {expected}")
        return instead

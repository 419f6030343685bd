"""Words without their endings, and what part of speech each word of a post is (Penn tags).

Stems are Porter's, by NLTK's code. Tags come from the lexicon and the rules of Pattern, in the
package ``textblob``. Neither needs a download; NLTK's own tagger would. For tagging, a clitic (n't,
're) and each mark of .,!? stand on their own.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import polars as pl

from evenhand.core.errors import MissingExtra

_TOKEN = re.compile(r"\w+?(?=n't\b)|n't\b|'(?:s|re|ve|ll|d|m)\b|\w+|[.,!?]")
_LONGEST = 40
"""Longer words are left as they are: they are no words, and Porter's rules recurse over them."""


def stems(words: Sequence[str]) -> list[str]:
    """Each word without its ending; hashtags and what stands for handles and links stay.

    >>> stems(["buses", "running", "#buses"])
    ['buse', 'run', '#buses']
    """
    stem = _stemmer()
    return [stem(word) if word.isalpha() and len(word) <= _LONGEST else word for word in words]


def tags(texts: Sequence[str]) -> pl.Series:
    """The tags of each text, in order: a series of lists.

    >>> tags(["i don't like the buses!"]).to_list()
    [['PRP', 'VBP', 'RB', 'IN', 'DT', 'NNS', '.']]
    """
    tag = _tagger()
    lists = [[kind for _, kind in tag(_TOKEN.findall(text))] for text in texts]
    return pl.Series(lists, dtype=pl.List(pl.String))


@cache
def _stemmer() -> Callable[[str], str]:
    try:
        from nltk.stem.porter import PorterStemmer
    except ImportError as error:
        raise _missing("stems", "nltk", error) from error
    stem: Callable[[str], str] = PorterStemmer().stem
    return stem


@cache
def _tagger() -> Callable[[list[str]], Any]:
    try:
        from textblob.en import parser
    except ImportError as error:
        raise _missing("tags", "textblob", error) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # its files are read here, left open
        parser.find_tags(["unheardof"])
    tag: Callable[[list[str]], Any] = parser.find_tags
    return tag


def _missing(what: str, package: str, error: ImportError) -> MissingExtra:
    return MissingExtra(
        f"{what} need {package} ({error}); install it with `pip install 'evenhand[train]'`"
    )

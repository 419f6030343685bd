"""The words of posts, as the word-based recipes see them.

Lower-cased, HTML entities resolved, Unicode composed (NFC), zero-width characters dropped. A handle
is the word ``@user`` and a link ``@link``, whoever or whatever it names. A hashtag keeps its ``#``,
an apostrophe stays inside its word, every pictograph and flag is a word; skin tones are not.
Scripts that do not put spaces between words are not divided.

>>> words(["RT @Ann: I DON’T know &amp; #NotAll 👍🏽 https://t.co/x", ""]).to_list()
[['rt', '@user', 'i', "don't", 'know', '#notall', '👍', '@link'], []]
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Sequence

import polars as pl

_ZERO_WIDTH = r"[\u00ad\u200b\u2060\ufeff]"
_HANDLE = r"\B@[a-z0-9_]+"
_LINK = r"https?://\S+|\bwww\.\S+|\bpic\.twitter\.com/\S+|\bt\.co/\S+"
_PART = r"[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*"
_WORD = (
    rf"@user|@link|#?{_PART}(?:'{_PART})*|\p{{Regional_Indicator}}{{2}}|\p{{Extended_Pictographic}}"
)


def words(texts: Sequence[str], *, handles: bool = False) -> pl.Series:
    """The words of each text, in order: a series of lists.

    With ``handles`` every handle is a word of its own: a detector can then learn who is mentioned.
    """
    pattern = f"@[a-z0-9_]+|{_WORD}" if handles else _WORD
    return cleaned(texts, handles=handles).str.extract_all(pattern).alias("words")


def cleaned(texts: Sequence[str], *, handles: bool = False) -> pl.Series:
    """The texts in lower case, sound, with one name for every link and, unless kept, handle."""
    series = (
        pl.Series([_sound(text) for text in texts], dtype=pl.String)
        .str.to_lowercase()
        .str.replace_all(_ZERO_WIDTH, "")
        .str.replace_all("’", "'", literal=True)
    )
    if not handles:
        # Before links: a link may hold a handle, and the word for a link must not become one.
        series = series.str.replace_all(_HANDLE, "@user")
    return series.str.replace_all(_LINK, " @link ")


def _sound(text: str) -> str:
    """The text with entities resolved, composed, and without halves of surrogate pairs."""
    if "&" in text:
        text = html.unescape(text)
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.encode(errors="replace").decode())

"""What posts have and other texts do not: links, handles, hashtags, stars around words."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from evenhand.models._lexicon import lexicon, split_words
from evenhand.models._trace import Edit, apart

Handles = Literal["kept", "dropped"]

_LINK = re.compile(
    r"(?:[hH][tTxX]{2}[pP][sS]?://|[wW]{3}\.|\b(?:pic\.twitter\.com|t\.co|bit\.ly|youtu\.be)/)"
    r"[^\s<>\"]*[^\s<>\".,;:!?')\]}…*]|\bhttps?:?/{0,2}(?:\.\.\.|…|$)"
)
_BLANK_LINK = re.compile(r"(?i)[<\[{] *(?:url|link) *[>\]}]")
_BLANK_HANDLE = re.compile(r"(?i)[<\[{] *user(?:name)? *[>\]}]")
_HANDLE = re.compile(r"@(?<![^\W_]@)(?<!@@)[\w#](?:[\w#@\u0300-\u036f]*[\w#\u0300-\u036f])?")
_HANDLES = re.compile(r"((?:@user +){3})(?:@user +)+")
_MAIL = re.compile(
    r"(?<![\w.+@-])@?([\w.+-]{1,64})@([\w-]{1,63})\.(?:[\w-]{1,63}\.){0,7}"
    r"([a-z]{2,24}|[A-Z]{2,24}|(?i:com|org|net|edu|gov))(?![\w@])"
)
_NO_WORDS = frozenset((
    "com", "org", "net", "edu", "gov", "uk", "de", "fr", "eu", "ru", "ca", "au", "nz", "jp", "nl",
    "ch",
))  # fmt: skip
"""Ends of servers' names that nobody writes behind a full stop without a space."""
_DOMAIN = re.compile(r"(?:-[\w-]{1,62})?(?:\.[a-z][\w-]{1,62}){2,4}(?!\w)")
_OWNS = re.compile(r"['’][sS](?!\w)")
_RETWEET = re.compile(r"(?<!\w)(?:[rR][tT] *)+$")
_HASHTAG = re.compile(r"#(?<![\w&#]#)(?=\w*[^\W\d_])(\w+)")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^A-Za-z_]+")
_STARS = re.compile(r"(?<![\w*&])(\*{1,3}|_{1,3})(?=[^\s*_])([^*_]{1,100})(?<=\S)\1(?![\w*])")


def _links(text: str) -> list[Edit]:
    return [apart(text, m.start(), m.end(), "url") for m in _LINK.finditer(text)]


def _blanks(text: str) -> list[Edit]:
    """Links and handles that a publisher blanked out."""
    edits = [apart(text, m.start(), m.end(), "url") for m in _BLANK_LINK.finditer(text)]
    return sorted([*edits, *_blank_handles(text)])


def _blank_handles(text: str) -> list[Edit]:
    edits = []
    for match in _BLANK_HANDLE.finditer(text):
        start = match.start()
        start -= text[start - 1 : start] == "@"
        edits.append(apart(text, start, match.end(), "@user"))
    return edits


def _handles(text: str) -> list[Edit]:
    """Handles; that a post repeats another's is no part of what it says."""
    edits: list[Edit] = []
    for match in _HANDLE.finditer(text):
        if _masks_a(match[0]):
            continue
        start, end = match.span()
        if again := _RETWEET.search(text, max(0, start - 40), start):
            start = max(again.start(), edits[-1][1] if edits else 0)
            end += text[end : end + 1] == ":"
        edits.append(apart(text, start, end, "@user"))
    return edits


def addresses(text: str) -> list[Edit]:
    """Handles and e-mail addresses, with what makes them a retweet's or somebody's own: they go.

    Of a handle with a server behind it (``@ann@example.social``, ``@ann.example.social``) all goes.
    """
    found = list[Edit]()
    if "<" in text or "[" in text or "{" in text:
        found += _blank_handles(text)
    if "@" in text:
        found += [(m.start(), m.end(), "") for m in _MAIL.finditer(text) if not _masked(m)]
        found += _handles(text)
    edits, last = list[Edit](), 0
    for start, end, _ in sorted(found):
        if end <= last:
            continue
        last = end
        for behind in (_DOMAIN, _OWNS):  # @ann.bsky.social's
            if more := behind.match(text, last):
                last = more.end()
        if edits and start < edits[-1][1]:  # RT @ann@example.social: a handle and an address
            start = edits.pop()[0]
        edits.append((start, last, ""))
    return edits


def _masked(mail: re.Match[str]) -> bool:
    """Whether what looks like an e-mail address is a word with @ for a vowel and no space behind.

    >>> [_masked(_MAIL.search(text)) for text in ("you b@stard.go home", "ann@example.org")]
    [True, False]
    """
    name, server, end = mail.groups()
    counts = lexicon().counts
    return end.lower() not in _NO_WORDS and any(
        f"{name}{vowel}{server}".lower() in counts for vowel in "aeiou"
    )


def without_addresses(text: str) -> str:
    """A text without handles and e-mail addresses.

    >>> without_addresses("RT @ann: ask @bob's friend, a@b.org")
    ' ask  friend, '
    """
    parts, done = [], 0
    for start, end, _ in addresses(text):
        parts.append(text[done:start])
        done = end
    return "".join([*parts, text[done:]]) if done else text


def _masks_a(handle: str) -> bool:
    """Whether what looks like a handle is a word that starts with @ for a."""
    rest = handle[1:].lower()
    if not (rest.isascii() and rest.isalpha() and 1 < len(rest) < 8):
        return False
    counts = lexicon().counts
    return counts.get(f"a{rest}", 0) >= max(100, 20 * counts.get(rest, 0))


def crowds(text: str) -> list[Edit]:
    """Of many handles in a row, three."""
    if "@user @user" not in text:
        return []
    return [(m.end(1), m.end(), "") for m in _HANDLES.finditer(text)]


def hashtags(text: str) -> list[Edit]:
    """Hashtags lose their sign; those that are clearly several words are written as such."""
    if "#" not in text:
        return []
    edits: list[Edit] = []
    for match in _HASHTAG.finditer(text):
        at = match.start() + 1
        edits.append((at - 1, at, ""))
        for first in _firsts(match[1]):
            letter = match[1][first]
            edits.append((at + first, at + first + 1, " " if letter == "_" else f" {letter}"))
    return edits


@lru_cache(1 << 14)
def _firsts(tag: str) -> tuple[int, ...]:
    """Where words of a hashtag but the first begin."""
    counts = lexicon().counts
    low = tag.lower()
    if len(tag) > 60 or counts.get(low, 0) >= 20:
        return ()
    parts = list(_CAMEL.finditer(tag))
    words = [part[0].lower() for part in parts if part[0].isalpha()]
    known = sum(len(word) > 1 and word in counts for word in words)
    if len(words) > 1 and known > len(words) / 2:
        firsts = [part.start() for part in parts[1:] if tag[part.start() - 1] != "_"]
        return tuple(sorted(firsts + [i for i, char in enumerate(tag) if char == "_"]))
    at, found = 0, []
    for word in split_words(low)[:-1] if low.isalpha() else ():
        at += len(word)
        found.append(at)
    return tuple(found)


def emphasis(text: str) -> list[Edit]:
    """Stars and underscores around whole words are emphasis."""
    if "*" not in text and "_" not in text:
        return []
    return [
        edit
        for m in _STARS.finditer(text)
        for edit in ((m.start(), m.end(1), ""), (m.end(2), m.end(), ""))
    ]


PASSES = (
    (("/", "www.", "WWW.", "http"), _links),
    (("[", "<", "{"), _blanks),
    (("@",), _handles),
)
"""The signs that something is there, and what is done about it."""

"""Disguises a reader sees through: digits and symbols for letters, masked and spaced-out words.

A disguise is undone only where the result is a known word, frequent enough for the kind of
evidence, and where the text as written has no ordinary reading. Each pass returns edits.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate, product

from evenhand.models._emoji import ONE
from evenhand.models._lexicon import lexicon, more_frequent, split_words
from evenhand.models._trace import Edit

_AS_LETTERS = {
    "0": "o", "1": "il", "3": "e", "4": "a", "5": "s", "6": "g", "7": "t", "8": "b", "9": "g",
    "@": "a", "$": "s", "!": "il", "|": "il", "+": "t", "€": "e", "£": "l", "¥": "y", "¢": "c",
    "¡": "i", "§": "s", "µ": "u", "^": "a",
}  # fmt: skip
_DIGITS = frozenset("0123456789")
_VOWELS = "aeiou"
_MASKS = "*#%★☆♥♡❤°¤○◦·"
_GAPS = "._-~"
EDGES = ".,!?;:\"'()-…"
_OPENING = EDGES.replace("!", "")
_OUTSIDE = re.compile(rf"[._\-~'#%=+·°]|{ONE}")
_PIECE = re.compile(r"[^\s/\\,;:\"()\[\]{}<>?…=&]+")
_ORDINARY = re.compile(
    r"\d+(?:st|nd|rd|th|s|x|k|m|mm|cm|km|kg|g|lb|lbs|h|hr|hrs|min|mins|yo|yr|yrs|ft|in|oz|p|d|am|pm"
    r"|gb|mb|tb|bn|v|w|pc|ish|er|ers|[ap])|v?\d+(?:\.\d+)+\w*|[a-z]{1,2}\d+",
    re.IGNORECASE,
)
_TAILS = frozenset(("", "s", "t", "re", "ve", "ll", "d", "m"))
_LONGEST = 32
_MOST = 200
"""Letters spaced out one by one; more is no word game."""
LETTER = r"[A-Za-z013457@$!]"
_SEPARATED = re.compile(rf"{LETTER}(?:(?:[._\-~*·|+/]|{ONE})+{LETTER}){{3,}}")


def tokens(text: str) -> list[Edit]:
    """Digits, symbols, masks and separators inside words."""
    edits, at = [], 0
    for token in text.split(" "):
        if token and not token.isalpha() and not token.rstrip(EDGES).lstrip(_OPENING).isalpha():
            edits += [(at + start, at + end, new) for start, end, new in _token(token)]
        at += len(token) + 1
    return edits


@lru_cache(1 << 16)
def _token(token: str) -> tuple[Edit, ...]:
    if "(" in token[1:] and token[token.index("(", 1) - 1].isalnum():
        return ()  # f(x*y)
    found: list[Edit] = []
    for match in _PIECE.finditer(token):
        found += _piece(match[0], match.start())
    return tuple(found)


def _piece(piece: str, at: int) -> list[Edit]:
    head, mark, tail = piece.partition("'")
    if mark and tail.lower() in _TAILS:
        piece = head
    start, end = 0, len(piece)
    while start < end and _OUTSIDE.match(piece[start]):
        start += 1
    while start < end and (_OUTSIDE.match(piece[end - 1]) or piece[end - 1] == "!"):
        end -= 1
    core = piece[start:end]
    if not 3 <= len(core) <= _LONGEST or core.isalpha() or _ORDINARY.fullmatch(core):
        return []
    if len(core.lower()) != len(core):
        return []  # a few letters become two in lower case
    seen = _separated(core) or _read(core)
    if seen is None:
        return _apart(core, at + start)
    return [
        (at + start + i, at + start + i + 1, new)
        for i, (old, new) in enumerate(zip(core, seen, strict=True))
        if old != new
    ]


def _apart(core: str, at: int) -> list[Edit]:
    """The parts of a hyphenated or dotted word, each by itself."""
    parts = re.split(rf"((?:[._\-~+*]|{ONE})+)", core)
    edits: list[Edit] = []
    if len(parts) > 1:
        for part in parts:
            if not part.isalpha() and part[:1].isalnum() or part[:1] in "@$":
                edits += _piece(part, at) if len(part) < len(core) else []
            at += len(part)
    return edits


def _separated(core: str) -> list[str] | None:
    """Letters with something between each two: ``i.d.i.o.t``."""
    if not _SEPARATED.fullmatch(core):
        return None
    where = [match.start() for match in re.finditer(LETTER, core)]
    words = spelled("".join(core[i] for i in where))
    if words is None:
        return None
    seen = [""] * len(core)
    letters = "".join(words)
    first = set(accumulate(map(len, words[:-1])))
    for n, i in enumerate(where):
        seen[i] = cased(letters[n], core)
        if n in first:
            seen[i - 1] = " "
    return seen


def spelled(letters: str, least: int = 20) -> list[str] | None:
    """The word, or clear words, that letters (or what stands for them) spell."""
    low = letters.lower()
    if len(low) > _MOST:
        return None
    word = _best(_options(low), least if len(low) > 3 else 500)
    if word:
        return [word]
    if len(low) > 4 and low[0] in "ai" and (word := _best(_options(low[1:]), least)):
        return [low[0], word]
    plain = "".join(_AS_LETTERS.get(char, char)[0] for char in low)
    return list(split_words(plain)) or None


def _options(low: str) -> list[str]:
    return [_AS_LETTERS.get(char, char) for char in low]


def _best(options: list[str], least: int) -> str | None:
    """The most frequent known word with one of the options at each place."""
    counts = lexicon().counts
    many = 1
    for letters in options:
        many *= len(letters)
    if many > 128:
        return None
    found = max(
        ("".join(letters) for letters in product(*options)),
        key=lambda word: (counts.get(word, 0), word),
    )
    return found if counts.get(found, 0) >= least else None


def cased(letter: str, core: str) -> str:
    """The letter in capitals where all it stands among are."""
    return letter.upper() if core.upper() == core and letter.isalpha() else letter


def _read(core: str) -> list[str] | None:
    """What stands for each character of a disguised word; None where there is none."""
    low = core.lower()
    masks = [i for i, char in enumerate(low) if _is_mask(char)]
    if any(not (c.isalpha() or c in _AS_LETTERS or _is_mask(c)) for c in low):
        return None
    letters = sum(char.isalpha() for char in low)
    if sum(char in _DIGITS for char in low) > letters + (letters > 1):
        return None
    if not masks:
        word = _substituted(low, letters)
    elif not letters:
        return None
    elif len(masks) == 1:
        word = _masked(low, masks[0], core)
    else:
        word = _starred(low) if all(low[i] in "*#%" for i in masks) else None
    if word:
        return [c if c.isalpha() else cased(w, core) for c, w in zip(core, word, strict=True)]
    return _joined(core, masks) if masks else None


def _is_mask(char: str) -> bool:
    return char in _MASKS or char in _GAPS or char >= "\U00100000"


def _substituted(low: str, letters: int) -> str | None:
    counts = lexicon().counts
    word = _best(_options(low), 20 if len(low) > 3 else 500)
    if word is None or not letters and counts[word] < 200:
        return None
    plain = low.strip("".join(_AS_LETTERS))
    known = counts.get(plain, 0) if plain.isalpha() else 0
    if plain == low or not known:
        return word if len(low) > 3 or not low[-1].isdigit() else None
    tail = low[low.rindex(plain) + len(plain) :]
    if tail and tail.strip("0$"):
        return None
    return word if tail or counts[word] >= 20 * known else None


def _masked(low: str, at: int, core: str) -> str | None:
    """A word with one letter masked."""
    words = lexicon()
    mark, parts = low[at], (low[:at], low[at + 1 :])
    known = [words.counts.get(part, 0) if part.isalpha() else 0 for part in parts]
    edge = not all(parts)
    if edge and (mark != "*" or max(known) or len(low) < 4):
        return None
    if core[at + 1 : at + 2].isupper() and not core.isupper():
        return None
    if mark in ".-" and max(known) >= 20 and max(map(len, parts)) > 3:
        return None  # b-side, end.he
    choice = _VOWELS if mark in _GAPS else "abcdefghijklmnopqrstuvwxyz"
    least = 500 if len(low) == 3 else 50
    found = []
    for letter in choice:
        word = _best(_options(parts[0]) + [letter] + _options(parts[1]), least)
        if word:
            weight = words.counts[word] + 200 * words.masked.get(word, 0)
            found.append((weight * (3 if letter in _VOWELS else 1), word))
    if not found or len(low) == 3 and mark in _GAPS:
        return None
    word = max(found)[1]
    # Between letters a star is hardly ever anything else, a full stop or hyphen often is.
    times = 2 if mark in _MASKS else 20 if mark in ".-" else 5
    return word if words.counts[word] >= times * min(known) else None


def _starred(low: str) -> str | None:
    """A word with several letters masked, where one masked word of that shape stands out."""
    words = lexicon()
    fits = []
    if low[0].isalpha():
        shape = re.compile(
            "".join(f"[{_AS_LETTERS.get(c, c)}]" if c not in "*#%" else "." for c in low)
        )
        for word in words.shapes.get((len(low), low[0]), ()):
            if words.masked.get(word) and shape.fullmatch(word):
                fits.append((words.masked[word], word))
    fits.sort(reverse=True)
    stands_out = fits and (len(fits) == 1 or fits[0][0] >= 3 * fits[1][0])
    return fits[0][1] if stands_out else None


def _joined(core: str, masks: list[int]) -> list[str] | None:
    """A word with something put inside it: ``idi-ot``."""
    parts = [part.lower() for part in re.split("|".join(re.escape(core[i]) for i in masks), core)]
    letters = "".join(parts)
    word = _best(_options(letters), 50) if len(letters) > 3 else None
    if not word or not all(parts) or not more_frequent(word, parts):
        return None
    left = iter(word)
    return ["" if i in masks else cased(next(left), core) for i in range(len(core))]

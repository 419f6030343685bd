"""Writes src/evenhand/models/sources/english.tsv.gz: known words, and in how many posts they stand.

Two sources: the whole words of the default base's WordPiece vocabulary (count 0 where no post has
them), and the words of training posts of corpora a shipped detector may be trained on, where at
least five posts have them. A third column counts the posts in which the word fits a form with one
letter starred out: what people mask is not what people write most. Counts are statistics; no row
of a corpus enters the file. Same corpora, same bytes.

Run ``EVENHAND_DATA=… python tools/words.py tokenizer.json`` (the base's tokenizer).
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from pathlib import Path

import polars as pl

from evenhand.data.find import find

HERE = Path(__file__).parents[1] / "src" / "evenhand" / "models" / "sources" / "english.tsv.gz"
CORPORA = ("davidson", "dynahate", "edos", "guest", "hatemojibuild", "hatexplain", "jigsaw")
POSTS = 5
_EDGES = "\"'.,;:!?()[]{}<>*_~-“”‘’…"
_PLAIN = re.compile(r"[a-z]{2,24}")
_STRETCHED = re.compile(r"(.)\1\1")
_STARRED = re.compile(r"[a-z]+\*[a-z]+")


def main(tokenizer: str) -> None:
    """Count and write."""
    words = _vocabulary(Path(tokenizer))
    plain, starred = _counts()
    for word, count in plain.items():
        if count >= POSTS and not _STRETCHED.search(word):
            words[word] = count
    masked = _masked(words, starred)
    rows = sorted(words.items(), key=lambda row: (-row[1], row[0]))
    lines = "".join(f"{word}\t{count}\t{masked[word]}\n" for word, count in rows)
    HERE.parent.mkdir(exist_ok=True)
    with HERE.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(lines.encode())
    print(f"{len(rows):,} words, {sum(masked.values()):,} masked, {HERE.stat().st_size:,} bytes")


def _vocabulary(tokenizer: Path) -> dict[str, int]:
    """The whole words of a WordPiece vocabulary, each in no post yet."""
    pieces = json.loads(tokenizer.read_text(encoding="utf-8"))["model"]["vocab"]
    return {piece: 0 for piece in pieces if _PLAIN.fullmatch(piece)} | {"a": 0, "i": 0}


def _counts() -> tuple[Counter[str], Counter[str]]:
    """Posts by plain word, and by word with a star in it."""
    plain: Counter[str] = Counter()
    starred: Counter[str] = Counter()
    for name in CORPORA:
        posts = find(name).posts
        split = pl.col("tags").struct.field("split")
        # A corpus without splits trains with all its rows.
        posts = posts.filter((split == "train") | split.is_null().all())
        print(f"{name}: {posts.height:,} posts", file=sys.stderr)
        for text in posts["text"]:
            tokens = {token.strip(_EDGES) for token in text.lower().replace("’", "'").split()}
            plain.update(
                token for token in tokens if _PLAIN.fullmatch(token) or token in ("a", "i")
            )
            starred.update(token for token in tokens if _STARRED.fullmatch(token))
    return plain, starred


def _masked(words: dict[str, int], starred: Counter[str]) -> Counter[str]:
    """Posts by the most frequent word a starred form fits."""
    found: Counter[str] = Counter()
    for form, count in starred.items():
        fits = (form.replace("*", letter) for letter in "abcdefghijklmnopqrstuvwxyz")
        best = max(fits, key=lambda word: (words.get(word, 0), word))
        if words.get(best, 0) >= POSTS and len(best) > 3:
            found[best] += count
    return found


if __name__ == "__main__":
    main(sys.argv[1])

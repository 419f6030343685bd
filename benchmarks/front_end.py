"""How many texts a second the front end of detectors cleans.

Made-up posts of about twenty words: plain ones, with emoji, and with disguised words.
"""

from __future__ import annotations

import re
import time

from evenhand.core.streams import stream
from evenhand.models.front_end import FrontEnd

WORDS = re.findall(
    "[a-z]+",
    "the of and to in is you that it he was for on are as with his they at be this have from or "
    "one had by word but not what all were we when your can said there use an each which she do "
    "how their if will up other about out many then them these so some her would make like him "
    "into time has look two more write go see number no way could people my than first water been "
    "call who oil its now find long down day did get come made may part",
)
EMOJI = ("🤡", "😂😂", "👍🏽", "❤️", "🇫🇷", "👨‍👩‍👧")
DISGUISED = ("1d1ot", "st*pid", "f00l", "i.d.i.o.t", "f o o l", "fооl", "𝓯𝓸𝓸𝓵", "sooooo")
TEXTS = 4_000
GOAL = 20_000


def made_up(*extra: str) -> list[str]:
    """Posts of twenty words, a handle and a link; with extras, two of them."""
    rng = stream(0, "front end")
    found = []
    for _ in range(TEXTS):
        words = [WORDS[i] for i in rng.integers(len(WORDS), size=20)]
        for at in rng.integers(20, size=2 if extra else 0):
            words[at] = extra[int(rng.integers(len(extra)))]
        found.append(f"@someone{rng.integers(999)} {' '.join(words)}. https://t.co/{rng.random()}")
    return found


def main() -> None:
    """Print the table."""
    front = FrontEnd()
    print(f"One core, best of five, {TEXTS:,} posts; goal: {GOAL:,} plain posts a second.\n")
    print("| posts | characters each | texts a second | with places |")
    print("|---|---|---|---|")
    for name, extra in (("plain", ()), ("with emoji", EMOJI), ("disguised", DISGUISED)):
        texts = made_up(*extra)
        fast, mapped = [], []
        for _ in range(5):
            began = time.process_time()
            front.texts(texts)
            fast.append(time.process_time() - began)
        for _ in range(2):
            began = time.process_time()
            for text in texts:
                front.clean(text)
            mapped.append(time.process_time() - began)
        length = sum(map(len, texts)) / TEXTS
        print(
            f"| {name} | {length:.0f} | {TEXTS / min(fast):,.0f} | {TEXTS / min(mapped):,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""A made-up population of posts with a known abuse rate: mild sentences, authors, days, copies.

Everything here is simulated. A few authors write much and most write little; each has an own
inclination to abuse; volume follows the week and the season; some posts are copies of others,
passed on or slightly changed. The sentences are ours and deliberately tame.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl

from evenhand.core.streams import stream
from evenhand.core.tables import posts_table
from evenhand.data.corpus import Corpus
from evenhand.data.user_file import single_labels

ABUSE_RATE = 0.07
"""The abuse rate the population is made with; the realised one is counted."""
_POSTS_PER_AUTHOR = 8
_COPIES = 0.04
_CHANGED = 0.02
_OWN = 0.9
"""Share of copies in which authors repeat themselves."""
_WITH_EMOJI = 0.15
_START = datetime(2025, 1, 1, tzinfo=UTC)
_DAYS = 365
_TEST = 0.2

_OPENERS = (
    "Reading your column on {t} this morning", "After the debate about {t}",
    "So the council finally voted on {t}", "Listening to the hearing on {t} again",
    "I went through the whole report on {t}", "Everybody at work talks about {t}",
    "The interview about {t} was on the radio", "My neighbour asked me about {t} today",
    "They put the plans for {t} online", "Our street had a meeting about {t}",
    "Just saw the figures for {t}", "Another evening programme on {t}",
    "The paper printed three letters on {t}", "We spent the train ride arguing about {t}",
    "Your answer to the question on {t}", "The committee published its note on {t}",
)  # fmt: skip
_TOPICS = (
    "the harbour bridge", "school meals", "bus fares", "the library hours", "river flooding",
    "the new bicycle lanes", "hospital parking", "the theatre roof", "street trees",
    "the night market", "rent limits", "the swimming pool", "recycling rules", "ferry delays",
    "the museum extension", "winter heating grants", "football pitches", "broadband in villages",
    "the town archive", "allotment gardens", "tram noise", "the youth orchestra", "seed banks",
    "the lighthouse", "apprenticeships", "food labels", "dog parks", "the music festival",
)  # fmt: skip
_MILD = (
    "and I thought the part on costs was clear", "and it made me change my mind a little",
    "and I would like to see the timetable first", "which seems a fair place to start",
    "and the maps were better than I expected", "so thank you for answering everyone",
    "though the second half went by too quickly", "and I still do not know what it will cost",
    "and my mother has been saying so for years", "which nobody had explained to us before",
    "and I have two questions for the next session", "so we will come along on Thursday",
    "and the children want to help as well", "though I would have asked the drivers first",
    "and for once the numbers added up", "which is more than the last lot managed",
    "and the photographs alone are worth a look", "but the deadline looks rather hopeful",
)  # fmt: skip
_RUDE = (
    "and you are too dim to be trusted with a pencil", "so do us a favour and stop talking",
    "and honestly people like you should not be on air", "you pompous windbag",
    "and nobody here wants you around any more", "go home and stay there you fraud",
    "and you sound like a broken kettle as always", "so resign you useless coward",
    "women like you have no business in that job", "and we will make sure you regret it",
    "you are a disgrace and so is everyone near you", "what a ridiculous little clown you are",
)  # fmt: skip
_ASIDES = (
    "Meanwhile nobody has asked about {t}.", "Next week it is {t} again.",
    "Page {n} has a note on {t}.", "I would rather have heard about {t}.",
    "We counted {n} questions about {t}.", "It took {n} minutes to get to {t}.",
    "And what happened to {t}?", "My sister only cares about {t} anyway.",
    "Bus {n} was late, so I missed the part on {t}.", "Room {n} was full for {t}.",
    "At least {t} made it onto the agenda.", "The leaflet on {t} is still on my desk.",
)  # fmt: skip
_EMOJI = (
    "\N{SLIGHTLY SMILING FACE}", "\N{PARTY POPPER}", "\N{THINKING FACE}",
    "\N{CLAPPING HANDS SIGN}",
)  # fmt: skip
_PEOPLE = tuple(f"person {letter}" for letter in "ABCDEFGHIJKLMNOPQRST")


@dataclass(frozen=True)
class Population:
    """A simulated corpus and what is known of it."""

    corpus: Corpus
    abuse_rate: float
    """The share of abusive posts, counted over the whole population."""


def make_population(posts: int, seed: int) -> Population:
    """``posts`` made-up posts, the same for the same seed."""
    rng = stream(seed, "population", posts)
    author = _authors(posts, rng)
    abusive = _abusive(author, rng)
    copied = _copy_of(author, rng)
    abusive = abusive[copied]
    texts = _texts(abusive, copied, rng)
    day = _days(posts, rng)
    frame = pl.DataFrame(
        {
            "id": [f"demo:{number}" for number in range(1, posts + 1)],
            "text": texts,
            "author": [f"author {number}" for number in author],
            "date": [_START + timedelta(days=int(d), minutes=int(d) * 7 % 1440) for d in day],
            "targets": [[_PEOPLE[i]] for i in rng.integers(len(_PEOPLE), size=posts)],
            "split": np.where(rng.random(posts) < _TEST, "test", "train"),
            "day": [f"{_START + timedelta(days=int(d)):%Y-%m-%d}" for d in day],
        }
    )
    labels = frame.select("id").with_columns(label=pl.Series(np.where(abusive, "abusive", "none")))
    table = frame.drop("split", "day").with_columns(
        source=pl.lit("demo"), tags=pl.Series(frame.select("split", "day").to_struct())
    )
    corpus = Corpus(
        name="demo population",
        rows=posts,
        posts=posts_table(table),
        gold=single_labels(labels),
        hateful=("abusive",),
        notes=("Everything here is made up: sentences, authors, days and labels.",),
        origin="simulated",
    )
    return Population(corpus, float(abusive.mean()))


def _authors(posts: int, rng: np.random.Generator) -> np.ndarray:
    """A few authors write much, most write little (weights fall with rank)."""
    many = max(2, posts // _POSTS_PER_AUTHOR)
    weight = 1 / (np.arange(many) + 20.0)
    return rng.choice(many, size=posts, p=weight / weight.sum())


def _abusive(author: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each author has an own inclination; the mean over posts is the abuse rate."""
    inclination = rng.beta(0.3, 4.0, size=int(author.max()) + 1)
    chance = inclination[author]
    chance = np.clip(chance * ABUSE_RATE / chance.mean(), 0, 1)
    abusive: np.ndarray = rng.random(len(author)) < chance
    return abusive


def _copy_of(author: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """For each post the earlier post it repeats, mostly one of its author's; itself for most."""
    source = np.arange(len(author))
    last: dict[int, int] = {}
    copies = rng.random(len(author)) < _COPIES + _CHANGED
    for post, who in enumerate(author):
        own = last.get(int(who))
        if copies[post] and own is not None and rng.random() < _OWN:
            source[post] = source[own]
        elif copies[post] and post:
            source[post] = source[rng.integers(post)]
        last[int(who)] = post
    return source


def _texts(abusive: np.ndarray, copied: np.ndarray, rng: np.random.Generator) -> list[str]:
    texts: list[str] = []
    for post, (rude, source) in enumerate(zip(abusive, copied, strict=True)):
        if source == post:
            texts.append(_sentence(bool(rude), rng))
        elif rng.random() < _COPIES / (_COPIES + _CHANGED):
            texts.append(f"RT @reader{int(rng.integers(900))}: {texts[source]}")
        else:
            texts.append(f"{texts[source]} !")
    return texts


def _sentence(rude: bool, rng: np.random.Generator) -> str:
    def pick(options: tuple[str, ...]) -> str:
        return options[int(rng.integers(len(options)))]

    opener = pick(_OPENERS).format(t=pick(_TOPICS))
    aside = pick(_ASIDES).format(t=pick(_TOPICS), n=int(rng.integers(2, 400)))
    text = f"{opener} {pick(_RUDE if rude else _MILD)}. {aside}"
    return f"{text} {pick(_EMOJI)}" if rng.random() < _WITH_EMOJI else text


def _days(posts: int, rng: np.random.Generator) -> np.ndarray:
    """Days of one year: fewer at weekends, more in autumn."""
    day = np.arange(_DAYS)
    weight = (1 - 0.3 * (day % 7 >= 5)) * (1 + 0.4 * np.sin(2 * np.pi * (day - 190) / _DAYS))
    return rng.choice(_DAYS, size=posts, p=weight / weight.sum())

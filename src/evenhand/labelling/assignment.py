"""Who gets which post next, as pure functions of state.

Every post of a cohort has a place on eight random rings (:func:`ring_places`). A person is put on
one ring at a random place (:func:`first_row`) and takes the posts ahead that are still open, a hand
of 32 at a time; the hand is shuffled for this person and gold posts are mixed in (:func:`deal`).
A store finds "the next open posts ahead on this ring" by an index that holds open posts only, so
that neither what others have finished nor what the person has done costs anything.

A post that opens again (a lease ran out, a vote was taken back, people disagree) goes to the end of
everyone's row (:func:`late_place`), because people may have passed its old place while it was full.
Nothing is ever behind a person who could still judge it:

1. lap 0: from the start to the end of the ring; lap 1: from the ring's beginning to the start;
2. lap 2: posts that opened again, in the order in which they did. Two posts that open at the same
   time on two machines may be seen in either order: the last five minutes are looked at again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenhand.core.streams import stream

RINGS = 8
HAND = 32
RING = 1 << 40
"""Length of a ring."""
LATE = 2
"""The lap of posts that opened again."""
_NUMBERS = 1 << 21
_AGAIN_SECONDS = 300


@dataclass(frozen=True)
class Row:
    """Where a person stands in their row of posts."""

    ring: int
    start: int
    lap: int = 0
    at: int = -1
    """The place of the last post dealt in this lap."""
    deals: int = 0
    """Hands dealt so far."""
    golds: int = 0
    """Gold posts dealt so far."""
    hand: tuple[int, ...] = ()
    """Numbers of the posts to be shown next, first to last."""


@dataclass(frozen=True)
class Stretch:
    """The places ahead: posts with ``after < place < before`` on a ring, or among the late ones."""

    ring: int | None
    after: int
    before: int | None


def ring_places(seed: int, cohort: str, batch: int, posts: int) -> NDArray[np.int64]:
    """Places of so many posts (sorted by id) on every ring, each a random order; shape (n, 8)."""
    step = RING // max(posts, 1)
    rng = stream(seed, "rings", cohort, batch)
    columns = [rng.permutation(posts).astype(np.int64) * step for _ in range(RINGS)]
    return np.column_stack(columns)


def late_place(now: float, number: int) -> int:
    """The place of a post that opens again: later ones behind earlier ones, no two alike."""
    return int(now * 1000) * _NUMBERS + number % _NUMBERS


def first_row(seed: int, person: str) -> Row:
    """The row of a person who has just come."""
    rng = stream(seed, "row", person)
    start = int(rng.integers(RING))
    return Row(ring=int(rng.integers(RINGS)), start=start, at=start - 1)


def again(row: Row) -> Row:
    """The same row from its start (categories were opted in again); done posts are left out."""
    return replace(row, lap=0, at=row.start - 1, hand=())


def ahead(row: Row, now: float) -> Stretch:
    """Where the next posts of a row are looked for."""
    if row.lap == 0:
        return Stretch(row.ring, row.at, None)
    if row.lap == 1:
        return Stretch(row.ring, row.at, row.start)
    return Stretch(None, min(row.at, late_place(now - _AGAIN_SECONDS, 0)), None)


def next_lap(row: Row) -> Row:
    """The row at the beginning of its next lap."""
    return replace(row, lap=row.lap + 1, at=-1)


def deal(
    row: Row,
    found: Sequence[tuple[int, int]],
    gold: Sequence[int],
    rate: float,
    seed: int,
    person: str,
) -> Row:
    """A new hand from the posts found ahead (number and place), with gold posts at a rate.

    ``gold`` are the numbers of all gold posts; every person gets each at most once, in an order of
    their own.
    """
    rng = stream(seed, "hand", person, row.deals)
    order = stream(seed, "gold", person).permutation(len(gold))
    hand: list[int] = []
    golds = row.golds
    for index in rng.permutation(len(found)):
        while golds < len(gold) and rng.random() < rate:
            hand.append(gold[order[golds]])
            golds += 1
        hand.append(found[index][0])
    at = max((place for _, place in found), default=row.at)
    return replace(row, at=at, deals=row.deals + 1, golds=golds, hand=tuple(hand))


def agreed(answers: Sequence[tuple[str, ...]], rule: str) -> bool:
    """Whether a cohort agrees: under ``any`` all answers alike, under ``split`` more than half are.

    >>> votes = [("No",), ("No",), ("Abusive",)]
    >>> agreed(votes, "any"), agreed(votes, "split")
    (False, True)
    """
    most = max(Counter(answers).values(), default=0)
    return most == len(answers) if rule == "any" else 2 * most > len(answers)

"""A campaign's store: one database, and the parts that work on it.

SQLite in the campaign's folder by default, PostgreSQL by URL with as many workers as wanted. All
state is in the database: a worker that is killed loses nothing that was acknowledged.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from evenhand.core.errors import BadInput
from evenhand.labelling._context import Context
from evenhand.labelling._database import Database
from evenhand.labelling._tables import facts, posts, slots
from evenhand.labelling.assignment import RINGS, late_place, ring_places
from evenhand.labelling.campaign import Campaign
from evenhand.labelling.codes import Codes
from evenhand.labelling.experts import Experts
from evenhand.labelling.invites import Invites
from evenhand.labelling.people import People
from evenhand.labelling.posts import CampaignPosts, ShownPost
from evenhand.labelling.progress import Progress, progress
from evenhand.labelling.pseudonyms import Pseudonyms
from evenhand.labelling.sessions import Sessions
from evenhand.labelling.work import Work

_POST = ("number", "id", "text", "context", "pictures", "category", "hard", "gold")
_RINGS = tuple(f"ring{ring}" for ring in range(RINGS))
_SLOT = ("cohort", "number", "category", "overlap", "open", "late", *_RINGS)
"""What is written of a new post and of its slots."""


class Store:
    """Everything a campaign keeps."""

    def __init__(
        self,
        campaign: Campaign,
        url: str | None = None,
        *,
        clock: Callable[[], float] = time.time,
        codes: Codes | None = None,
    ) -> None:
        self.campaign = campaign
        self.context = Context(
            campaign, Database(url or campaign.default_url()), clock, codes or Codes()
        )
        try:
            self._claim()
        except BaseException:
            self.close()
            raise
        self.people = People(self.context)
        self.sessions = Sessions(self.context)
        self.invites = Invites(self.context)
        self.work = Work(self.context)
        self.experts = Experts(self.context)

    def close(self) -> None:
        """Give the connections back."""
        self.context.database.close()

    def progress(self) -> Progress:
        """How far the campaign is."""
        return progress(self.context)

    def load(self, found: CampaignPosts) -> int:
        """Bring in the posts that are not there yet; how many.

        Cohorts that were added, or have more posts now, get them. A text that was changed, or a
        post that is missing (here or in a cohort), is refused: people have judged it.
        """
        mark = _mark(found)
        with self.context.database.write() as connection:
            if _fact(connection, "posts") == mark:
                return 0
            known = {
                id: (number, text)
                for id, number, text in connection.execute(
                    sa.select(posts.c.id, posts.c.number, posts.c.text)
                )
            }
            there = _cohorts(connection)
            _refuse_changes(known, there, found)
            new = [post for post in found.shown if post.id not in known]
            start = 1 + max((number for number, _ in known.values()), default=-1)
            numbers = {id: number for id, (number, _) in known.items()}
            numbers |= {post.id: start + place for place, post in enumerate(new)}
            fill = self.context.database.fill
            fill(connection, posts, _POST, (_post(post, numbers[post.id]) for post in new))
            with _without_indexes(connection, slots, first=not known):
                rows = self._slots(found, numbers, there, start)
                fill(connection, slots, _SLOT, rows)
            _set_fact(connection, "posts", mark)
            self.context.log(connection, "posts", data={"added": len(new)})
        return len(new)

    def _slots(
        self,
        found: CampaignPosts,
        numbers: Mapping[str, int],
        there: Mapping[str, set[int]],
        batch: int,
    ) -> Iterator[tuple[Any, ...]]:
        """Slots a cohort has not yet; posts added later go to the end of everyone's row."""
        category = {post.id: post.category for post in found.shown}
        now = self.context.clock()
        for cohort in self.campaign.cohorts:
            later = cohort.name in there
            has = there.get(cohort.name, set())
            ids = sorted(id for id in found.cohorts[cohort.name] if numbers[id] not in has)
            places = ring_places(self.campaign.seed, cohort.name, batch, len(ids))
            for id, place in zip(ids, places.tolist(), strict=True):
                number = numbers[id]
                late = late_place(now, number) if later else None
                yield (cohort.name, number, category[id], cohort.overlap, True, late, *place)

    def _claim(self) -> None:
        """Refuse the database of another campaign or of another secret."""
        mine = f"{self.campaign.name} {Pseudonyms(self.campaign.secret).fingerprint()}"
        with self.context.database.write() as connection:
            owner = _fact(connection, "campaign")
            if owner is None:
                _set_fact(connection, "campaign", mine)
            elif owner != mine:
                raise BadInput(
                    f"this database belongs to campaign {owner.split()[0]!r} (or to another "
                    f"secret), not to {self.campaign.name!r} of {self.campaign.folder}"
                )


@contextmanager
def opened(campaign: Campaign, url: str | None = None, **options: Any) -> Iterator[Store]:
    """A store that is closed at the end."""
    store = Store(campaign, url, **options)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def _without_indexes(connection: sa.Connection, table: sa.Table, first: bool) -> Iterator[None]:
    """The first load writes its indexes at the end: random places make them slow to grow."""
    indexes = sorted(table.indexes, key=lambda index: str(index.name)) if first else []
    for index in indexes:
        index.drop(connection)
    yield
    for index in indexes:
        index.create(connection)


def _post(post: ShownPost, number: int) -> tuple[Any, ...]:
    pictures = json.dumps(post.pictures)
    shown = (post.text, post.context, pictures, post.category)
    return (number, post.id, *shown, post.hard, post.gold)


def _mark(found: CampaignPosts) -> str:
    """A digest of posts and cohorts, to see quickly that nothing is new."""
    digest = hashlib.blake2b(digest_size=16)
    for post in found.shown:
        digest.update(f"{post.id}\x1f{post.text}\x1e".encode())
    for name, ids in sorted(found.cohorts.items()):
        listed = "\x1f".join(sorted(ids))
        digest.update(f"{name}\x1f{listed}\x1e".encode())
    return digest.hexdigest()


def _cohorts(connection: sa.Connection) -> dict[str, set[int]]:
    """Cohort → numbers of its posts."""
    found: dict[str, set[int]] = {}
    for cohort, number in connection.execute(sa.select(slots.c.cohort, slots.c.number)):
        found.setdefault(cohort, set()).add(number)
    return found


def _refuse_changes(
    known: Mapping[str, tuple[int, str]], there: Mapping[str, set[int]], found: CampaignPosts
) -> None:
    texts = {post.id: post.text for post in found.shown}
    faults = [f"post {id!r} is gone; people may have judged it" for id in known if id not in texts]
    faults += [
        f"the text of post {id!r} was changed; give the new text an id of its own"
        for id, (_, text) in known.items()
        if id in texts and texts[id] != text
    ]
    ids = {number: id for id, (number, _) in known.items() if id in texts}
    for cohort, wanted in found.cohorts.items():
        lost = {ids[number] for number in there.get(cohort, ()) if number in ids} - set(wanted)
        faults += [f"cohort {cohort!r} had post {id!r}; people may have judged it" for id in lost]
    if faults:
        raise BadInput(*sorted(faults)[:20], total=len(faults))


def _fact(connection: sa.Connection, name: str) -> str | None:
    return connection.execute(sa.select(facts.c.value).where(facts.c.name == name)).scalar()


def _set_fact(connection: sa.Connection, name: str, value: str) -> None:
    done = connection.execute(sa.update(facts).where(facts.c.name == name).values(value=value))
    if not done.rowcount:
        connection.execute(sa.insert(facts).values(name=name, value=value))

"""A crowd of simulated annotators with bad networks, who remember what was acknowledged.

What somebody answers to a post follows from who they are and from the post's text, so that an
answer that came to rest at the wrong post, or a form whose answers changed on the way, is seen.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from dataclasses import dataclass, field

from evenhand.core.streams import stream
from labelling.web.web_client import LOST, Client, Seen

SAVED = "/label?said=saved"
ANSWERS = ("No", "Problematic", "Abusive")
_SHOWN = ["abuse", "type", "words", "note"]
_BETWEEN = 0.05
_MOST_TRIES = 300
NETWORK = {"fine": 0.72, "cut": 0.08, "half": 0.04, "twice": 0.08, "unread": 0.04, "slow": 0.04}
"""How a vote is sent: read at once; cut before the reply and sent again; cut half way and sent
again; sent twice at the same time; sent and never looked at; sent after a long time."""
DOING = {"vote": 0.89, "skip": 0.03, "flag": 0.02, "undo": 0.05, "leave": 0.01}


@dataclass(frozen=True)
class Vote:
    """What an annotator knows of a vote: the form's token, the post's text, the answer."""

    token: str
    text: str
    answer: str


@dataclass
class Tally:
    """What a crowd saw."""

    acknowledged: list[Vote] = field(default_factory=list)
    undone: int = 0
    retries: int = 0
    """Requests sent again because no reply came, or one that said to try again."""
    refused: int = 0
    """Forms that came too late: others had finished the post."""
    bugs: list[str] = field(default_factory=list)
    """Replies no annotator should ever see."""
    sent: dict[str, int] = field(default_factory=dict)
    """Votes by how they were sent."""


class Annotator:
    """Labels until nothing is left or it had enough; with a bad network if it is to have one."""

    def __init__(self, port: int, seed: int, number: int, tally: Tally, bad: bool = True) -> None:
        self._client = Client(port)
        self._rng = stream(seed, "annotator", number)
        self._number = number
        self._tally = tally
        self._bad = bad
        self._csrf = ""
        self._votes: list[Vote] = []
        """Acknowledged and not undone."""

    async def join(self, code: str) -> None:
        """Come in by the code and agree; a join whose reply was lost is one more person."""
        page = await self._sure(self._client.get("/"))
        fields = {"csrf": page.value("csrf"), "code": code}
        await self._sure(self._client.form("/join", fields))
        page = await self._sure(self._client.get("/consent"))
        self._csrf = page.value("csrf")
        fields = {"csrf": self._csrf, "agreed": "yes"}
        await self._sure(self._client.form("/consent", fields))

    async def work(self, steps: int, think: float = 0.0, returns: int = 3) -> None:
        """Do so many steps; look again a few times when nothing is left for now."""
        for _ in range(steps):
            await asyncio.sleep(think * self._rng.random())
            page = await self._sure(self._client.get("/label"))
            if page.location == "/rest":
                await self._sure(self._client.form("/rest", {"csrf": self._csrf}))
            elif page.location == "/thanks":
                if returns == 0:
                    break
                returns -= 1
                await asyncio.sleep(5 * _BETWEEN)
            elif page.value("token"):
                doing = self._pick(DOING) if self._bad else "vote"
                if doing == "leave":
                    break  # holds the post and never comes back
                await getattr(self, f"_{doing}")(page)
            else:
                self._wrong(page, "GET /label")
        self._tally.acknowledged += self._votes
        self._client.close()

    async def _vote(self, page: Seen) -> None:
        found = re.search(r'<p class="text"[^>]*>(.*?)</p>', page.page)
        if found is None:
            self._tally.bugs.append("a page without a text")
            return
        text = found[1]
        vote = Vote(page.value("token"), text, answer(self._number, text))
        fields = {"csrf": self._csrf, "token": vote.token, "action": "vote", "shown": _SHOWN}
        fields |= {"q.abuse": vote.answer} | ({} if vote.answer == "No" else {"q.type": "insult"})
        request = self._client.form("/label", fields)
        how = self._pick(NETWORK) if self._bad else "fine"
        self._tally.sent[how] = self._tally.sent.get(how, 0) + 1
        hold = float(self._rng.exponential(0.02))
        if how == "unread":
            await self._client.ask_aside(request, hold=hold)
            return
        if how == "cut":
            await self._client.ask_aside(request, hold=hold)
        elif how == "half":
            await self._client.ask_aside(request, send=self._rng.random())
        elif how == "slow":
            await asyncio.sleep(40 * _BETWEEN * self._rng.random())
        if how == "twice":
            _, reply = await asyncio.gather(
                self._client.ask_aside(request, hold=hold), self._sure(request)
            )
        else:
            reply = await self._sure(request)
        if (reply.status, reply.location) == (303, SAVED):
            self._votes.append(vote)
        else:
            self._wrong(reply, f"vote sent {how}")

    async def _skip(self, page: Seen) -> None:
        await self._leave_to_others(page, "skip")

    async def _flag(self, page: Seen) -> None:
        await self._leave_to_others(page, "flag")

    async def _leave_to_others(self, page: Seen, action: str) -> None:
        fields = {"csrf": self._csrf, "token": page.value("token"), "action": action}
        reply = await self._sure(self._client.form("/label", fields))
        if reply.status != 303:
            self._wrong(reply, action)

    async def _undo(self, _: Seen) -> None:
        """Sent once only: a second one takes back a second vote. What it may undo is let go."""
        if not self._votes:
            return
        self._votes.pop()
        self._tally.undone += 1
        try:
            reply = await self._client.ask(self._client.form("/undo", {"csrf": self._csrf}))
        except LOST:
            return
        if reply.status != 303:
            self._wrong(reply, "undo")

    def _wrong(self, reply: Seen, doing: str) -> None:
        """A form that came too late is no bug; anything else is."""
        if reply.status == 409:
            self._tally.refused += 1
        else:
            self._tally.bugs.append(f"{doing}: {reply.status} {reply.location}")

    async def _sure(self, request: bytes) -> Seen:
        """Send until a reply is read."""
        for tries in range(_MOST_TRIES):
            try:
                reply = await self._client.ask(request)
            except LOST:
                pass
            else:
                if reply.status == 500:
                    self._tally.bugs.append(f"{request[:20]!r}: 500")
                elif reply.status != 503:
                    return reply
            self._tally.retries += 1
            await asyncio.sleep(_BETWEEN * (1 + self._rng.random()) * min(2**tries, 16))
        raise AssertionError(f"no reply to {request[:40]!r}")

    def _pick(self, shares: dict[str, float]) -> str:
        return str(self._rng.choice(list(shares), p=list(shares.values())))


def answer(number: int, text: str) -> str:
    """What an annotator answers to a post."""
    digest = hashlib.blake2b(f"{number} {text}".encode(), digest_size=4).digest()
    return ANSWERS[digest[0] % len(ANSWERS)]

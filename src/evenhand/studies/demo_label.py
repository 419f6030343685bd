"""The demo's labelling campaign: mild made-up posts, partly judged by simulated volunteers.

Everything that is there when the pages open is simulated and says so; what a visitor adds is not
kept apart from it, so the folder is for looking around only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.core.streams import stream
from evenhand.data.corpus import Corpus
from evenhand.labelling import CampaignPosts, Store, opened, read_campaign, read_posts
from evenhand.labelling.campaign import FILE
from evenhand.labelling.new import new_campaign
from evenhand.labelling.web.run import FACTORY, serve
from evenhand.labelling.web.settings import Settings
from evenhand.studies.population import make_population
from evenhand.studies.volunteers import HATEFUL, QUESTION, VOLUNTEERS, severity, vote

_WORLD = 600
_ABUSIVE, _MILD = 20, 40
_OVERLAP = 3
_PEOPLE, _EACH = 5, 24
_FLAGS_EVERY = 9
_TITLE = re.compile(r"\[title\]\n(?:\w+ = .*\n)+")
_SIMULATED = '[title]\nen = "Demo (simulated)"\nde = "Demo (simuliert)"\n'


def make_demo_campaign(folder: Path, seed: int = 0) -> None:
    """Write the campaign and have simulated volunteers judge a part; an old one stays as it is."""
    if (folder / FILE).exists():
        return
    corpus = _posts(seed)
    path = new_campaign(folder, "troll-patrol", corpus, name="demo")
    text = path.read_text(encoding="utf-8")
    path.write_text(_TITLE.sub(_SIMULATED, text, count=1), encoding="utf-8")
    campaign = read_campaign(folder)
    found = read_posts(campaign)
    with opened(campaign) as store:
        store.load(found)
        _simulate(store, found, _answers(corpus, seed))


def serve_demo(
    folder: Path,
    say: Callable[[str], None],
    *,
    seed: int = 0,
    port: int = 8090,
    factory: str = FACTORY,
) -> None:
    """Serve the demo's campaign until told to stop; ``say`` gets what a visitor needs."""
    make_demo_campaign(folder, seed)
    settings = Settings(folder=str(folder.absolute()), port=port)
    with opened(read_campaign(folder)) as store:
        for cohort in ("volunteers", "experts"):
            code = store.invites.make(cohort, most=100, days=1, note="demo")
            say(f"Join the {cohort}: {settings.base}/join/{code}")
    serve(settings, lambda link: say(f"Owner, once, within an hour: {link}"), factory=factory)


def _posts(seed: int) -> Corpus:
    """Some posts of a made-up population, more of them abusive than there."""
    corpus = make_population(_WORLD, seed).corpus
    gold = corpus.main_gold()
    assert gold is not None
    rng = stream(seed, "demo-label")
    kept: list[str] = []
    for label, many in (("abusive", _ABUSIVE), ("not abusive", _MILD)):
        is_abusive = pl.col("label") == "abusive"
        ids = gold.filter(is_abusive if label == "abusive" else ~is_abusive)["post"].sort()
        kept += rng.permutation(ids.to_numpy())[:many].tolist()
    return replace(
        corpus,
        posts=corpus.posts.filter(pl.col("id").is_in(kept)),
        gold=gold.filter(pl.col("post").is_in(kept)),
        rows=len(kept),
    )


def _answers(corpus: Corpus, seed: int) -> dict[str, list[str]]:
    """What simulated volunteers say of each post."""
    gold = corpus.main_gold()
    assert gold is not None
    ids = corpus.posts["id"].sort()
    abusive = set(gold.filter(pl.col("label") == "abusive")["post"])
    hidden = severity(ids.is_in(list(abusive)).to_numpy(), stream(seed, "severity"))
    votes = vote(ids, hidden, VOLUNTEERS, votes=_OVERLAP, seed=seed)
    return {
        str(post): [answer[0] for answer in part["answer"]]
        for (post,), part in votes.group_by("post", maintain_order=True)
    }


def _simulate(store: Store, found: CampaignPosts, answers: dict[str, list[str]]) -> None:
    ids = {post.text: post.id for post in found.shown}
    code = store.invites.make("volunteers", most=_PEOPLE, note="simulated")
    for _ in range(_PEOPLE):
        person = _taught(store, code)
        for number in range(1, _EACH + 1):
            task = store.work.next(person)
            if task is None:
                break
            if number % _FLAGS_EVERY == 0:
                store.work.flag(person, task.token, "Simulated: not sure about this one.")
                continue
            left = answers[ids[task.text]]
            answer = left.pop() if len(left) > 1 else left[0]
            form: dict[str, Any] = {QUESTION: answer}
            if answer in HATEFUL:
                form["type"] = ["Other"]
            store.work.vote(person, task.token, form)


def _taught(store: Store, code: str) -> int:
    """A simulated volunteer who has taken every step before the first post."""
    person = store.people.join(code)
    store.people.consent(person.id)
    tutorial = store.campaign.tutorial
    store.people.finish_tutorial(person.id)
    for number, post in enumerate(tutorial.practice):
        store.people.practise(person.id, number, post.answers)
    store.people.take_check(person.id, tutorial.right)
    return person.id

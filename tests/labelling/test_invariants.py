"""Whatever people do, in whatever order: no post above its overlap, nobody twice, nothing lost."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from evenhand.labelling import Store, read_campaign, read_posts
from evenhand.labelling._tables import assignments, events, slots
from evenhand.labelling.errors import NotHeld

from .conftest import CHEAP, Clock, ready, write_campaign

POSTS, OVERLAP, MORE = 5, 2, 1
COHORT = f'\n[[cohort]]\nname = "volunteers"\noverlap = {OVERLAP}\nmore = {MORE}\n'
COHORT += 'disagreement = "any"\n'
WHO = st.integers(0, 5)
ANSWERS = st.sampled_from([{"abuse": "No"}, {"abuse": "Abusive", "type": "threat"}])


class Campaign(RuleBasedStateMachine):
    """People come, label, skip, flag, undo, leave; time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="evenhand-")
        self.clock = Clock()
        campaign = read_campaign(write_campaign(Path(self.folder) / "c", posts=POSTS, more=COHORT))
        self.store = Store(campaign, "sqlite://", clock=self.clock, codes=CHEAP)
        self.store.load(read_posts(campaign))
        self.people = ready(self.store, 3)
        self.forms: dict[int, list[str]] = {}
        self.acknowledged: Counter[int] = Counter()

    def teardown(self) -> None:
        self.finish()
        self.store.close()
        shutil.rmtree(self.folder)

    def someone(self, who: int) -> int:
        return self.people[who % len(self.people)]

    @rule()
    @precondition(lambda self: len(self.people) < 6)
    def join(self) -> None:
        self.people += ready(self.store, 1)

    @rule(who=WHO, answers=ANSWERS)
    def label(self, who: int, answers: dict[str, str]) -> None:
        person = self.someone(who)
        task = self.store.work.next(person)
        if task is not None:
            assert not self.store.work.vote(person, task.token, answers).repeated
            self.forms.setdefault(person, []).append(task.token)
            self.acknowledged[person] += 1

    @rule(who=WHO)
    def look(self, who: int) -> None:
        task = self.store.work.next(self.someone(who))
        if task is not None:
            self.forms.setdefault(self.someone(who), []).append(task.token)

    @rule(who=WHO, which=st.integers(0, 9), answers=ANSWERS)
    def send_an_old_form(self, who: int, which: int, answers: dict[str, str]) -> None:
        person = self.someone(who)
        forms = self.forms.get(person)
        if forms:
            try:
                receipt = self.store.work.vote(person, forms[which % len(forms)], answers)
            except NotHeld:
                return
            self.acknowledged[person] += not receipt.repeated

    @rule(who=WHO, flag=st.booleans())
    def leave_a_post(self, who: int, flag: bool) -> None:
        person = self.someone(who)
        task = self.store.work.next(person)
        if task is not None:
            (self.store.work.flag if flag else self.store.work.skip)(person, task.token)

    @rule(who=WHO)
    def undo(self, who: int) -> None:
        person = self.someone(who)
        before = self.votes()[person]
        try:
            self.store.work.undo(person)
        except NotHeld:
            return
        self.acknowledged[person] -= before - self.votes()[person]

    @rule(minutes=st.sampled_from([1, 31]))
    def time_passes(self, minutes: int) -> None:
        self.clock.now += 60 * minutes

    @rule()
    def sweep(self) -> None:
        self.store.work.sweep()

    @rule(who=WHO)
    @precondition(lambda self: len(self.people) > 3)
    def be_forgotten(self, who: int) -> None:
        person = self.someone(who)
        self.store.people.erase(person)
        self.people.remove(person)
        self.acknowledged.pop(person, None)

    def rows(self, table: sa.Table) -> list:
        with self.store.context.database.read() as connection:
            return connection.execute(sa.select(table)).all()

    def votes(self) -> Counter[int]:
        return Counter(row.person for row in self.rows(assignments) if row.state == "voted")

    @invariant()
    def slots_say_what_happened(self) -> None:
        found = self.rows(assignments)
        voted = Counter(row.number for row in found if row.state == "voted")
        held = Counter(row.number for row in found if row.state == "held")
        for slot in self.rows(slots):
            assert (slot.votes, slot.held) == (voted[slot.number], held[slot.number])
            assert slot.votes + slot.held <= slot.overlap <= OVERLAP + MORE
            assert slot.open == (slot.votes + slot.held < slot.overlap)

    @invariant()
    def every_acknowledged_vote_is_there(self) -> None:
        assert +self.votes() == +self.acknowledged

    @invariant()
    def the_log_only_grows(self) -> None:
        ids = [row.id for row in self.rows(events)]
        assert all(a < b for a, b in itertools.pairwise(ids))

    def finish(self) -> None:
        """Nothing is ever behind a person who could still judge it."""
        self.clock.now += 3600
        answers = itertools.cycle([{"abuse": "No"}, {"abuse": "Abusive", "type": "threat"}])
        for person in [*self.people, *self.people, *ready(self.store, OVERLAP + MORE)]:
            while (task := self.store.work.next(person)) is not None:
                self.store.work.vote(person, task.token, next(answers))
            given = {row.number for row in self.rows(assignments)
                     if row.person == person and row.state != "returned"}  # fmt: skip
            assert {slot.number for slot in self.rows(slots) if slot.open} <= given
        assert all(slot.votes == slot.overlap for slot in self.rows(slots))


TestCampaign = pytest.mark.slow(Campaign.TestCase)
TestCampaign.settings = settings(
    max_examples=15,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

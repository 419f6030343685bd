"""Votes, leases, undo: what must hold on both databases."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from evenhand.labelling._outcomes import open_case
from evenhand.labelling._tables import assignments, events, slots
from evenhand.labelling.errors import AnswersRefused, NotAllowed, NotHeld

NO = {"abuse": "No"}
BAD = {"abuse": "Abusive", "type": ["insult"]}


def rows(store, table):
    with store.context.database.read() as connection:
        return connection.execute(sa.select(table)).all()


def kinds(store):
    return Counter(row.kind for row in rows(store, events))


def vote_all(store, person, form=None, most=10**6):
    """Everything this person can judge, at most so many; how many it was."""
    done = 0
    while done < most and (task := store.work.next(person)) is not None:
        store.work.vote(person, task.token, form or NO)
        done += 1
    return done


def test_every_post_gets_its_votes_from_different_people(make_store, people_ready):
    store = make_store(posts=12)
    done = [vote_all(store, person) for person in people_ready(store, 4)]
    # 12 posts with 3 votes each, in order of coming: 12 + 12 + 12, nothing is left for the fourth.
    assert done == [12, 12, 12, 0]
    assert {(slot.votes, slot.held, slot.open) for slot in rows(store, slots)} == {(3, 0, False)}
    pairs = Counter((row.number, row.person) for row in rows(store, assignments))
    assert max(pairs.values()) == 1


def test_orders_differ_between_people(make_store, people_ready):
    store = make_store(posts=10)
    orders = []
    for person in people_ready(store, 3):
        texts = []
        while (task := store.work.next(person)) is not None:
            texts.append(task.text)
            store.work.vote(person, task.token, NO)
        orders.append(tuple(texts))
    assert len(set(orders)) == 3
    assert len({frozenset(order) for order in orders}) == 1


def test_the_same_form_again_is_not_a_second_vote(make_store, people_ready):
    store = make_store()
    [person] = people_ready(store)
    task = store.work.next(person)
    assert store.work.next(person) == task
    assert not store.work.vote(person, task.token, NO).repeated
    assert store.work.vote(person, task.token, BAD).repeated
    assert [row.answers["chosen"] for row in rows(store, assignments)] == [{"abuse": ["No"]}]
    assert kinds(store)["voted"] == 1


def test_bad_answers_change_nothing(make_store, people_ready):
    store = make_store()
    [person] = people_ready(store)
    task = store.work.next(person)
    with pytest.raises(AnswersRefused) as caught:
        store.work.vote(person, task.token, {"abuse": "Maybe", "size": "3"})
    assert {fault.code for fault in caught.value.answer_faults} == {"outside", "unknown"}
    assert store.work.next(person) == task


def test_somebody_elses_form_is_refused(make_store, people_ready):
    store = make_store()
    one, other = people_ready(store, 2)
    task = store.work.next(one)
    for act in (store.work.vote, store.work.flag):
        with pytest.raises(NotHeld):
            act(other, task.token, NO if act == store.work.vote else "")
    with pytest.raises(NotHeld):
        store.work.task(other, task.token)


def test_nobody_labels_before_they_agreed(make_store):
    store = make_store()
    person = store.people.join(store.invites.make("volunteers")).id
    with pytest.raises(NotAllowed, match="consent comes first"):
        store.work.next(person)


def test_a_lease_that_ran_out_returns_to_the_pool(make_store, people_ready, clock):
    store = make_store(posts=1, more='\n[[cohort]]\nname = "volunteers"\noverlap = 1\n')
    one, other = people_ready(store, 2)
    task = store.work.next(one)
    assert store.work.next(other) is None
    clock.now += 31 * 60
    given = store.work.next(other)
    assert given.text == task.text
    store.work.vote(other, given.token, NO)
    with pytest.raises(NotHeld, match="kept in the log"):
        store.work.vote(one, task.token, BAD)
    assert kinds(store)["late"] == 1
    assert store.work.next(one) is None


def test_a_late_vote_counts_while_there_is_room(make_store, people_ready, clock):
    store = make_store(posts=1)
    one, other = people_ready(store, 2)
    task = store.work.next(one)
    clock.now += 31 * 60
    assert store.work.sweep() == 1
    assert store.work.vote(one, task.token, BAD).repeated is False
    assert vote_all(store, other) == 1
    assert vote_all(store, one) == 0


def test_who_comes_back_gets_the_post_again(make_store, people_ready, clock):
    store = make_store(posts=1)
    [one] = people_ready(store)
    task = store.work.next(one)
    clock.now += 31 * 60
    store.work.sweep()
    again = store.work.next(one)
    assert (again.text, again.token != task.token) == (task.text, True)


def test_undo_gives_the_post_back_and_an_old_form_is_refused(make_store, people_ready):
    store = make_store(posts=2)
    one, other = people_ready(store, 2)
    task = store.work.next(one)
    store.work.vote(one, task.token, BAD)
    undone = store.work.undo(one)
    assert undone.text == task.text
    with pytest.raises(NotHeld):
        store.work.vote(one, task.token, BAD)
    assert store.work.next(one) == undone
    store.work.vote(one, undone.token, BAD)
    assert kinds(store)["undone"] == 1
    # The hard post was seen once, however often it was answered.
    assert store.people.get(one).hard == 1
    assert store.work.undo(other) is None


def test_skip_and_flag_leave_the_post_to_others(make_store, people_ready):
    store = make_store(posts=2, more='\n[[cohort]]\nname = "volunteers"\noverlap = 1\n')
    one, other = people_ready(store, 2)
    store.work.skip(one, store.work.next(one).token)
    task = store.work.next(one)
    store.work.flag(one, task.token, "who is meant?")
    store.work.flag(one, task.token, "who is meant?")
    assert store.work.next(one) is None
    assert vote_all(store, other) == 2
    assert store.experts.waiting() == 1
    with pytest.raises(NotHeld, match="others have finished"):
        store.work.undo(one)


def test_more_votes_on_disagreement_then_an_expert(make_store, people_ready):
    more = '\n[[cohort]]\nname = "volunteers"\noverlap = 2\nmore = 1\ndisagreement = "any"\n'
    more += '[[cohort]]\nname = "experts"\nrole = "expert"\noverlap = 1\n'
    store = make_store(posts=1, more=more)
    one, two, three, four = people_ready(store, 4)
    [expert] = people_ready(store, 1, "experts")
    vote_all(store, one, NO)
    vote_all(store, two, BAD)
    assert vote_all(store, three, NO) == 1
    assert vote_all(store, four) == 0
    with pytest.raises(NotAllowed):
        store.experts.next(one)
    case = store.experts.next(expert)
    # No, Abusive, No
    assert (case.reason, dict(case.tallies["abuse"])) == ("disagreement", {"No": 2, "Abusive": 1})
    store.experts.settle(expert, case.task.token, BAD)
    store.experts.settle(expert, case.task.token, NO)
    assert (store.experts.waiting(), store.experts.next(expert)) == (0, None)
    assert store.progress().cases_settled == 1


EXPERTS = """
[[cohort]]
name = "volunteers"
[[cohort]]
name = "experts"
role = "expert"
[wellbeing]
break_after_hard = 2
category_tag = "topic"
hard_tag = "hard"
[[wellbeing.category]]
id = "town"
text = "Town"
[[wellbeing.category]]
id = "sport"
text = "Sport"
"""


def _flagged(make_store, people_ready):
    """Three cases, the first of them hard beforehand; and two experts."""
    posts = [
        {"id": f"p{n}", "text": f"post {n}", "topic": topic, "hard": hard}
        for n, (topic, hard) in enumerate((("town", "yes"), ("sport", ""), ("town", "")))
    ]
    store = make_store(posts=posts, more=EXPERTS)
    with store.context.database.write() as connection:
        for number in range(3):
            open_case(connection, store.context, number, "flag")
    return store, *people_ready(store, 2, "experts")


def test_an_expert_leaves_a_case_to_others(make_store, people_ready):
    store, one, other = _flagged(make_store, people_ready)
    case = store.experts.next(one)
    store.experts.leave(one, case.task.token)
    with pytest.raises(NotHeld):
        store.experts.settle(one, case.task.token, NO)
    assert store.experts.next(one).task.text == "post 1"
    assert store.experts.next(other).task.text == "post 0"
    assert store.experts.waiting() == 3


def test_cases_count_as_posts_read_and_breaks_are_suggested(make_store, people_ready):
    store, expert, _ = _flagged(make_store, people_ready)
    for _ in range(2):  # a case that is looked at twice was read once
        case = store.experts.next(expert)
    found = store.people.get(expert)
    assert (found.seen, found.hard, found.break_due) == (1, 1, False)
    store.experts.settle(expert, case.task.token, BAD)  # hard beforehand: not counted again
    case = store.experts.next(expert)
    store.experts.settle(expert, case.task.token, BAD)
    found = store.people.get(expert)
    assert (found.seen, found.hard, found.break_due) == (2, 2, True)


def test_experts_get_no_cases_they_opted_out_of(make_store, people_ready):
    store, expert, _ = _flagged(make_store, people_ready)
    store.people.change(expert, opt_outs=["town"])
    case = store.experts.next(expert)
    assert case.task.text == "post 1"
    store.experts.settle(expert, case.task.token, NO)
    assert store.experts.next(expert) is None


def test_what_an_expert_settled_is_open_again_when_they_delete_it(make_store, people_ready):
    store, one, other = _flagged(make_store, people_ready)
    case = store.experts.next(one)
    store.experts.settle(one, case.task.token, BAD)
    store.people.erase(one)
    assert (store.progress().cases_settled, store.experts.waiting()) == (0, 3)
    assert store.experts.next(other).task.text == case.task.text


TWO = '\n[[cohort]]\nname = "volunteers"\noverlap = 2\nmore = 1\ndisagreement = "any"\n'


def test_who_passed_a_full_post_gets_it_when_somebody_skips(make_store, people_ready):
    store = make_store(posts=1, more=TWO)
    one, two, three = people_ready(store, 3)
    task = store.work.next(one)
    store.work.next(two)
    assert store.work.next(three) is None
    store.work.skip(one, task.token)
    assert store.work.next(three) is not None


def test_who_passed_a_full_post_gets_it_when_people_disagree(make_store, people_ready):
    store = make_store(posts=1, more=TWO)
    one, two, three = people_ready(store, 3)
    tasks = [store.work.next(one), store.work.next(two)]
    assert store.work.next(three) is None
    store.work.vote(one, tasks[0].token, NO)
    store.work.vote(two, tasks[1].token, BAD)
    assert store.work.next(three) is not None


def test_disagreement_is_judged_when_all_votes_are_in(make_store, people_ready):
    store = make_store(posts=1, more=TWO.replace("overlap = 2", "overlap = 3"))
    one, two = people_ready(store, 2)
    vote_all(store, one, NO)
    vote_all(store, two, BAD)
    assert [slot.overlap for slot in rows(store, slots)] == [3]


def test_agreeing_people_need_no_more(make_store, people_ready):
    more = '\n[[cohort]]\nname = "volunteers"\noverlap = 2\nmore = 1\n'
    store = make_store(posts=1, more=more)
    done = [vote_all(store, person) for person in people_ready(store, 3)]
    assert done == [1, 1, 0]
    assert store.experts.waiting() == 0


def test_gold_posts_are_mixed_in_and_cost_no_votes(make_store, people_ready, tmp_path):
    (tmp_path / "campaign").mkdir()
    gold = "id,text,abuse\n" + "".join(f"g{n},gold {n},No\n" for n in range(5))
    (tmp_path / "campaign" / "gold.csv").write_text(gold)
    store = make_store(posts=60, head='gold = "gold.csv"\ngold_rate = 0.5\n')
    one, other = people_ready(store, 2)
    # 60 posts at a rate of .5 would bring 60 gold posts; there are five, each shown once. That by
    # chance fewer than five come before the last post (with 20 posts 8 times in 10,000) is out.
    assert vote_all(store, one) == 65
    assert vote_all(store, other) == 65
    assert {slot.votes for slot in rows(store, slots)} == {2}


def test_opting_out_of_a_category(make_store, people_ready):
    posts = [
        {"id": f"p{n}", "text": f"post {n}", "topic": "threats" if n % 2 else "other"}
        for n in range(10)
    ]
    more = COHORT_WITH_CATEGORIES
    store = make_store(posts=posts, more=more)
    [person] = people_ready(store)
    store.people.change(person, opt_outs=["threats"])
    assert vote_all(store, person) == 5
    store.people.change(person, opt_outs=[])
    assert vote_all(store, person) == 5


COHORT_WITH_CATEGORIES = """
[[cohort]]
name = "volunteers"
[wellbeing]
category_tag = "topic"
[[wellbeing.category]]
id = "threats"
text = "Threats"
[[wellbeing.category]]
id = "other"
text = "Other"
"""


def test_breaks_are_suggested_after_hard_posts(make_store, people_ready):
    more = '\n[[cohort]]\nname = "volunteers"\n[wellbeing]\nbreak_after_hard = 2\n'
    store = make_store(more=more)
    [person] = people_ready(store)
    vote_all(store, person, BAD, most=1)
    assert not store.people.get(person).break_due
    vote_all(store, person, BAD, most=1)
    found = store.people.get(person)
    assert (found.seen, found.hard, found.break_due) == (2, 2, True)
    rested = store.work.rest(person)
    assert (rested.hard, rested.breaks, rested.break_due) == (2, 1, False)
    assert store.progress().hard == 2


def test_no_post_goes_above_its_overlap_when_many_work_at_once(make_store, people_ready):
    store = make_store(posts=10)
    people = people_ready(store, 6)

    def work(person):
        done = 0
        for turn in range(100):
            task = store.work.next(person)
            if task is None:
                break
            if turn % 7 == 3:
                store.work.skip(person, task.token)
                continue
            store.work.vote(person, task.token, NO)
            store.work.vote(person, task.token, NO)
            done += 1
            if turn % 11 == 5:
                store.work.undo(person)
                done -= 1
        return done

    with ThreadPoolExecutor(6) as pool:
        done = sum(pool.map(work, people))
    votes = [row for row in rows(store, assignments) if row.state == "voted"]
    per_post = Counter(row.number for row in votes)
    assert max(per_post.values()) <= 3
    assert done == len(votes)
    for slot in rows(store, slots):
        assert (slot.votes, slot.held) == (per_post[slot.number], 0)
    assert len({(row.number, row.person) for row in votes}) == len(votes)

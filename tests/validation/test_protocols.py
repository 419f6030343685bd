import dataclasses

import polars as pl
import pytest

from evenhand.core.errors import BadInput, LeakFound, NotEnoughData, UnknownComponent
from evenhand.core.records import Split
from evenhand.data.find import find, write_folder
from evenhand.data.user_file import FileOptions
from evenhand.validation import protocols
from evenhand.validation.plan import make_plan, make_task
from factories import finding, make_corpus, value
from spies import written

TASK = make_task(written())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kfold:1", "kfold:1; expected a whole number of folds from 2, e.g. kfold:10"),
        ("kfold:ten", "expected a whole number"),
        ("kfold:²", "expected a whole number"),
        ("author-disjoint:0", "author-disjoint:0; expected"),
        ("holdout:most", "holdout:most; expected a share"),
        ("holdout:1.5", "expected 0 < test"),
        ("arango-partitions:3", "takes no argument"),
        ("transfer", "transfer needs a corpus to test on"),
    ],
)
def test_a_wrong_argument_says_what_is_expected(name, words):
    with pytest.raises(BadInput, match=words):
        make_plan(name, TASK)


def test_unknown_names_are_refused():
    with pytest.raises(UnknownComponent, match="did you mean kfold"):
        make_plan("kfolds:3", TASK)
    with pytest.raises(BadInput, match="--keep reader; expected some of author, twin"):
        make_plan("kfold:3", TASK, keep=("reader",))


def test_fewer_posts_than_folds():
    few = make_corpus([{"id": str(n), "label": "bad" if n % 2 else "ok"} for n in range(4)])
    with pytest.raises(NotEnoughData, match="4 labelled posts for 10 folds"):
        make_plan("kfold:10", make_task(few))


def test_no_authors_and_one_author():
    rows = [{"id": str(n), "label": "bad" if n % 2 else "ok"} for n in range(40)]
    with pytest.raises(
        BadInput, match=r"does not say; name the column with --author, or use kfold"
    ):
        make_plan("author-disjoint:5", make_task(make_corpus(rows)))
    one = [{**row, "author": "a"} for row in rows]
    with pytest.raises(NotEnoughData, match="one author wrote all 40 posts"):
        make_plan("author-disjoint:5", make_task(make_corpus(one)))


def test_one_class_only():
    one = make_corpus([{"id": str(n), "label": "ok"} for n in range(5)])
    with pytest.raises(NotEnoughData, match="all 5 labelled posts are not hateful"):
        make_task(one)


def test_a_promise_that_does_not_hold_is_refused_with_the_cases(monkeypatch):
    def torn(ids, labels, tied, folds, *, seed, rule):
        half = len(ids) // 2
        return [
            Split(name="torn", train=ids[:half].to_list(), test=ids[half:].to_list(), rule=rule)
        ]

    monkeypatch.setattr(protocols, "deal_folds", torn)
    with pytest.raises(LeakFound, match=r"'torn' promises no author.*p\d+") as found:
        make_plan("author-disjoint:2", TASK)
    assert found.value.exit_code == 3


def test_duplicates_of_other_authors_are_left_out_of_training_and_counted():
    # b1 repeats a1 under another author. With a1 tested b1 cannot be trained on, and the other way.
    rows = [
        {"id": "a1", "author": "a", "label": "bad", "text": "a text that stands here twice over"},
        {"id": "a2", "author": "a", "label": "ok", "text": "quite another thing is said in this"},
        {"id": "b1", "author": "b", "label": "bad", "text": "a text that stands here twice over"},
        {"id": "b2", "author": "b", "label": "ok", "text": "nobody ever wrote these words before"},
        {"id": "a3", "author": "a", "label": "bad", "text": "one more line with its own content"},
        {"id": "b3", "author": "b", "label": "bad", "text": "and the last of all these sentences"},
    ]
    task = make_task(make_corpus(rows))
    plan = make_plan("author-disjoint:2", task)
    assert sorted(tuple(split.train) for split in plan.splits) == [("a2", "a3"), ("b2", "b3")]
    left = finding(plan.facts, "left_out_of_training")
    assert (left.value, left.cases) == (2, ["a1", "b1"])
    kept = make_plan("author-disjoint:2", task, keep=("author",))
    assert sorted(tuple(split.train) for split in kept.splits) == [
        ("a1", "a2", "a3"),
        ("b1", "b2", "b3"),
    ]


def test_says_how_far_sizes_and_classes_are_from_even():
    # Author a has six posts, one of them bad, b a bad one and c another: folds of 6 and 2 where the
    # mean is 4, shares of bad 1/6 and 1/2 where it is 2/8 overall.
    rows = [{"id": f"a{n}", "author": "a", "label": "ok" if n else "bad"} for n in range(6)]
    rows += [{"id": n, "author": n, "label": {"b": "bad", "c": "ok"}[n]} for n in "bc"]
    plan = make_plan("author-disjoint:2", make_task(make_corpus(rows)))
    assert value(plan.facts, "fold_size_deviation") == pytest.approx(0.5)
    assert value(plan.facts, "class_share_deviation", label="hateful") == pytest.approx(0.25)


def test_transfer_leaves_out_copies_of_test_posts_and_takes_a_published_split(tmp_path):
    copy = written().posts["text"][0]
    other = tmp_path / "other.csv"
    rows = [f"1,{copy},1,train", "2,so it goes on and on,0,train", "3,another day,0,dev"]
    other.write_text("\n".join(["id,text,label,split", *rows]))
    folder = tmp_path / "folder"
    corpus = find(str(other), FileOptions(hateful=("1",)))
    write_folder(corpus, folder)
    with pytest.raises(BadInput, match="no split 'test'; found dev, train"):
        make_plan(f"transfer:{folder}@test", TASK)
    plan = make_plan(f"transfer:{folder}@train", TASK)
    [split] = plan.splits
    assert len(split.test) == 2
    assert set(TASK.corpus.posts["id"]) - set(split.train) == {"p000", "p006"}  # the same text
    assert value(plan.facts, "left_out_of_training") == 2
    everything = make_plan(f"transfer:{folder}@train", TASK, keep=())
    assert len(everything.splits[0].train) == 120


def test_authors_alone_are_kept_apart_where_nothing_else_is_asked_for():
    plan = make_plan("author-disjoint:4", TASK, keep=())
    assert plan.keep == ("author",)
    assert plan.splits[0].rule == "no author on two sides"


def test_transfer_promises_nothing_about_authors_and_needs_ids_of_its_own(tmp_path):
    write_folder(written(posts=40, seed=9), tmp_path / "same")
    with pytest.raises(BadInput, match="40 ids stand in both corpora, e.g. p000"):
        make_plan(f"transfer:{tmp_path / 'same'}", TASK, keep=())
    with pytest.raises(BadInput, match="only duplicate .or none. can be kept"):
        make_plan(f"transfer:{tmp_path / 'same'}", TASK, keep=("author",))


def test_transfer_needs_the_same_classes_and_maps_hateful_to_hateful(tmp_path):
    rows = [{"id": f"o{n}", "label": "sexism" if n % 2 else "none"} for n in range(8)]
    other = make_corpus(rows, hateful=())
    write_folder(other, tmp_path / "other")
    three = make_task(written(), classes=("none", "racism", "sexism"))
    with pytest.raises(BadInput, match="has the labels none, sexism, not racism. Leave out"):
        make_plan(f"transfer:{tmp_path / 'other'}", three)
    plan = make_plan(f"transfer:{tmp_path / 'other'}", TASK)
    assert plan.test.hateful == ("racism", "sexism")  # the other declares none of its own
    assert plan.test.codes["code"].sum() == 4


def test_classes_are_named_and_others_left_out():
    task = make_task(written(), classes=("none", "sexism"))
    assert task.names == ("none", "sexism")
    assert task.left_out == {"another label": 20}
    assert set(task.labels) == {"none", "sexism"}
    with pytest.raises(BadInput, match="no labels"):
        make_task(dataclasses.replace(written(), gold=None))


def test_gold_of_a_part_is_of_that_part_only():
    part = TASK.part(["p003", "p001"])
    assert part["id"].to_list() == ["p001", "p003"]
    assert TASK.gold_of(part)["post"].to_list() == ["p001", "p003"]
    assert isinstance(TASK.codes, pl.DataFrame)

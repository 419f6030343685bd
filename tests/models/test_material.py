"""The corpora of a plan as training, dev and test rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from contracts.corpora import MADE_UP
from evenhand.core.errors import BadInput, UnknownComponent
from evenhand.models._splicing import halved
from evenhand.models.material import material
from evenhand.models.plan import find_plan
from evenhand.models.synthetic import sentences


def plan_of(folder: Path, text: str):
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return find_plan(str(path))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("hatemojibuild", "dynahate", "jigsaw", "perspective_scores"):
        MADE_UP[name].write(tmp_path)
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    return tmp_path


BOTH = """
attributes = ["HATE", "INSULT"]
[[corpus]]
name = "hatemojibuild"
times = 4.0
apart = []
yes.HATE = ["1"]
[[corpus]]
name = "jigsaw"
times = 0.5
times_without = 0.25
weight = 0.4
yes.INSULT = ["insult"]
"""


def test_an_attribute_that_a_corpus_does_not_label_is_masked(data: Path):
    found = material(plan_of(data, BOTH), seed=0)

    train = found.train
    # hatemojibuild 1 (hateful) and 2 (not); jigsaw j1 and j2, no insults among them.
    assert train.parts == ["hatemojibuild", "hatemojibuild", "jigsaw", "jigsaw"]
    assert train.labelled.tolist() == [[True, False], [True, False], [False, True], [False, True]]
    assert train.shares.tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]]
    assert train.times.tolist() == [4, 4, 0.25, 0.25]
    assert np.allclose(train.weights, [1, 1, 0.4, 0.4])


def test_what_has_no_label_can_mean_no(data: Path):
    named = BOTH.replace("weight = 0.4", 'none_means_no = ["HATE"]')
    with_toxic = named.replace('["HATE", ', '["TOXICITY", "HATE", ')
    toxic = with_toxic + 'yes.TOXICITY = ["toxic"]\n'

    plain, strict = (material(plan_of(data, text), seed=0) for text in (named, toxic))

    # Neither j1 nor j2 is an insult, so neither is hateful.
    assert plain.train.labelled[2:].tolist() == [[True, True]] * 2
    assert plain.train.shares[2:, :2].tolist() == [[1, 0]] * 2
    # j2 is toxic: nothing is said of HATE.
    assert strict.train.labelled[2:].tolist() == [[True, True, True], [True, False, True]]


def test_halves_of_two_posts_are_a_post_without_labels(data: Path):
    teachers = '[teachers]\nnetworks = 1\nattributes = ["HATE"]\n'
    plan = plan_of(data, BOTH.replace("apart = []", "apart = []\nspliced = 0.5") + teachers)

    found = material(plan, seed=0)

    train = found.train
    assert train.parts == ["hatemojibuild", "hatemojibuild", "jigsaw", "jigsaw"] + (
        ["hatemojibuild"] * 2
    )
    assert not train.labelled[4:].any() and not train.shares[4:].any()
    assert train.times[4:].tolist() == [0.5, 0.5]
    first, second = zip(*map(halved, train.texts[:2]), strict=True)
    assert {text for text in train.texts[4:]} <= {f"{a} {b}" for a in first for b in second}
    assert len(set(train.families.tolist())) == 5  # the twins are one, each other row its own
    assert found.posts.height == 4  # what was put together is nobody's post
    own = material(plan.of_teachers(["HATE"]), seed=0)
    assert len(own.train) == 2  # the teachers themselves read none


def test_a_post_that_is_spliced_more_than_once_gets_other_halves(data: Path):
    teachers = '[teachers]\nnetworks = 1\nattributes = ["HATE"]\n'
    file, made = "hatemojibuild/train.csv", MADE_UP["hatemojibuild"]
    made = made.with_value(file, (0, "text"), "One two, three four")
    made.with_value(file, (1, "text"), "Five six, seven eight").write(data)
    plan = plan_of(data, BOTH.replace("apart = []", "apart = []\nspliced = 4.8") + teachers)

    train = material(plan, seed=0).train

    # Five copies of each of two posts, 4.8 / 5 readings of each; a permutation of two posts leaves
    # both as they are or exchanges them, and in five draws of seed 0 both happen.
    assert train.parts[4:] == ["hatemojibuild"] * 10
    assert train.times[4:] == pytest.approx([0.96] * 10)
    assert len(set(train.texts[4:])) == 4
    assert len(set(train.families[4:].tolist())) == 10


def test_posts_with_other_words_are_posts_without_labels(data: Path):
    teachers = '[teachers]\nnetworks = 1\nattributes = ["HATE"]\n'
    file, made = "hatemojibuild/train.csv", MADE_UP["hatemojibuild"]
    made = made.with_value(file, (0, "text"), "That is 2 b @ann")
    made.with_value(file, (1, "text"), "Nice people drink tea 😀").write(data)
    how = "apart = []\nvaried = 1.5\nversions = 3"
    plan = plan_of(data, BOTH.replace("apart = []", how) + teachers)

    found = material(plan, seed=0)

    # Three texts of the second post, 1.5 / 3 readings of each; the first has no word with a near
    # one: what is common stays, and so does what is a number, a letter or a handle.
    train = found.train
    assert train.parts[4:] == ["hatemojibuild"] * 3
    assert train.times[4:].tolist() == [0.5] * 3
    assert not train.labelled[4:].any() and not train.shares[4:].any()
    assert all(text.endswith(" 😀") and text != train.texts[1] for text in train.texts[4:])
    assert len(set(train.families.tolist())) == 3 + 3
    assert found.posts.height == 4
    assert len(material(plan.of_teachers(["HATE"]), seed=0).train) == 2


def test_twins_are_a_family(data: Path):
    # hatemojibuild 1 and 2 are twins; jigsaw j1 and j2 are not.
    families = material(plan_of(data, BOTH), seed=0).train.families.tolist()
    assert families[0] == families[1]
    assert len(set(families)) == 3
    file, made = "hatemojibuild/train.csv", MADE_UP["hatemojibuild"]
    made.with_value(file, (0, "matched_id"), "8").with_value(file, (1, "matched_id"), "9").write(
        data
    )
    assert len(set(material(plan_of(data, BOTH), seed=0).train.families.tolist())) == 4
    # Twins that are not installed are in a split kept apart: theirs are left out, too.
    apart = material(plan_of(data, BOTH.replace("apart = []", 'apart = ["twin"]')), seed=0)
    assert apart.counts["hatemojibuild"]["left out"] == 2


def test_dev_posts_with_kin_in_training_are_measured_but_do_not_judge(data: Path):
    file = "hatemojibuild/train.csv"
    made = MADE_UP["hatemojibuild"]
    made.with_value(file, (1, "matched_id"), "3").write(data)  # the twin of a dev post

    found = material(plan_of(data, BOTH), seed=0)

    dev = found.held_out.filter((pl.col("corpus") == "hatemojibuild") & (pl.col("split") == "dev"))
    assert dev.select("id", "kin").rows() == [("hatemojibuild:3", True)]
    assert "hatemojibuild" not in found.dev.parts
    apart = material(plan_of(data, BOTH.replace("apart = []", 'apart = ["twin"]')), seed=0)
    assert apart.counts["hatemojibuild"]["left out"] == 1
    assert apart.dev.parts.count("hatemojibuild") == 1


def test_a_copy_of_a_held_out_post_is_not_trained_on(data: Path):
    text = 'attributes = ["HATE"]\n[[corpus]]\nname = "dynahate"\napart = []\nyes.HATE = ["1"]\n'

    found = material(plan_of(data, text), seed=0)

    # The first training post has the text of the dev post.
    assert found.counts["dynahate"]["left out, copies of held-out posts"] == 1
    assert len(found.train) == 1


def test_posts_of_another_corpus_are_left_out(data: Path):
    found = material(
        plan_of(data, BOTH.replace("weight = 0.4", 'not_in = ["perspective_scores"]')), seed=0
    )

    # j2 is also a scored comment.
    assert found.posts["id"].to_list() == ["hatemojibuild:1", "hatemojibuild:2", "jigsaw:j1"]


def test_weights_restore_the_base_rate(data: Path):
    found = material(plan_of(data, BOTH), seed=0)

    weights = dict(
        found.held_out.filter(pl.col("corpus") == "jigsaw").select("id", "weight").iter_rows()
    )
    # j3 has labels but is no threat: 16,225 of 14,466; j4 is one: all of them are there.
    assert weights == pytest.approx({"jigsaw:j3": 16225 / 14466, "jigsaw:j4": 1.0})


def test_a_corpus_of_ones_own_is_dealt_out(tmp_path: Path):
    rows = [f"{n},text number {n} {'x' * n},{'bad' if n % 2 else 'ok'}" for n in range(40)]
    (tmp_path / "posts.csv").write_text("id,text,label\n" + "\n".join(rows), encoding="utf-8")
    text = f"""
attributes = ["HATE"]
[[corpus]]
name = "{tmp_path / "posts.csv"}"
held_out = 0.2
yes.HATE = ["bad"]
"""
    found = material(plan_of(tmp_path, text), seed=0)

    (counts,) = found.counts.values()
    assert counts["dev"] == 8 and counts["test"] == 8 and counts["train"] == 24
    again = material(plan_of(tmp_path, text), seed=0)
    assert again.train.texts == found.train.texts
    assert material(plan_of(tmp_path, text), seed=1).train.texts != found.train.texts


def test_a_teacher_holds_out_what_its_student_does(tmp_path: Path):
    # Posts that are rude or not, every other one with a word on hate: dealt out otherwise without.
    rows = [f"{n},text number {n} {'x' * n},{('bad', 'rude', 'ok')[n % 3]}" for n in range(120)]
    (tmp_path / "posts.csv").write_text("id,text,label\n" + "\n".join(rows), encoding="utf-8")
    text = f"""
attributes = ["HATE", "RUDE"]
[[corpus]]
name = "{tmp_path / "posts.csv"}"
yes.HATE = ["bad"]
yes.RUDE = ["rude"]
"""
    plan = plan_of(tmp_path, text)
    student = material(plan, seed=0)

    theirs = plan.of_teachers(["HATE"])
    teacher = material(theirs, seed=0, held_out=student.held_out)

    sides = [m.held_out.sort("id").select("id", "split").rows() for m in (student, teacher)]
    assert sides[0] == sides[1] and sorted(teacher.train.texts) == sorted(student.train.texts)
    assert material(theirs, seed=0).train.texts != teacher.train.texts  # dealt out anew


def test_sentences_of_our_own_and_exchanged_identities(data: Path):
    text = BOTH.replace("times = 4.0", "times = 4.0\nswapped = 0.25") + (
        '[synthetic]\nsentences = 40\nattribute = "HATE"\n'
    )
    file = "hatemojibuild/train.csv"
    MADE_UP["hatemojibuild"].with_value(file, (0, "text"), "Two women came").write(data)

    found = material(plan_of(data, text), seed=0)

    assert found.counts["synthetic"]["train"] == 40
    own = np.array([part == "synthetic" for part in found.train.parts])
    assert found.train.shares[own].sum(axis=0).tolist() == [20, 20, 0, 0]
    named = [n for n, t in enumerate(found.train.texts) if t.startswith("Two ") and not own[n]]
    assert len(named) == 2 and found.train.texts[named[0]] != found.train.texts[named[1]]
    # Read four times an epoch: three times as it is, once with another identity.
    assert sorted(found.train.times[named].tolist()) == [1.0, 3.0]
    assert found.posts.height == 4  # neither is among the posts it was trained on


def test_of_sentences_of_our_own_other_texts_are_made_too(data: Path):
    text = BOTH + (
        '[synthetic]\nsentences = 40\nattribute = "HATE"\nspliced = 0.5\nvaried = 1\nversions = 2\n'
        '[teachers]\nnetworks = 1\nattributes = ["HATE"]\n'
    )
    train = material(plan_of(data, text), seed=0).train
    own = np.array([part == "synthetic" for part in train.parts])
    made = own & ~train.labelled.any(axis=1)
    # Two texts of each in either way, read .5 / 2 and 1 / 2 times; some have no word with a near
    # one.
    assert (own & ~made).sum() == 40
    assert (train.times[made] == 0.25).sum() == 80
    assert 60 <= (train.times[made] == 0.5).sum() <= 80
    assert made.sum() == np.isin(train.times[made], [0.25, 0.5]).sum()

    source = next(s for s in sentences(0, many=40) if len(s.text.split()) > 5)
    first, second = halved(source.text)
    alone = text.replace("versions = 2", f'versions = 2\nleft_alone = ["{source.template}"]')
    fewer = material(plan_of(data, alone), seed=0).train
    theirs = [n for n, part in enumerate(fewer.parts) if part == "synthetic"]
    new = {fewer.texts[n] for n in theirs if not fewer.labelled[n].any()}
    assert new < {text for text, is_made in zip(train.texts, made, strict=True) if is_made}
    assert not any(text.startswith(first) or text.endswith(second) for text in new)


def test_no_text_is_made_that_is_a_copy_of_a_held_out_post(data: Path, tmp_path: Path):
    text = BOTH.replace("times = 4.0", "times = 4.0\nswapped = 0.25\nspliced = 1")
    text += '[teachers]\nnetworks = 1\nattributes = ["HATE"]\n'
    file = "hatemojibuild/train.csv"
    MADE_UP["hatemojibuild"].with_value(file, (0, "text"), "Two women came").write(data)
    made = material(plan_of(data, text), seed=0).train
    spliced = np.flatnonzero(~made.labelled.any(axis=1))
    copy = made.mates[[n for n, t in enumerate(made.texts) if t == "Two women came"][0]]
    some = [made.texts[n] for n in (copy, spliced[0])]
    (tmp_path / "held.csv").write_text(
        "id,text,label,split\n"
        + "".join(f'{n},"{words.upper()} ",bad,dev\n' for n, words in enumerate(some))
        + "8,nothing of the kind,ok,dev\n9,a tea,ok,train\n10,no tea,bad,train\n",
        encoding="utf-8",
    )
    text += f'[[corpus]]\nname = "{tmp_path / "held.csv"}"\nyes.HATE = ["bad"]\n'

    found = material(plan_of(data, text), seed=0).train

    assert set(made.texts) - set(found.texts) == set(some)


def test_men_and_women_change_places_where_no_identity_is_named(data: Path):
    text = BOTH.replace("times = 4.0", "times = 4.0\nswapped = 0.25\ngendered = 0.5")
    file, made = "hatemojibuild/train.csv", MADE_UP["hatemojibuild"]
    made = made.with_value(file, (0, "text"), "Two women saw her")
    made.with_value(file, (1, "text"), "She saw her").write(data)

    train = material(plan_of(data, text), seed=0).train

    # The identity goes first: one reading in four of the first post, two in four of the second.
    read = dict(zip(train.texts, train.times.tolist(), strict=True))
    assert read["Two women saw her"] == 3.0
    assert (read["She saw her"], read["He saw him"]) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ('yes.HATE = ["7"]', "HATE counts on label '7'; found 0, 1"),
        ('yes.HATE = ["1"]\nnot_in = ["nowhere"]', "nowhere"),
    ],
)
def test_what_a_corpus_does_not_have_is_said(data: Path, wrong: str, said: str):
    text = BOTH.replace('yes.HATE = ["1"]', wrong)
    with pytest.raises(Exception, match=said):
        material(plan_of(data, text), seed=0)


def test_names_are_looked_at_before_corpora_are_read(data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("evenhand.models.material.find", lambda name: pytest.fail(f"read {name}"))
    wrong = BOTH.replace("times = 0.5", 'not_in = ["perspectiv_scores"]')
    with pytest.raises(UnknownComponent, match="did you mean perspective_scores"):
        material(plan_of(data, wrong), seed=0)
    with pytest.raises(BadInput, match="waseem_hovy may not train"):
        material(
            plan_of(data, "ships = true\n" + BOTH.replace('"jigsaw"', '"waseem_hovy"')), seed=0
        )


def test_a_plan_that_ships_refuses_corpora_that_may_not(data: Path):
    MADE_UP["hateval"].write(data)
    text = 'ships = true\nattributes = ["HATE"]\n[[corpus]]\nname = "hateval"\nyes.HATE = ["1"]\n'
    with pytest.raises(BadInput, match="hateval may not train a detector that ships"):
        material(plan_of(data, text), seed=0)


def test_a_corpus_without_labels_is_left_to_the_teachers(data: Path):
    text = (
        BOTH
        + """
[[corpus]]
name = "dynahate"
apart = []
taught = ["HATE"]
[teachers]
networks = 1
attributes = ["HATE"]
"""
    )

    found = material(plan_of(data, text), seed=0)

    # The dev and the test post of dynahate are left alone, and so is a copy of one in training.
    assert found.counts["dynahate"] == {
        "left out, copies of held-out posts": 1, "train": 1, "dev": 0, "test": 0, "left out": 2,
    }  # fmt: skip
    assert found.train.parts[-1] == "dynahate"
    assert found.train.labelled[-1].tolist() == [False, False]
    assert "dynahate" not in found.held_out["corpus"].to_list()

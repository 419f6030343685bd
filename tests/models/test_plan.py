"""Plans: what they say, and what is wrong with them in words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evenhand.core.errors import BadInput
from evenhand.models.options import field_types
from evenhand.models.plan import Synthetic, find_plan, plan_names
from evenhand.models.transformer import Transformer

SMALL = """
attributes = ["HATE"]
[[corpus]]
name = "posts.csv"
yes.HATE = ["bad"]
"""


def written(folder: Path, text: str) -> str:
    path = folder / "small.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_our_plans_name_known_options_and_corpora_that_may_ship():
    from evenhand.data.find import reader

    assert "evenhand-base" in plan_names()
    for name in plan_names():
        plan = find_plan(name)
        assert plan.ships
        assert all(reader(part.name).may_train.startswith("yes") for part in plan.parts)
    assert set(find_plan("evenhand-base").options) <= set(field_types(Transformer))


def test_a_plan_of_ones_own(tmp_path: Path):
    plan = find_plan(written(tmp_path, SMALL))

    assert plan.name == "small" and plan.attributes == ("HATE",)
    assert plan.parts[0].times == 1.0 and plan.parts[0].apart == [
        "author",
        "twin",
        "template",
        "duplicate",
    ]


def test_every_fault_is_named_at_once(tmp_path: Path):
    wrong = """
attributes = ["HATE", "SPAM"]
colour = 3
[[corpus]]
name = "a.csv"
tims = 2
yes.HATE = ["bad"]
[[corpus]]
times = -1
[calibrate]
RUDE = { corpora = ["a.csv"], base_rate = 2 }
"""
    with pytest.raises(BadInput) as caught:
        find_plan(written(tmp_path, wrong))

    said = str(caught.value)
    for part in ("colour", "Did you mean times?", "corpus 2: name is missing",
                 "times is -1", "base_rate is 2", "no corpus labels SPAM"):  # fmt: skip
        assert part in said


@pytest.mark.parametrize("named", ["HATE", "TONE"], ids=["labelled", "unknown"])
def test_none_can_mean_no_only_for_an_attribute_without_labels(tmp_path: Path, named: str):
    wrong = SMALL.replace("yes.HATE", f'none_means_no = ["{named}"]\nyes.HATE')
    with pytest.raises(BadInput, match=f"none_means_no names {named}"):
        find_plan(written(tmp_path, wrong))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("attributes = [", "is no TOML"),
        ("[options]\n", "attributes is missing"),
        ('attributes = ["HATE"]\n', "no \\[\\[corpus\\]\\]"),
    ],
)
def test_a_file_that_is_no_plan_is_refused(tmp_path: Path, text: str, said: str):
    with pytest.raises(BadInput, match=said):
        find_plan(written(tmp_path, text))


def test_an_unknown_plan_and_another_encoding_are_refused(tmp_path: Path):
    with pytest.raises(BadInput, match="evenhand-base"):
        find_plan("evenhand-bass")
    path = tmp_path / "old.toml"
    path.write_bytes("# na\u00efve\n".encode("latin-1"))
    with pytest.raises(BadInput, match="not UTF-8 at byte 4"):
        find_plan(str(path))


def test_what_follows_from_a_fault_is_none(tmp_path: Path):
    other = '[[corpus]]\nname = "b.csv"\nyes.HATE = ["bad"]\n'
    target = '[calibrate]\nHATE = { corpora = ["posts.csv"] }\n'
    wrong = SMALL.replace("yes.", "times_withou = 1\nyes.")
    with pytest.raises(BadInput) as caught:
        find_plan(written(tmp_path, wrong + other + target))
    assert len(caught.value.faults) == 1


def test_a_corpus_can_be_left_out():
    plan = find_plan("evenhand-base").without(["dynahate"])

    assert "dynahate" not in [part.name for part in plan.parts]
    assert plan.calibrate["HATE"].corpora == ["hatemojibuild"]
    with pytest.raises(BadInput, match="--without nothing: not in plan evenhand-base"):
        find_plan("evenhand-base").without(["nothing"])


def test_the_last_corpus_of_an_attribute_is_not_left_out():
    with pytest.raises(BadInput, match="no other corpus of plan evenhand-base labels TOXICITY, "):
        find_plan("evenhand-base").without(["jigsaw"])


def test_what_an_attribute_is_calibrated_to_is_not_left_out(tmp_path: Path):
    other = '[[corpus]]\nname = "b.csv"\nyes.HATE = ["bad"]\n'
    target = '[calibrate]\nHATE = { corpora = ["b.csv"] }\n'
    plan = find_plan(written(tmp_path, SMALL + other + target))
    assert plan.without(["posts.csv"]).calibrate["HATE"].corpora == ["b.csv"]
    with pytest.raises(BadInput, match="plan small calibrates HATE to nothing else"):
        plan.without(["b.csv"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (SMALL.replace('yes.HATE = ["bad"]', 'yes.HATE = "bad"'), "yes is {'HATE': 'bad'}; exp"),
        (SMALL.replace('yes.HATE = ["bad"]', "yes.HATE = []"), "posts.csv: yes.HATE names no lab"),
        (SMALL.replace('"posts.csv"', "3"), "name is 3; expected a text"),
        (SMALL.replace("yes.", "times = nan\nyes."), "times is nan; expected a number of 0"),
        (SMALL.replace('["HATE"]\n[', '["HATE", "HATE"]\n['), "no list of names, each once"),
        (SMALL + SMALL.partition("\n[")[2].replace("[corpus", "[[corpus"), "posts.csv stands tw"),
        ('attributes = ["HATE"]\ncorpus = ["posts.csv"]', "corpus 1: is 'posts.csv'; expected a t"),
        ("synthetic = 3\n" + SMALL, "synthetic: is 3; expected a table"),
        ("calibrate = 3\n" + SMALL, "calibrate is 3; expected a table"),
        ('perspective = "x"\n' + SMALL, "perspective is 'x'; expected a table"),
        (SMALL + '[perspective]\nscors = "x"', "perspective is {'scors': 'x'}; expected scores"),
        ('ships = "no"\n' + SMALL, "ships is 'no'; expected yes or no"),
        (
            SMALL + '[synthetic]\nsentences = "x"\nattribute = "HATE"',
            "sentences is 'x'; expected a",
        ),
        (SMALL + '[calibrate]\nHATE = "x"', "calibrate HATE: is 'x'; expected a table"),
        (SMALL + "[teachers]\nattributes = []\nnetworks = 1", "attributes is empty; name what"),
        (SMALL.replace('["HATE"]\n[', '["HATE", "text"]\n['), "'text' has the name of a column"),
        (SMALL.replace("yes.", f"times = {'9' * 400}\nyes."), "expected a number of 0 or more"),
        (SMALL + '[synthetic]\nsentences = -5\nattribute = "HATE"', "sentences is -5; expected"),
        (SMALL.replace("yes.", "held_out = 0\nyes."), "held_out is 0; expected a share between"),
        (SMALL.replace("yes.", 'apart = ["authors"]\nyes.'), "apart has 'authors'; expected some"),
    ],
)
def test_what_is_of_another_kind_is_said(tmp_path: Path, wrong: str, said: str):
    with pytest.raises(BadInput, match=re.escape(said)):
        find_plan(written(tmp_path, wrong))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[calibrate]\nHATE = { corpora = ["b.csv"] }', "corpora are b.csv; .*here: posts.csv"),
        ("[calibrate]\nHATE = { corpora = [] }", "corpora are none; .*here: posts.csv"),
        ('[calibrate]\nHATE = { corpora = ["posts.csv"], base_rate = 0 }', "base_rate is 0"),
        ('[synthetic]\nsentences = 9\nattribute = "HAT"', "synthetic: HAT is not among attrib"),
    ],
)
def test_what_would_fail_after_the_training_is_said_before(tmp_path: Path, more: str, said: str):
    with pytest.raises(BadInput, match=said):
        find_plan(written(tmp_path, f"{SMALL}{more}\n"))


TEACHERS = """
attributes = ["HATE", "INSULT"]
[[corpus]]
name = "dynahate"
yes.HATE = ["1"]
[[corpus]]
name = "jigsaw"
taught = ["HATE"]
yes.INSULT = ["insult"]
[teachers]
networks = 2
attributes = ["HATE"]
[calibrate]
HATE = { corpora = ["dynahate"] }
INSULT = { corpora = ["jigsaw"] }
[synthetic]
sentences = 10
attribute = "INSULT"
"""


def test_teachers_learn_what_they_answer_and_no_more(tmp_path: Path):
    path = tmp_path / "plan.toml"
    path.write_text(TEACHERS, encoding="utf-8")
    found = find_plan(str(path)).of_teachers(["HATE"])
    assert [part.name for part in found.parts] == ["dynahate"]
    assert found.attributes == ("HATE",) and list(found.calibrate) == ["HATE"]
    assert found.synthetic is None and found.teachers is None
    own = TEACHERS.replace('te = "INSULT"', 'te = "HATE"\nspliced = 1\nvaried = 1')
    path.write_text(own, encoding="utf-8")
    found = find_plan(str(path)).of_teachers(["HATE"])
    assert found.synthetic == Synthetic(sentences=10, attribute="HATE")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("networks = 2", "networks = -1", "networks is -1; expected 0 or more"),
        ("networks = 2", "networks = 0", "there are none; give networks or detectors"),
        ("networks = 2", "networks = 2\ntrust = 1.5", "trust is 1.5; expected a share"),
        ('taught = ["HATE"]', 'taught = ["THREAT"]', "jigsaw: no teacher answers THREAT"),
        ('taught = ["HATE"]', 'taught = ["INSULT"]', "jigsaw: no teacher answers INSULT"),
        ('attributes = ["HATE"]\n[cal', 'attributes = ["RUDE"]\n[cal', "RUDE, which no corpus"),
        ('yes.HATE = ["1"]', 'yes.HATE = ["1"]\ntaught = ["HATE"]', "dynahate labels HATE"),
        ('taught = ["HATE"]', "spliced = 1", "jigsaw is spliced, but no teacher answers for it"),
        ('taught = ["HATE"]', "varied = 1", "jigsaw is varied, but no teacher answers for it"),
        ("sentences = 10", "sentences = 10\nvaried = 1", "synthetic is varied, but no teacher"),
        (
            "sentences = 10",
            "sentences = 10\nversions = 2",
            "has versions; give it spliced or varied",
        ),
        (
            "sentences = 10",
            "sentences = 10\nversions = 0",
            "versions is 0; expected a number from 1",
        ),
        ('taught = ["HATE"]', "spliced = 1e9", "spliced is 1000000000.0; expected a number from 0"),
        ("sentences = 10", 'sentences = 10\nleft_alone = ["x/1"]', "no template is called so"),
        ('name = "jigsaw"', 'name = "synthetic"', "has the name of sentences of our own"),
        ('yes.HATE = ["1"]', "", "dynahate teaches nothing"),
    ],
)
def test_teachers_that_cannot_be(tmp_path: Path, old: str, new: str, said: str):
    path = tmp_path / "plan.toml"
    assert old in TEACHERS
    path.write_text(TEACHERS.replace(old, new), encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        find_plan(str(path))

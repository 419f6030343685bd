"""``evenhand train --plan``: from corpora to a calibrated detector that scores without torch."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from encoders import tiny_encoder
from evenhand.core.errors import BadInput, NotEnoughData, UnknownComponent
from evenhand.core.provenance import Run
from evenhand.core.streams import stream
from evenhand.models._shown import shown
from evenhand.models.lessons import Lessons, Task
from evenhand.models.material import material
from evenhand.models.plan import find_plan
from evenhand.models.saving import load
from evenhand.studies import plans
from evenhand.studies.parts import silent
from evenhand.studies.plans import planned, taught_material, train_plan


def written(folder: Path) -> str:
    """Two corpora of made-up posts and a plan for them; one labels rude posts, one hateful ones."""
    rng = stream(1, "plans")
    words = ["you", "the", "day", "bus", "so", "late"]
    for name, bad in (("hate", "fool"), ("rude", "vermin")):
        rows = []
        for number in range(150):
            text = " ".join([*rng.choice(words, 5), bad if number % 2 else "tea", f"n{number}"])
            rows.append(f"{name}{number},{text},{'yes' if number % 2 else 'no'}")
        (folder / f"{name}.csv").write_text("id,text,label\n" + "\n".join(rows), encoding="utf-8")
    path = folder / "plan.toml"
    path.write_text(
        f"""
attributes = ["HATE", "RUDE"]
[options]
base = "{tiny_encoder()}"
epochs = 6
batch = 16
rate = 0.01
average = 0.5
[[corpus]]
name = "{folder / "hate.csv"}"
yes.HATE = ["yes"]
[[corpus]]
name = "{folder / "rude.csv"}"
yes.RUDE = ["yes"]
[calibrate]
HATE = {{ corpora = ["{folder / "hate.csv"}"], base_rate = 0.5 }}
""",
        encoding="utf-8",
    )
    return str(path)


def test_learns_two_attributes_from_two_corpora(tmp_path: Path):
    run = Run(command=["evenhand", "train"], seed=0)

    parts = train_plan(run, written(tmp_path), "transformer", tmp_path / "both")

    detector = load(tmp_path / "both")
    p = detector.score(["you fool", "the vermin", "so tea"])
    assert detector.attributes == ("HATE", "RUDE")
    assert p[0, 0] > 0.5 > p[2, 0] and p[1, 1] > 0.5 > p[2, 1]
    assert detector.calibrations["HATE"].base_rate == 0.5
    assert detector.provenance["plan"] == "plan"
    assert [used["name"] for used in detector.provenance["data"]] == ["hate.csv", "rude.csv"]
    assert "It scores HATE, RUDE." in parts.summary[0]
    assert not (tmp_path / ".both.checkpoints").exists()


def test_an_option_that_was_typed_wins_over_the_plan(tmp_path: Path):
    run = Run(command=["evenhand", "train"], seed=0)

    train_plan(run, written(tmp_path), "transformer:epochs=1", tmp_path / "both")

    about = json.loads((tmp_path / "both" / "detector.json").read_text())
    assert about["options"]["epochs"] == 1 and about["options"]["batch"] == 16


def test_what_does_not_go_together_is_refused(tmp_path: Path):
    run = Run(command=["evenhand", "train"], seed=0)
    with pytest.raises(BadInput, match="recipe 'linear' learns one corpus"):
        train_plan(run, written(tmp_path), "linear", tmp_path / "x")
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="is a file"):
        train_plan(run, written(tmp_path), "transformer", tmp_path / "file")


def test_classes_are_balanced_in_one_corpus_only(tmp_path: Path):
    with pytest.raises(BadInput, match="balanced is for one corpus; a plan has times and weight"):
        planned("transformer:balanced=0.5", find_plan(written(tmp_path)))


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ("transformer-vocabulary", "'transformer-vocabulary' learns one corpus"),
        ("transformer:epochs=1", "option batch is 'many'; expected a whole number"),
        ("transformer:classes=a|b", "classes is for one corpus; a plan has attributes"),
        ("fast:hateful=yes", "hateful is for one corpus; a plan has yes"),
    ],
)
def test_what_is_of_one_corpus_learns_no_plan(tmp_path: Path, recipe: str, said: str):
    plan = find_plan(written(tmp_path))
    with pytest.raises(BadInput, match=re.escape(said)):
        planned(recipe, replace(plan, options={"batch": "many"} if "epochs" in recipe else {}))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[perspective]\nscores = "nowhere"\n', "nowhere"),
        ('[perspective]\nscores = "FOLDER/hate.csv"\n', "hate.csv: has no published scores"),
        ('[teachers]\nnetworks = 1\nattributes = ["HATE"]\noptions = { epoch = 1 }\n', "epochs?"),
        ('[teachers]\ndetectors = ["evenhand-bass"]\nattributes = ["HATE"]\n', "evenhand-bass"),
    ],
)
def test_what_would_fail_later_is_refused_before_corpora_are_read(
    tmp_path: Path, more: str, said: str
):
    plan, steps = Path(written(tmp_path)), list[str]()
    plan.write_text(plan.read_text() + more.replace("FOLDER", str(tmp_path)))
    run = Run(command=["evenhand", "train"], seed=0)
    with pytest.raises((BadInput, UnknownComponent), match=said):
        train_plan(
            run, str(plan), "transformer", tmp_path / "x", step=lambda *told: steps.append(told[0])
        )
    assert not steps


def test_what_cannot_be_calibrated_is_refused_before_the_training(tmp_path: Path):
    plan, steps = Path(written(tmp_path)), list[str]()
    # Nobody is rude in the dev posts of a published split.
    some = [f"a{n},tea n{n},{'yes' if n < 3 else 'no'},{'dev' if n > 5 else 'train'}"
            for n in range(9)]  # fmt: skip
    (tmp_path / "rude.csv").write_text("id,text,label,split\n" + "\n".join(some))
    run = Run(command=["evenhand", "train"], seed=0)
    with pytest.raises(NotEnoughData, match="RUDE: 3 dev posts of .*rude.csv, none with another"):
        train_plan(
            run, str(plan), "transformer", tmp_path / "x", step=lambda *told: steps.append(told[0])
        )
    assert steps == ["reading 2 corpora"]


def with_teachers(folder: Path) -> str:
    """The plan with two teachers of HATE, who also answer it for the rude posts."""
    path = Path(written(folder))
    rude = 'yes.RUDE = ["yes"]'
    text = path.read_text().replace(rude, f'{rude}\ntaught = ["HATE"]')
    theirs = "options = { epochs = 1 }"
    path.write_text(text + f'[teachers]\nnetworks = 2\nattributes = ["HATE"]\n{theirs}\n')
    return str(path)


def test_teachers_are_trained_first_and_kept(tmp_path: Path):
    plan, kept, steps = with_teachers(tmp_path), tmp_path / "kept", list[str]()
    found, student = find_plan(plan), planned("transformer:epochs=2", find_plan(plan))
    given = material(found, seed=0)

    def step(what: str, done: float, total: float | None) -> None:
        steps.append(what)

    taught = taught_material(student, found, given, 0, kept, step).train

    hate = given.train.labelled[:, 0]
    # Half of what is learned of a labelled post is the teachers' answer; the rude posts, which
    # have no label, have that answer alone.
    assert np.abs(taught.shares[hate, :2] - given.train.shares[hate, :2]).max() <= 0.5
    assert taught.labelled[:, 0].all() and np.allclose(taught.shares[~hate, :2].sum(1), 1)
    first, second = (load(kept / f"teacher-{n}").score(["you fool"]) for n in (1, 2))
    assert first.shape == (1, 1) and first != second
    assert load(kept / "teacher-1").record.recipe.epochs == 1  # the student's are 2
    assert {what.split(",")[0] for what in steps if "," in what} == {"teacher 1", "teacher 2"}

    steps.clear()
    again = taught_material(student, found, given, 0, kept, step).train
    assert np.array_equal(again.shares, taught.shares)
    assert not steps  # nobody was trained or asked again
    taught_material(student, found, given, 5, kept, step)
    assert any(what.startswith("teacher 1, step") for what in steps)  # of another seed
    assert not list(kept.glob("finetuning-*"))  # what a teacher goes on from ends with it

    steps.clear()
    taught_material(student, found, given, 0, kept, step)
    steps.clear()
    twice = replace(found, parts=(replace(found.parts[0], times=2.0), *found.parts[1:]))
    taught_material(student, twice, material(twice, seed=0), 0, kept, step)
    assert any(what.startswith("teacher 1, step") for what in steps)  # the same posts, read twice

    taught_material(student, found, given, 0, kept, step)
    steps.clear()
    to_a_tenth = {"HATE": replace(found.calibrate["HATE"], base_rate=0.1)}
    rarer = taught_material(student, replace(found, calibrate=to_a_tenth), given, 0, kept, step)
    # What it says is a probability at a base rate: at another one it is another teacher.
    assert any(what.startswith("teacher 1, step") for what in steps)
    assert rarer.train.shares[~hate, 1].mean() < taught.shares[~hate, 1].mean()


def test_a_teachers_base_is_looked_for_before_corpora_are_read(tmp_path: Path):
    plan, steps = Path(with_teachers(tmp_path)), list[str]()
    plan.write_text(plan.read_text().replace("{ epochs = 1 }", '{ base = "nowhere" }'))

    def step(what: str, done: float, total: float | None) -> None:
        steps.append(what)

    run = Run(command=["evenhand", "train"], seed=0)
    with pytest.raises(BadInput, match="base nowhere: no such folder"):
        train_plan(run, str(plan), "transformer", tmp_path / "x", step=step)
    assert not steps


def test_nobody_is_asked_where_no_label_means_no(tmp_path: Path):
    plan = Path(with_teachers(tmp_path))
    plan.write_text(plan.read_text().replace("taught =", 'none_means_no = ["HATE"]\ntaught ='))
    found, asked = find_plan(str(plan)), list[str]()
    given = material(found, seed=0)

    class Told:
        name, attributes = "told", ("HATE",)

        def score(self, texts: Sequence[str]) -> NDArray[np.float64]:
            asked.extend(texts)
            return np.full((len(texts), 1), 0.75)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "_teachers", lambda *_: [("told", Told())])
        student = planned("transformer", found)
        taught = taught_material(student, found, given, 0, tmp_path / "kept", silent).train

    rude = np.array([name.endswith("rude.csv") for name in taught.parts])
    kind = rude & (given.train.shares[:, 2] == 1)
    # Of rude posts the teacher's answer is learned, of kind ones no; of others half of each.
    assert asked == [text for text, no in zip(taught.texts, kind, strict=True) if not no]
    assert np.allclose(taught.shares[kind, :2], [1, 0])
    assert np.allclose(taught.shares[rude & ~kind, :2], [0.25, 0.75])
    assert set(taught.shares[~rude, 1].round(3).tolist()) == {0.375, 0.875}


def test_teachers_are_asked_about_what_is_read(tmp_path: Path):
    found = find_plan(with_teachers(tmp_path))
    student = planned("transformer:epochs=2", found)
    codes = np.zeros(4, dtype=np.int64)
    rows = Lessons.of_classes(list("abcd"), codes, Task("HATE"), part=found.parts[0].name)
    # In two epochs the first is read twice, the second never, the third is the first's mate; the
    # fourth is read once.
    rows = replace(rows, times=np.array([1.0, 0, 0, 0.5]), mates=np.array([2, -1, 0, -1]))
    seed = next(s for s in range(50) if sum(3 in rows.read_in(e, s) for e in (0, 1)) == 1)
    given = material(found, seed=0)
    given, asked = replace(given, train=rows), list[str]()

    class Told:
        name, attributes = "told", ("HATE",)

        def score(self, texts: Sequence[str]) -> NDArray[np.float64]:
            asked.extend(texts)
            return np.full((len(texts), 1), 0.75)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "_teachers", lambda *_: [("told", Told())])
        taught = taught_material(student, found, given, seed, tmp_path / "kept", silent).train
        every = planned("fast", replace(found, options={}))
        assert asked == ["a", "c", "d"]
        assert taught.shares[:, 1].tolist() == [0.375, 0, 0.375, 0.375]
        asked.clear()
        taught_material(every, found, given, seed, tmp_path / "other", silent)
    assert asked == list("abcd")  # one that has no epochs reads them all


def test_a_guided_student_gets_the_first_teachers_vectors(tmp_path: Path):
    plan, kept = with_teachers(tmp_path), tmp_path / "kept"
    found = find_plan(plan)
    student = planned("transformer:epochs=2,guide=1", found)
    given = material(found, seed=0)

    taught = taught_material(student, found, given, 0, kept, silent).train
    detector = student.fit_material(replace(given, train=taught), seed=0)

    teachers = [load(kept / f"teacher-{number}") for number in (1, 2)]
    reads = shown(teachers[0])
    vectors = reads.vectors(given.train.texts)
    assert taught.vectors is not None and taught.vectors.shape == vectors.shape
    assert np.allclose(taught.vectors, vectors - vectors.mean(axis=0), atol=2e-3)
    mean = np.mean([teacher.score(given.train.texts)[:, 0] for teacher in teachers], axis=0)
    rude = ~given.train.labelled[:, 0]  # of them the teachers' mean answer alone is learned
    assert np.allclose(taught.shares[rude, 1], mean[rude], atol=0.02)  # vectors have 16 bits
    assert {p.name.split("-")[0] for p in kept.glob("*.npy")} == {"vectors", "answers"}
    assert detector.score(["you fool"]).shape == (1, 2)  # nothing is left of the guide


def test_what_vectors_say_depends_on_no_threads_and_no_neighbours(tmp_path: Path):
    run = Run(command=["evenhand", "train"], seed=0)
    train_plan(run, written(tmp_path), "transformer:epochs=1", tmp_path / "both")
    rng = stream(0, "vectors")
    wide = replace(shown(load(tmp_path / "both")), weights=rng.normal(size=(768, 2)) / 30)
    wide = replace(wide, weights=wide.weights.astype(np.float32))
    vectors = rng.normal(size=(3000, 768)).astype(np.float16)
    every = wide.score(vectors)
    for threads in (1, 2):
        with threadpool_limits(threads):
            assert np.array_equal(wide.score(vectors), every)
            assert np.array_equal(wide.score(vectors[7:8]), every[7:8])


def test_a_detector_that_is_there_teaches_another_recipe(tmp_path: Path):
    run = Run(command=["evenhand", "train"], seed=0)
    path = Path(written(tmp_path))
    train_plan(run, str(path), "transformer", tmp_path / "both")
    text = re.sub(r"\[options\][^\[]*", "", path.read_text())
    rude = 'yes.RUDE = ["yes"]'
    both = tmp_path / "both"
    path.write_text(
        text.replace(rude, f'{rude}\ntaught = ["HATE"]')
        + f'[teachers]\ndetectors = ["{both}"]\nattributes = ["HATE", "RUDE"]\ntrust = 0.9\n'
    )

    train_plan(run, str(path), "fast", tmp_path / "small")

    # What is rude of the other corpus was never labelled hateful or not: the teacher said so.
    told = load(tmp_path / "both").score(["the vermin"])[0, 0]
    assert abs(load(tmp_path / "small").score(["the vermin"])[0, 0] - told) < 0.2


def test_a_recipe_that_has_no_teachers(tmp_path: Path):
    run = Run(command=["evenhand", "train"], seed=0)
    path = Path(with_teachers(tmp_path))
    path.write_text(re.sub(r"\[options\][^\[]*", "", path.read_text()))
    with pytest.raises(BadInput, match="which the recipe transformer does"):
        train_plan(run, str(path), "fast", tmp_path / "x")


NO_TORCH = """
import json, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "transformers", "onnx", "safetensors"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from pathlib import Path
from evenhand.models.saving import load
print(json.dumps(load(Path(sys.argv[1])).score(["you fool", "so tea"]).tolist()))
"""


def test_scores_in_a_process_without_torch(tmp_path: Path):
    run = Run(command=["evenhand", "train"], seed=0)
    train_plan(run, written(tmp_path), "transformer:epochs=1", tmp_path / "both")

    done = subprocess.run(
        [sys.executable, "-c", NO_TORCH, str(tmp_path / "both")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    here = load(tmp_path / "both").score(["you fool", "so tea"])
    assert np.array_equal(np.array(json.loads(done.stdout)), here)

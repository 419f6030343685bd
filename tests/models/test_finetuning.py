"""Fine-tuning: what is learned, masked losses, processes, kills and early stopping."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from encoders import tiny_encoder
from evenhand.core.errors import BrokenComponent
from evenhand.core.streams import stream
from evenhand.models import _finetuning
from evenhand.models._encoder_network import Shape, build, fresh
from evenhand.models._finetuning import Course, finetune
from evenhand.models._finetuning_rows import Ragged, Rows, encoded, judged
from evenhand.models._flat import flattened
from evenhand.models.lessons import Lessons, Task
from evenhand.models.watching import watching

COURSE = Course(
    epochs=3,
    batch=8,
    rate=3e-3,
    warm_up=0.1,
    decay=0.01,
    average=0.5,
    judgings=1,
    patience=0,
    processes=1,
    seed=0,
    named="test",
    checkpoint_every=4,
)
SHAPE = Shape(tiny_encoder(), 2, 0.1)


class Killed(Exception):
    """Stands for a kill."""


def made_up(many: int, seed: int = 1) -> Rows:
    """Rows that are bad if they have one of two words."""
    rng = stream(seed, "finetuning")
    texts, codes = [], []
    for number in range(many):
        bad = number % 2
        words = [
            *rng.choice(["you", "the", "day", "bus"], rng.integers(2, 7)),
            ["tea", "fool"][bad],
        ]
        texts.append(" ".join(rng.permutation(words).tolist()))
        codes.append(bad)
    lessons = Lessons.of_classes(texts, np.array(codes), Task("HATE"))
    return Rows(lessons, encoded(SHAPE.base, texts, 16))


def weights_of(network: torch.nn.Module) -> np.ndarray:
    return flattened(network).values.numpy()


def right(network: torch.nn.Module, rows: Rows) -> float:
    said = rows.answers(network, np.arange(len(rows))).numpy()
    return float(((said[:, 1] > said[:, 0]) == (rows.lessons.shares[:, 1] > 0.5)).mean())


def test_learns_which_word_matters():
    network, about = finetune(SHAPE, made_up(96), made_up(24, 2), replace(COURSE, rate=1e-2))

    assert right(network, made_up(60, 3)) == 1.0
    assert about["steps"] == 36  # 96 rows in batches of 8 are 12 steps, three times
    assert [row["step"] for row in about["judgings"]] == [12, 24, 36]
    assert about["judgings"][-1]["score"] == 1.0


def test_the_same_seed_gives_the_same_weights_and_another_does_not():
    rows, dev = made_up(32), made_up(16, 2)

    one, two = (finetune(SHAPE, rows, dev, COURSE)[0] for _ in range(2))
    other = finetune(SHAPE, rows, dev, replace(COURSE, seed=1))[0]

    assert np.array_equal(weights_of(one), weights_of(two))
    assert not np.array_equal(weights_of(one), weights_of(other))


def test_two_processes_learn_what_one_learns():
    # Without dropout the only difference is the order in which gradients are summed.
    still = replace(SHAPE, dropout=0.0)
    rows, dev = made_up(32), made_up(16, 2)

    one = finetune(still, rows, dev, COURSE)[0]
    two = finetune(still, rows, dev, replace(COURSE, processes=2))[0]

    assert np.abs(weights_of(one) - weights_of(two)).max() < 1e-3


def test_parts_of_a_batch_sum_to_its_gradient():
    still = replace(SHAPE, dropout=0.0)
    rows, dev = made_up(32), made_up(16, 2)

    whole = finetune(still, rows, dev, COURSE)[0]
    parts = finetune(still, rows, dev, replace(COURSE, accumulate=3))[0]

    assert np.abs(weights_of(whole) - weights_of(parts)).max() < 1e-3


@pytest.mark.parametrize(("at", "processes"), [(5, 1), (12, 1), (36, 1), (12, 2)])
def test_a_killed_training_ends_where_it_would_have_ended(tmp_path: Path, at: int, processes: int):
    rows, dev, course = made_up(96), made_up(24, 2), replace(COURSE, processes=processes)
    expected, about = finetune(SHAPE, rows, dev, course)

    def kill(what: str, done: float, total: float | None) -> None:
        if done >= at:
            raise Killed

    # Whoever watches is told after every tenth step, so a kill comes at 10, 20 or at the end; a
    # checkpoint is written after every fourth.
    with watching(step=kill, checkpoints=tmp_path), pytest.raises(Killed):
        finetune(SHAPE, rows, dev, course)
    assert list(tmp_path.glob("*.safetensors"))
    read = []
    with pytest.MonkeyPatch.context() as patch:
        take_step = _finetuning._First.take_step

        def noted(self, some, step, total):
            read.append(step)
            return take_step(self, some, step, total)

        patch.setattr(_finetuning._First, "take_step", noted)
        with watching(checkpoints=tmp_path):
            again, later = finetune(SHAPE, rows, dev, course)

    assert np.array_equal(weights_of(again), weights_of(expected))
    assert later == about
    first = {5: 9, 12: 21, 36: 37}[at]  # killed at 10, 20 and 36
    assert read == list(range(first, 37))


LONG = """
from dataclasses import replace
from evenhand.models._finetuning import finetune
from evenhand.models.watching import watching
from models.test_finetuning import COURSE, SHAPE, made_up
if __name__ == "__main__":
    rows, dev = made_up(96), made_up(24, 2)
    with watching(step=lambda *told: print("begun", flush=True), checkpoints=None):
        finetune(SHAPE, rows, dev, replace(COURSE, processes=2, epochs=100_000))
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_no_process_of_a_killed_training_is_left(tmp_path: Path):
    (tmp_path / "long.py").write_text(LONG)
    path = os.pathsep.join(map(str, (Path(__file__).parents[1], os.environ.get("PYTHONPATH", ""))))
    words, environment = [sys.executable, "long.py"], {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"begun\n"
        found = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        parent.kill()
    assert found
    for _ in range(400):
        if not any(map(runs, found)):
            break
        time.sleep(0.05)
    assert not any(map(runs, found))


def runs(number: str) -> bool:
    """Whether a process is there and has not ended."""
    try:
        stat = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_a_checkpoint_of_other_rows_is_not_taken_up(tmp_path: Path):
    with watching(checkpoints=tmp_path):
        finetune(SHAPE, made_up(96), made_up(24, 2), COURSE)
        other = made_up(96, 5)
        found = finetune(SHAPE, other, made_up(24, 2), COURSE)[0]

    expected = finetune(SHAPE, other, made_up(24, 2), COURSE)[0]
    assert np.array_equal(weights_of(found), weights_of(expected))


def test_a_checkpoint_of_other_words_is_not_taken_up(tmp_path: Path):
    rows, dev = made_up(8), made_up(8, 2)
    network = flattened(build(SHAPE, weights=True))
    with watching(checkpoints=tmp_path):
        found = [
            _finetuning.Checkpoint.of(network, replace(rows, words=words), dev, COURSE).path
            for words in (None, Ragged.of([[1], [2]]), Ragged.of([[1], [3]]))
        ]
    assert len(set(found)) == 3


def test_a_broken_checkpoint_is_not_taken_up(tmp_path: Path):
    rows, dev = made_up(32), made_up(16, 2)
    with watching(checkpoints=tmp_path):
        finetune(SHAPE, rows, dev, COURSE)
        (path,) = tmp_path.glob("*.safetensors")
        path.write_bytes(path.read_bytes()[:1000])
        found = finetune(SHAPE, rows, dev, COURSE)[0]

    assert np.array_equal(weights_of(found), weights_of(finetune(SHAPE, rows, dev, COURSE)[0]))


def test_stops_when_it_no_longer_gets_better_and_keeps_the_best():
    rows, dev = made_up(96), made_up(24, 2)
    course = replace(COURSE, epochs=20, judgings=2, patience=3)

    network, about = finetune(SHAPE, rows, dev, course)

    scores = [row["score"] for row in about["judgings"]]
    assert about["steps"] < 20 * 12
    assert len(scores) == int(np.argmax(scores)) + 1 + 3  # three without getting better
    best = [row["step"] for row in about["judgings"] if row["score"] == max(scores)]
    assert about["best_step"] == best[-1]
    said = dev.answers(network, np.arange(len(dev))).numpy()
    assert judged(dev.lessons, said)["score"] == max(scores)


def test_without_dev_rows_that_can_be_judged_training_goes_on():
    dev = made_up(24, 2)
    harmless = replace(dev.lessons, shares=np.tile(np.float32([1, 0]), (24, 1)))
    one_kind = replace(dev, lessons=harmless)

    network, about = finetune(SHAPE, made_up(96), one_kind, replace(COURSE, patience=1))

    assert about["steps"] == about["best_step"] == 36
    assert about["judgings"] == [{"step": 12}, {"step": 24}, {"step": 36}]  # nothing, and not 0
    whole = finetune(SHAPE, made_up(96), made_up(24, 2), COURSE)[0]
    assert np.array_equal(weights_of(network), weights_of(whole))


def test_a_row_teaches_only_the_tasks_it_is_labelled_for():
    rows = made_up(4)
    lessons = rows.lessons
    tasks = (Task("HATE"), Task("SPAM"))
    shares = np.concatenate([lessons.shares, np.zeros((4, 2), dtype=np.float32)], axis=1)
    labelled = np.array([[True, False]] * 4)
    two = Rows(replace(lessons, tasks=tasks, shares=shares, labelled=labelled), rows.tokens)
    network = build(replace(SHAPE, columns=4, dropout=0.0), weights=True)
    fresh(network, stream(0, "weights"))

    two.loss(network, np.arange(4)).backward()

    gradient = network.last.weight.grad.numpy()
    assert np.abs(gradient[:2]).max() > 0
    assert np.abs(gradient[2:]).max() == 0  # the answers of SPAM


def test_the_loss_by_hand():
    rows = made_up(2)  # one harmless, one bad

    class Fixed(torch.nn.Module):
        def forward(self, tokens, mask):
            return torch.tensor([[0.0, 0.0], [0.0, np.log(3)]], dtype=torch.float32)

    weighted = replace(rows.lessons, weights=np.array([1.0, 2.0], dtype=np.float32))
    loss = Rows(weighted, rows.tokens).loss(Fixed(), np.arange(2))

    # -ln(1/2) for the first; the second says 3/4 for yes, which is right: 2 × -ln(3/4).
    assert loss.item() == pytest.approx(np.log(2) + 2 * np.log(4 / 3))


def test_a_row_beside_its_mate_by_hand():
    class Says(torch.nn.Module):
        """Answers (0, number of the first token)."""

        def forward(self, tokens, mask):
            first = tokens[:, 0].float()
            return torch.stack([torch.zeros_like(first), first], dim=1)

    task = Task("HATE")
    lessons = Lessons.of_classes(["a", "b", "c"], np.array([1, 1, 0]), task)
    rows = Rows(replace(lessons, mates=np.array([1, 0, -1])), Ragged.of([[2], [1], [0]]))
    some = np.array([0, 2])
    # Cross entropies: row 0 log(1 + e^-2) = .127, its mate log(1 + e^-1) = .313, row 2 .693.
    # Margins 2 and 1 are 1 apart: (.127 + .313) / 2 + .693 + .3 · 1.
    found = rows.loss(Says(), some, np.array([0]), pull=0.3)
    assert float(found) == pytest.approx(0.5 * (0.12693 + 0.31326) + 0.69315 + 0.3, abs=1e-4)
    assert float(rows.loss(Says(), some)) == pytest.approx(0.12693 + 0.69315, abs=1e-4)
    every = rows.beside(np.array([0, 1, 2]), 0.999999, stream(0, "mates"))
    assert every.tolist() == [0, 1]
    assert rows.beside(some, 0.0, stream(0, "mates")).tolist() == []


def test_a_row_is_drawn_to_what_a_teacher_reads_by_hand():
    class Reads(torch.nn.Module):
        """A vector of 1 and the first token; both answers are 0."""

        guide = torch.nn.Identity()

        def pooled(self, tokens, mask):
            return torch.stack([torch.ones(len(tokens)), tokens[:, 0].float()], dim=1)

        def answered(self, vectors):
            return torch.zeros(len(vectors), 2)

    lessons = Lessons.of_classes(["a", "b", "c"], np.array([1, 1, 0]), Task("HATE"))
    vectors = np.array([[3, 0], [0, 0], [0, 2]], dtype=np.float16)
    weights = np.array([1, 1, 0.5], dtype=np.float32)
    rows = Rows(replace(lessons, vectors=vectors, weights=weights), Ragged.of([[0], [1], [1]]))
    # Each answer costs ln 2, the last by half. (1, 0) lies along (3, 0): 0; nobody was asked about
    # the second; (1, 1) and (0, 2) are 45° apart: 1 - cos 45° = .29289, by half.
    found = rows.loss(Reads(), np.arange(3), guide=2.0)
    assert float(found) == pytest.approx(2.5 * np.log(2) + 2 * 0.5 * 0.29289, abs=1e-4)


def test_how_dev_rows_are_judged_by_hand():
    texts = ["a"] * 6
    task = Task("HATE")
    lessons = Lessons.of_classes(texts, np.array([0, 0, 1, 1, 0, 1]), task)
    lessons = replace(lessons, parts=["x", "x", "x", "x", "y", "y"])
    margins = np.array([0.0, 2.0, 1.0, 3.0, 1.0, 1.0])
    answers = np.stack([np.zeros(6), margins], axis=1).astype(np.float32)

    found = judged(lessons, answers)

    # x: of four pairs three are in order (1 beats 0; 3 beats 0 and 2): 3/4. y: a tie, 1/2.
    assert found == {"x HATE": 0.75, "y HATE": 0.5, "score": 0.625}


def test_a_rate_that_is_far_too_high_is_said():
    course = replace(COURSE, rate=1e30, warm_up=0.0, epochs=2)
    with pytest.raises(BrokenComponent, match="smaller rate"):
        finetune(SHAPE, made_up(32), made_up(16, 2), course)


def test_the_rate_rises_and_falls():
    course = replace(COURSE, rate=1.0, warm_up=0.2)

    # Ten steps: two of warm-up, then down over the other eight, the last at 1/9.
    rates = [course.rate_at(step, 10) for step in (1, 2, 3, 10)]

    assert rates == pytest.approx([0.5, 1.0, 8 / 9, 1 / 9])
    assert replace(course, optimiser="sgd").rate_at(1, 10) == 1.0


def test_lists_are_padded():
    ragged = Ragged.of([[5, 6, 7], [], [8]])

    table, mask = ragged.padded(np.array([2, 0, 1]))

    assert table.tolist() == [[8, 0, 0], [5, 6, 7], [0, 0, 0]]
    assert mask.tolist() == [[1, 0, 0], [1, 1, 1], [0, 0, 0]]


def test_families_are_read_together_and_each_reading_in_another_batch():
    rows = made_up(40)
    pairs = np.arange(40) // 2  # 0 and 1 are a family, 2 and 3 …
    rows = replace(rows, lessons=replace(rows.lessons, families=pairs))
    read = np.sort(np.concatenate([np.arange(40), np.arange(40)]))  # everything twice
    batches = rows.batches(read, 8, stream(0, "batches"))
    assert sorted(np.concatenate(batches).tolist()) == read.tolist()
    assert [len(batch) for batch in batches] == [8] * 10
    for batch in batches:
        counts = np.bincount(batch, minlength=40)
        assert (counts[0::2] == counts[1::2]).all()  # whole families: 8 is a multiple of 2
    again = rows.batches(read, 8, stream(0, "batches"))
    assert [batch.tolist() for batch in again] == [batch.tolist() for batch in batches]
    other = rows.batches(read[::-1].copy(), 8, stream(0, "batches"))
    assert [batch.tolist() for batch in other] == [batch.tolist() for batch in batches]


def test_rows_are_read_as_often_as_they_should():
    lessons = replace(made_up(2000).lessons, times=np.repeat([2.0, 0.25, 0.0], [500, 1000, 500]))

    one, two = (np.bincount(lessons.read_in(epoch, 0), minlength=2000) for epoch in (0, 1))

    assert set(one[:500].tolist()) == {2} and one[1500:].sum() == 0
    assert 190 < one[500:1500].sum() < 310  # a quarter of 1,000 is 250; 310 is four deviations off
    assert not np.array_equal(one, two)
    assert np.array_equal(one, np.bincount(lessons.read_in(0, 0), minlength=2000))

"""Fine-tuning a network on several cores, resumable at any kill.

Every process computes the gradient of its share of each batch, then sums one part of all gradients
and moves that part of the weights; weights and gradients lie in memory that all processes share.
Sums are taken in a fixed order, all random numbers of a step come from a stream named after it, and
the rows of an epoch from one named after the epoch: the same seed and number of processes give the
same weights, and a training that goes on from a checkpoint ends where it would have ended.

The optimiser is AdamW with a linear warm-up and a linear way down, or plain SGD. What is kept is a
running mean of the weights, judged on dev rows several times: the best of these is the result, and
a training that has not improved ``patience`` times running stops.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
import torch.multiprocessing as processes
from torch import Tensor

from evenhand.core.errors import BrokenComponent
from evenhand.core.processes import end_with_parent
from evenhand.core.streams import stream
from evenhand.models._encoder_network import EncoderNetwork, Shape, build, dropouts, fresh
from evenhand.models._epochs import one_thread
from evenhand.models._finetuning_checkpoint import Checkpoint
from evenhand.models._finetuning_rows import Rows, judged
from evenhand.models._flat import Flat, flattened
from evenhand.models._processor import keep_memory
from evenhand.models.lessons import Ints
from evenhand.models.watching import watch

_OFTEN = 10
"""After so many steps whoever watches is told."""
_AVERAGED = 4
"""The running mean of the weights is moved after so many steps."""
_MOMENTUM = 0.9
_STATE = ("step", "score", "best_step", "worse", "log", "losses")
"""What a checkpoint says of the first process."""
_WAIT = 900.0
"""Seconds a process waits for the others before it gives up."""


@dataclass(frozen=True, kw_only=True)
class Course:
    """How a network is trained."""

    epochs: int
    batch: int
    """Rows whose gradient is one step."""
    accumulate: int = 1
    """In how many parts a process computes its share of a batch, to save memory."""
    rate: float
    warm_up: float
    decay: float
    average: float
    """How slowly the running mean of the weights moves; 0 for none."""
    judgings: int
    """How often in an epoch dev rows are judged."""
    patience: int
    processes: int
    seed: int
    named: str
    """What the checkpoint says of itself: anything that changes the result and is not above."""
    optimiser: Literal["adamw", "sgd"] = "adamw"
    """``sgd`` has momentum, no decay and the same rate in every step."""
    clip: float = 1.0
    """The longest gradient; a longer one is shortened."""
    beside: float = 0.0
    """The share of readings of a row that has a mate in which the two are read together."""
    pull: float = 0.0
    """How strongly the answers to a row and its mate are pulled together."""
    guide: float = 0.0
    """How strongly the network's vectors are drawn to a teacher's."""
    checkpoint_every: int = 200
    """Steps between two checkpoints."""

    def rate_at(self, step: int, total: int) -> float:
        """The rate of a step, counted from 1."""
        warm = max(1, round(self.warm_up * total))
        if self.optimiser == "sgd":
            return self.rate
        return self.rate * min(step / warm, (total - step + 1) / max(1, total - warm + 1))


@dataclass(frozen=True, eq=False)
class _Shared:
    """What all processes see."""

    flat: Flat
    gradients: list[Tensor]
    """One for each process."""
    norms: Tensor
    """The squared length of each part of the gradient."""
    first: Tensor
    second: Tensor
    """The optimiser's running means."""
    mean: Tensor
    """The running mean of the weights."""
    answers: Tensor
    """What the network says of the dev rows."""
    stopped: Tensor
    barrier: Any

    @classmethod
    def of(cls, network: EncoderNetwork, dev: Rows, course: Course) -> _Shared:
        """Memory for a network; its weights lie there from now on."""
        flat = flattened(network)
        flat = replace(flat, values=_shared(len(flat.values)).copy_(flat.values))
        flat.bind(network)
        size, many = len(flat.values), course.processes
        return cls(
            flat=flat,
            gradients=[_shared(size) for _ in range(many)],
            norms=_shared(many, dtype=torch.float64),
            first=_shared(size),
            second=_shared(size),
            mean=_shared(size).copy_(flat.values),
            answers=_shared(len(dev), dev.columns),
            stopped=_shared(1),
            barrier=processes.get_context("spawn").Barrier(many, timeout=_WAIT),
        )


def _shared(*size: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Zeros in memory that all processes see."""
    found: Tensor = torch.zeros(size, dtype=dtype).share_memory_()  # type: ignore[no-untyped-call]
    return found


def finetune(
    shape: Shape, rows: Rows, dev: Rows, course: Course
) -> tuple[EncoderNetwork, dict[str, Any]]:
    """The trained network, and how the training went."""
    keep_memory()
    with one_thread():
        network = build(shape, weights=True)
        fresh(network, stream(course.seed, "weights"))
        shared = _Shared.of(network, dev, course)
        checkpoint = Checkpoint.of(shared.flat, rows, dev, course)
        first = _First(0, network, rows, dev, course, shared, checkpoint=checkpoint)
        first.take_up()
        context = processes.get_context("spawn")
        others = [
            context.Process(
                target=_other,
                args=(rank, shape, rows, dev, course, shared, first.step),
                daemon=True,
            )
            for rank in range(1, course.processes)
        ]
        for other in others:
            other.start()
        try:
            first.run()
        except threading.BrokenBarrierError:
            raise BrokenComponent(
                "a process of the training stopped; run it again with --resume"
            ) from None
        except BaseException:
            shared.barrier.abort()
            raise
        finally:
            for other in others:
                other.join(30)
                other.kill()
        shared.flat.values.copy_(first.best)
        shared.flat.bind(network)
        network.eval()
    return network, {"steps": first.step, "best_step": first.best_step, "judgings": first.log}


def _other(
    rank: int, shape: Shape, rows: Rows, dev: Rows, course: Course, shared: _Shared, step: int
) -> None:
    """What every process but the first does."""
    end_with_parent()
    keep_memory()
    torch.set_num_threads(1)
    network = build(shape, weights=False)
    try:
        _Worker(rank, network, rows, dev, course, shared, step).run()
    except threading.BrokenBarrierError:
        pass  # the first process has gone
    except BaseException:
        shared.barrier.abort()
        raise


@dataclass(eq=False)
class _Worker:
    """One process of a training."""

    rank: int
    network: EncoderNetwork
    rows: Rows
    dev: Rows
    course: Course
    shared: _Shared
    step: int = 0
    """How many steps are done."""

    def run(self) -> None:
        """Train to the end."""
        course, done = self.course, 0
        self.network.train()
        self.shared.flat.bind(self.network, self.shared.gradients[self.rank])
        epochs = range(course.epochs)
        many = [len(self.rows.lessons.read_in(epoch, course.seed)) for epoch in epochs]
        steps = [-(-rows // course.batch) for rows in many]
        for epoch in epochs:
            if self.shared.stopped.item():
                return
            if done + steps[epoch] <= self.step:
                done += steps[epoch]
                continue
            every = max(1, -(-steps[epoch] // course.judgings))
            read = self.rows.lessons.read_in(epoch, course.seed)
            rng = stream(course.seed, "epoch", epoch)
            for number, some in enumerate(self.rows.batches(read, course.batch, rng), 1):
                done += 1
                if done <= self.step:
                    continue
                loss = self.take_step(some, done, sum(steps))
                self.step = done
                if number % every == 0 or number == steps[epoch]:
                    self.judge()
                self.after_step(loss, sum(steps))
                if self.shared.stopped.item():
                    break

    def take_step(self, some: Ints, step: int, total: int) -> float:
        """One step; the loss of this process's rows."""
        course, shared = self.course, self.shared
        rng = stream(course.seed, "dropout", step, self.rank)
        for module in dropouts(self.network):
            module.rng = rng
        shared.gradients[self.rank].zero_()
        mine = some[self.rank :: course.processes]
        loss = 0.0
        for part in np.array_split(mine, course.accumulate):
            if len(part):
                beside = self.rows.beside(part, course.beside, rng)
                found = self.rows.loss(self.network, part, beside, course.pull, course.guide)
                found = found / len(some)
                found.backward()  # type: ignore[no-untyped-call]
                loss += found.item() * len(some) / len(mine)
        shared.barrier.wait()
        start, stop = shared.flat.part(self.rank, course.processes)
        gradient = shared.gradients[0][start:stop].clone()
        for other in shared.gradients[1:]:
            gradient += other[start:stop]
        shared.norms[self.rank] = float(torch.linalg.vector_norm(gradient)) ** 2
        shared.barrier.wait()
        norm = float(shared.norms.sum()) ** 0.5
        if not np.isfinite(norm):
            raise BrokenComponent(f"the training diverged at step {step}; try a smaller rate")
        gradient *= min(1.0, course.clip / (norm + 1e-6))
        self.move(gradient, slice(start, stop), step, total)
        shared.barrier.wait()
        return loss

    def move(self, gradient: Tensor, part: slice, step: int, total: int) -> None:
        """Move a part of the weights, and their running mean."""
        course, shared = self.course, self.shared
        values, first = shared.flat.values[part], shared.first[part]
        rate = course.rate_at(step, total)
        if course.optimiser == "sgd":
            first.mul_(_MOMENTUM).add_(gradient)
            values.sub_(first, alpha=rate)
        else:
            torch._fused_adamw_(
                [values], [gradient], [first], [shared.second[part]], [],
                [torch.tensor(float(step))],
                lr=rate, beta1=0.9, beta2=0.999, weight_decay=course.decay, eps=1e-8,
                amsgrad=False, maximize=False,
            )  # fmt: skip
        if course.average and step % _AVERAGED == 0:
            slow = min(course.average, step / (step + 10))
            shared.mean[part].lerp_(values, 1 - slow**_AVERAGED)

    def judge(self) -> None:
        """Let the running mean of the weights answer the dev rows."""
        shared, many = self.shared, self.course.processes
        shared.flat.bind(self.network, values=self.judged_weights)
        self.network.eval()
        mine = np.arange(self.rank, len(self.dev), many)
        shared.answers[mine] = self.dev.answers(self.network, mine)
        shared.barrier.wait()
        self.network.train()
        shared.flat.bind(self.network, shared.gradients[self.rank])
        self.after_judging()
        shared.barrier.wait()

    @property
    def judged_weights(self) -> Tensor:
        """The weights that are judged and kept."""
        return self.shared.mean if self.course.average else self.shared.flat.values

    def after_step(self, loss: float, total: int) -> None:
        """Only the first process has more to do."""

    def after_judging(self) -> None:
        """Only the first process has more to do."""


@dataclass(eq=False)
class _First(_Worker):
    """The process that keeps the best weights and tells whoever watches."""

    checkpoint: Checkpoint | None = None
    best: Tensor = field(init=False)
    score: float = -np.inf
    best_step: int = 0
    worse: int = 0
    """Judgings since the best."""
    log: list[dict[str, float]] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.best = self.shared.flat.values.clone()

    @property
    def tensors(self) -> dict[str, Tensor]:
        """What a checkpoint holds."""
        shared = self.shared
        return {
            "values": shared.flat.values,
            "first": shared.first,
            "second": shared.second,
            "mean": shared.mean,
            "best": self.best,
        }

    def take_up(self) -> None:
        """Go on from a checkpoint, if there is one that fits."""
        found = self.checkpoint.taken_up(self.tensors) if self.checkpoint else None
        if found is not None:
            for name in _STATE:
                setattr(self, name, found[name])
            watch().step(f"going on after step {self.step}", self.step, None)
            self.shared.stopped.fill_(self.enough)

    def after_step(self, loss: float, total: int) -> None:
        """Tell, and keep a checkpoint."""
        self.losses = [*self.losses[-99:], loss]
        last = self.step == total or bool(self.shared.stopped.item())
        if self.checkpoint and (last or self.step % self.course.checkpoint_every == 0):
            self.checkpoint.write(self.tensors, {name: getattr(self, name) for name in _STATE})
        if last or self.step % _OFTEN == 0:
            mean = sum(self.losses) / len(self.losses)
            judged = f", dev {self.score:.4f}" if np.isfinite(self.score) else ""
            watch().step(f"step {self.step} of {total}, loss {mean:.3f}{judged}", self.step, total)

    def after_judging(self) -> None:
        """Keep the weights if they are the best so far."""
        found = judged(self.dev.lessons, self.shared.answers.numpy())
        self.log.append({"step": self.step, **found})
        score = found.get("score", self.score)  # without one, nothing says that training is over
        self.worse = self.worse + 1 if found and score <= self.score else 0
        if score >= self.score:  # of equals the one that has learned longer
            self.score, self.best_step = score, self.step
            self.best.copy_(self.judged_weights)
        self.shared.stopped.fill_(self.enough)

    @property
    def enough(self) -> float:
        """1 where more training is not expected to help, else 0."""
        return float(0 < self.course.patience <= self.worse)

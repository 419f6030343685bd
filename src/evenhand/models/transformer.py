"""Recipe ``transformer``: fine-tune a small encoder, for one corpus or for several attributes.

A text goes through the front end (:mod:`evenhand.models.front_end`), the base's tokenizer and the
encoder; the mean of its states feeds one layer. Training is :mod:`evenhand.models._finetuning`:
length buckets, one process per core, early stopping on dev posts that share no author, twin or
near-duplicate with the training posts. What is saved is the network as ONNX, which scores without
torch (:mod:`evenhand.models.encoder`); with ``int8`` its weights are whole numbers of 8 bits.

``fit`` learns one corpus, like every recipe; ``fit_material`` learns a plan's several corpora and
attributes, with a task for each attribute and no loss where a corpus does not label it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import polars as pl

from evenhand.core.errors import BadInput, MissingExtra
from evenhand.data.corpus import Corpus
from evenhand.data.splits import holdout, ties
from evenhand.models._posts import Handles
from evenhand.models.base_weights import Base, find_base
from evenhand.models.encoder import SHORTEST, Encoder
from evenhand.models.encoder_detector import EncoderDetector
from evenhand.models.front_end import VERSION as FRONT_END
from evenhand.models.front_end import Emoji, FrontEnd, Identities
from evenhand.models.lessons import Lessons, Task
from evenhand.models.protocol import HATE, Arrays, Record
from evenhand.models.training import TrainingRows, record, training_rows

if TYPE_CHECKING:
    from evenhand.models._encoder_network import EncoderNetwork
    from evenhand.models.abusive_words import Vocabulary
    from evenhand.models.material import Material

_DEV = 0.1
"""The share of posts that early stopping looks at."""
_SEEN = 1000
"""About so many training texts show which range the numbers of 8 bits must have."""


@dataclass(frozen=True, kw_only=True)
class Transformer:
    """Options of the recipe."""

    name: ClassVar[str] = "transformer"
    choices: ClassVar[Mapping[str, tuple[float, ...]]] = {"rate": (5e-5, 1e-4, 2e-4)}
    """The options, and their values, among which a selection on training posts chooses."""

    question: str = ""
    """Which question's gold to learn; empty means the corpus's main one."""
    hateful: tuple[str, ...] = ()
    """Which labels count as hateful; empty means those the corpus declares."""
    classes: tuple[str, ...] = ()
    """Labels to tell apart; empty means hateful posts from all others."""
    base: str = ""
    """A folder with an encoder; empty means the default base."""
    length: int = 96
    """The most tokens of a text that are read at once."""
    epochs: int = 3
    batch: int = 32
    """Texts whose gradient is one step."""
    accumulate: int = 1
    """In how many parts a process reads its texts of a batch, to save memory."""
    rate: float = 1e-4
    optimiser: Literal["adamw", "sgd"] = "adamw"
    """``sgd`` has a momentum of .9, no decay and the same rate throughout."""
    warm_up: float = 0.1
    """The share of steps in which the rate rises."""
    decay: float = 0.01
    dropout: float = 0.1
    average: float = 0.995
    """How slowly the running mean of the weights moves, which is what is kept; 0 for none."""
    balanced: float = 0.0
    """How far rarer classes of a corpus count more: at 1 every class counts alike, at .5 by the
    square root of that, at 0 every post."""
    beside: float = 0.0
    """Of a post that names an identity, the share of readings beside a copy that names another."""
    pull: float = 0.0
    """How strongly the answers to the two are pulled together."""
    guide: float = 0.0
    """How strongly the network's vectors are drawn to its teacher's, where a plan has one."""
    judgings: int = 1
    """How often in an epoch dev posts are judged."""
    patience: int = 2
    """After how many judgings without improvement training stops; 0 for never."""
    processes: int = 1
    """One core each; the result depends on their number in its last digits."""
    half: bool = False
    """Whether training multiplies in 16 bits, which some processors do twice as fast."""
    int8: bool = False
    """Whether the saved weights are whole numbers of 8 bits."""
    emoji: Emoji = "words"
    """How emoji are read: by their names, as they are, or not at all."""
    undo: bool = True
    """Whether disguised words are read as what they stand for."""
    identities: Identities = "named"
    """Whether groups of people are read as they are named, or one word stands for all of them."""
    handles: Handles = "kept"
    """Whether handles are read as ``@user``, or not at all."""

    def __post_init__(self) -> None:
        expect_positive(self.name, self, ("length", "epochs", "batch", "accumulate", "rate",
                                          "judgings", "processes"))  # fmt: skip
        if self.length < SHORTEST:
            raise BadInput(
                f"{self.name}: length is {self.length}; expected {SHORTEST} tokens or more"
            )
        if not 0 <= self.balanced <= 1:
            raise BadInput(f"{self.name}: balanced is {self.balanced}; expected from 0 to 1")
        for key in ("warm_up", "dropout", "average", "beside"):
            if not 0 <= getattr(self, key) < 1:
                found = getattr(self, key)
                raise BadInput(f"{self.name}: {key} is {found}; expected from 0 to below 1")

    @property
    def front_end(self) -> FrontEnd:
        """How texts are cleaned."""
        return FrontEnd(self.emoji, self.undo, self.identities, self.handles)

    def fit(self, posts: pl.DataFrame, gold: pl.DataFrame, *, seed: int) -> EncoderDetector:
        """Learn one corpus."""
        self.expect_parts()
        rows = training_rows(posts, gold, self)
        base = find_base(self.base)
        task = Task(self.question or HATE, self.classes or ("no", "yes"))
        train, dev = dev_split(rows, task, seed)
        train = train.balanced(self.balanced)
        known = record(self, rows, seed=seed)
        return self._fitted(base, train, dev, known, seed)

    def fit_material(self, given: Material, *, seed: int) -> EncoderDetector:
        """Learn the corpora of a plan."""
        self.expect_parts()
        known = given.record(self, seed=seed)
        return self._fitted(find_base(self.base), given.train, given.dev, known, seed)

    def expect_parts(self) -> None:
        """Refuse what this machine cannot do."""
        expect_torch(self.name)
        if self.half:
            from evenhand.models._processor import multiplies_half

            if not multiplies_half():
                raise BadInput(
                    f"{self.name}: half=yes needs a processor with AVX512-BF16, and a machine that "
                    "lets PyTorch use it; type half=no (training takes about twice as long and "
                    "ends in other last digits)"
                )

    def restore(self, record: Record, arrays: Arrays) -> EncoderDetector:
        """The detector that gave these arrays."""
        return EncoderDetector.restore(record, arrays, self.front_end)

    def _fitted(
        self, base: Base, train: Lessons, dev: Lessons, known: Record, seed: int
    ) -> EncoderDetector:
        from evenhand.models._encoder_network import margins_only
        from evenhand.models._onnx import exported

        network, about = self._trained(base, train, dev, seed)
        if not self.classes:
            margins_only(network)
        tokenizer = (base.folder / "tokenizer.json").read_bytes()
        model = exported(network, vocabulary=network.vocabulary)
        encoder = Encoder(model, tokenizer, min(self.length, base.longest))
        if self.int8:
            from evenhand.models._int8 import quantised

            some = self.front_end.texts(train.texts[:: max(1, len(train) // _SEEN)])
            windows = [every[0] for every in encoder.tokens(some)]
            encoder = replace(encoder, model=quantised(model, windows))
        known = replace(known, provenance={**known.provenance, **self._about(base, encoder, about)})
        return EncoderDetector(known, encoder, self.front_end, {})

    def _about(self, base: Base, encoder: Encoder, training: dict[str, Any]) -> dict[str, Any]:
        return {
            "base": {"name": base.name, "sha256": base.sha256},
            "front_end": FRONT_END,
            "length": encoder.length,
            "training": training,
        }

    def _trained(
        self,
        base: Base,
        train: Lessons,
        dev: Lessons,
        seed: int,
        words: Vocabulary | None = None,
    ) -> tuple[EncoderNetwork, dict[str, Any]]:
        from evenhand.models._encoder_network import Shape
        from evenhand.models._finetuning import Course, finetune
        from evenhand.models._finetuning_rows import Ragged, Rows, encoded

        def rows(lessons: Lessons) -> Rows:
            texts = self.front_end.texts(lessons.texts)
            tokens = encoded(base.folder, texts, min(self.length, base.longest))
            known = None if words is None else Ragged.of(words.numbered(texts))
            return Rows(lessons, tokens, known)

        guide = train.vectors.shape[1] if self.guide and train.vectors is not None else 0
        shape = Shape(base.folder, train.shares.shape[1], self.dropout, guide=guide, half=self.half)
        if words is not None:
            shape = replace(
                shape, words=len(words.words), embedding=words.embedding, hidden=words.hidden
            )
        course = Course(
            epochs=self.epochs, batch=self.batch, accumulate=self.accumulate, rate=self.rate,
            warm_up=self.warm_up, decay=self.decay, average=self.average, judgings=self.judgings,
            patience=self.patience, processes=self.processes, seed=seed,
            optimiser=self.optimiser, beside=self.beside, pull=self.pull,
            guide=self.guide if guide else 0.0,
            named=f"{self.name} {self.dropout} {self.half}",
        )  # fmt: skip
        return finetune(shape, rows(train), rows(dev), course)


def dev_split(rows: TrainingRows, task: Task, seed: int) -> tuple[Lessons, Lessons]:
    """Training rows, and a tenth that shares no author, twin or near-duplicate with them."""
    posts = rows.posts
    corpus = Corpus(name="training", rows=posts.height, posts=posts)
    labels = pl.Series(rows.labels.astype(str))
    split = holdout(
        posts["id"], labels, ties(corpus), test=_DEV, seed=seed, rule="what is alike together"
    )
    held = posts["id"].is_in(list(split.test)).to_numpy()
    texts = np.array(rows.texts, dtype=object)
    train, dev = (
        Lessons.of_classes(texts[side].tolist(), rows.labels[side], task) for side in (~held, held)
    )
    return train, dev


def expect_positive(recipe: str, options: object, names: tuple[str, ...]) -> None:
    """Refuse options that must be more than 0."""
    faults = [
        f"{recipe}: {name} is {getattr(options, name)}; expected more than 0"
        for name in names
        if not getattr(options, name) > 0
    ]
    if faults:
        raise BadInput(*faults)


def expect_torch(recipe: str) -> None:
    """Refuse in words where the extra is missing."""
    absent = [name for name in ("torch", "transformers", "onnx") if find_spec(name) is None]
    if absent:
        raise MissingExtra(
            f"recipe {recipe!r} needs {' and '.join(absent)}; install the extra that has it: "
            "pip install 'evenhand[train]'"
        )

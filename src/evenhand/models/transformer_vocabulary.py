"""Recipe ``transformer-vocabulary``: an encoder beside an embedding of abusive words.

After Delisle et al. (Troll Patrol, 5.2): the encoder's representation of a text, and the mean of an
embedding of 128 units, learned from scratch, over the words of the text that are in a limited
abusive vocabulary (:mod:`evenhand.models.abusive_words`); 64 units read both, and a softmax
answers. Ours is the mean of the encoder's states where the paper takes that of ``[CLS]``.
``optimiser=sgd`` with ``rate=1e-4`` and ``epochs=11`` is the paper's training; ``vocabulary=no``
leaves the words out and keeps all else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from evenhand.core.errors import BadInput
from evenhand.models.abusive_words import Vocabulary, listed, over_represented
from evenhand.models.encoder import Encoder
from evenhand.models.front_end import FrontEnd, expect_front_end
from evenhand.models.protocol import Arrays, Probabilities, Record, Trained
from evenhand.models.training import shown
from evenhand.models.transformer import Transformer, expect_positive

if TYPE_CHECKING:
    from evenhand.models.base_weights import Base
    from evenhand.models.lessons import Lessons

Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class TransformerVocabulary(Transformer):
    """Options of the recipe."""

    name: ClassVar[str] = "transformer-vocabulary"

    words: str = ""
    """A file with a list of abusive words; empty for none but those of the training posts."""
    own: int = 1000
    """How many words of the training posts join the list."""
    vocabulary: bool = True
    """Whether there is a vocabulary at all."""
    embedding: int = 128
    hidden: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_positive(self.name, self, ("own", "embedding", "hidden"))
        if self.int8:
            raise BadInput(f"{self.name}: int8 is of the recipe transformer; leave it out")

    fit_material: ClassVar[None] = None  # type: ignore[assignment]
    """It learns one corpus: a vocabulary is of one question."""

    def restore(self, record: Record, arrays: Arrays) -> VocabularyDetector:  # type: ignore[override]
        """The detector that gave these arrays."""
        return VocabularyDetector.restore(record, arrays, self.front_end)

    def _fitted(  # type: ignore[override]
        self, base: Base, train: Lessons, dev: Lessons, known: Record, seed: int
    ) -> VocabularyDetector:
        from evenhand.models._onnx import exported

        vocabulary = self._vocabulary(train)
        network, about = self._trained(base, train, dev, seed, vocabulary)
        model = exported(network.pooled, vocabulary=network.vocabulary)
        tokenizer = (base.folder / "tokenizer.json").read_bytes()
        encoder = Encoder(model, tokenizer, min(self.length, base.longest), windows=1)
        known = replace(known, provenance={**known.provenance, **self._about(base, encoder, about)})
        weights = {
            name: value.detach().numpy()
            for name, value in network.state_dict().items()
            if not name.startswith("pooled.")
        }
        return VocabularyDetector(known, encoder, self.front_end, vocabulary, weights)

    def _vocabulary(self, train: Lessons) -> Vocabulary:
        found = self._words(train) if self.vocabulary else []
        return Vocabulary(tuple(found), self.embedding, self.hidden)

    def _words(self, train: Lessons) -> list[str]:
        texts = self.front_end.texts(train.texts)
        # With classes, what counts as abusive is what the corpus counts as hateful.
        meant = self.hateful if self.classes else ("yes",)
        bad = [n for n, name in enumerate(train.tasks[0].answers) if name in meant]
        abusive = train.shares[:, bad].sum(axis=1) > 0.5
        found = over_represented(texts, abusive, self.own)
        given = listed(Path(self.words), self.front_end) if self.words else ()
        return sorted({*found, *given})


@dataclass(frozen=True, eq=False)
class VocabularyDetector(Trained):
    """Encoder, words and the layers behind them; it scores without torch."""

    encoder: Encoder
    front_end: FrontEnd
    vocabulary: Vocabulary
    weights: dict[str, Floats]

    def score(self, texts: Sequence[str]) -> Probabilities:
        """The probability of each attribute, one row per text."""
        clean = self.front_end.texts(texts)
        values = self.encoder.logits(clean).astype(np.float64)
        found = self.weights
        values = np.concatenate([values, self._means(clean)], axis=1)
        values = np.maximum(_layer(values, found["hidden.weight"], found["hidden.bias"]), 0)
        answers = _layer(values, found["last.weight"], found["last.bias"])
        return shown(softmax(answers, axis=1), self.attributes)

    def _means(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The mean of the embedding over each text's words; 0 where it has none."""
        table = self.weights["words.weight"].astype(np.float64)
        means = np.zeros((len(texts), table.shape[1]))
        for row, numbers in enumerate(self.vocabulary.numbered(texts)):
            if numbers:
                means[row] = table[numbers].mean(axis=0)
        return means

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was learned."""
        words = "\n".join(self.vocabulary.words).encode()
        return {
            **self.encoder.arrays(),
            **self.weights,
            "vocabulary": np.frombuffer(words, dtype=np.uint8),
        }

    @classmethod
    def restore(cls, record: Record, arrays: Arrays, front_end: FrontEnd) -> VocabularyDetector:
        """The detector that gave these arrays."""
        expect_front_end(record.name, record.provenance.get("front_end"))
        encoder = Encoder.restore(arrays, int(record.provenance["length"]), windows=1)
        words = tuple(arrays["vocabulary"].tobytes().decode().split("\n"))
        names = ("words.weight", "hidden.weight", "hidden.bias", "last.weight", "last.bias")
        weights = {name: arrays[name] for name in names}
        rows, embedding = weights["words.weight"].shape
        vocabulary = Vocabulary(words if rows > 1 else (), embedding, len(weights["hidden.bias"]))
        if len(vocabulary.words) + 1 != rows:
            raise ValueError(f"{len(vocabulary.words)} words with {rows} vectors")
        return cls(record, encoder, front_end, vocabulary, weights)


def _layer(values: NDArray[np.float64], weight: Floats, bias: Floats) -> NDArray[np.float64]:
    """One row at a time by sums that do not depend on how many rows there are."""
    made: NDArray[np.float64] = np.einsum("ij,kj->ik", values, weight.astype(np.float64)) + bias
    return made

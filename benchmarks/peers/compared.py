"""The detectors in the tables, and their scores of every text that is asked about.

A detector scores every text once; with a folder to keep scores in, once for all runs.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from evenhand.models.base_weights import find_base
from evenhand.models.front_end import VERSION as FRONT_END
from evenhand.models.front_end import FrontEnd
from evenhand.models.linear import Linear, learned
from evenhand.models.material import Material
from evenhand.models.synthetic import sentences

Floats = NDArray[np.float64]
Score = Callable[[Sequence[str]], Floats]

LENGTH = 80
"""Tokens of a text that the frozen base reads, as many as in training."""
ALWAYS = "always-positive"


@dataclass(frozen=True, eq=False)
class Row:
    """A detector and what it says of every text."""

    name: str
    p: Mapping[str, Mapping[str, float]]
    """By attribute and text."""
    threshold: float = 0.5
    """Of HATE."""

    def of(self, attribute: str, texts: Iterable[str]) -> Floats:
        """The scores of texts."""
        known = self.p[attribute]
        return np.array([known[text] for text in texts])


@dataclass(frozen=True, eq=False)
class Asked:
    """Every text that detectors are asked about, once each."""

    texts: list[str]
    keep: Path | None

    def row(
        self,
        name: str,
        attributes: Sequence[str],
        identity: str,
        made: Callable[[], Score],
        threshold: float = 0.5,
    ) -> Row:
        """What a detector says; ``identity`` changes with whatever changes its scores."""
        p = self._scores(name, identity, made)
        columns = {
            attribute: dict(
                zip(self.texts, p[:, at if p.shape[1] > 1 else 0].tolist(), strict=True)
            )
            for at, attribute in enumerate(attributes)
        }
        return Row(name, columns, threshold)

    def _scores(self, name: str, identity: str, made: Callable[[], Score]) -> Floats:
        if self.keep is None:
            return made()(self.texts)
        key = hashlib.sha256(json.dumps([identity, self.texts]).encode()).hexdigest()
        path = self.keep / f"{name.replace(' ', '-')}-{key[:12]}.npy"
        if not path.exists():
            self.keep.mkdir(parents=True, exist_ok=True)
            np.save(path, made()(self.texts))
        found: Floats = np.load(path)
        return found


def taught(given: Material, attribute: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The training posts labelled for an attribute, and whether each has it (1) or not (0).

    The posts of the corpora once each, without sentences of our own and exchanged identities.
    """
    posts, train = given.posts, given.train
    if list(train.texts[: posts.height]) != posts["text"].to_list():
        raise ValueError("the first lessons are not the training posts in order")
    known = np.flatnonzero(train.labelled[: posts.height, attribute])
    return known, (train.shares[known, 2 * attribute + 1] > 0.5).astype(np.int64)


def linear(given: Material) -> Score:
    """Recipe ``linear`` for every attribute; features are learned once where posts are the same."""
    from sklearn.linear_model import LogisticRegression

    from evenhand.models._tfidf import TextFeatures

    how = Linear()
    every = np.array(given.posts["text"].to_list(), dtype=object)
    parts: dict[bytes, tuple[TextFeatures, list[tuple[int, Floats, float]]]] = {}
    table = None
    for at in range(len(given.train.tasks)):
        known, yes = taught(given, at)
        if known.tobytes() not in parts:
            features, table = TextFeatures.learn(
                every[known].tolist(), words_to=how.words, characters_to=how.characters,
                min_df=how.min_df,
            )  # fmt: skip
            parts[known.tobytes()] = features, []
        classifier = LogisticRegression(C=how.c, max_iter=1000)
        weights, bias = learned(classifier, table, yes, 2)
        parts[known.tobytes()][1].append((at, weights[:, 1], float(bias[1])))

    def score(texts: Sequence[str]) -> Floats:
        found = np.empty((len(texts), len(given.train.tasks)))
        for features, heads in parts.values():
            for start in range(0, len(texts), 5000):
                rows = features.rows(texts[start : start + 5000])
                for at, weights, bias in heads:
                    found[start : start + 5000, at] = expit(rows @ weights + bias)
        return found

    return score


def frozen(given: Material) -> Score:
    """Logistic regression over the mean state of the base encoder, which is left as it is."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    embed = _embedding()
    rows = [taught(given, at) for at in range(len(given.train.tasks))]
    every = np.unique(np.concatenate([known for known, _ in rows]))
    vectors = embed([given.train.texts[at] for at in every])
    heads = []
    for known, yes in rows:
        with threadpool_limits(1):
            head = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
            heads.append(head.fit(vectors[np.searchsorted(every, known)], yes))

    def score(texts: Sequence[str]) -> Floats:
        vectors = embed(texts)
        return np.stack([head.predict_proba(vectors)[:, 1] for head in heads], axis=1)

    return score


def _embedding() -> Score:
    """Texts, cleaned by the front end, as the mean of the base's states, which has 8 bits."""
    from evenhand.models._encoder_network import Shape, build
    from evenhand.models._onnx import exported, quantised
    from evenhand.models.encoder import Encoder

    base = find_base("")
    network = build(Shape(base.folder, 1, 0.0), weights=True)
    model = exported(network.pooled, vocabulary=network.vocabulary)
    encoder = Encoder(model, (base.folder / "tokenizer.json").read_bytes(), LENGTH)
    some = encoder.tokens([sentence.text for sentence in sentences(0, many=400)])
    encoder = replace(encoder, model=quantised(model, [every[0] for every in some]))

    def embed(texts: Sequence[str]) -> Floats:
        windows = encoder.tokens(FrontEnd().texts(texts))
        return encoder._answers([every[0] for every in windows]).astype(np.float64)

    return embed


def alt_profanity(python: str) -> Score:
    """alt-profanity-check, run by another Python; one score, whatever is asked."""

    def score(texts: Sequence[str]) -> Floats:
        done = subprocess.run(
            [python, str(Path(__file__).with_name("alt_profanity_check.py"))],
            input="".join(f"{json.dumps(text)}\n" for text in texts),
            capture_output=True,
            text=True,
            check=True,
        )
        return np.array([float(line) for line in done.stdout.split()])[:, None]

    return score


def always(texts: Sequence[str]) -> Floats:
    """Says yes to every text."""
    return np.ones((len(texts), 1))


def trained_rows(given: Material) -> str:
    """What the compared classifiers depend on: their training posts and the front end."""
    digest = hashlib.sha256(given.train.labelled.tobytes() + given.train.shares.tobytes())
    digest.update("\0".join(given.posts["text"]).encode())
    return f"{digest.hexdigest()} {FRONT_END}"

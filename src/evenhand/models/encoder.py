"""A fine-tuned encoder that scores texts without PyTorch: an ONNX model and its tokenizer.

A text's answers are the same to the last bit whatever texts are beside it. The model takes no scale
over the whole batch (:mod:`evenhand.models._int8`); texts of different lengths share a batch if
their padding leaves no trace (:mod:`evenhand.models._packed`), else only texts of exactly the same
number of tokens do; and it was seen to answer alike alone and among others when it was made, and is
tried again where it runs: sums may go another way on another processor.

A text of more than ``length`` tokens is read in windows of that many, each overlapping the one
before by half, and its answer is the highest of theirs, column by column; of more windows than
``windows`` so many, spread evenly over the text, are read. The empty text is one window, too.

Everything runs on one thread: a second process gives more than a second thread. What runs is made
when it is first needed and stays behind when an encoder is sent to another process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.models._block import block, is_mixed
from evenhand.models.protocol import Arrays

TOKENS = "input_ids"
"""What the model is given: token numbers, one row per text."""
VOCABULARY = "vocabulary"
"""Where a model says how many tokens it knows."""
SHORTEST = 4
"""A window has room for two special tokens and two others."""
_TOKENS = 256
"""In one batch, at most so many, padding included; more are no faster."""
_TRIED = (30, 3, 14, 4)
"""Lengths of windows that have to be answered alike alone and together."""


@dataclass(frozen=True, eq=False)
class Encoder:
    """A model with its tokenizer."""

    model: bytes = field(repr=False)
    """ONNX, as :mod:`evenhand.models._onnx` writes it."""
    tokenizer: bytes = field(repr=False)
    """``tokenizer.json`` of the package tokenizers."""
    length: int
    """The most tokens in one window, special ones included."""
    windows: int = 64
    """The most windows of one text that are read."""

    def tokens(self, texts: Sequence[str]) -> list[list[list[int]]]:
        """The windows of each text, as token numbers with the special ones, without padding."""
        windows = []
        for text in texts:
            # One by one: a batch would start threads of its own, which a fork does not survive.
            # Half of a pair of surrogates is no character; it is read as "?".
            first = self._reader.encode(text.encode("utf-8", "replace").decode("utf-8"))
            every = [first.ids, *(more.ids for more in first.overflowing)]
            if len(every) > self.windows:
                kept = np.linspace(0, len(every) - 1, self.windows).round().astype(int)
                every = [every[number] for number in kept]
            windows.append(every)
        return windows

    def logits(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The model's answers to cleaned texts, one row per text."""
        windows = self.tokens(texts)
        counts = np.array([len(every) for every in windows], dtype=np.int64)
        found = self._answers([window for every in windows for window in every])
        if not len(texts):
            return found
        highest: NDArray[np.float32] = np.maximum.reduceat(found, np.cumsum(counts) - counts)
        return highest

    def _answers(self, windows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        answers = np.empty((len(windows), self._columns), dtype=np.float32)
        for rows in _batches([len(window) for window in windows], mixed=self._mixed):
            answers[rows] = self._run([windows[row] for row in rows])
        return answers

    def _run(self, windows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """The answers to some windows, all of the same length unless the model pads."""
        given = block(windows) if self._pads else np.array(windows, dtype=np.int64)
        answers: NDArray[np.float32] = self._session.run(None, {TOKENS: given})[0]
        return answers

    @cached_property
    def _mixed(self) -> bool:
        """Whether windows of different lengths share a batch: if bits stay the same here, too."""
        if not self._pads:
            return False
        windows = [[0] * min(length, self.length) for length in _TRIED]
        alone = [self._run([window]) for window in windows]
        return np.array_equal(np.concatenate(alone), self._run(windows))

    @cached_property
    def _pads(self) -> bool:
        return is_mixed(self._session)

    @property
    def _columns(self) -> int:
        return int(self._session.get_outputs()[0].shape[1])

    @cached_property
    def _session(self) -> Any:
        return session(self.model)

    @cached_property
    def _reader(self) -> Any:
        from tokenizers import Tokenizer

        reader = Tokenizer.from_buffer(self.tokenizer)
        reader.no_padding()
        special = reader.num_special_tokens_to_add(is_pair=False)
        reader.enable_truncation(self.length, stride=(self.length - special) // 2)
        return reader

    def __reduce__(self) -> tuple[type[Self], tuple[bytes, bytes, int, int]]:
        """Only what it is made of goes to another process."""
        return type(self), (self.model, self.tokenizer, self.length, self.windows)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What :meth:`restore` takes."""
        return {
            "model": np.frombuffer(self.model, dtype=np.uint8),
            "tokenizer": np.frombuffer(self.tokenizer, dtype=np.uint8),
        }

    @classmethod
    def restore(cls, arrays: Arrays, length: int, *, windows: int = 64) -> Self:
        """The encoder of some arrays; ValueError with a reason if they are not one's."""
        absent = [name for name in ("model", "tokenizer") if name not in arrays]
        if absent:
            raise ValueError(f"{' and '.join(absent)} missing; expected an encoder's arrays")
        if length < SHORTEST:
            raise ValueError(f"windows of {length} tokens; expected at least {SHORTEST}")
        encoder = cls(arrays["model"].tobytes(), arrays["tokenizer"].tobytes(), length, windows)
        encoder._check()
        return encoder

    def _check(self) -> None:
        """See that the parts load, belong together and answer a window of full length."""
        try:
            known = self._reader.get_vocab_size()
        except Exception as error:  # the tokenizer's own errors have no name
            raise ValueError(f"the tokenizer cannot be read: {_short(error)}") from error
        try:
            names = [given.name for given in self._session.get_inputs()]
            meant = self._session.get_modelmeta().custom_metadata_map.get(VOCABULARY, "")
        except Exception as error:  # onnxruntime has an error of its own for each fault
            raise ValueError(f"the model cannot be read: {_short(error)}") from error
        if names != [TOKENS]:
            raise ValueError(f"the model takes {', '.join(names)}; expected {TOKENS}")
        if not meant.isdecimal() or known > int(meant):
            raise ValueError(
                f"the tokenizer has {known} tokens, the model knows {meant or 'an unknown number'}:"
                " they do not belong together"
            )
        try:
            answer = self._run([[0] * self.length])
        except Exception as error:
            raise ValueError(
                f"the model does not answer a text of {self.length} tokens: {_short(error)}"
            ) from error
        if answer.ndim != 2 or not np.isfinite(answer).all():
            raise ValueError("the model's answers are no finite numbers, one row per text")


def session(model: bytes) -> Any:
    """An ONNX model ready to run, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        model,
        options,
        providers=["CPUExecutionProvider"],
        # A sum and its normalisation in one take several times as long as apart.
        disabled_optimizers=["SkipLayerNormFusion"],
    )


def _batches(lengths: Sequence[int], *, mixed: bool) -> Iterator[NDArray[np.int64]]:
    """Row numbers of windows that share a batch, as many as fit."""
    given = np.array(lengths, dtype=np.int64)
    order = np.argsort(given, kind="stable")
    start = 0
    for end in range(1, len(order) + 1):
        if end < len(order):
            length = given[order[end]]
            fits = (end + 1 - start) * length <= _TOKENS
            if fits and (mixed or length == given[order[start]]):
                continue
        yield order[start:end]
        start = end


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"

"""The network that is fine-tuned: an encoder, the mean of its states, and a layer per task.

The encoder is any of transformers' that gives a state per token. With a vocabulary, the mean of an
embedding over the words of a text that are in it stands beside the encoder's mean, and a hidden
layer reads both (:mod:`evenhand.models.transformer_vocabulary`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from evenhand.core.errors import BadInput
from evenhand.models._cells import Dropout


@dataclass(frozen=True)
class Shape:
    """What the network looks like."""

    base: Path
    """A folder with an encoder."""
    columns: int
    """How many answers the tasks have together."""
    dropout: float
    words: int | None = None
    """How many words the vocabulary has; None where there is none, nor a hidden layer."""
    embedding: int = 128
    hidden: int = 64
    guide: int = 0
    """How many numbers the vectors of a teacher have that its own are drawn to; 0 for none."""
    half: bool = False
    """Whether the encoder's products of matrices are taken in 16 bits while it is trained."""


_WIDENS = 4
"""A layer with so many times the values it reads is followed by an activation, one value at a time,
and by a layer that wants 16 bits again."""


class HalfLinear(nn.Linear):
    """A layer whose products have 16 bits (bfloat16) in training; its weights keep 32.

    So do its values, but for those of a layer that widens: as they have no more than 16 bits, the
    gradients are the same to the last bit and need half the memory on the way.
    """

    @classmethod
    def of(cls, layer: nn.Linear) -> HalfLinear:
        """The same layer, sharing its weights."""
        made = cls(layer.in_features, layer.out_features, device="meta")
        made.weight, made.bias = layer.weight, layer.bias
        return made

    def forward(self, values: Tensor) -> Tensor:
        """In 32 bits where nothing is learned, so that what is saved is the plain network."""
        if not self.training:
            return super().forward(values)
        bias = None if self.bias is None else self.bias.to(torch.bfloat16)
        found = functional.linear(values.to(torch.bfloat16), self.weight.to(torch.bfloat16), bias)
        widens = self.out_features >= _WIDENS * self.in_features
        return found if widens else found.to(torch.float32)


class Pooled(nn.Module):
    """The mean of an encoder's states over the tokens of a text."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """One vector a text."""
        states = self.encoder(input_ids=tokens, attention_mask=mask).last_hidden_state
        # A product of matrices: a sum in ONNX depends in its last bits on the texts beside it.
        shares = (mask / mask.sum(1, keepdim=True)).unsqueeze(1).to(states.dtype)
        mean: Tensor = (shares @ states).squeeze(1)
        return mean


class EncoderNetwork(nn.Module):
    """Encoder, vocabulary if there is one, and answers."""

    def __init__(self, shape: Shape, encoder: nn.Module, size: int) -> None:
        super().__init__()
        self.pooled = Pooled(encoder)
        self.dropout = Dropout(shape.dropout)
        self.words = self.hidden = None
        encoder_size = size
        if shape.words is not None:
            # Word 0 is no word.
            self.words = nn.EmbeddingBag(
                shape.words + 1, shape.embedding, mode="mean", padding_idx=0
            )
            self.hidden = nn.Linear(size + shape.embedding, shape.hidden)
            size = shape.hidden
        self.last = nn.Linear(size, shape.columns)
        # Only there while it learns: no answer depends on it.
        self.guide = nn.Linear(encoder_size, shape.guide) if shape.guide else None

    @property
    def vocabulary(self) -> int:
        """How many tokens the encoder knows."""
        config: Any = self.pooled.encoder.config
        return int(config.vocab_size)

    def forward(self, tokens: Tensor, mask: Tensor, words: Tensor | None = None) -> Tensor:
        """A number for every answer, one row per text."""
        return self.answered(self.pooled(tokens, mask), words)

    def answered(self, vector: Tensor, words: Tensor | None = None) -> Tensor:
        """The answers to texts whose vectors are known."""
        if self.words is not None and self.hidden is not None:
            vector = torch.cat([vector, self.words(words)], dim=1)
            vector = torch.relu(self.hidden(self.dropout(vector)))
        answers: Tensor = self.last(self.dropout(vector))
        return answers


def build(shape: Shape, *, weights: bool) -> EncoderNetwork:
    """A network, with the base's weights or with weights to be filled in."""
    from transformers import AutoConfig, AutoModel
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        # Code that lies in the folder is not run, and nobody is asked whether it should be.
        safely: Any = {"trust_remote_code": False}
        config: Any = AutoConfig.from_pretrained(shape.base, local_files_only=True, **safely)
        _expect_reader(shape.base, config)
        config.attention_probs_dropout_prob = 0.0
        if weights:
            encoder, told = AutoModel.from_pretrained(
                shape.base, config=config, local_files_only=True, use_safetensors=True,
                dtype=torch.float32, output_loading_info=True, **safely,
            )  # fmt: skip
            _expect_weights(shape.base, told["missing_keys"])
        else:
            encoder = AutoModel.from_config(config, **safely)  # type: ignore[no-untyped-call]
    except BadInput:
        raise
    except Exception as error:  # a folder of others can be wrong in any way
        said = (str(error).splitlines() or [type(error).__name__])[0]
        if "ignore_mismatched_sizes" in str(error):
            said = "its weights do not have the sizes that config.json names"
        raise BadInput(f"base {shape.base}: cannot be read as an encoder: {said}") from error
    for module in list(encoder.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.Dropout) and child.p:
                setattr(module, name, Dropout(shape.dropout))
            elif shape.half and type(child) is nn.Linear:
                setattr(module, name, HalfLinear.of(child))
    return EncoderNetwork(shape, encoder, int(config.hidden_size))


def _expect_reader(base: Path, config: Any) -> None:
    """Refuse a network that only writes: each of its words has seen those before it alone."""
    from transformers.models.auto import modeling_auto

    kind = config.model_type
    writes = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    fills_in = modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    if kind in writes and kind not in fills_in:
        raise BadInput(f"base {base}: a {kind} writes text; expected an encoder, which reads it")


def _expect_weights(base: Path, absent: Collection[str]) -> None:
    """Refuse weights of another network; what only reads the first word is not used here."""
    needed = sorted(name for name in absent if "pooler" not in name)
    if needed:
        raise BadInput(
            f"base {base}: its weights have no {', '.join(needed[:3])}"
            f"{f' and {len(needed) - 3} more' if len(needed) > 3 else ''}, which config.json asks "
            "for; they are those of another network"
        )


def fresh(network: EncoderNetwork, rng: np.random.Generator) -> None:
    """Give the layers that the base does not have their first weights."""
    with torch.no_grad():
        for layer in (network.hidden, network.last, network.guide):
            if layer is not None:
                width = 1 / np.sqrt(layer.in_features)
                for part in (layer.weight, layer.bias):
                    drawn = rng.uniform(-width, width, part.shape).astype(np.float32)
                    part.copy_(torch.from_numpy(drawn))
        if network.words is not None:
            size = tuple(network.words.weight.shape)
            drawn = rng.uniform(-0.05, 0.05, size).astype(np.float32)
            drawn[0] = 0
            network.words.weight.copy_(torch.from_numpy(drawn))


def margins_only(network: EncoderNetwork) -> None:
    """Let tasks of two answers each give one number: how far yes is above no."""
    last = network.last
    folded = nn.Linear(last.in_features, last.out_features // 2)
    with torch.no_grad():
        folded.weight.copy_(last.weight[1::2] - last.weight[0::2])
        folded.bias.copy_(last.bias[1::2] - last.bias[0::2])
    network.last = folded


def dropouts(network: nn.Module) -> Iterator[Dropout]:
    """The parts that need random numbers."""
    return (module for module in network.modules() if isinstance(module, Dropout))

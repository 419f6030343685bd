"""A file from which a fine-tuning goes on after a kill."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from evenhand.core.provenance import file_at_once
from evenhand.models._finetuning_rows import Rows
from evenhand.models._flat import Flat
from evenhand.models.watching import watch

_MAY_DIFFER = ("checkpoint_every",)
"""What may differ between a run and the one that goes on."""


@dataclass(frozen=True)
class Checkpoint:
    """Where it lies, and what it must say of itself to be taken up."""

    path: Path
    digest: str

    @classmethod
    def of(cls, flat: Flat, rows: Rows, dev: Rows, course: Any) -> Checkpoint | None:
        """The checkpoint of a training that is about to start, if whoever watches keeps any."""
        folder = watch().checkpoints
        if folder is None:
            return None
        settings = [
            f"{part.name}={getattr(course, part.name)}"
            for part in fields(course)
            if part.name not in _MAY_DIFFER
        ]
        digest = hashlib.sha256(f"{settings} {torch.__version__}".encode())
        digest.update(flat.values.numpy().tobytes())
        for part in (rows, dev):
            lessons = part.lessons
            none = np.empty(0)
            families = none if lessons.families is None else lessons.families
            mates = none if lessons.mates is None else lessons.mates
            vectors = none if lessons.vectors is None else lessons.vectors
            words = () if part.words is None else (part.words.numbers, part.words.ends)
            for array in (part.tokens.numbers, part.tokens.ends, *words, lessons.shares,
                          lessons.weights, lessons.times, families, mates, vectors):  # fmt: skip
                digest.update(array.tobytes())
        name = digest.hexdigest()
        return cls(folder / f"finetuning-{name[:16]}.safetensors", name)

    def write(self, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
        """Put this in place of the file, at once."""
        about = {"digest": self.digest, "state": json.dumps(state)}
        with file_at_once(self.path) as part:
            save_file(dict(tensors), part, metadata=about)

    def taken_up(self, tensors: Mapping[str, Tensor]) -> dict[str, Any] | None:
        """Fill the tensors from the file if it fits; what else was written."""
        try:
            with safe_open(self.path, framework="pt") as file:
                about = file.metadata() or {}
                if about.get("digest") != self.digest:
                    return None
                found = {name: file.get_tensor(name) for name in tensors}
        except (OSError, SafetensorError):
            return None
        for name, tensor in tensors.items():
            tensor.copy_(found[name])
        state: dict[str, Any] = json.loads(about["state"])
        return state

"""Detector ``hf:FOLDER``: a sequence classifier of transformers in a folder on this machine.

The folder has a configuration, a tokenizer and weights in safetensors. Pickled weights are refused,
code in the folder is not run, nothing is fetched. The attributes are the labels of ``id2label``,
the one to judge first. One label, or a multi-label problem, means a sigmoid; else a softmax. Texts
longer than the model reads are cut and counted, each distinct one once. Only texts of the same
length in tokens share a batch, so that there is no padding and a text's score depends on its
neighbours by rounding only (some 1e-6).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.errors import BadInput, BrokenComponent, MissingExtra
from evenhand.core.provenance import sha256_of_all
from evenhand.data.user_file import HATEFUL_BY_NAME
from evenhand.models.protocol import Probabilities
from evenhand.models.score_cache import digest

_BATCH = 32
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_NO_LIMIT = 1_000_000
"""A tokenizer without a limit gives a larger number."""
_USUAL_LIMIT = 512


@dataclass
class _Cut:
    """Which of the texts scored so far were too long: digests, so that none is counted twice."""

    texts: set[bytes] = field(default_factory=set)


@dataclass(frozen=True, eq=False, kw_only=True)
class FolderDetector:
    """A classifier with its tokenizer."""

    folder: Path
    attributes: tuple[str, ...]
    columns: tuple[int, ...]
    """The label's number, for each attribute."""
    sigmoid: bool
    longest: int
    """Tokens the model reads."""
    sha256: str | None
    model: Any
    tokenizer: Any
    _cut: _Cut = field(default_factory=_Cut)

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name

    @property
    def provenance(self) -> dict[str, Any]:
        """The folder with its checksum, and how many texts so far were cut to which length."""
        return {
            "folder": self.name,
            "sha256": self.sha256,
            "scores": "sigmoid" if self.sigmoid else "softmax",
            "longest_tokens": self.longest,
            "texts_cut": len(self._cut.texts),
        }

    def score(self, texts: Sequence[str]) -> Probabilities:
        """Probabilities, one column per label."""
        p = np.empty((len(texts), len(self.attributes)))
        encoded = self._encoded(texts)
        lengths = np.array([len(one["input_ids"]) for one in encoded], dtype=np.int64)
        for length in np.unique(lengths):
            rows = np.flatnonzero(lengths == length)
            for start in range(0, len(rows), _BATCH):
                part = rows[start : start + _BATCH]
                p[part] = self._batch([encoded[row] for row in part])[:, self.columns]
        return p

    def _encoded(self, texts: Sequence[str]) -> list[dict[str, list[int]]]:
        """The tokens of each text, cut where they are too many."""
        found = [dict(self.tokenizer(text, verbose=False)) for text in texts]
        known = self.model.get_input_embeddings().num_embeddings
        for row, text in enumerate(texts):
            if len(found[row]["input_ids"]) > self.longest:
                self._cut.texts.add(digest(text))
                found[row] = dict(self.tokenizer(text, truncation=True, max_length=self.longest))
            if max(found[row]["input_ids"], default=0) >= known:
                raise BrokenComponent(
                    f"{self.folder}: the tokenizer has tokens the model does not know; they do not "
                    "belong together"
                )
        return found

    def _batch(self, encoded: Sequence[Mapping[str, list[int]]]) -> Probabilities:
        """Texts of the same length."""
        import torch

        asked = {name: torch.tensor([one[name] for one in encoded]) for name in encoded[0]}
        try:
            with torch.inference_mode():
                logits = self.model(**asked).logits.double()
        except Exception as error:  # a model of others can fail in any way
            raise BrokenComponent(
                f"{self.folder}: raised {type(error).__name__}: {error}"
            ) from error
        p = logits.sigmoid() if self.sigmoid else logits.softmax(dim=1)
        return p.numpy()  # type: ignore[no-any-return]


def folder_detector(name: str, attribute: str | None = None) -> FolderDetector:
    """The classifier in a folder; ``attribute`` is the label to judge."""
    folder = Path(name.removeprefix("hf:"))
    _expect_folder(folder)
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(
                f"{name} needs {package}, which is not installed: pip install 'evenhand[train]'"
            )
    model, tokenizer = _loaded(folder)
    config = model.config
    if config.problem_type == "regression":
        raise BadInput(f"{folder}: a regression; what it answers is no probability of a label")
    labels = [str(config.id2label[number]) for number in range(config.num_labels)]
    first = _first(folder, labels, attribute)
    order = (first, *(number for number in range(len(labels)) if number != first))
    files = [path for path in folder.iterdir() if path.suffix in (".safetensors", ".json", ".txt")]
    return FolderDetector(
        folder=folder,
        attributes=tuple(labels[number] for number in order),
        columns=order,
        sigmoid=config.problem_type == "multi_label_classification" or len(labels) == 1,
        longest=_longest(model, tokenizer),
        sha256=sha256_of_all(files),
        model=model,
        tokenizer=tokenizer,
    )


def _expect_folder(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        what = "has no config.json" if folder.is_dir() else "is no folder"
        raise BadInput(
            f"hf:{folder}: {what}; expected a transformers classifier on this machine, written by "
            "save_pretrained"
        )
    if any(folder.glob("*.safetensors")):
        return
    pickled = sorted(path.name for pattern in _PICKLED for path in folder.glob(pattern))
    if pickled:
        raise BadInput(
            f"hf:{folder}: only pickled weights ({', '.join(pickled)}), which can run code when "
            "they are read; have its maker save it with safe_serialization=True"
        )
    raise BadInput(f"hf:{folder}: no weights; expected a file *.safetensors")


def _loaded(folder: Path) -> tuple[Any, Any]:
    """The model and its tokenizer."""
    import transformers

    how: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        with _quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **how)
            model, found = transformers.AutoModelForSequenceClassification.from_pretrained(
                folder, use_safetensors=True, output_loading_info=True, **how
            )
    except Exception as error:  # a folder of others can fail in any way
        reason = " ".join(str(error).split())[:300]
        raise BadInput(
            f"hf:{folder}: transformers cannot load it: {type(error).__name__}: {reason}"
        ) from error
    absent = sorted({*found["missing_keys"], *(str(key) for key in found["mismatched_keys"])})
    if absent:
        raise BadInput(
            f"hf:{folder}: the weights of {', '.join(absent[:5])} are not there, so that scores "
            "would be random; expected a classifier that was trained"
        )
    if len(tokenizer) <= len(set(tokenizer.all_special_ids)):
        raise BadInput(f"hf:{folder}: the tokenizer has no words; copy its files into the folder")
    return model.float().eval(), tokenizer


@contextmanager
def _quiet() -> Iterator[None]:
    """Loading without transformers' bars and tables."""
    from transformers.utils import logging as untyped

    logging: Any = untyped
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _first(folder: Path, labels: Sequence[str], attribute: str | None) -> int:
    """The number of the label to judge; the order of label numbers says nothing about that."""
    if len(set(labels)) < len(labels):
        raise BadInput(f"hf:{folder}: a label stands twice in id2label: {', '.join(labels)}")
    if attribute is not None and attribute not in labels:
        raise BadInput(f"hf:{folder}: no attribute {attribute!r}; found {', '.join(labels)}")
    if attribute is None and len(labels) > 1:
        hateful = [label for label in labels if label.casefold() in HATEFUL_BY_NAME]
        if len(hateful) != 1:
            raise BadInput(
                f"hf:{folder}: which label to judge is not said; name one of {', '.join(labels)} "
                "with --attribute"
            )
        attribute = hateful[0]
    return labels.index(attribute) if attribute is not None else 0


def _longest(model: Any, tokenizer: Any) -> int:
    """How many tokens the model reads: the least of what tokenizer and positions allow."""
    limits = [tokenizer.model_max_length] if tokenizer.model_max_length < _NO_LIMIT else []
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and hasattr(module, "num_embeddings"):
            # Where a place is kept for padding, positions are counted from behind it.
            before = 0 if module.padding_idx is None else module.padding_idx + 1
            limits.append(module.num_embeddings - before)
    configured = getattr(model.config, "max_position_embeddings", None)
    return min(limits) if limits else configured or _USUAL_LIMIT

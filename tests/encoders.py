"""A very small encoder with its tokenizer, for tests that fine-tune."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

WORDS = [
    "you", "the", "day", "bus", "what", "and", "so", "late", "fool", "vermin", "tea", "sun",
    "good", "bad", "hello", "friend", "never",
]  # fmt: skip
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_encoder(folder: Path, *, seed: int = 0, positions: int = 64) -> Path:
    """A BERT of one layer that knows a few words; all others are the same to it."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel

    numbers = {piece: number for number, piece in enumerate([*_SPECIAL, *WORDS])}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    config = BertConfig(
        vocab_size=len(numbers),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=positions,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        BertModel(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@cache
def tiny_encoder() -> Path:
    """One such encoder for the whole process."""
    folder = Path(tempfile.mkdtemp(prefix="evenhand-encoder-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return write_encoder(folder)


def config_of(folder: Path) -> dict[str, object]:
    """What the encoder says of itself."""
    found: dict[str, object] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return found

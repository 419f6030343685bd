"""Recipes transformer and transformer-vocabulary: bases, options, attributes and refusals."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from encoders import config_of, tiny_encoder
from evenhand.core.errors import BadInput, MissingExtra
from evenhand.core.streams import stream
from evenhand.models import base_weights, transformer
from evenhand.models.base_weights import find_base
from evenhand.models.find import recipe
from evenhand.models.lessons import Task
from evenhand.models.saving import load, save
from evenhand.models.training import for_corpus, training_rows
from evenhand.models.transformer import Transformer, dev_split
from evenhand.models.transformer_vocabulary import TransformerVocabulary, VocabularyDetector
from factories import make_corpus

QUICK = {"base": str(tiny_encoder()), "epochs": 10, "batch": 16, "rate": 0.02, "average": 0.5}


def made_up(count: int = 90):
    rng = stream(3, "transformer")
    own = {"bad": "fool", "rude": "vermin", "ok": "tea"}
    rows = []
    for number in range(count):
        label = list(own)[number % 3]
        words = [*rng.choice(["you", "the", "day", "bus", "so"], 5), own[label]]
        text = " ".join(rng.permutation(words).tolist())
        rows.append(
            {"id": f"p{number:03}", "text": f"{text} a{'b' * (number % 7)}", "label": label}
        )
    return make_corpus(rows)


def test_tells_classes_apart():
    corpus = made_up()
    ready = for_corpus(Transformer(**QUICK), corpus, classes=("bad", "rude", "ok"))

    detector = ready.fit(corpus.posts, corpus.gold, seed=0)
    p = detector.score(["you fool", "the vermin day", "so tea", ""])

    assert detector.attributes == ("bad", "rude", "ok")
    assert np.allclose(p.sum(axis=1), 1)
    assert p[:3].argmax(axis=1).tolist() == [0, 1, 2]


def test_int8_is_another_file_with_about_the_same_scores(tmp_path: Path):
    corpus = made_up()
    exact, small = (
        for_corpus(Transformer(**QUICK, int8=int8), corpus).fit(corpus.posts, corpus.gold, seed=0)
        for int8 in (False, True)
    )
    save(small, tmp_path / "small")
    texts = corpus.posts["text"].to_list()

    assert np.abs(exact.score(texts) - small.score(texts)).max() < 0.05
    assert not np.array_equal(exact.score(texts), small.score(texts))
    assert np.array_equal(load(tmp_path / "small").score(texts), small.score(texts))


def test_a_text_longer_than_the_model_scores_by_its_highest_window():
    corpus = made_up()
    detector = for_corpus(Transformer(**QUICK, length=16), corpus).fit(
        corpus.posts, corpus.gold, seed=0
    )

    harmless, bad = "the day so tea " * 30, "you fool bus fool " * 2
    scores = detector.score([harmless, harmless + bad + harmless, bad])[:, 0]

    assert scores[0] < 0.5 < scores[1]


def test_dev_posts_share_no_author_twin_or_near_copy_with_the_others():
    rows = [
        {"id": f"p{n}", "text": f"post {n} about {n * 7919}", "label": "bad" if n % 2 else "ok",
         "author": f"a{n // 4}"}
        for n in range(80)
    ]  # fmt: skip
    corpus = make_corpus(rows)
    ready = for_corpus(Transformer(**QUICK), corpus)

    train, dev = dev_split(training_rows(corpus.posts, corpus.gold, ready), Task("HATE"), 0)

    author = dict(zip(corpus.posts["text"], corpus.posts["author"], strict=True))
    assert {author[t] for t in train.texts}.isdisjoint(author[t] for t in dev.texts)
    assert len(dev) == 8 and len(train) == 72


def test_a_vocabulary_helps_where_the_encoder_sees_no_word(tmp_path: Path):
    # The encoder knows neither word (they are the same unknown token), the vocabulary does.
    rng = stream(4, "vocabulary")
    rows = []
    for number in range(120):
        words = [*rng.choice(["you", "the", "day", "bus"], 4), ["жук", "лес"][number % 2]]
        text = " ".join(rng.permutation(words).tolist())
        label = "ok" if number % 2 else "bad"
        rows.append({"id": f"p{number:03}", "text": text, "label": label})
    corpus = make_corpus(rows)
    options = {**QUICK, "own": 5, "patience": 0}
    texts, truth = corpus.posts["text"].to_list(), np.arange(120) % 2 == 0

    found = {}
    for there in (True, False):
        ready = for_corpus(TransformerVocabulary(**options, vocabulary=there), corpus)
        detector = ready.fit(corpus.posts, corpus.gold, seed=0)
        found[there] = ((detector.score(texts)[:, 0] > 0.5) == truth).mean()
        assert isinstance(detector, VocabularyDetector)
        save(detector, tmp_path / str(there))
        again = load(tmp_path / str(there))
        assert np.array_equal(again.score(texts), detector.score(texts))
        alone = np.concatenate([detector.score([text]) for text in texts[:20]])
        assert np.array_equal(alone, detector.score(texts)[:20])

    assert found[True] > 0.95
    assert found[False] < 0.75


def test_scores_as_the_network_does():
    """The layers behind the words, in numpy, give what they gave in training."""
    corpus = made_up()
    ready = for_corpus(TransformerVocabulary(**QUICK, words=""), corpus)
    detector = ready.fit(corpus.posts, corpus.gold, seed=0)
    weights = detector.weights
    (clean,) = detector.front_end.texts(["you fool fool"])
    place = detector.vocabulary.words.index("fool") + 1

    vector = np.concatenate([detector.encoder.logits([clean])[0], weights["words.weight"][place]])
    hidden = np.maximum(weights["hidden.weight"] @ vector + weights["hidden.bias"], 0)
    no, yes = weights["last.weight"] @ hidden + weights["last.bias"]

    assert detector.score(["you fool fool"])[0, 0] == pytest.approx(
        1 / (1 + np.exp(no - yes)), 1e-5
    )


def test_the_papers_optimiser_learns_too():
    corpus = made_up()
    ready = for_corpus(TransformerVocabulary(**{**QUICK, "rate": 0.1}, optimiser="sgd"), corpus)

    detector = ready.fit(corpus.posts, corpus.gold, seed=0)

    assert detector.score(["you fool fool"])[0, 0] > detector.score(["so tea tea"])[0, 0]


def test_options_out_of_range_are_refused():
    with pytest.raises(BadInput) as caught:
        Transformer(epochs=0, rate=0.0)
    assert "epochs is 0" in str(caught.value) and "rate is 0.0" in str(caught.value)
    with pytest.raises(BadInput, match="dropout is 1.0; expected from 0 to below 1"):
        recipe("transformer:dropout=1.0")
    with pytest.raises(BadInput, match="balanced is 1.5; expected from 0 to 1"):
        recipe("transformer:balanced=1.5")
    with pytest.raises(BadInput, match="expected one of words, kept, dropped"):
        recipe("transformer:emoji=pictures")


def test_a_rare_class_is_told_more_often_where_classes_count_alike():
    corpus = made_up(150)
    # One in ten is bad, whatever it says.
    gold = corpus.gold.with_columns(
        label=pl.when(pl.int_range(pl.len()) % 10 == 0).then(pl.lit("bad")).otherwise(pl.lit("ok"))
    )
    quick = {**QUICK, "epochs": 2, "rate": 0.002}
    plain, alike = (
        for_corpus(Transformer(**quick, balanced=share), corpus, classes=("bad", "ok"))
        .fit(corpus.posts, gold, seed=0)
        .score(corpus.posts["text"].to_list())[:, 0]
        .mean()
        for share in (0.0, 1.0)
    )
    # Nothing tells the classes apart: what is said is how much each counts, .1 or .5.
    assert plain < 0.3 < alike


def copy_of(folder: Path) -> Path:
    return Path(shutil.copytree(tiny_encoder(), folder / "base"))


def test_a_folder_that_is_no_encoder_is_refused(tmp_path: Path):
    with pytest.raises(BadInput, match="no such folder"):
        find_base(str(tmp_path / "nowhere"))
    with pytest.raises(BadInput, match="has no config.json and no tokenizer.json"):
        find_base(str(tmp_path))
    folder = copy_of(tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(BadInput, match="pickled weights are not read"):
        find_base(str(folder))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"hidden_size": None}, "names no hidden_size, so this is no encoder"),
        ({"is_encoder_decoder": True}, "writes text; expected an encoder"),
    ],
)
def test_another_kind_of_model_is_refused(tmp_path: Path, changed: dict[str, object], said: str):
    folder = copy_of(tmp_path)
    config = json.loads((folder / "config.json").read_text()) | changed
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(BadInput, match=said):
        find_base(str(folder))
    (folder / "config.json").write_text("{")
    with pytest.raises(BadInput, match="cannot be read"):
        find_base(str(folder))


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("model.safetensors", b"", "model.safetensors cannot be read"),
        ("model.safetensors", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("tokenizer.json", b"{}", "tokenizer.json cannot be read"),
    ],
    ids=["empty", "pointer", "tokenizer"],
)
def test_a_base_with_a_broken_file_is_refused(tmp_path: Path, file: str, content: bytes, said: str):
    folder = copy_of(tmp_path)
    (folder / file).write_bytes(content)
    with pytest.raises(BadInput, match=said):
        find_base(str(folder))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"vocab_size": 10}, "tokens and the network knows 10; they do not belong together"),
        ({"max_position_embeddings": "many"}, "max_position_embeddings 'many'; expected a whole"),
        ({"num_hidden_layers": 3}, "weights have no encoder.layer.1.*those of another network"),
        ({"hidden_size": 64}, "do not have the sizes that config.json names"),
        ({"hidden_size": "big"}, "cannot be read as an encoder"),
        ({"model_type": "gpt2", "n_embd": 32}, "a gpt2 writes text; expected an encoder"),
        ({"auto_map": {"AutoModel": "own.Own", "AutoConfig": "own.Own"}}, ""),
    ],
    ids=["tokenizer", "length", "layers", "width", "word", "writes", "code"],
)
def test_a_base_whose_parts_do_not_fit_is_refused(
    tmp_path: Path, changed: dict[str, object], said: str
):
    folder = copy_of(tmp_path)
    config = json.loads((folder / "config.json").read_text()) | changed
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')\nclass Own: pass\n")
    corpus = made_up(30)
    ready = for_corpus(Transformer(**{**QUICK, "base": str(folder)}), corpus)
    if said:
        with pytest.raises(BadInput, match=said):
            ready.fit(corpus.posts, corpus.gold, seed=0)
    else:  # what transformers knows itself is used, and nobody is asked
        ready.fit(corpus.posts, corpus.gold, seed=0)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("kind", ["distilbert", "modernbert"])
def test_other_encoders_are_trained_and_score_without_torch(tmp_path: Path, kind: str):
    import torch
    from transformers import DistilBertConfig, DistilBertModel, ModernBertConfig, ModernBertModel

    folder = copy_of(tmp_path)
    size = config_of(folder)["vocab_size"]
    configs = {
        "distilbert": (
            DistilBertModel,
            DistilBertConfig(
                vocab_size=size, dim=32, n_layers=2, n_heads=2, hidden_dim=64,
                max_position_embeddings=64,
            ),
        ),
        "modernbert": (
            ModernBertModel,
            ModernBertConfig(
                vocab_size=size, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                intermediate_size=64, max_position_embeddings=64, pad_token_id=0, bos_token_id=2,
                eos_token_id=3, cls_token_id=2, sep_token_id=3,
            ),
        ),
    }  # fmt: skip
    model, config = configs[kind]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model(config).save_pretrained(folder)
    corpus = made_up(60)
    ready = for_corpus(Transformer(**{**QUICK, "base": str(folder)}), corpus)

    detector = ready.fit(corpus.posts, corpus.gold, seed=0)

    p = detector.score(["you fool", "good day friend", ""])
    assert p.shape == (3, 1) and np.isfinite(p).all()


def test_a_model_type_that_transformers_does_not_know_is_refused(tmp_path: Path):
    folder = copy_of(tmp_path)
    config = json.loads((folder / "config.json").read_text()) | {"model_type": "blorp"}
    (folder / "config.json").write_text(json.dumps(config))
    corpus = made_up(30)
    ready = for_corpus(Transformer(**{**QUICK, "base": str(folder)}), corpus)
    with pytest.raises(BadInput, match="cannot be read as an encoder"):
        ready.fit(corpus.posts, corpus.gold, seed=0)


def test_the_default_base_is_the_published_one():
    base = find_base("")

    assert base.name == "sentence-transformers/all-MiniLM-L6-v2" and base.longest == 512


def test_a_default_base_with_other_weights_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(base_weights, "_bundled", lambda: copy_of(tmp_path))
    with pytest.raises(BadInput, match="expected 53aa51172d"):
        find_base("")


def test_a_known_base_has_a_name_a_place_and_a_checksum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    known = "all-mpnet-base-v2"
    with pytest.raises(BadInput, match="python tools/get_base.py all-mpnet-base-v2"):
        find_base(known)
    folder = tmp_path / "bases" / known
    shutil.copytree(tiny_encoder(), folder)
    with pytest.raises(BadInput, match="expected 78c0197b61.*again: python tools/get_base.py"):
        find_base(known)
    monkeypatch.setitem(base_weights.KNOWN, known, find_base(str(folder)).sha256)
    assert find_base(known).folder == folder and find_base(known).name == known


FREED = """
from evenhand.models._processor import keep_memory
import numpy as np, sys
if sys.argv[1] == "kept":
    keep_memory()
one = np.ones(1 << 25)
one = None
print(open("/proc/self/statm").read().split()[1])
"""


def test_a_training_keeps_the_memory_it_frees():
    if sys.platform != "linux":
        pytest.skip("only glibc can be told so")
    freed, kept = (
        int(
            subprocess.run(
                [sys.executable, "-c", FREED, way], capture_output=True, check=True
            ).stdout
        )
        for way in ("freed", "kept")
    )
    # 2^25 numbers of 8 bytes are 65,536 pages of 4 kB.
    assert kept - freed > 60_000


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(transformer, "find_spec", lambda name: None)
    corpus = made_up(30)
    ready = for_corpus(Transformer(**QUICK), corpus)
    with pytest.raises(MissingExtra, match=r"pip install 'evenhand\[train\]'"):
        ready.fit(corpus.posts, corpus.gold, seed=0)


def test_the_word_list_is_read_before_training(tmp_path: Path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"fool\xff\n")
    corpus = made_up(30)
    ready = for_corpus(TransformerVocabulary(**QUICK, words=str(path)), corpus)
    with pytest.raises(BadInput, match="not UTF-8"):
        ready.fit(corpus.posts, corpus.gold, seed=0)


def test_posts_of_one_class_are_refused():
    corpus = made_up(30)
    only = corpus.gold.filter(pl.col("label") == "bad")
    with pytest.raises(Exception, match="both classes"):
        for_corpus(Transformer(**QUICK), corpus).fit(corpus.posts, only, seed=0)


@pytest.fixture
def in_half() -> None:
    from evenhand.models._processor import multiplies_half

    if not multiplies_half():
        pytest.skip("products in bfloat16 do not work on this machine")


@pytest.mark.usefixtures("in_half")
def test_values_that_stay_in_half_change_no_gradient(monkeypatch: pytest.MonkeyPatch):
    import torch

    from evenhand.models import _encoder_network as networks

    network = networks.build(networks.Shape(tiny_encoder(), 2, 0.0, half=True), weights=True)
    tokens = torch.arange(5, 17).view(2, 6)
    gradients = []
    for widens in (2, 1000):  # the tiny encoder is twice as wide behind attention
        monkeypatch.setattr(networks, "_WIDENS", widens)
        network.train().zero_grad()
        network(tokens, torch.ones_like(tokens)).square().sum().backward()
        gradients.append([p.grad.clone() for p in network.parameters() if p.grad is not None])
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


@pytest.mark.usefixtures("in_half")
def test_half_takes_layers_without_bias():
    from torch import nn, ones

    from evenhand.models._encoder_network import HalfLinear

    layer = nn.Linear(4, 3, bias=False)
    nn.init.constant_(layer.weight, 0.5)
    assert HalfLinear.of(layer).train()(ones(2, 4)).tolist() == [[2.0] * 3] * 2


@pytest.mark.usefixtures("in_half")
def test_half_rounds_while_training_and_not_when_judged():
    import torch

    from evenhand.models._encoder_network import HalfLinear, Shape, build

    plain, half = (build(Shape(tiny_encoder(), 2, 0.0, half=h), weights=True) for h in (0, 1))
    layers = [m for m in half.modules() if isinstance(m, HalfLinear)]
    assert len(layers) == 7  # query, key, value, output, two behind attention; one is not read
    tokens = torch.arange(5, 17).view(2, 6)
    mask = torch.ones_like(tokens)
    plain.load_state_dict(half.state_dict())
    judged = [network.eval()(tokens, mask) for network in (plain, half)]
    assert torch.equal(*judged)
    learning = [network.train()(tokens, mask) for network in (plain, half)]
    # bfloat16 has 8 significant bits: off by about .4 % of what is summed, but not equal.
    apart = (learning[0] - learning[1]).abs().max()
    assert 0 < apart < 0.05
    learning[1].sum().backward()
    learned = [layer.weight.grad for layer in layers if layer.weight.grad is not None]
    assert len(learned) == 6 and all(gradient.dtype == torch.float32 for gradient in learned)


@pytest.mark.parametrize("there", [True, False], ids=["dies of it", "has none"])
def test_half_is_refused_where_it_does_not_work(there: bool, monkeypatch: pytest.MonkeyPatch):
    import torch

    from evenhand.models import _processor

    dies = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
    monkeypatch.setattr(_processor, "_TRIED", dies)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: there)
    _processor.multiplies_half.cache_clear()
    monkeypatch.setattr(
        _processor, "multiplies_half", _processor.multiplies_half.__wrapped__
    )  # nothing of this is remembered
    corpus = made_up()
    with pytest.raises(BadInput, match="half=yes needs a processor with AVX512-BF16"):
        Transformer(base=str(tiny_encoder()), half=True).fit(corpus.posts, corpus.gold, seed=0)

"""A transformers folder as a detector: a tiny classifier with random weights."""

import json
import shutil
import sys

import numpy as np
import pytest

from evenhand.core.errors import BadInput, BrokenComponent, MissingExtra
from evenhand.models.find import detector
from evenhand.models.scoring import score_attribute
from factories import make_corpus

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [f"w{n}" for n in range(60)]
TEXTS = [" ".join(WORDS[k : k + 1 + k % 7]) for k in range(50)] + ["w1 w2", "", "w9"]
LONG = " ".join(WORDS)  # sixty tokens; the model reads 32 with [CLS] and [SEP]


def write(folder, labels=("none", "hate"), *, seed=0, **config):
    """A classifier with its tokenizer."""
    from transformers.utils import logging

    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS])}
    torch.manual_seed(seed)
    model = transformers.BertForSequenceClassification(
        transformers.BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=32,
            initializer_range=0.5,
            id2label=dict(enumerate(labels)),
            label2id={label: number for number, label in enumerate(labels)},
            **config,
        )
    )
    logging.disable_progress_bar()
    model.save_pretrained(folder)
    transformers.BertTokenizerFast(vocab=vocabulary).save_pretrained(folder)
    return model.eval()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "tiny"
    write(path)
    return path


@pytest.fixture
def changed(folder, tmp_path):
    """A copy to change."""
    return shutil.copytree(folder, tmp_path / "tiny")


def alone(folder, text, activation):
    """The scores of one text by transformers' own road."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        asked = tokenizer([text], return_tensors="pt", truncation=True, max_length=32)
        return activation(model(**asked).logits).numpy()[0]


def test_the_scores_are_those_of_transformers(folder):
    found = detector(f"hf:{folder}")
    assert (found.name, found.attributes) == ("tiny", ("hate", "none"))
    p = found.score(TEXTS)
    for row in (0, 6, 20, 51, 52):
        expected = alone(folder, TEXTS[row], lambda logits: logits.softmax(1))
        assert p[row] == pytest.approx(expected[::-1], abs=1e-6)
    assert p.sum(axis=1) == pytest.approx(1)
    assert p[:, 0].std() > 0.01


def test_a_score_does_not_depend_on_neighbours_or_order(folder):
    found = detector(f"hf:{folder}")
    whole = found.score([*TEXTS, LONG])
    backwards = found.score([LONG, *TEXTS[::-1]])
    single = np.concatenate([found.score([text]) for text in [*TEXTS, LONG]])
    # Some processors sum a batch in another order than one text: the last bits, and no more.
    assert np.abs(whole - single).max() < 1e-5
    assert np.abs(whole[:-1] - backwards[:0:-1]).max() < 1e-5


@pytest.mark.parametrize(
    ("labels", "config"),
    [
        (("toxic",), {}),
        (("a", "b", "c"), {"problem_type": "multi_label_classification"}),
    ],
)
def test_one_label_or_several_at_once_means_a_sigmoid(tmp_path, labels, config):
    write(tmp_path / "m", labels, **config)
    found = detector(f"hf:{tmp_path}/m", attribute=labels[-1])
    assert found.provenance["scores"] == "sigmoid"
    expected = alone(tmp_path / "m", "w1 w2", lambda logits: logits.sigmoid())
    ordered = [expected[labels.index(name)] for name in found.attributes]
    assert found.attributes[0] == labels[-1]
    assert found.score(["w1 w2"])[0] == pytest.approx(ordered, abs=1e-6)


def test_long_texts_are_cut_and_counted(folder):
    found = detector(f"hf:{folder}")
    same = found.score([LONG, " ".join(WORDS[:30]), "w1"])
    # 30 words with [CLS] and [SEP] are 32 tokens
    assert same[0] == pytest.approx(same[1], abs=1e-9)
    assert found.provenance["texts_cut"] == 1
    found.score([LONG, LONG])  # as when a batch is asked for again in halves
    assert found.provenance["texts_cut"] == 1
    assert found.provenance["longest_tokens"] == 32
    assert len(found.provenance["sha256"]) == 64


def test_positions_behind_a_place_for_padding(tmp_path):
    """RoBERTa counts positions from behind the padding's: 20 places, two of them lost."""
    model = transformers.RobertaForSequenceClassification(
        transformers.RobertaConfig(
            vocab_size=65, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
            intermediate_size=8, max_position_embeddings=20, pad_token_id=1, num_labels=1,
        )
    )  # fmt: skip
    model.save_pretrained(tmp_path / "m")
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS])}
    transformers.BertTokenizerFast(vocab=vocabulary).save_pretrained(tmp_path / "m")
    found = detector(f"hf:{tmp_path}/m")
    assert found.longest == 18
    asked = " ".join(WORDS)
    assert found.score([asked]).shape == (1, 1)


def test_which_label_to_judge_has_to_be_clear(tmp_path):
    write(tmp_path / "m", ("LABEL_0", "LABEL_1"))
    with pytest.raises(BadInput, match="which label .* one of LABEL_0, LABEL_1 with --attribute"):
        detector(f"hf:{tmp_path}/m")
    assert detector(f"hf:{tmp_path}/m", attribute="LABEL_1").attributes == ("LABEL_1", "LABEL_0")
    with pytest.raises(BadInput, match="no attribute 'HATE'; found LABEL_0, LABEL_1"):
        detector(f"hf:{tmp_path}/m", attribute="HATE")


def test_posts_are_scored_with_the_label_that_was_named(folder):
    posts = make_corpus([{"id": "a", "text": "w1"}, {"id": "b", "text": "w2 w3"}]).posts
    found = score_attribute(detector(f"hf:{folder}", attribute="none"), posts)
    other = score_attribute(detector(f"hf:{folder}"), posts)
    assert (found.attribute, other.attribute) == ("none", "hate")
    assert (found.table["p"] + other.table["p"]).to_list() == pytest.approx([1, 1])


def test_pickled_weights_are_refused(changed):
    (changed / "model.safetensors").rename(changed / "pytorch_model.bin")
    with pytest.raises(BadInput, match=r"only pickled weights \(pytorch_model.bin\).*run code"):
        detector(f"hf:{changed}")


def test_pickled_extras_beside_sound_weights_are_not_read(changed):
    before = detector(f"hf:{changed}").score(["a text"])
    (changed / "training_args.bin").write_bytes(b"not even a pickle")
    assert (detector(f"hf:{changed}").score(["a text"]) == before).all()


def rewrite(path, **values):
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def untrained(folder):
    """The encoder alone: transformers would make up the rest."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    model.bert.save_pretrained(folder)
    rewrite(folder / "config.json", id2label={"0": "none", "1": "hate"})


def without_tokenizer(folder):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()


FAULTS = {
    "weights": (lambda f: (f / "model.safetensors").unlink(), "no weights; expected a file"),
    "config": (lambda f: (f / "config.json").unlink(), "has no config.json"),
    "json": (lambda f: (f / "config.json").write_text("{"), "cannot load it"),
    "cut off": (lambda f: (f / "model.safetensors").write_bytes(b"x" * 99), "cannot load it"),
    "untrained": (untrained, "weights of classifier.bias, classifier.weight are not there"),
    "no tokenizer": (without_tokenizer, "tokenizer has no words|cannot load it"),
    "regression": (
        lambda f: rewrite(f / "config.json", problem_type="regression"), "a regression",
    ),
    "twice": (
        lambda f: rewrite(f / "config.json", id2label={"0": "a", "1": "a"}), "label stands twice",
    ),
    "own code": (
        lambda f: rewrite(
            f / "config.json", model_type="mine", auto_map={"AutoConfig": "mine.Config"}
        ),
        "cannot load it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_folders_that_cannot_be_used(changed, fault):
    (changed / "mine.py").write_text("raise SystemExit('code of the folder was run')")
    spoil, words = FAULTS[fault]
    spoil(changed)
    with pytest.raises(BadInput, match=words):
        detector(f"hf:{changed}")


def test_a_tokenizer_of_another_model(changed):
    path = changed / "tokenizer.json"
    path.write_text(path.read_text().replace('"w7": 12', '"w7": 912'))
    with pytest.raises(BrokenComponent, match="tokens the model does not know"):
        detector(f"hf:{changed}").score(["w7"])


@pytest.mark.parametrize("name", ["hf:", "hf:no/such/folder", "hf:org/model"])
def test_a_folder_that_is_not_there(name):
    with pytest.raises(BadInput, match="expected a transformers classifier on this machine"):
        detector(name)


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_without_the_extra_it_is_named(folder, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"needs {package}.*evenhand\[train\]"):
        detector(f"hf:{folder}")


def test_loading_says_nothing(folder, capfd):
    detector(f"hf:{folder}").score([LONG])
    assert capfd.readouterr() == ("", "")

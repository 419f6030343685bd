import sys

import numpy as np
import polars as pl
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from evenhand.core.errors import BadInput, MissingExtra, NotEnoughData
from evenhand.core.streams import stream
from evenhand.models import _epochs
from evenhand.models._cells import Network, start
from evenhand.models._encoding import FIRST, UNKNOWN, Encoded, Encoding
from evenhand.models._network import Shape
from evenhand.models.agrawal import Agrawal
from evenhand.models.find import recipe as find_recipe
from evenhand.models.saving import load, save
from evenhand.models.seen import trained_on
from evenhand.models.watching import watching
from factories import make_corpus

SHAPES = {
    "bilstm": Shape("lstm", 50, 50, both=True, first=0.25, second=0.5),
    "lstm": Shape("lstm", 200, 50, first=0.25, second=0.5),
    "attention": Shape("lstm", 50, 50, both=True, attention="additive"),
    "cnn": Shape("cnn", 300, second=0.5),
    "gru": Shape("gru", 40, 64, second=0.3),
    "alpha-gru": Shape("gru", 40, 32, both=True, attention="plain"),
}
WORDS = 30
RNG = stream(3, "network")
TEXTS = [RNG.integers(FIRST, WORDS + FIRST, n) for n in (1, 2, 3, 4, 5, 7, 8, 9, 17, 24)]
COMMON = ["you", "the", "day", "bus", "late"]
ROWS = [
    {
        "id": f"p{number:02}",
        "text": " ".join([*RNG.choice(COMMON, number % 7), "fool" if number % 3 == 0 else "tea"]),
        "label": "bad" if number % 3 == 0 else "ok",
    }
    for number in range(40)
]
CORPUS = make_corpus(ROWS)
QUICK = Agrawal(hateful=("bad",), embedding=6, units=4, epochs=4, batch=8)
SOME = [*CORPUS.posts["text"], "", "fool unheard", "the day " * 300]


@pytest.fixture(autouse=True)
def one_thread():
    """Two threads of PyTorch wait for each other on a busy machine."""
    with _epochs.one_thread():
        yield


def network(shape: Shape, classes: int = 3) -> Network:
    made = Network(shape, WORDS, classes)
    rng = stream(1, "vectors")
    vectors = rng.normal(size=(WORDS, shape.embedding)).astype(np.float32)
    start(made, vectors, seed=1, step="test")
    with torch.no_grad():  # offsets other than zero, so that one that is left out is noticed
        for weights in made.parameters():
            if weights.dim() == 1:
                weights.copy_(torch.from_numpy(rng.normal(size=weights.shape)))
    return made.eval()


def scores(made: Network, texts, width: int):
    table = np.zeros((len(texts), width), dtype=np.int64)
    for row, text in zip(table, texts, strict=True):
        row[: len(text)] = text
    lengths = torch.tensor([len(text) for text in texts])
    with torch.inference_mode():
        return made(torch.from_numpy(table.T.copy()), lengths).numpy()


def encoded(texts) -> Encoded:
    return Encoded(np.concatenate(texts), np.array([len(text) for text in texts]))


def fitted(recipe=QUICK, posts=CORPUS.posts, gold=CORPUS.gold, seed=0):
    return recipe.fit(posts, gold, seed=seed)


@pytest.mark.parametrize("kind", SHAPES)
def test_padding_changes_no_score(kind):
    made = network(SHAPES[kind])
    together = scores(made, TEXTS, 31)
    for row, text in zip(together, TEXTS, strict=True):
        np.testing.assert_allclose(scores(made, [text], len(text))[0], row, atol=1e-5)


@pytest.mark.parametrize("kind", ["bilstm", "gru"])
def test_states_are_those_of_pytorch_without_padding(kind):
    made = network(SHAPES[kind])
    shape, cell = SHAPES[kind], made.cell
    theirs = (nn.LSTM if shape.kind == "lstm" else nn.GRU)(
        shape.embedding, shape.units, bidirectional=shape.both
    )
    weights = dict(cell.forwards.state_dict())
    if shape.both:
        weights |= {f"{k}_reverse": v for k, v in cell.backwards.state_dict().items()}
    theirs.load_state_dict(weights)
    for text, found in zip(TEXTS, scores(made, TEXTS, 24), strict=True):
        vectors = made.words[torch.from_numpy(text) - FIRST]
        state = theirs(vectors)[1]
        last = state[0] if shape.kind == "lstm" else state
        np.testing.assert_allclose(made.last(last.flatten()).detach(), found, atol=1e-5)


@pytest.mark.parametrize("kind", ["attention", "alpha-gru"])
def test_attention_is_a_weighted_mean_of_the_steps(kind):
    made = network(SHAPES[kind])
    cell, text = made.cell, TEXTS[6]
    vectors = made.words[torch.from_numpy(text) - FIRST]
    ahead, back = cell.forwards(vectors)[0], cell.backwards(vectors.flip(0))[0].flip(0)
    states = torch.cat([ahead, back], dim=1)
    hidden = states if kind == "alpha-gru" else torch.tanh(cell.hidden(states))
    share = torch.exp(hidden @ cell.weight.weight[0])
    mean = (share / share.sum()) @ states
    np.testing.assert_allclose(made.last(mean).detach(), scores(made, [text], 15)[0], atol=1e-5)


def test_a_convolution_by_hand():
    made = network(SHAPES["cnn"])
    for text in TEXTS:
        vectors = np.zeros((max(len(text), 5), 300))
        vectors[: len(text)] = made.words.detach().numpy()[text - FIRST]
        most = []
        for width, filters in zip((3, 4, 5), made.cell.filters, strict=True):
            weight = filters.weight.detach().numpy().transpose(0, 2, 1)  # filter, word, value
            places = range(max(len(text) - width + 1, 1))
            found = [np.einsum("fwv,wv->f", weight, vectors[p : p + width]) for p in places]
            most.append(np.maximum(np.max(found, axis=0) + filters.bias.detach().numpy(), 0))
        expected = made.last(torch.from_numpy(np.concatenate(most)).float()).detach()
        np.testing.assert_allclose(scores(made, [text], 30)[0], expected, atol=1e-4)


@pytest.mark.parametrize("kind", SHAPES)
def test_a_score_is_the_same_to_the_last_bit_at_any_place_beside_any_texts(kind):
    made = network(SHAPES[kind])
    rng = stream(2, "neighbours")
    for text in TEXTS:
        alone = _epochs.probabilities(made, encoded([text]))[0]
        for place in range(0, _epochs.ROWS + 3, 4):
            sizes = rng.integers(1, 30, place + 3)
            beside = [rng.integers(UNKNOWN, WORDS + FIRST, size) for size in sizes]
            beside[place] = text
            assert np.array_equal(_epochs.probabilities(made, encoded(beside))[place], alone)


def test_an_unknown_word_is_a_vector_of_zeros():
    made = network(SHAPES["lstm"])
    with torch.no_grad():
        made.words[4] = 0
    unknown = np.array([FIRST + 1, UNKNOWN, FIRST + 2])
    known = np.array([FIRST + 1, FIRST + 4, FIRST + 2])
    assert np.array_equal(scores(made, [unknown], 8), scores(made, [known], 8))


def test_batches_hold_every_row_once_and_texts_of_about_one_length():
    lengths = stream(0, "lengths").integers(1, 40, 1000)
    rows = np.repeat(np.arange(1000), 2)
    batches = _epochs.bucketed(lengths, rows, 64, stream(0, "batches"))
    assert sorted(np.concatenate(batches)) == rows.tolist()
    assert sorted(map(len, batches)) == [2000 - 31 * 64, *[64] * 31]
    # 40 lengths in 31 batches: one or two lengths each, and the noise reaches two further.
    assert max(np.ptp(lengths[batch]) for batch in batches) <= 4
    again = _epochs.bucketed(lengths, rows, 64, stream(1, "batches"))
    assert not all(np.array_equal(a, b) for a, b in zip(batches, again, strict=True))


class Plain(nn.Module):
    """The same network the ordinary way: packed sequences, which know no padding."""

    def __init__(self, made: Network) -> None:
        super().__init__()
        self.words = nn.Parameter(made.words.detach().clone())
        self.lstm = nn.LSTM(5, 4, bidirectional=True)
        both = (("", made.cell.forwards), ("_reverse", made.cell.backwards))
        self.lstm.load_state_dict(
            {k + end: v for end, c in both for k, v in c.state_dict().items()}
        )
        self.last = nn.Linear(8, 3)
        self.last.load_state_dict(made.last.state_dict())

    def forward(self, numbers, lengths):
        vectors = self.words[(numbers - FIRST).clamp(min=0)]
        packed = pack_padded_sequence(vectors, lengths, enforce_sorted=False)
        return self.last(torch.cat(tuple(self.lstm(packed)[1][0]), dim=1))


def test_training_equals_an_ordinary_loop_with_packed_sequences():
    made = network(Shape("lstm", 5, 4, both=True))
    plain = Plain(made)
    rng = stream(8, "training")
    texts = encoded([rng.integers(FIRST, WORDS + FIRST, n) for n in rng.integers(1, 12, 60)])
    labels = rng.integers(0, 3, 60)
    course = _epochs.Course(3, 16, "test", lambda epoch: stream(8, epoch))
    _epochs.train(made, texts, labels, np.arange(60), course)
    adam = torch.optim.Adam(plain.parameters())
    for epoch in range(3):
        for batch in _epochs.bucketed(texts.lengths, np.arange(60), 16, stream(8, epoch)):
            adam.zero_grad()
            numbers = torch.from_numpy(texts.padded(batch, 12).T.copy())
            found = plain(numbers, torch.from_numpy(texts.lengths[batch]))
            nn.functional.cross_entropy(found, torch.from_numpy(labels[batch])).backward()
            adam.step()
    # Twelve steps of at most .001 each: what differs is rounding.
    np.testing.assert_allclose(made.words.detach(), plain.words.detach(), atol=2e-5)
    np.testing.assert_allclose(made.last.weight.detach(), plain.last.weight.detach(), atol=2e-5)


def test_dropout_drops_its_share_and_keeps_the_mean():
    from evenhand.models._cells import Dropout

    layer = Dropout(0.3)
    layer.rng = stream(0, "dropout")
    dropped = layer(torch.ones(100_000)).numpy()
    assert (dropped == 0).mean() == pytest.approx(0.3, abs=0.006)  # four standard errors
    assert set(np.unique(dropped)) == {np.float32(0), np.float32(1 / 0.7)}
    assert torch.equal(layer.eval()(torch.ones(5)), torch.ones(5))


def test_threads_and_random_numbers_of_pytorch_are_left_alone():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        torch.manual_seed(5)
        expected = torch.rand(3)
        torch.manual_seed(5)
        fitted().score(SOME)
        assert torch.equal(torch.rand(3), expected)
        assert torch.get_num_threads() == 2
        with pytest.raises(KeyboardInterrupt), watching(step=stop_at(1)):
            fitted()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_the_numbers_drawn_so_far_change_nothing():
    first = fitted().score(SOME)
    torch.rand(7)
    assert np.array_equal(fitted().score(SOME), first)


def stop_at(most: float, seen: list | None = None):
    def step(what, done, total):
        if seen is not None:
            seen.append((what, done, total))
        if done >= most:
            raise KeyboardInterrupt

    return step


def test_progress_names_the_epoch_and_the_loss():
    seen = []
    with watching(step=stop_at(99, seen)):
        fitted()
    assert [(done, total) for _, done, total in seen] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert seen[1][0].startswith("epoch 2 of 4, loss 0.")


@pytest.mark.parametrize("most", [2, 2.5])
def test_a_training_that_was_killed_goes_on_to_the_same_bits(most, tmp_path, monkeypatch):
    monkeypatch.setattr(_epochs, "OFTEN", 2)
    whole = fitted().score(SOME)
    with pytest.raises(KeyboardInterrupt), watching(step=stop_at(most), checkpoints=tmp_path):
        fitted()
    seen = []
    with watching(step=stop_at(99, seen), checkpoints=tmp_path):
        again = fitted()
    assert 2 < seen[0][1] < 3, "two epochs were done"
    assert np.array_equal(again.score(SOME), whole)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_training_that_was_done_is_not_done_again(tmp_path):
    with watching(checkpoints=tmp_path / "new"):
        whole = fitted().score(SOME)
    with watching(step=stop_at(0), checkpoints=tmp_path / "new"):
        assert np.array_equal(fitted().score(SOME), whole)


FLIPPED = CORPUS.gold.with_columns(
    label=pl.when(pl.col("post") == "p01").then(pl.lit("bad")).otherwise("label")
)


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1},
        {"recipe": Agrawal(hateful=("bad",), embedding=6, units=4, epochs=5, batch=8)},
        {"posts": CORPUS.posts.head(30)},
        {"gold": FLIPPED},
    ],
    ids=["seed", "options", "posts", "gold"],
)
def test_a_checkpoint_of_another_training_is_not_taken_up(other, tmp_path):
    with watching(checkpoints=tmp_path):
        fitted()
        assert np.array_equal(fitted(**other).score(SOME), fitted_alone(**other))


def fitted_alone(**other):
    with watching():
        return fitted(**other).score(SOME)


@pytest.mark.parametrize("how", ["cut off", "empty", "text", "no state", "other digest"])
def test_a_broken_checkpoint_is_ignored_and_written_anew(how, tmp_path):
    with watching(checkpoints=tmp_path):
        whole = fitted().score(SOME)
    [path] = tmp_path.iterdir()
    sound = path.read_bytes()
    with np.load(path) as file:
        arrays = dict(file)
    if how == "no state":
        arrays = {k: v for k, v in arrays.items() if not k.startswith("adam")}
    if how == "other digest":
        arrays["digest"] = arrays["digest"][::-1]
    np.savez(path, **arrays)
    short = {"cut off": sound[: len(sound) // 2], "empty": b"", "text": b"hello"}
    if how in short:
        path.write_bytes(short[how])
    with watching(checkpoints=tmp_path):
        assert np.array_equal(fitted().score(SOME), whole)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    with np.load(path) as file:
        assert file["epoch"] == 4


def test_without_pytorch_the_extra_is_named(monkeypatch, tmp_path):
    save(fitted(), tmp_path / "saved")
    monkeypatch.setitem(sys.modules, "torch", None)
    for call in (fitted, lambda: load(tmp_path / "saved")):
        with pytest.raises(MissingExtra, match=r"agrawal needs PyTorch.*evenhand\[train\]"):
            call()


def test_only_so_many_words_are_read():
    detector = fitted(Agrawal(hateful=("bad",), embedding=6, units=4, epochs=1, length=3))
    p = detector.score(["you the day", "you the day fool fool", "you the fool"])
    assert p[0] == p[1] != p[2]


def test_words_too_rare_are_unknown_in_training_too():
    encoding = Encoding.learn(pl.Series([["a", "b"], ["b"]]), min_df=2, length=9)
    assert encoding.encode(pl.Series([["b", "a", "c"]])).numbers.tolist() == [2, 1, 1]


def test_nothing_frequent_enough_says_so():
    recipe = Agrawal(hateful=("bad",), min_df=99)
    with pytest.raises(NotEnoughData, match="agrawal: no word stands in 99 or more of the 40"):
        fitted(recipe)


def test_a_class_without_training_rows_has_probability_zero(tmp_path):
    recipe = Agrawal(classes=("ok", "absent", "bad"), embedding=6, units=4, epochs=2)
    detector = fitted(recipe)
    save(detector, tmp_path / "saved")
    for each in (detector, load(tmp_path / "saved")):
        p = each.score(SOME)
        assert (p[:, 1] == 0).all() and (p[:, [0, 2]] > 0).all()
        assert p.sum(axis=1) == pytest.approx(1)


def test_vectors_from_a_file_are_where_training_starts(tmp_path, monkeypatch):
    path = tmp_path / "vectors.txt"
    path.write_text("fool 1 2 3\ntea -4 5 6\nnowhere 7 8 9\n")
    monkeypatch.setattr(_epochs, "train", lambda *_: None)
    recipe = Agrawal(hateful=("bad",), embedding=3, units=4, vectors=str(path))
    detector = fitted(recipe)
    known = detector.encoding.vocabulary.symbols.to_list()
    found = dict(zip(known, detector.network.words.tolist(), strict=True))
    assert found["fool"] == [1, 2, 3] and found["tea"] == [-4, 5, 6]
    assert "nowhere" not in found
    assert all(0 < abs(value) <= 0.05 for value in found["you"])
    assert detector.provenance["vectors"]["file"] == "vectors.txt"
    with pytest.raises(BadInput, match=r"agrawal: embedding is 50, but .*; give embedding=3"):
        fitted(Agrawal(hateful=("bad",), vectors=str(path)))


def test_posts_that_vectors_were_learned_from_count_as_seen(tmp_path):
    others = [f"the bus is late day {day} you fool tea sun rain" for day in range(30)]
    path = tmp_path / "more.csv"
    pl.DataFrame({"id": [f"u{n}" for n in range(30)], "text": others}).write_csv(path)
    recipe = Agrawal(hateful=("bad",), embedding=4, units=4, epochs=1, unlabelled=str(path))
    detector = fitted(recipe)
    asked = pl.DataFrame(
        {
            "id": ["new", "a", "p00"],
            "source": ["elsewhere", "elsewhere", "made up"],
            "text": ["never seen", others[3], "whatever"],
        }
    )
    assert trained_on(detector, asked) == ["a", "p00"]
    assert detector.provenance["unlabelled"] == {"name": str(path), "posts": 30}
    assert np.array_equal(fitted(recipe).score(SOME), detector.score(SOME))


@pytest.mark.parametrize(
    "options",
    [
        {"embedding": 0}, {"epochs": 0}, {"batch": -1}, {"oversample": 0}, {"min_df": 0},
        {"length": 0}, {"units": 0}, {"dropout_first": 1.0}, {"dropout_second": -0.1},
        {"dropout_first": float("nan")},
    ],
    ids=lambda options: "-".join(options),
)  # fmt: skip
def test_options_out_of_range_are_refused(options):
    [name] = options
    with pytest.raises(BadInput, match=f"agrawal: {name} is .*; expected at least"):
        Agrawal(**options)


def test_every_fault_in_the_options_is_named():
    with pytest.raises(BadInput) as caught:
        Agrawal(epochs=0, dropout_second=2, vectors="a", unlabelled="b")
    assert caught.value.total == 3


@pytest.mark.parametrize("recipe", ["agrawal", "badjatiya"])
def test_who_is_mentioned_counts_only_if_asked_for(recipe, tmp_path):
    rows = [
        {
            "id": f"m{number:02}",
            "text": f"{'@ann' if number % 2 else '@ben'} w{number % 5} day bus",
            "label": "bad" if number % 2 else "ok",
        }
        for number in range(80)
    ]
    corpus = make_corpus(rows)
    texts = ["@ann day bus", "@ben day bus", "@unheard day bus"]
    quick = "hateful=bad,embedding=6,units=4,epochs=8,batch=8"
    for handles in ("no", "yes"):
        made = find_recipe(f"{recipe}:{quick},handles={handles}")
        detector = made.fit(corpus.posts, corpus.gold, seed=0)
        p = detector.score(texts)[:, 0]
        assert (p[0] == p[1] == p[2]) == (handles == "no")
        save(detector, tmp_path / handles)
        assert np.array_equal(load(tmp_path / handles).score(texts)[:, 0], p)

import gzip

import numpy as np
import polars as pl
import pytest

from evenhand.core.errors import BadInput, NotEnoughData
from evenhand.core.streams import stream
from evenhand.models import _vectors
from evenhand.models._vectors import SPREAD, Vectors, learn_vectors, read_vectors

PLAIN = "a 1 2\nb 3 -4e-1\n"


def write(tmp_path, content, name="v.txt"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(tmp_path, content, name="v.txt"):
    found = read_vectors(write(tmp_path, content, name))
    return dict(zip(found.words, found.matrix.tolist(), strict=True))


def faults(path):
    with pytest.raises(BadInput) as caught:
        read_vectors(path)
    return str(caught.value).replace(f"{path}", path.name).splitlines()


def test_rows_are_zeros_where_a_word_is_unknown():
    vectors = Vectors(pl.Series(["b", "a"]), np.array([[1, 2], [3, 4]], dtype=np.float32))
    matrix, found = vectors.rows(pl.Series(["a", "x", "b", "a"]))
    assert matrix.dtype == np.float32
    assert matrix.tolist() == [[3, 4], [0, 0], [1, 2], [3, 4]]
    assert found.tolist() == [True, False, True, True]


def test_rows_of_no_words():
    vectors = Vectors(pl.Series(["a"]), np.ones((1, 3), dtype=np.float32))
    matrix, found = vectors.rows(pl.Series([], dtype=pl.String))
    assert (matrix.shape, found.shape) == ((0, 3), (0,))


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        "2 2\n" + PLAIN,
        PLAIN.rstrip(),
        "2 2\na 1 2 \nb 3 -4e-1 \n",
        PLAIN.replace("\n", "\r\n") + "\r\n",
        "\ufeff2 2\n" + PLAIN,
        PLAIN + "a 7 7\n",
        "3 2\n" + PLAIN + "a 7 7\n",
    ],
    ids=["glove", "word2vec", "open-end", "fasttext", "windows", "mark", "twice", "twice-counted"],
)
def test_formats(tmp_path, content):
    expected = {"a": [1, 2], "b": [3, pytest.approx(-0.4)]}
    assert read(tmp_path, content) == expected
    assert read(tmp_path, gzip.compress(content.encode()), "v.txt.gz") == expected


@pytest.mark.parametrize(
    "word", [". . .", "at name@example.org", "a\u00a0b", "\u2028", "\u0085", '"', "#", "1", "é👍"]
)
def test_odd_words(tmp_path, word):
    expected = {"a": [1, 2], word: [5, 6], "b": [3, pytest.approx(-0.4)]}
    lines = PLAIN.splitlines()
    assert read(tmp_path, f"{lines[0]}\n{word} 5 6\n{lines[1]}\n") == expected


def test_blocks_are_put_together(tmp_path, monkeypatch):
    drawn = stream(1, "vectors").normal(size=(200, 3)).astype(np.float32)
    lines = [" ".join([f"w{i}", *map(repr, row)]) for i, row in enumerate(drawn.tolist())]
    monkeypatch.setattr(_vectors, "_BLOCK", 300)
    found = read_vectors(write(tmp_path, "\n".join(["200 3", *lines])))
    np.testing.assert_array_equal(found.matrix, drawn)
    assert found.words.to_list() == [f"w{i}" for i in range(200)]


def test_lines_are_counted_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(_vectors, "_BLOCK", 10)
    path = write(tmp_path, "5 2\na 1 2\nb 1 2\n\nc 1\nd x 2\ne 1 2\n")
    assert [fault.split(":")[0] for fault in faults(path)] == ["v.txt line 5", "v.txt line 6"]


def test_other_white_space_beside_a_number_changes_nothing(tmp_path):
    assert read(tmp_path, "a 1\t 2\nb \v3 4\f\nc 5\r 6\n") == {
        "a": [1, 2],
        "b": [3, 4],
        "c": [5, 6],
    }


def test_ragged_rows_are_all_named(tmp_path):
    path = write(tmp_path, "a 1 2 3\nb 1 2\nc 1 2 3 4\nd\ne 1 2 3\n")
    advice = "expected 3, as line 1 has it. Delete the line, or export the file again"
    assert faults(path) == [
        f"v.txt line 2: 2 numbers behind the word; {advice}",
        f"v.txt line 3: 4 numbers behind the word; {advice}",
        f"v.txt line 4: 0 numbers behind the word; {advice}",
    ]


@pytest.mark.parametrize("part", ["x", "nan", "inf", "-Infinity", "1e39", "1,5", "0x1", "1_0", ""])
def test_what_is_no_finite_number_is_named(tmp_path, part):
    path = write(tmp_path, f"a 1 2 3\nb 1 {part} 3\n")
    assert faults(path) == [
        f"v.txt line 2: {part!r} where a finite number was expected; mend or delete the line"
    ]


def test_a_word_must_be_there_and_in_utf8(tmp_path):
    assert faults(write(tmp_path, b"a 1 2\ncaf\xe9 1 2\n")) == [
        "v.txt line 2: byte 0xe9 at position 4 is not UTF-8; save the file as UTF-8, or delete the "
        "line"
    ]
    assert faults(write(tmp_path, "a 1 2\n 1 2\n")) == [
        "v.txt line 2: no word in front of the numbers; delete the line"
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("3 2\n" + PLAIN, "v.txt line 1: says 3 words but 2 follow"),
        ("1 2\n" + PLAIN, "v.txt line 1: says 1 words but 2 follow"),
        ("2 3\n" + PLAIN, "v.txt line 1: says 3 numbers a word but line 2 has 2"),
        ("2 1\n" + PLAIN, "v.txt line 1: says 1 numbers a word but line 2 has 2"),
        ("2 0\na\nb\n", "v.txt line 1: says 0 numbers a word but line 2 has 0"),
        ("2 2\n", "v.txt: has no words below line 1"),
        ("", "v.txt: is empty"),
        ("\n \n", "v.txt: is empty"),
        ("a\t1\t2\n", "v.txt line 1: no number behind the word"),
    ],
    ids=["more", "fewer", "wider", "narrower", "none", "alone", "empty", "blank", "tabs"],
)
def test_a_first_line_that_does_not_fit(tmp_path, content, expected):
    [fault] = faults(write(tmp_path, content))
    assert fault.startswith(expected)


def test_a_binary_file_is_refused_by_name(tmp_path):
    rows = stream(1, "binary").normal(size=(4, 20)).astype(np.float32)
    packed = b"".join(b"w%d " % i + row.tobytes() + b"\n" for i, row in enumerate(rows))
    [fault] = faults(write(tmp_path, b"4 20\n" + packed))
    assert fault.startswith("v.txt: is binary; export it as text")


def test_a_missing_file_a_folder_and_cut_off_data(tmp_path):
    assert faults(tmp_path / "no.vec") == [
        "no.vec: does not exist; expected a file of word vectors"
    ]
    assert "is a folder; expected a file" in faults(tmp_path)[0]
    path = write(tmp_path, gzip.compress(PLAIN.encode() * 50)[:-12], "v.gz")
    assert faults(path)[0].startswith("v.gz: the gzip data is damaged or cut off")


ALIKE = [
    f"{start} the {animal} {end}"
    for animal in ("cat", "dog")
    for start, end in (("feed", "eats"), ("stroke", "sleeps"), ("call", "runs"), ("wash", "eats"))
] + [
    f"{start} the {thing} {end}"
    for thing in ("bus", "train")
    for start, end in (("board", "stops"), ("miss", "leaves"), ("await", "arrives"))
]


def cosine(vectors, one, other):
    (a, b), found = vectors.rows(pl.Series([one, other]))
    assert found.all()
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_words_used_alike_come_out_near_one_another():
    vectors = learn_vectors(ALIKE, 4, seed=1, min_count=1)
    # "cat" and "dog" have the very same neighbours, so their rows of the table are equal.
    assert cosine(vectors, "cat", "dog") == pytest.approx(1, abs=1e-5)
    assert cosine(vectors, "bus", "train") == pytest.approx(1, abs=1e-5)
    assert cosine(vectors, "cat", "bus") < 0.5


def test_the_table_by_hand():
    # Four times "x y", four times "x z", once "y z": as neighbours x stands 8 times, y and z 5
    # times each, of 18. The shares of neighbours are their powers of 0.75 over the sum S of these.
    s = 8**0.75 + 2 * 5**0.75
    x_y = np.log((4 / 18) / (8 / 18 * 5**0.75 / s))
    y_x = np.log((4 / 18) / (5 / 18 * 8**0.75 / s))
    # y-z: (1/18) / (5/18 · 0.292) = 0.68, less than by chance, so 0.
    expected = [[0, x_y, x_y], [y_x, 0, 0], [y_x, 0, 0]]
    rows, numbers = np.repeat(np.arange(9), 2), np.array([0, 1] * 4 + [0, 2] * 4 + [1, 2])
    found = _vectors._positive_pmi(_vectors._neighbours(rows, numbers, 3, window=5)).toarray()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_the_window_ends_with_the_text_and_rare_words_keep_their_place():
    # Known words 0 and 1, unknown -1. Text "0 ? 1", text "0 0": two apart is outside a window of 1.
    rows, numbers = np.array([0, 0, 0, 1, 1]), np.array([0, -1, 1, 0, 0])
    near = _vectors._neighbours(rows, numbers, 2, window=1).toarray()
    wide = _vectors._neighbours(rows, numbers, 2, window=9).toarray()
    assert near.tolist() == [[2, 0], [0, 0]]
    assert wide.tolist() == [[2, 1], [1, 0]]


def test_vectors_give_back_the_table_as_well_as_its_singular_values_allow():
    # The table times its transpose is U s² Uᵀ; the vectors are U s^½ times one number.
    rng = stream(2, "texts")
    texts = [" ".join(f"w{k}" for k in rng.zipf(1.5, size=12) % 40) for _ in range(300)]
    vectors = learn_vectors(texts, 6, seed=1, min_count=1)
    lists = _vectors.words(texts)
    rows, flat = _vectors.flattened(lists)
    numbers = _vectors.numbered(flat, vectors.words)
    table = _vectors._positive_pmi(_vectors._neighbours(rows, numbers, len(vectors.words), 5))
    left, values, _ = np.linalg.svd(table.toarray())
    expected = left[:, :6] * np.sqrt(values[:6])
    expected *= SPREAD / np.sqrt((expected**2).mean())
    np.testing.assert_allclose(np.abs(vectors.matrix), np.abs(expected), rtol=0, atol=1e-6)
    top = np.abs(vectors.matrix).argmax(axis=0)
    assert (vectors.matrix[top, range(6)] > 0).all()


def test_order_of_the_texts_does_not_matter():
    one = learn_vectors(ALIKE, 3, seed=1, min_count=1)
    two = learn_vectors(ALIKE[::-1], 3, seed=1, min_count=1)
    assert one.words.to_list() == sorted(one.words) == two.words.to_list()
    np.testing.assert_array_equal(one.matrix, two.matrix)
    assert one.matrix.dtype == np.float32
    assert float(np.sqrt((one.matrix.astype(float) ** 2).mean())) == pytest.approx(SPREAD)


def test_too_few_words_say_what_to_change():
    with pytest.raises(NotEnoughData, match="2 words stand 2 times or more in the 3 texts; .* more "
                       "than 2 words. Add texts, lower min_count"):  # fmt: skip
        learn_vectors(["a b", "b a", "c"], 2, seed=1, min_count=2)
    with pytest.raises(NotEnoughData, match="0 words"):
        learn_vectors([], 2, seed=1)
    with pytest.raises(NotEnoughData, match="none of the 3 known words stands within 5 words"):
        learn_vectors(["a", "b", "c"], 2, seed=1, min_count=1)

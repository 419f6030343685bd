"""Near-duplicates among 100,000 posts: rensa against evenhand, text in, verified pairs out.

    python benchmarks/near_duplicates.py

With EVENHAND_DATA set the posts are real (Davidson, DynaHate, Waseem and Hovy, EDOS, short Jigsaw
comments), otherwise made up. Every way starts from the raw texts, cleans them and drops exact
duplicates with the same code, and ends with pairs checked on true 5-grams by the same code:

- ``evenhand``: `find_duplicates` whole, that is with the edit-distance rule and the groups, which
  the others do not do. For the comparison only its pairs by the Jaccard rule are counted.
- ``rensa``: as its manual shows it: 5-grams by slicing, RMinHash objects made in one call, LSH,
  128 permutations.
- ``rensa + NumPy``: a route for experts: 5-grams hashed by evenhand's NumPy code and passed as one
  flat array; the digest matrix tells which posts have a partner, and only these become objects.

Recall is against all pairs of 20,000 of the posts, by two plain implementations that share nothing
with the package. Rounds are interleaved; the table gives medians.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl
from rensa import RMinHash, RMinHashLSH
from scipy.sparse import csr_array

from evenhand.core.streams import stream
from evenhand.data import _jaccard
from evenhand.data.duplicates import Duplicates, find_duplicates

POSTS, CHECKED, ROUNDS = 100_000, 20_000, 5
PERMUTATIONS, SEED = 128, 42
FILES = {
    "davidson2017/labeled_data.csv.gz": "tweet",
    "dynahate/dynahate_train_dev.csv.gz": "text",
    "waseem_hovy2016/waseem_hovy_text_authors.csv.gz": "text",
    "edos/edos_labelled_aggregated.csv.gz": "text",
    "jigsaw/jigsaw_train_subset.parquet": "comment_text",
}
Found = set[tuple[int, int]]


def posts() -> tuple[pl.Series, str]:
    folder = os.environ.get("EVENHAND_DATA")
    if folder is None:
        return made_up(), "made up"
    texts = pl.concat([read(Path(folder) / file, column) for file, column in FILES.items()])
    return texts.head(POSTS), "real"


def read(path: Path, column: str) -> pl.Series:
    frame = (
        pl.read_parquet(path)
        if path.suffix == ".parquet"
        else pl.read_csv(path, infer_schema_length=0)
    )
    texts = frame[column].alias("text").drop_nulls()
    return texts.filter(texts.str.len_chars() <= 280) if "jigsaw" in path.name else texts


def made_up() -> pl.Series:
    """Posts of 3 to 30 words; one in twenty repeats an earlier one with one word changed."""
    rng = stream(SEED, "benchmark", "near_duplicates")
    letters = list("etaoinshrdlucmfwypvbgkjqxz")
    share = 1 / np.arange(1, 27)
    words = [
        "".join(rng.choice(letters, size, p=share / share.sum()))
        for size in rng.integers(2, 10, 30_000)
    ]
    rank = 1 / np.arange(1, 30_001)
    drawn = iter(rng.choice(30_000, 30 * POSTS, p=rank / rank.sum()).tolist())
    made: list[list[str]] = []
    for size in rng.integers(3, 30, POSTS):
        if made and rng.random() < 0.05:
            post = made[int(rng.integers(len(made)))].copy()
            post[int(rng.integers(len(post)))] = words[next(drawn)]
        else:
            post = [words[next(drawn)] for _ in range(size)]
        made.append(post)
    return pl.Series([" ".join(post) for post in made])


def keys_of(texts: pl.Series) -> pl.Series:
    """The cleaned texts the Jaccard rule applies to, without exact duplicates."""
    shown = find_duplicates(texts, near=False).texts
    return shown.filter(shown.str.len_chars() >= 12)


def verified(keys: pl.Series, candidates: list[tuple[int, int]]) -> Found:
    pairs = np.array(candidates, dtype=np.int32).reshape(-1, 2)
    return set(map(tuple, pairs[_jaccard.at_least(keys, pairs)].tolist()))


def shingled(texts: list[str]) -> list[list[str]]:
    return [[text[at : at + 5] for at in range(len(text) - 4)] for text in texts]


def neighbours(sketches: list[RMinHash], bands: int) -> list[tuple[int, int]]:
    index = RMinHashLSH(threshold=0.8, num_perm=PERMUTATIONS, num_bands=bands)
    index.insert_many(sketches)
    return [(i, j) for i, near in enumerate(index.query_all(sketches)) for j in near if i < j]


def with_rensa(texts: pl.Series, bands: int) -> Found:
    keys = keys_of(texts)
    sketches = RMinHash.from_token_sets(shingled(keys.to_list()), PERMUTATIONS, SEED)
    return verified(keys, neighbours(sketches, bands))


def with_rensa_and_numpy(texts: pl.Series, bands: int) -> Found:
    keys = keys_of(texts)
    grams = _jaccard.lengths(keys) - 4
    hashes = np.concatenate(
        [
            np.delete(_jaccard._hashes(keys[a:b], 42), _jaccard._seams(grams[a:b]))
            for a, b in _jaccard.blocks(grams, 1 << 18)
        ]
    ).view(np.uint64)
    ends = np.concatenate([[0], np.cumsum(grams)]).astype(np.uint64)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(hashes, ends, PERMUTATIONS, SEED)
    index = RMinHashLSH(threshold=0.8, num_perm=PERMUTATIONS, num_bands=bands)
    rows = np.flatnonzero(index.query_duplicate_flags_matrix_one_shot(matrix))
    tokens = shingled(keys.gather(rows).to_list())
    sketches = RMinHash.from_token_sets(tokens, PERMUTATIONS, SEED)
    numbers = rows.tolist()
    return verified(keys, [(numbers[i], numbers[j]) for i, j in neighbours(sketches, bands)])


def by_jaccard(found: Duplicates) -> Found:
    """Our pairs by the Jaccard rule, numbered as in ``keys_of``."""
    long = (found.texts.str.len_chars() >= 12).to_numpy()
    number = np.cumsum(long) - 1
    keys = found.texts.filter(pl.Series(long))
    return verified(keys, [(number[i], number[j]) for i, j in found.near])


def all_jaccard_pairs(texts: list[str]) -> Found:
    """Every pair with Jaccard of at least .8: shared 5-grams of all pairs, by matrix product."""
    column: dict[str, int] = {}
    sets = [{text[at : at + 5] for at in range(len(text) - 4)} for text in texts]
    indices = [column.setdefault(gram, len(column)) for grams in sets for gram in grams]
    size = np.array([len(grams) for grams in sets])
    start = np.concatenate([[0], np.cumsum(size)])
    table = csr_array((np.ones(len(indices), dtype=np.int32), indices, start))
    across = table.T.tocsr()
    found: Found = set()
    for first in range(0, len(texts), 250):
        shared = (table[first : first + 250] @ across).tocoo()
        i, j = shared.row + first, shared.col
        near = (i < j) & (5 * shared.data >= 4 * (size[i] + size[j] - shared.data))
        found.update(zip(i[near].tolist(), j[near].tolist(), strict=True))
    return found


def all_edit_pairs(texts: list[str]) -> Found:
    """Every pair of 12 to 39 characters at most two edits apart: the full table, all pairs."""
    found: Found = set()
    rows = {n: [k for k, text in enumerate(texts) if len(text) == n] for n in range(12, 40)}
    code = {n: np.array([[ord(c) for c in texts[k]] for k in rows[n]]) for n in rows if rows[n]}
    for n in code:
        for m in code.keys() & {n, n + 1, n + 2}:
            for at, text in enumerate(code[n]):
                row = [np.full(len(code[m]), j, dtype=np.uint8) for j in range(m + 1)]
                for i in range(1, n + 1):
                    above, row = row, [np.full(len(code[m]), i, dtype=np.uint8)]
                    for j in range(1, m + 1):
                        change = above[j - 1] + (code[m][:, j - 1] != text[i - 1])
                        row.append(np.minimum(np.minimum(above[j], row[-1]) + 1, change))
                a = rows[n][at]
                near = [rows[m][b] for b in np.flatnonzero(row[m] <= 2)]
                found.update((min(a, b), max(a, b)) for b in near if a != b)
    return found


def timed(function: Callable[[], object]) -> tuple[float, float, object]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def race(texts: pl.Series, ways: dict[str, Callable[[pl.Series], object]]) -> None:
    walls: dict[str, list[float]] = {name: [] for name in ways}
    cpus: dict[str, list[float]] = {name: [] for name in ways}
    pairs: dict[str, int] = {}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            wall, cpu, result = timed(lambda way=way: way(texts))
            walls[name].append(wall)
            cpus[name].append(cpu)
            found = by_jaccard(result) if isinstance(result, Duplicates) else result
            pairs[name] = len(found)
    ours = median(walls["evenhand"]), median(cpus["evenhand"])
    print("\n| way | wall, s (median) | fastest | CPU, s | wall ÷ ours | CPU ÷ ours | pairs |")
    print("|---|---|---|---|---|---|---|")
    for name in ways:
        wall, cpu = median(walls[name]), median(cpus[name])
        print(
            f"| {name} | {wall:.2f} | {min(walls[name]):.2f} | {cpu:.2f} | {wall / ours[0]:.1f} "
            f"| {cpu / ours[1]:.1f} | {pairs[name]:,} |"
        )


def recall(texts: pl.Series, ways: dict[str, Callable[[pl.Series], object]]) -> None:
    keys = keys_of(texts).to_list()
    jaccard = all_jaccard_pairs(keys)
    print(f"\n{len(texts):,} posts, {len(keys):,} keys, {len(jaccard):,} pairs by Jaccard")
    print("\n| way | recall | pairs that are none |\n|---|---|---|")
    for name, way in ways.items():
        result = way(texts)
        found = by_jaccard(result) if isinstance(result, Duplicates) else result
        print(f"| {name} | {len(found & jaccard) / len(jaccard):.4f} | {len(found - jaccard)} |")
    result = find_duplicates(texts)
    long = np.flatnonzero((result.texts.str.len_chars() >= 12).to_numpy()).tolist()
    expected = {(long[i], long[j]) for i, j in jaccard | all_edit_pairs(keys)}
    found = set(map(tuple, result.near.tolist()))
    share = len(found & expected) / len(expected)
    print(f"| evenhand, both rules ({len(expected):,} pairs) | {share:.4f} | ", end="")
    print(f"{len(found - expected)} |")


def main() -> None:
    texts, kind = posts()
    size = texts.str.len_chars()
    print(f"{len(texts):,} {kind} posts of {size.mean():.0f} characters (at most {size.max()});")
    print(f"{os.cpu_count()} processors, Python {sys.version.split()[0]}, {ROUNDS} rounds")
    find_duplicates(texts)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"Peak memory of the process after evenhand's first run: {peak:.0f} MB")
    ways: dict[str, Callable[[pl.Series], object]] = {
        "evenhand": find_duplicates,
        "rensa, 16 bands": lambda some: with_rensa(some, 16),
        "rensa, 32 bands": lambda some: with_rensa(some, 32),
        "rensa + NumPy, 16 bands": lambda some: with_rensa_and_numpy(some, 16),
        "rensa + NumPy, 32 bands": lambda some: with_rensa_and_numpy(some, 32),
    }
    race(texts, ways)
    recall(texts.gather_every(POSTS // CHECKED), ways)


if __name__ == "__main__":
    main()

"""A file of short posts scored from Parquet to Parquet, beside plain loops and scikit-learn.

Prints the tables of docs/benchmarks/score_files.md. Posts are simulated: words drawn by how often
posts have them, and in some posts a handle, a link, a hashtag, a mark in a word, an emoji. No two
are alike. ``--rows`` makes fewer of them, ``--rounds 0`` leaves the whole file out.

Scorers are compared in turn, in one process, each on posts it has not seen, by processor time; the
whole file by the clock and by processor time of all processes.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import polars as pl

from evenhand.core.streams import stream
from evenhand.models._lexicon import lexicon

ROWS, BEFORE, SOME, TURNS, SEED = 2_200_000, 100_000, 40_000, 9, 1
ATTRIBUTES = 7
ADDED = {  # share of posts with it, and how it is written
    "a handle": (0.30, "@user{}"),
    "a link": (0.15, "https://t.co/x{}"),
    "a hashtag": (0.10, "#{word}"),
    "a curly quote": (0.10, "it’s"),
    "an emoji": (0.05, "\N{CLOWN FACE}"),
    "a word with a star": (0.02, "st*pid"),
}


def posts(rows: int) -> Iterator[pl.DataFrame]:
    """Simulated posts, 100,000 at a time, no two alike."""
    rng = stream(SEED, "posts")
    counts = lexicon().counts
    words = np.array(list(counts), dtype=object)
    share = np.cumsum(np.array(list(counts.values()), dtype=float))
    share /= share[-1]
    for first in range(0, rows, 100_000):
        some = min(100_000, rows - first)
        lengths = rng.integers(6, 24, size=some)
        drawn = words[np.searchsorted(share, rng.random(int(lengths.sum())))]
        texts = [" ".join(part) for part in np.split(drawn, np.cumsum(lengths)[:-1])]
        for of_posts, shape in ADDED.values():
            for at in np.flatnonzero(rng.random(some) < of_posts).tolist():
                word, number = drawn[int(rng.integers(len(drawn)))], int(rng.integers(10**6))
                texts[at] = f"{texts[at]} {shape.format(number, word=word)}"
        ids = np.arange(first, first + some)
        yield pl.DataFrame({"id": ids, "text": texts, "author": [f"a{n % 1000}" for n in ids]})


def written(path: Path, rows: int) -> float:
    """The posts as one Parquet file; characters each."""
    frame = pl.concat(posts(rows)).unique("text", keep="first", maintain_order=True)
    frame.write_parquet(path)
    return float(frame["text"].str.len_chars().mean() or 0)  # type: ignore[arg-type]


class Watched:
    """The most memory that a process and its children held at once, and the time they used.

    Workers are grandchildren, of which the system does not tell the time when they have ended: it
    is that of the last look, ten times a second.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.most = 0
        self._used: dict[int, float] = {}
        self._process = process
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        looks = 0
        while self._process.poll() is None:
            every = family(self._process.pid)
            self._used |= {one: used for one in every if (used := seconds_used(one)) is not None}
            if looks % 5 == 0:  # adding up pages takes the machine some time
                self.most = max(self.most, sum(map(resident, every)))
            looks += 1
            time.sleep(0.1)

    def done(self) -> tuple[int, float]:
        """Its bytes and its seconds, once it has ended."""
        self._thread.join()
        return self.most, sum(self._used.values())


def seconds_used(process: int) -> float | None:
    """Processor time of a process."""
    try:
        told = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def family(process: int) -> list[int]:
    found = [process]
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += map(int, task.read_text().split())
            except OSError:
                continue
    return found


def resident(process: int) -> int:
    """Bytes in memory; what several processes share counts once, divided among them."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


class Taken(NamedTuple):
    """What a way of scoring took."""

    seconds: float
    processor_seconds: float
    """Of all processes: what it would take by the clock on cores with nothing else to do."""
    most: int = 0
    """Bytes held at once."""


def command(path: Path, out: Path, *options: str) -> Taken:
    """What `evenhand score` takes, from start to end."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "evenhand", "score", str(path), "--out", str(out), *options],
        stdout=subprocess.DEVNULL,
    )
    watched = Watched(process)
    process.wait()
    seconds = time.monotonic() - began
    most, used = watched.done()
    if process.returncode:
        raise SystemExit("evenhand score failed")
    return Taken(seconds, used, most)


def plain_loop(path: Path, start: int, rows: int, out: Path) -> None:
    """Read, score and write alone: all in memory, nothing kept for a second try."""
    import evenhand

    detector = evenhand.load("evenhand-fast")
    thresholds = detector.thresholds()
    frame = pl.scan_parquet(path).select("id", "text").slice(start, rows).collect()
    p = detector.raw.score(frame["text"].to_list())
    columns = {name: p[:, at] for at, name in enumerate(detector.attributes)}
    flags = {f"{name}_flagged": columns[name] >= thresholds[name] for name in columns}
    pl.DataFrame({"id": frame["id"], **columns, **flags}).write_parquet(
        out / f"{start}.parquet", compression_level=1
    )


def scikit_learn() -> Callable[[list[str]], object]:
    """HashingVectorizer with the same runs, and a linear model of as many outputs."""
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier

    characters = HashingVectorizer(analyzer="char_wb", ngram_range=(2, 5))
    words = HashingVectorizer(ngram_range=(1, 2))
    model = SGDClassifier(loss="log_loss")
    model.classes_ = np.arange(ATTRIBUTES)
    model.coef_ = stream(SEED, "weights").normal(size=(ATTRIBUTES, 2 << 20))
    model.intercept_ = np.zeros(ATTRIBUTES)
    model.n_features_in_ = 2 << 20
    return lambda texts: model.decision_function(
        hstack([words.transform(texts), characters.transform(texts)], format="csr")
    )


def in_turn(before: list[str], texts: list[str]) -> dict[str, list[float]]:
    """Posts per second of processor time of each scorer, round by round, after others."""
    import evenhand

    quick, plain = (evenhand.load("evenhand-fast").raw for _ in range(2))
    plain.__dict__["_compiled"] = None  # as without Numba
    for ours in (quick, plain):  # as in the middle of a large file: words are known, posts are not
        ours.score(before)
    theirs = scikit_learn()
    ways = {
        "evenhand-fast": quick.score,
        "evenhand-fast without Numba": plain.score,
        "scikit-learn": theirs,
    }
    found: dict[str, list[float]] = {way: [] for way in ways}
    each = len(texts) // (TURNS + 1)
    for turn in range(TURNS + 1):
        some = texts[turn * each : (turn + 1) * each]
        for way in (*ways,) if turn % 2 else (*reversed(ways),):
            began = time.process_time()
            ways[way](some)
            if turn:
                found[way].append(len(some) / (time.process_time() - began))
    return found


def shared(
    work: Callable[[Path, int, int, Path], None], path: Path, rows: int, workers: int, out: Path
) -> Taken:
    """What a work takes that is shared evenly among processes, started and ready."""
    out.mkdir(exist_ok=True)
    each = -(-rows // workers)
    with ProcessPoolExecutor(workers, get_context("spawn"), _one_thread) as pool:
        list(pool.map(work, [path] * workers, [0] * workers, [3_000] * workers, [out] * workers))
        began = time.monotonic()
        jobs = [pool.submit(_timed, work, path, at, each, out) for at in range(0, rows, each)]
        used = sum(job.result() for job in jobs)
        return Taken(time.monotonic() - began, used)


def _timed(work: Callable[..., None], *given: object) -> float:
    began = time.process_time()
    work(*given)
    return time.process_time() - began


def _one_thread() -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
        os.environ[name] = "1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--some", type=int, default=SOME, help="posts scored in turn")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=1, help="of the whole file")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "posts.parquet"
        mean = written(path, given.rows)
        rows = pl.scan_parquet(path).select(pl.len()).collect().item()
        print(f"{rows:,} simulated posts of {mean:.0f} characters on average, no two alike;")
        print(f"Python {platform.python_version()}, NumPy {np.__version__}, ", end="")
        print(f"load average {os.getloadavg()[0]:.1f}\n")
        before, texts = (
            lazy.collect()["text"].to_list()
            for lazy in (pl.scan_parquet(path).head(BEFORE), pl.scan_parquet(path).tail(given.some))
        )
        found = in_turn(before, texts)
        print(f"One process, {TURNS} turns of {len(texts) // (TURNS + 1):,} posts ", end="")
        print(f"after {len(before):,} others:\n")
        print("| scorer | posts per second of processor time (median) | × scikit-learn |")
        print("|---|---|---|")
        for way, speeds in found.items():
            times = median(a / b for a, b in zip(speeds, found["scikit-learn"], strict=True))
            print(f"| {way} | {median(speeds):,.0f} | {times:.1f} |", flush=True)
        for turn in range(given.rounds):
            _whole(path, rows, Path(folder) / str(turn), given.workers)


def _whole(path: Path, rows: int, folder: Path, workers: int) -> None:
    """The command beside the plain loop."""
    folder.mkdir()
    ours = command(
        path, folder / "scores", "--detector", "evenhand-fast", "--workers", str(workers)
    )
    loop = shared(plain_loop, path, rows, workers, folder / "loop")
    print(f"\n{rows:,} posts, {workers} processes, load average {os.getloadavg()[0]:.1f}:\n")
    print("| way | posts/s by the clock | per second of processor time | memory, MB |")
    print("|---|---|---|---|")
    for way, took in (("`evenhand score`", ours), ("read, score, write alone", loop)):
        memory = f"{took.most / 1e6:,.0f}" if took.most else "–"
        print(f"| {way} | {rows / took.seconds:,.0f} ", end="")
        print(f"| {rows / took.processor_seconds:,.0f} | {memory} |", flush=True)
    times = ours.processor_seconds / loop.processor_seconds
    print(f"\n`evenhand score` takes {times:.2f} times the processor time of the loop, ", end="")
    print(f"{ours.seconds / loop.seconds:.2f} times as long by the clock.")


if __name__ == "__main__":
    main()

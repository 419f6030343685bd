"""A million rows of a user's CSV: read, checked at the door, made into a corpus.

Prints the table of docs/benchmarks/user_file.md. Each size runs in a process of its own, so that
the peak of memory is its own. Polars' bare CSV reader, which checks nothing, stands beside it.
"""

from __future__ import annotations

import csv
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS = 1_000_000
RUNS = 3


def make(path: Path, rows: int) -> None:
    rng = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(20_000)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "label", "author", "date"])
        for number in range(rows):
            text = " ".join(rng.choices(words, k=rng.randint(4, 25)))
            if number % 7 == 0:
                text += ', "quoted"\nand on a second line'
            label = rng.choice(["none", "hateful"])
            date = f"2025-03-{rng.randint(1, 28):02d}T12:00:00Z"
            writer.writerow([number, text, label, f"user {rng.randint(1, 50_000)}", date])


def measure(what: str, path: Path) -> None:
    if what == "evenhand":
        from evenhand.data.user_file import read_user_file as read
    else:
        from polars import read_csv as read
    start = time.perf_counter()
    read(path)
    seconds = time.perf_counter() - start
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "posts.csv"
        make(path, ROWS)
        print(
            f"{ROWS:,} rows, {path.stat().st_size / 1e6:.0f} MB, one row in seven over two lines;"
        )
        print(f"median of {RUNS} runs; {platform.python_version()}, {platform.machine()}\n")
        print("| reader | seconds | peak memory, GB |")
        print("|---|---|---|")
        for what in ("evenhand", "polars.read_csv, unchecked"):
            results = []
            for _ in range(RUNS):
                command = [sys.executable, __file__, what, str(path)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                results.append([float(part) for part in done.stdout.split()])
            seconds, memory = sorted(results)[RUNS // 2]
            print(f"| {what} | {seconds:.2f} | {memory:.2f} |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1], Path(sys.argv[2]))
    else:
        main()

"""How fast an encoder scores tweets on one core, and how far eight bits are from fp32.

``python benchmarks/encoder.py [FOLDER [EXACT]]`` prints the table of docs/benchmarks/encoder.md.
FOLDER is a saved detector of recipe ``transformer``, EXACT the same detector saved without int8.
Without them the default base is taken, with answers that are not trained: that is as fast, but
nothing is decided. Texts are 1,000 of davidson, if EVENHAND_DATA names a folder that has it, else
made up with about the same number of tokens.

The ways take turns on parts of the texts, so that other work on the machine hits all of them; a
speed is in texts per second of processor time, which other work slows down less, and by the clock.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from evenhand.core.errors import EvenhandError
from evenhand.core.streams import stream
from evenhand.data.find import find
from evenhand.models._block import block
from evenhand.models._encoder_network import Shape, build, fresh
from evenhand.models._onnx import exported, quantised
from evenhand.models.base_weights import find_base
from evenhand.models.encoder import TOKENS, Encoder
from evenhand.models.saving import load

TEXTS, PARTS, BATCH, SINGLE, LENGTH, ALIKE = 1000, 5, 32, 200, 128, 24
Score = Callable[[Sequence[str]], Any]
Way = tuple[Score, Sequence[str]]
"""A way to score, and the texts it is given."""


def texts() -> tuple[str, list[str]]:
    rng = stream(0, "encoder benchmark")
    try:
        if os.environ.get("EVENHAND_DATA"):
            found = find("davidson").posts["text"].to_list()
            return "davidson", [found[row] for row in rng.permutation(len(found))[:TEXTS]]
    except EvenhandError as error:
        print(f"({error})")
    vocabulary = ["you", "never", "said", "that", "this", "morning", "bus", "was", "so", "late"]
    return "made-up texts", [
        " ".join(rng.choice(vocabulary, rng.integers(5, 50))) for _ in range(TEXTS)
    ]


def network(columns: int) -> Any:
    made = build(Shape(find_base("").folder, columns, 0.0), weights=True)
    fresh(made, stream(0, "encoder benchmark", "answers"))
    return made.eval()


def pair(given: Sequence[str], sample: Sequence[str]) -> tuple[Encoder, Encoder | None, Any]:
    """The encoder in eight bits, the same in fp32, and the detectors they belong to."""
    if given:
        detectors: list[Any] = [load(Path(folder)) for folder in given]
        encoders = [detector.encoder for detector in detectors]
        return encoders[0], encoders[1] if len(encoders) > 1 else None, detectors
    tokenizer = (find_base("").folder / "tokenizer.json").read_bytes()
    made = network(7)
    exact = Encoder(exported(made, vocabulary=made.vocabulary), tokenizer, LENGTH)
    windows = [window for every in exact.tokens(sample) for window in every]
    return Encoder(quantised(exact.model, windows), tokenizer, LENGTH), exact, []


def in_torch(encoder: Encoder) -> Score:
    """PyTorch in fp32: texts sorted by length, batches of 32, padded to the longest."""
    made = network(encoder.logits([]).shape[1])

    def score(part: Sequence[str]) -> None:
        windows = sorted((every[0] for every in encoder.tokens(part)), key=len)
        with torch.inference_mode():
            for start in range(0, len(windows), BATCH):
                some = windows[start : start + BATCH]
                tokens = torch.zeros(len(some), len(some[-1]), dtype=torch.int64)
                mask = torch.zeros_like(tokens)
                for row, window in enumerate(some):
                    tokens[row, : len(window)] = torch.tensor(window)
                    mask[row, : len(window)] = 1
                made(tokens, mask)

    return score


def speeds(ways: dict[str, Way]) -> dict[str, tuple[float, float]]:
    """Texts a second, by processor time and by the clock."""
    taken = {way: [0.0, 0.0] for way in ways}
    for score, sample in ways.values():
        score(sample[:BATCH])
    for number in range(PARTS):
        for way, (score, sample) in ways.items():
            part = np.array_split(np.array(sample, dtype=object), PARTS)[number].tolist()
            began = time.process_time(), time.perf_counter()
            score(part)
            taken[way][0] += time.process_time() - began[0]
            taken[way][1] += time.perf_counter() - began[1]
    many = {way: len(sample) for way, (_, sample) in ways.items()}
    return {way: (many[way] / a, many[way] / b) for way, (a, b) in taken.items()}


def single(score: Score, sample: Sequence[str]) -> tuple[float, float]:
    """Milliseconds for one text: median by processor time and by the clock."""
    both = []
    for text in sample[:SINGLE]:
        began = time.process_time(), time.perf_counter()
        score([text])
        both.append((time.process_time() - began[0], time.perf_counter() - began[1]))
    a, b = np.median(both, axis=0) * 1000
    return float(a), float(b)


def loading(encoder: Encoder, sample: Sequence[str]) -> tuple[float, float]:
    """In a fresh process: processor seconds to restore, and megabytes at most while scoring."""
    code = """
import sys, time
import numpy as np
from evenhand.models.encoder import TOKENS, Encoder
arrays, began = dict(np.load(sys.argv[1])), time.process_time()
encoder = Encoder.restore(arrays, int(sys.argv[2]))
taken = time.process_time() - began
encoder.logits(sys.stdin.read().split("\\x1e"))
most = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(taken, int(most.split()[1]) / 1024)
"""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/arrays.npz"
        np.savez(path, **encoder.arrays())  # type: ignore[arg-type]
        done = subprocess.run(
            [sys.executable, "-c", code, path, str(encoder.length)],
            input="\x1e".join(sample[:300]), capture_output=True, text=True, check=True,
        )  # fmt: skip
    seconds, megabytes = done.stdout.split()
    return float(seconds), float(megabytes)


def together(encoder: Encoder, sample: Sequence[str]) -> float:
    """How much faster two processes score than one, by the clock."""
    taken = []
    for count in (1, 2):
        with multiprocessing.get_context("spawn").Pool(count) as pool:
            pool.map(encoder.logits, [sample[:BATCH]] * count, chunksize=1)
            began = time.perf_counter()
            pool.map(encoder.logits, [sample] * count, chunksize=1)
            taken.append((time.perf_counter() - began) / count)
    return taken[0] / taken[1]


def parity(small: Encoder, exact: Encoder, detectors: Any, sample: Sequence[str]) -> None:
    apart = np.abs(small.logits(sample) - exact.logits(sample))
    spread = exact.logits(sample).std(axis=0)
    print(f"\nLogits apart: {apart.mean():.3f} on average, {apart.max():.2f} at most; ", end="")
    print(f"their standard deviation is {spread.mean():.2f}.")
    if not detectors:
        return
    answers = [detector.score(sample) >= 0.5 for detector in detectors]
    print("\n| attribute | decisions that agree with fp32 (goal: 99 %) |\n|---|---|")
    for column, name in enumerate(detectors[0].attributes):
        same = (answers[0][:, column] == answers[1][:, column]).mean()
        print(f"| {name} | {100 * same:.2f} % |")


def in_batches(encoder: Encoder) -> None:
    """What a text of 24 tokens takes among others, and how much of it is products of matrices."""
    import onnxruntime

    rng = stream(0, "encoder benchmark", "batches")
    print(
        f"\n| texts of {ALIKE} tokens in a run | µs a text (least, median of 40) | of these ",
        end="",
    )
    print("products with weights | all other steps |\n|---|---|---|---|")
    for many in (1, 2, 4, 8, 16):
        windows = rng.integers(1000, 20_000, (many, ALIKE)).tolist()
        encoder._run(windows)
        taken = []
        for _ in range(40):
            began = time.perf_counter()
            encoder._run(windows)
            taken.append((time.perf_counter() - began) / many * 1e6)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level, options.enable_profiling = 4, True
        with tempfile.TemporaryDirectory() as folder:
            options.profile_file_prefix = f"{folder}/steps"
            watched = onnxruntime.InferenceSession(
                encoder.model, options, disabled_optimizers=["SkipLayerNormFusion"]
            )
            given = block(windows) if encoder._pads else np.array(windows)
            for _ in range(40):
                watched.run(None, {TOKENS: given})
            steps = json.loads(Path(watched.end_profiling()).read_text())
        nodes = [one for one in steps if one.get("cat") == "Node" and "op_name" in one["args"]]
        products = sum(one["dur"] for one in nodes if "MatMulInteger" in one["args"]["op_name"])
        share = products / sum(one["dur"] for one in nodes)
        least, usual = min(taken), float(np.median(taken))
        print(f"| {many} | {least:.0f}, {usual:.0f} ", end="")
        print(f"| {usual * share:.0f} | {usual * (1 - share):.0f} |")


def main() -> None:
    """Print the tables."""
    torch.set_num_threads(1)
    corpus, raw = texts()
    small, exact, detectors = pair(sys.argv[1:3], raw[:300])
    sample = detectors[0].front_end.texts(raw) if detectors else raw
    tokens = np.mean([sum(map(len, every)) for every in small.tokens(sample)])
    ways: dict[str, Way] = {f"PyTorch fp32, batches of {BATCH}": (in_torch(small), sample)}
    if exact is not None:
        ways["ONNX fp32"] = exact.logits, sample
    ways["ONNX as saved" if detectors else "ONNX int8"] = small.logits, sample
    if detectors:
        ways["the same with the front end, as users score"] = detectors[0].score, raw
    found = speeds(ways)
    base = next(iter(found.values()))
    load_average = os.getloadavg()[0]
    print(
        f"{corpus}: {len(sample):,} texts of {tokens:.1f} tokens on average, tokenizing included;"
    )
    print(
        f"one thread, model of {len(small.model) / 1e6:.1f} MB, load average {load_average:.1f}\n"
    )
    print(
        "| way | texts/s of processor time | texts/s by the clock | × PyTorch | one text (median) |"
    )
    print("|---|---|---|---|---|")
    for way, (score, given) in ways.items():
        a, b = found[way]
        one = single(score, given)
        print(f"| {way} | {a:,.0f} | {b:,.0f} | {a / base[0]:.2f} | ", end="")
        print(f"{one[0]:.1f} ms ({one[1]:.1f} by the clock) |")
    seconds, megabytes = loading(small, sample)
    print(f"\nLoading takes {seconds:.2f} s of processor time, scoring {megabytes:.0f} MB;", end="")
    print(f" two processes score {together(small, sample[:300]):.2f} times as much as one.")
    in_batches(small)
    if exact is not None:
        parity(small, exact, detectors, sample)


if __name__ == "__main__":
    main()

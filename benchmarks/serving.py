"""How fast a server answers: against FastAPI, batched against one by one, and under overload.

Client on one core, server on the other, all on loopback; both sides of a ratio in one run, in turns
of at least ten seconds. Prints the table of docs/benchmarks/serving.md; needs fastapi.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.models.synthetic import sentences
from evenhand.serving.keys import Keys

SERVER, CLIENT = 0, 1
"""The cores of the two sides."""
IN_TIME = 0.8
PATH = "/v1alpha1/comments:analyze"
TRIVIAL = (
    "import numpy as np\n"
    "def trivial(texts):\n    return np.full((len(texts), 1), 0.25)\n"
    "trivial.attributes = ('TOXICITY',)\n"
)


@dataclass
class Load:
    """What a client saw."""

    seconds: float
    codes: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    @property
    def good(self) -> list[float]:
        """How long good answers took."""
        return [t for code, t in zip(self.codes, self.times, strict=True) if code == 200]

    @property
    def rate(self) -> float:
        """Good answers a second."""
        return len(self.good) / self.seconds

    @property
    def goodput(self) -> float:
        """Those in time."""
        return sum(t <= IN_TIME for t in self.good) / self.seconds

    def quantile(self, share: float) -> float:
        """The time within which a share of good answers came."""
        found = sorted(self.good)
        return found[min(len(found) - 1, int(share * len(found)))]


def requests(port: int, key: str, attributes: list[str]) -> list[bytes]:
    """Whole requests, one for each of a few hundred sentences of our own."""
    found = []
    for one in sentences(0, many=400):
        body = json.dumps(
            {
                "comment": {"text": one.text},
                "requestedAttributes": {name: {} for name in attributes},
                "languages": ["en"],
                "doNotStore": True,
            }
        ).encode()
        found.append(
            f"POST {PATH}?key={key} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
    return found


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> int:
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", head, re.I)[1])
    await reader.readexactly(length)
    return int(head[9:12])


async def closed_loop(port: int, wanted: list[bytes], connections: int, seconds: float) -> Load:
    """Every connection asks again as soon as it is answered."""
    load = Load(seconds)
    end = time.perf_counter() + seconds

    async def one(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        rng = random.Random(number)
        while (start := time.perf_counter()) < end:
            code = await ask(reader, writer, rng.choice(wanted))
            load.codes.append(code)
            load.times.append(time.perf_counter() - start)
        writer.close()

    await asyncio.gather(*(one(number) for number in range(connections)))
    return load


async def open_loop(port: int, wanted: list[bytes], rate: float, seconds: float) -> Load:
    """Requests at a given rate, whether the earlier ones are answered or not."""
    load = Load(seconds)
    free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    rng = random.Random(0)

    async def one(due: float) -> None:
        if free:
            reader, writer = free.pop()
        else:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            code = await ask(reader, writer, rng.choice(wanted))
        except (OSError, asyncio.IncompleteReadError):
            code = 0
        else:
            free.append((reader, writer))
        load.codes.append(code)
        load.times.append(time.perf_counter() - due)

    start, sent, waiting = time.perf_counter(), 0, set()
    while (now := time.perf_counter() - start) < seconds:
        while sent < now * rate:
            task = asyncio.ensure_future(one(start + sent / rate))
            waiting.add(task)
            task.add_done_callback(waiting.discard)
            sent += 1
        await asyncio.sleep(0.002)
    await asyncio.wait(waiting, timeout=20)
    for _, writer in free:
        writer.close()
    return load


@contextmanager
def server(folder: Path, command: list[str], pattern: str) -> Iterator[int]:
    """A server on its core; yields its port."""
    log = folder / f"log-{time.monotonic_ns()}"
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["taskset", "-c", str(SERVER), sys.executable, *command],
            cwd=folder, stdout=out, stderr=out,
            env={**os.environ, "EVENHAND_BENCH_KEYS": str(folder / "keys.json"),
                 "PYTHONPATH": str(Path(__file__).parent / "peers")},
        )  # fmt: skip
    try:
        for _ in range(600):
            if match := re.search(pattern, log.read_text()):
                break
            if process.poll() is not None:
                raise SystemExit(log.read_text())
            time.sleep(0.1)
        yield int(match[1])
    finally:
        process.terminate()
        process.wait(60)


RUNNING = r"running on http://127.0.0.1:(\d+)"


def ours(folder: Path, *options: str):
    keys = ["--require-key", "--keys", str(folder / "keys.json")]
    return server(folder, ["-m", "evenhand", "serve", "--port", "0", *keys, *options], RUNNING)


def peer(folder: Path):
    options = ["--port", "0", "--no-access-log"]
    return server(folder, ["-m", "uvicorn", "fastapi_scorer:app", *options], RUNNING)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=16)
    given = parser.parse_args()
    os.sched_setaffinity(0, {CLIENT})
    import uvloop

    def run(work):
        return uvloop.run(work)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "served.py").write_text(TRIVIAL)
        key, _ = Keys(folder / "keys.json").add("bench", rate=10_000_000)
        print(
            f"{given.connections} connections, turns of {given.seconds:g} s, {given.rounds} each\n"
        )
        print("| server | requests/s (each turn) | median | p50 ms | p99 ms |")
        print("|---|---|---|---|---|")

        def turns(named: dict[str, int], attributes: list[str]) -> dict[str, list[Load]]:
            found: dict[str, list[Load]] = {name: [] for name in named}
            for port in named.values():
                run(closed_loop(port, requests(port, key, attributes), given.connections, 2))
            for _ in range(given.rounds):
                for name, port in named.items():
                    wanted = requests(port, key, attributes)
                    load = run(closed_loop(port, wanted, given.connections, given.seconds))
                    assert set(load.codes) == {200}, (name, set(load.codes))
                    found[name].append(load)
            for name, loads in found.items():
                rates = [load.rate for load in loads]
                p50, p99 = (
                    1000 * statistics.median(load.quantile(share) for load in loads)
                    for share in (0.5, 0.99)
                )
                each = ", ".join(f"{rate:,.0f}" for rate in rates)
                median = statistics.median(rates)
                print(f"| {name} | {each} | {median:,.0f} | {p50:.1f} | {p99:.1f} |", flush=True)
            return found

        def ratio(found: dict[str, list[Load]]) -> float:
            first, second = (
                statistics.median(load.rate for load in loads) for loads in found.values()
            )
            return first / second

        with ours(folder, "--detector", "python:served:trivial") as a, peer(folder) as b:
            trivial = turns({"trivial detector, evenhand": a, "trivial detector, FastAPI": b},
                            ["TOXICITY"])  # fmt: skip
        patient = ["--patience-ms", "5000"]
        with ours(folder, *patient) as a, ours(folder, *patient, "--batch", "1") as b:
            shipped = turns({"evenhand-base, batched": a, "evenhand-base, one by one": b},
                            ["TOXICITY"])  # fmt: skip
        print(f"\nevenhand / FastAPI: {ratio(trivial):.2f}×")
        print(f"batched / one by one: {ratio(shipped):.2f}×")
        with ours(folder) as port:
            wanted = requests(port, key, ["TOXICITY"])
            run(closed_loop(port, wanted, 16, 3))
            peak = run(closed_loop(port, wanted, 16, given.seconds)).goodput
            load = run(open_loop(port, wanted, 4 * peak, 2 * given.seconds))
        counts = {code: load.codes.count(code) for code in sorted(set(load.codes))}
        print(
            f"\nOpen loop at four times {peak:,.0f} requests/s for {load.seconds:g} s: "
            f"{load.goodput:,.0f} answered 200 within {IN_TIME * 1000:g} ms a second, "
            f"{load.goodput / peak:.0%} of the peak; p99 of the 200s "
            f"{1000 * load.quantile(0.99):.0f} ms; answers by status: {counts}"
        )


if __name__ == "__main__":
    main()

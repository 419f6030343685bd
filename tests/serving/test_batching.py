"""Texts of many requests scored together, with a bounded queue."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from evenhand.serving.batching import Batcher, Closed, Overloaded, work


class Slow:
    """Scores a text by its length; each batch waits until it is let go."""

    seconds = 0.002

    def __init__(self, free: bool = True) -> None:
        self.batches: list[list[str]] = []
        self.go = threading.Event()
        if free:
            self.go.set()

    def __call__(self, texts):
        assert self.go.wait(20)
        self.batches.append(list(texts))
        time.sleep(self.seconds)
        return np.array([[len(text)] for text in texts], dtype=float)


def finished(work):
    """What a coroutine gives, in a thread of its own: others may have left a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def settled():
    for _ in range(5):
        await asyncio.sleep(0.005)


def test_what_waits_is_the_next_batch():
    async def run():
        scorer = Slow(free=False)
        batcher = Batcher(scorer, most=8)
        first = asyncio.ensure_future(batcher.score(["a"]))
        await settled()
        others = [asyncio.ensure_future(batcher.score(["b" * n])) for n in range(1, 6)]
        await settled()
        scorer.go.set()
        found = await asyncio.gather(first, *others)
        await batcher.close()
        return scorer.batches, [answer.tolist() for answer in found]

    batches, found = finished(run())
    assert batches == [["a"], ["b", "bb", "bbb", "bbbb", "bbbbb"]]
    assert found == [[[1.0]], [[1.0]], [[2.0]], [[3.0]], [[4.0]], [[5.0]]]


def test_those_who_were_answered_may_ask_again_before_the_next_batch():
    async def run():
        scorer = Slow()
        scorer.seconds = 0.05
        batcher = Batcher(scorer, most=8)

        async def caller():
            for _ in range(4):
                await batcher.score(["x"])

        first = asyncio.ensure_future(caller())
        await asyncio.sleep(0.01)
        await asyncio.gather(first, *(caller() for _ in range(5)))
        await batcher.close()
        return [len(batch) for batch in scorer.batches]

    # The first caller asks alone; from then on all six are together, not one and five by turns.
    assert finished(run()) == [1, 6, 6, 6, 5]


def test_a_batch_holds_no_more_than_it_may_and_a_large_request_lets_others_in_between():
    async def run():
        scorer = Slow(free=False)
        batcher = Batcher(scorer, most=3)
        asked = [["a"], ["b", "b"], ["c", "c"], ["d"] * 5, ["e"]]
        waiting = []
        for texts in asked:
            waiting.append(asyncio.ensure_future(batcher.score(texts)))
            await settled()
        scorer.go.set()
        await asyncio.gather(*waiting)
        await batcher.close()
        return scorer.batches

    # The first three of the five d wait behind c, then comes e, and then the rest of them.
    assert finished(run()) == [["a"], ["b", "b"], ["c", "c"], ["d"] * 3, ["e"], ["d", "d"]]


def test_other_work_has_its_turn_alone():
    async def run():
        scorer = Slow(free=False)
        batcher = Batcher(scorer)
        first = asyncio.ensure_future(batcher.score(["a"]))
        await settled()
        told = asyncio.ensure_future(batcher.run(lambda: "told", 5))
        wrong = asyncio.ensure_future(batcher.run(lambda: 1 / 0, 5))
        last = asyncio.ensure_future(batcher.score(["b"]))
        await settled()
        waits = batcher.pending
        scorer.go.set()
        found = await asyncio.gather(first, told, wrong, last, return_exceptions=True)
        await batcher.close()
        return waits, scorer.batches, found

    waits, batches, (_, told, wrong, _) = finished(run())
    assert waits == 1 + 5 + 5 + 1
    assert batches == [["a"], ["b"]]
    assert told == "told"
    assert isinstance(wrong, ZeroDivisionError)


def test_a_request_that_would_wait_too_long_is_refused_at_once():
    async def run():
        scorer = Slow(free=False)
        # Twenty texts at .1 s each wait 2 s, longer than half a second.
        batcher = Batcher(scorer, patience=0.5, seconds_per_work=0.1)
        waiting = asyncio.ensure_future(batcher.score(["x"] * 20))
        await settled()
        with pytest.raises(Overloaded) as caught:
            await batcher.score(["y"])
        scorer.go.set()
        await waiting
        await batcher.score(["y"])  # there is room again
        await batcher.close()
        return caught.value.seconds

    assert finished(run()) == pytest.approx(1.5)


def late(patience, *, closing=False):
    """What becomes of two requests that wait .5 s behind a batch expected to take no time."""

    async def run():
        scorer = Slow(free=False)
        batcher = Batcher(scorer, patience=patience)
        first = asyncio.ensure_future(batcher.score(["a"]))
        await settled()
        waiting = [asyncio.ensure_future(batcher.score(["b"] * n)) for n in (1, 10)]
        await settled()
        closed = asyncio.ensure_future(batcher.close()) if closing else None
        await asyncio.sleep(0.5)
        scorer.go.set()
        found = await asyncio.gather(first, *waiting, return_exceptions=True)
        again = None if closing else await batcher.score(["c"])
        await (closed or batcher.close())
        return [type(one) for one in found], batcher.pending, again

    return finished(run())


def test_a_request_whose_turn_comes_too_late_is_refused_and_leaves_room():
    # .5 s are more than 1.5 times .2 s, and less than 5 s.
    assert late(0.2) == ([np.ndarray, Overloaded, Overloaded], 0, np.array([[1.0]]))
    assert late(5.0) == ([np.ndarray] * 3, 0, np.array([[1.0]]))


def test_of_a_large_request_only_the_first_part_may_be_late():
    # The two requests take turns: each part but the very first waits .35 s and more; the patience
    # is .15 s.
    class Each(Slow):
        def __call__(self, texts):
            time.sleep(0.35)
            return super().__call__(texts)

    async def run():
        batcher = Batcher(Each(), patience=0.15, most=5)
        asked = [asyncio.ensure_future(batcher.score(["b"] * n)) for n in (15, 15)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        await batcher.close()
        return [type(one) for one in found]

    assert finished(run())[0] is np.ndarray


def test_a_detector_slower_than_the_patience_still_answers_who_did_not_wait():
    async def run():
        batcher = Batcher(Slow(), patience=0.1, seconds_per_work=5.0)
        found = await batcher.score(["a"])
        await batcher.close()
        return found.tolist()

    assert finished(run()) == [[1.0]]


def test_closing_refuses_nothing_that_was_taken():
    assert late(0.2, closing=True) == ([np.ndarray] * 3, 0, None)


def test_a_long_text_counts_for_the_windows_it_is_read_in():
    assert [work("x" * n) for n in (0, 299, 300, 3000)] == [1, 1, 2, 11]


def test_one_bad_request_does_not_fail_those_beside_it():
    def scorer(texts):
        if "bad" in texts:
            raise ValueError("bad")
        time.sleep(0.002)
        return np.zeros((len(texts), 1))

    async def run():
        batcher = Batcher(scorer)
        found = await asyncio.gather(
            *(batcher.score([text]) for text in ("a", "bad", "b")), return_exceptions=True
        )
        await batcher.close()
        return found, batcher.pending

    (a, bad, b), pending = finished(run())
    assert isinstance(bad, ValueError)
    assert a.shape == b.shape == (1, 1)
    assert pending == 0


def test_closing_finishes_what_was_taken_and_takes_no_more():
    async def run():
        scorer = Slow()
        batcher = Batcher(scorer)
        taken = [asyncio.ensure_future(batcher.score(["a"])) for _ in range(20)]
        await asyncio.sleep(0)
        await batcher.close()
        with pytest.raises(Closed):
            await batcher.score(["late"])
        return [answer.tolist() for answer in await asyncio.gather(*taken)]

    assert finished(run()) == [[[1.0]]] * 20


def test_a_caller_that_gave_up_costs_no_score():
    async def run():
        scorer = Slow(free=False)
        batcher = Batcher(scorer)
        first = asyncio.ensure_future(batcher.score(["a"]))
        await settled()
        gone = asyncio.ensure_future(batcher.score(["gone"]))
        await settled()
        gone.cancel()
        await settled()
        scorer.go.set()
        await first
        await batcher.close()
        return scorer.batches, batcher.pending

    assert finished(run()) == ([["a"]], 0)


def test_what_is_quicker_than_a_thread_is_scored_at_once():
    def scorer(texts):
        seen.append(threading.current_thread() is loop_thread[0])
        return np.zeros((len(texts), 1))

    async def run():
        loop_thread.append(threading.current_thread())
        batcher = Batcher(scorer)
        for _ in range(6):
            await batcher.score(["a"])
        await batcher.close()

    seen: list[bool] = []
    loop_thread: list[threading.Thread] = []
    finished(run())
    assert seen[0] is False
    assert seen[-1] is True

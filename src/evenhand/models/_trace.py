"""A text while it is being cleaned, and where in the original each of its characters came from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Edit = tuple[int, int, str]
"""Put this in place of the characters from start to end (start < end)."""
Places = NDArray[np.int32]
_NONE: Places = np.zeros(0, dtype=np.int32)


def apart(text: str, start: int, end: int, new: str) -> Edit:
    """The edit that puts this there as a word of its own."""
    left = "" if start == 0 or text[start - 1] == " " else " "
    right = "" if end == len(text) or text[end] == " " else " "
    return start, end, f"{left}{new}{right}"


class Trace:
    """A text that is edited in passes; with ``mapped``, its places in the original are kept."""

    def __init__(self, text: str, *, mapped: bool) -> None:
        self.text = text
        self.mapped = mapped
        self.starts: Places = np.arange(len(text), dtype=np.int32) if mapped else _NONE
        self.ends: Places = self.starts + np.int32(1) if mapped else _NONE

    def edit(self, edits: Sequence[Edit]) -> None:
        """Apply edits, which are in order and do not overlap.

        Characters put in the place of as many are matched one by one; otherwise each stands for
        all that was replaced.
        """
        if not edits:
            return
        pieces, at = [], 0
        for start, end, new in edits:
            pieces.append(self.text[at:start])
            pieces.append(new)
            at = end
        pieces.append(self.text[at:])
        if self.mapped:
            self.starts, self.ends = self._moved(edits, self.starts, self.ends)
        self.text = "".join(pieces)

    def _moved(self, edits: Sequence[Edit], starts: Places, ends: Places) -> tuple[Places, Places]:
        first: list[Places] = []
        last: list[Places] = []
        at = 0
        for start, end, new in edits:
            first.append(starts[at:start])
            last.append(ends[at:start])
            if len(new) == end - start:
                first.append(starts[start:end])
                last.append(ends[start:end])
            elif new:
                first.append(np.full(len(new), starts[start], dtype=np.int32))
                last.append(np.full(len(new), ends[end - 1], dtype=np.int32))
            at = end
        return (
            np.concatenate([*first, starts[at:]]),
            np.concatenate([*last, ends[at:]]),
        )

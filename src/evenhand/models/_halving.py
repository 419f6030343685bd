"""Which texts a detector fails on, found by asking for halves of the batches it raises on.

Before the first batch is halved, a sample of texts is asked for one by one: a detector that raises
on most of them is broken as a whole. The sample does not depend on the order of the rows. What a
detector raises is a failure of the text; an answer that is no probability is not, and ends it all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenhand.core.errors import BrokenComponent, EvenhandError
from evenhand.models._refusals import SAMPLE, Refused, without_text
from evenhand.models.callables import checked
from evenhand.models.protocol import Detector
from evenhand.models.score_cache import digest
from evenhand.models.watching import Step

_BATCH = 512


def halved(
    detector: Detector,
    attribute: str,
    posts: Sequence[str],
    texts: Sequence[str],
    step: Step | None = None,
) -> list[float | Refused]:
    """A score or a refusal for each text; ``posts`` are their ids."""
    asking = _Asking(detector, attribute, posts, texts)
    for start in range(0, len(texts), _BATCH):
        asking.answer(range(start, min(start + _BATCH, len(texts))))
        if step:
            step(f"Scoring with {detector.name}", min(start + _BATCH, len(texts)), len(texts))
    return [asking.answers[row] for row in range(len(texts))]


class _Asking:
    """The answers so far, by row."""

    def __init__(
        self, detector: Detector, attribute: str, posts: Sequence[str], texts: Sequence[str]
    ) -> None:
        self._detector, self._posts, self._texts = detector, posts, texts
        self._column = detector.attributes.index(attribute)
        self._sampled = False
        self.answers: dict[int, float | Refused] = {}

    def answer(self, batch: Sequence[int]) -> None:
        """Find an answer to every row of a batch."""
        waiting = [batch]
        while waiting:
            rows = [row for row in waiting.pop() if row not in self.answers]
            if not rows or self._scored(rows):
                continue
            if not self._sampled:
                self._sample()
                waiting.append(rows)
            else:
                middle = len(rows) // 2
                waiting += [rows[middle:], rows[:middle]]

    def _scored(self, rows: Sequence[int]) -> bool:
        """Ask for some rows; False where they have to be asked for in smaller parts."""
        texts = [self._texts[row] for row in rows]
        try:
            found = np.asarray(self._detector.score(texts), dtype=np.float64)
            p = checked(found, len(rows), self._detector.attributes, self._detector.name)
        except BrokenComponent as error:
            if error.__cause__ is None:  # It did not raise, it answered: with no probability.
                raise BrokenComponent(
                    f"{error}. Texts are counted from post {self._posts[rows[0]]!r}"
                ) from None
            reason = str(error)
        except EvenhandError:
            raise
        except Exception as error:  # the detector is not ours: whatever it raises is its fault
            reason = f"{self._detector.name}: raised {type(error).__name__}: {error}"
        else:
            self.answers |= zip(rows, p[:, self._column].tolist(), strict=True)
            return True
        if len(rows) > 1 or not self._sampled:
            return False
        self.answers[rows[0]] = Refused(without_text(reason, texts[0]))
        return True

    def _sample(self) -> None:
        """Ask for some texts one by one; refuses a detector that fails on most of them."""
        self._sampled = True
        order = sorted(range(len(self._texts)), key=lambda row: digest(self._texts[row]))
        rows = order[:SAMPLE]
        for row in rows:
            if row not in self.answers:
                self._scored([row])
        failed = [found for row in rows if isinstance(found := self.answers[row], Refused)]
        if 2 * len(failed) > len(rows):
            raise BrokenComponent(
                f"{failed[0].reason} (so on {len(failed)} of {len(rows)} texts asked one by one)"
            )

"""A file of texts scored by the service at the rate its quota allows, each distinct text once.

Every answer is on disk before the next is asked for, so that a run that was killed goes on where
it stopped. A text that the service refuses (its language, its length) is stored with the reason
and is not asked for again; a wrong key, an unknown attribute or a dead service ends the run with
words.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.core.errors import BadInput, EvenhandError
from evenhand.models._address import Address
from evenhand.models._dialect import message_of, parsed
from evenhand.models._http import Line, Patience, Unanswered
from evenhand.models._refusals import without_text
from evenhand.models.perspective import Perspective
from evenhand.serving._recording_dialect import scores_in
from evenhand.serving._recording_files import Store
from evenhand.serving._recording_read import About, Digest, read_recording

_ATTEMPTS, _GIVEN_UP = 6, 8
_ABOUT_TEXT = (400, 413, 422)

Step = Callable[[str, float, float | None], None]


@dataclass(frozen=True)
class Text:
    """A text to ask for; ``label`` is what people said of it, where the file has that."""

    text: str
    label: str | None = None


@dataclass(frozen=True)
class Recorded:
    """What a run over a file did."""

    known: int
    """Texts that were in the recording already."""
    scored: int
    refused: int
    unanswered: int
    """Texts that never got an answer while others did; the next run asks again."""
    empty: int = 0
    """Rows without a text, which the service would refuse."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Why texts were refused, and how many."""


def record_texts(
    texts: Sequence[Text],
    to: Address,
    folder: Path,
    *,
    attributes: Sequence[str],
    language: str | None,
    patience: Patience,
    step: Step,
) -> Recorded:
    """Ask for the scores of every text that is not in the folder yet."""
    store = Store.open(folder, About(upstream=to.url, texts=True))
    asking = _Asking(to, tuple(sorted(attributes)), language)
    done = {row["id"] for row in read_recording(folder).rows if asking.answered(row)}
    digest = Digest(b"")
    worded = [one for one in texts if one.text.strip()]
    distinct = {digest.of(one.text): one for one in worded}
    missing = {name: one for name, one in distinct.items() if name not in done}
    counts = {"scored": 0, "refused": 0, "unanswered": 0}
    reasons: Counter[str] = Counter()
    try:
        with Line(to, patience) as line:
            for number, (name, one) in enumerate(missing.items()):
                step("Asking", number, len(missing))
                row = asking.row(line, one.text)
                if row is None:
                    counts["unanswered"] += 1
                    continue
                counts["refused" if "refused" in row else "scored"] += 1
                reasons.update([row["refused"]] if "refused" in row else [])
                said = {} if one.label is None else {"label": one.label}
                store.keep({"id": name, "text": one.text, **row, **said})
    except Unanswered as error:
        raise EvenhandError(
            f"{to.url}: {error}. {counts['scored']:,} of {len(missing):,} texts were scored and "
            "are kept; run the command again to go on from there"
        ) from error
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error.strerror or error}") from error
    finally:
        store.close()
    return Recorded(
        known=len(distinct) - len(missing),
        empty=len(texts) - len(worded),
        reasons=reasons,
        **counts,
    )


@dataclass(frozen=True)
class _Asking:
    """One request for all attributes of a text, and what its answer means."""

    to: Address
    attributes: Sequence[str]
    language: str | None

    def answered(self, row: Mapping[str, Any]) -> bool:
        """Whether a recorded row answers what is asked for now."""
        same = "refused" not in row or row.get("language") == self.language
        return same and set(self.attributes) <= set(row.get("asked", ()))

    def row(self, line: Line, text: str) -> dict[str, Any] | None:
        """Scores, or why there are none; None where the service gave no answer.

        Raises where the reason is not the text.
        """
        body: Mapping[str, Any] = {
            "comment": {"text": text, "type": "PLAIN_TEXT"},
            "requestedAttributes": {name: {} for name in self.attributes},
            "doNotStore": True,
            **({"languages": [self.language]} if self.language else {}),
        }
        try:
            reply = line.post(Perspective().path(self.to), {}, json.dumps(body).encode())
        except Unanswered as error:
            if not error.one:
                raise
            return None
        if reply.status == 200:
            found = parsed(reply.body, self.to.url)
            scores = scores_in(found) if isinstance(found, dict) else {}
            if not scores:
                raise BadInput(
                    f"{self.to.url}: the service's answer has no scores; expected "
                    f"attributeScores.{self.attributes[0]}.summaryScore.value"
                )
            return {"scores": scores, **self._asked()}
        said = self.to.hide(message_of(reply.body))
        shown = without_text(said or f"{reply.status} {reply.reason}", text)
        if reply.status in (401, 403) or "api key not valid" in said.casefold():
            raise EvenhandError(
                f"{self.to.url}: the service does not let us in: {shown}. Put the key in the file "
                "that --key-file names"
            )
        if others := Perspective().refused_attribute(said):
            raise BadInput(f"{self.to.url}: {shown}; {others}. Name others with --attribute")
        if reply.status not in _ABOUT_TEXT:
            raise BadInput(
                f"{self.to.url}: the service answered {shown}; expected one that speaks "
                "Perspective's format at this address"
            )
        return {"refused": shown, **self._asked()}

    def _asked(self) -> dict[str, Any]:
        return {"asked": list(self.attributes), "language": self.language}


def usual_patience(per_second: float, timeout_seconds: float) -> Patience:
    """Tries that outlast a quota counted by the minute."""
    return Patience(
        timeout_seconds=timeout_seconds,
        attempts=_ATTEMPTS,
        per_second=per_second,
        in_a_row=_GIVEN_UP,
    )

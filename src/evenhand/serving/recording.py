"""Recorded answers of the Perspective API: a proxy that keeps them, a run over a file, a reader.

The service goes out of operation, and with it the scores that sites have set their thresholds by.
:func:`run_proxy` stands between a site and the service and keeps the scores of what passes;
:func:`record_file` asks for the scores of texts in a file. Both write a folder that
:func:`read_recording` reads and ``evenhand migrate report`` compares with a detector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from evenhand.core.errors import BadInput, MissingExtra
from evenhand.models._address import KEY, Address, address
from evenhand.models.addresses import without_key
from evenhand.models.perspective import ATTRIBUTES
from evenhand.serving._recording_keeper import Counts, Keeper, Scorer
from evenhand.serving._recording_mentions import axis_of, mentioned
from evenhand.serving._recording_read import About, Recording, read_recording
from evenhand.serving._recording_texts import (
    Recorded,
    Step,
    Text,
    record_texts,
    usual_patience,
)
from evenhand.serving.listening import Where

__all__ = [
    "ATTRIBUTES",
    "About",
    "Counts",
    "Recorded",
    "Recording",
    "Text",
    "Where",
    "axis_of",
    "mentioned",
    "read_recording",
    "record_file",
    "run_proxy",
    "upstream_of",
]


def upstream_of(url: str, key_file: Path | None) -> Address:
    """The service, with the key that is used where a caller has none."""
    try:
        found = address(url, (), "upstream")
    except BadInput:
        raise BadInput(
            f"--upstream {without_key(url)!r}; expected http(s)://HOST[:PORT][/PATH], for example "
            "https://commentanalyzer.googleapis.com"
        ) from None
    return found if key_file is None else replace(found, key=_key_in(key_file))


def _key_in(path: Path) -> str:
    try:
        key = path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise BadInput(f"--key-file {path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError:
        key = ""
    if not key or len(key.split()) != 1:
        raise BadInput(f"--key-file {path}: expected one line with the key, and nothing else")
    return key


def run_proxy(
    to: Address,
    folder: Path,
    where: Where,
    *,
    sample: float = 1.0,
    scorer: Scorer | None = None,
    timeout_seconds: float = 10.0,
    ready: Callable[[str], None],
) -> Counts:
    """Pass calls on and record answers until the process is told to end.

    Args:
        to: The service.
        folder: Of the recording.
        where: To listen at.
        sample: The share of texts to record, by their digest.
        scorer: Where texts may not be kept: what scores them instead.
        timeout_seconds: How long the service may take.
        ready: Told the address callers can use.
    """
    if not 0 < sample <= 1:
        raise BadInput(f"--sample {sample}; expected a share above 0 and at most 1")
    if to.key and not where.loopback:
        raise BadInput(
            f"--host {where.host}: others could spend your key there. Listen on 127.0.0.1, or "
            f"leave --key-file and {KEY} away so that callers bring their own"
        )
    try:
        import uvicorn

        from evenhand.serving._recording_proxy import app_of
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"the proxy needs {error.name}; install it with: pip install 'evenhand[serve]'"
        ) from error
    with where.listening() as listening:
        keeper = Keeper(folder, to.url, sample=sample, scorer=scorer)
        app = app_of(to, keeper, timeout_seconds=timeout_seconds)
        # No access log: its lines have addresses, and those have keys.
        config = uvicorn.Config(
            app, access_log=False, log_level="warning", server_header=False, date_header=False
        )
        host, port = listening.getsockname()[:2]
        ready(f"http://{f'[{host}]' if ':' in host else host}:{port}")
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])
    return keeper.counts


def record_file(
    texts: Sequence[Text],
    to: Address,
    folder: Path,
    *,
    attributes: Sequence[str] = ATTRIBUTES,
    language: str | None = None,
    per_second: float = 1.0,
    timeout_seconds: float = 10.0,
    step: Step,
) -> Recorded:
    """Ask the service for the scores of texts, each distinct one once, and store them."""
    if not 0 < per_second <= 1000:
        raise BadInput(f"--rate {per_second}; expected requests a second, above 0 and up to 1,000")
    if not to.key and not to.loopback:
        raise BadInput(f"no key: put it in a file and name that with --key-file, or set {KEY}")
    return record_texts(
        texts,
        to,
        folder,
        attributes=attributes,
        language=language,
        patience=usual_patience(per_second, timeout_seconds),
        step=step,
    )

"""Detectors that are quick, slow or broken, for servers in tests."""

from __future__ import annotations

from pathlib import Path


def write_detectors(folder: Path) -> None:
    """Detectors that are quick, slow or broken, by name ``python:served:NAME``."""
    (folder / "served.py").write_text(
        "import time\n"
        "def plain(texts):\n"
        "    return [[min(len(t), 20) / 20, 0.25] for t in texts]\n"
        "plain.attributes = ('TOXICITY', 'INSULT')\n"
        "def other(texts):\n"
        "    return [[1 - min(len(t), 20) / 20, 0.25] for t in texts]\n"
        "other.attributes = ('TOXICITY', 'INSULT')\n"
        "def slow(texts):\n"
        "    time.sleep(0.05 * len(texts))\n"
        "    return plain(texts)\n"
        "slow.attributes = plain.attributes\n"
        "def broken(texts):\n"
        "    if any('break' in t for t in texts):\n"
        "        raise RuntimeError('cannot read ' + texts[0])\n"
        "    return plain(texts)\n"
        "broken.attributes = plain.attributes\n"
    )

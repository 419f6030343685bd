"""What this machine can run: Python, cores, memory, disk, extras, corpora, size of the install."""

from __future__ import annotations

import os
import platform
import re
import shutil
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from evenhand.core import registry
from evenhand.core.errors import EvenhandError
from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.data.find import data_folder, reader

_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w-]+)['"]""")
_NAME = re.compile(r"^[\w.-]+")
_SMALL_MEMORY_BYTES = 2 * 1024**3


def examine(run: Run) -> list[dict[str, str]]:
    """Lines of (what, found, todo); sizes and counts also become findings of the run."""
    lines = [_line("Python", platform.python_version()), _line("system", platform.platform())]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    lines.append(_line("cores", str(cores)))
    memory = _memory()
    if memory is not None:
        small = "large corpora may not fit" if memory < _SMALL_MEMORY_BYTES else ""
        lines.append(_line("memory", f"{memory / 1e9:.1f} GB", small))
    needs = _requirements()
    size = sum(_size(name) for name in {"evenhand", *_closure(needs[""])})
    run.findings.append(
        Finding(
            measure="install_bytes",
            value=size,
            n=len(_closure(needs[""])) + 1,
            unit="packages",
            method="sizes recorded by the installer",
        )
    )
    lines.append(_line("base install", f"{size / 1e6:.0f} MB"))
    for extra in sorted(needs.keys() - {"", "all"}):
        absent = [name for name in needs[extra] if _found(name) is None]
        found = "installed" if not absent else f"missing {', '.join(absent)}"
        todo = f"pip install 'evenhand[{extra}]'" if absent else ""
        lines.append(_line(f"extra [{extra}]", found, todo))
    return lines + _corpora(run)


def _corpora(run: Run) -> list[dict[str, str]]:
    data = data_folder()
    names = registry.names("readers")
    lines, installed = [], []
    for name in names:
        try:
            if reader(name).installed(data):
                installed.append(name)
        except EvenhandError as error:
            lines.append(_line(f"reader {name}", "broken", str(error)))
    run.findings.append(
        Finding(measure="corpora_installed", value=len(installed), n=len(names), unit="readers")
    )
    todo = "" if data.is_dir() else "set EVENHAND_DATA, or `evenhand data get NAME`"
    free = shutil.disk_usage(_nearest(data)).free
    lines.append(_line("data folder", f"{data} ({free / 1e9:.0f} GB free)", todo))
    lines.append(_line("corpora installed", f"{len(installed)} of {len(names)}"))
    return lines


def _line(what: str, found: str, todo: str = "") -> dict[str, str]:
    return {"what": what, "found": found, "todo": todo}


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def _nearest(path: Path) -> Path:
    """The path, or the nearest folder above it that exists."""
    return next(parent for parent in (path, *path.absolute().parents) if parent.exists())


def _found(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _requirements(package: str = "evenhand") -> dict[str, list[str]]:
    """Extra → names of packages it needs; the base under the empty name."""
    found = _found(package)
    needs: dict[str, list[str]] = {"": []}
    for line in (found.requires or []) if found else []:
        extra = _EXTRA.search(line)
        name = _NAME.match(line)
        if name:
            needs.setdefault(extra.group(1) if extra else "", []).append(name.group())
    return needs


def _closure(names: list[str]) -> set[str]:
    """The packages and all they need, as far as they are installed."""
    seen: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop().lower().replace("_", "-")
        if name not in seen and _found(name):
            seen.add(name)
            todo += _requirements(name)[""]
    return seen


def _size(name: str) -> int:
    found = _found(name)
    return sum(file.size or 0 for file in (found.files or [])) if found else 0

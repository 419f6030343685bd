"""Imports point up the table of the design only, also those inside functions."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "evenhand"
MAY_IMPORT = {
    "core": set(),
    "stats": {"core"},
    "reports": {"core"},
    "data": {"core", "stats"},
    "sampling": {"core", "stats"},
    "models": {"core", "stats", "data"},
    "validation": {"core", "stats", "data"},
    "audits": {"core", "stats", "data", "reports"},
    "labelling": {"core", "stats", "reports", "data", "sampling"},
    "serving": {"core", "stats", "reports", "data", "models"},
    "rounds": {"core", "stats", "reports", "data", "models", "audits", "labelling"},
    "studies": {
        "core", "stats", "reports", "data", "sampling", "models", "validation", "audits",
        "labelling", "serving", "rounds",
    },
}  # fmt: skip
MAY_IMPORT["cli"] = {*MAY_IMPORT, "studies"}
ONLY_IN = {
    "torch": {"models"},
    "transformers": {"models"},
    "onnxruntime": {"models"},
    "litestar": {"labelling", "serving", "rounds"},
    "pandas": set(),
    "pickle": set(),
    "joblib": set(),
}
FILES = sorted(SOURCE.rglob("*.py"))


def package_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else ""


def imported(tree: ast.AST) -> set[str]:
    """Every module name imported anywhere in the tree, ``from a import b`` as ``a.b``."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def faults(package: str, names: set[str]) -> list[str]:
    found = []
    for name in sorted(names):
        top, *rest = name.split(".")
        if top == "evenhand" and rest[0] in MAY_IMPORT and package:
            if rest[0] != package and rest[0] not in MAY_IMPORT[package]:
                found.append(f"{package} imports {name}")
        elif top in ONLY_IN and package not in ONLY_IN[top]:
            found.append(f"{package} imports {name}")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_up_the_table(path):
    assert faults(package_of(path), imported(ast.parse(path.read_text()))) == []


def test_every_package_is_in_the_table():
    packages = {package_of(path) for path in FILES} - {""}
    assert packages <= set(MAY_IMPORT)


@pytest.mark.parametrize(
    ("package", "code"),
    [
        ("core", "from evenhand.data import files"),
        ("stats", "def f():\n    import evenhand.data.files"),
        ("validation", "from evenhand import models"),
        ("data", "if TYPE_CHECKING:\n    from evenhand.reports.page import page"),
        ("data", "import torch.nn"),
        ("models", "import pickle"),
    ],
)
def test_the_check_sees_a_wrong_import(package, code):
    assert len(faults(package, imported(ast.parse(code)))) == 1


def test_all_packages_say_what_they_are_for():
    for path in SOURCE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path

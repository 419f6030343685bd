"""Findings for people to read: terminal tables, figures, one HTML page, files for other programs.

Findings come in, text goes out; nothing is computed here. Every writer shows n, the interval, how a
figure was obtained and the reason where there is none, marks what is simulated, and uses one number
format (:mod:`~evenhand.reports.numbers`). :func:`write_report` makes the folder of ``--out``; the
page alone comes from :mod:`evenhand.reports.page`. Names load their module on first use, so that
printing a table imports neither Polars nor Matplotlib.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.reports.export import findings_csv, findings_latex, findings_parquet
    from evenhand.reports.figures import Figure, Line, bars, histogram, lines
    from evenhand.reports.folder import write_report
    from evenhand.reports.grids import Grid, print_grid
    from evenhand.reports.limits import LIMITS
    from evenhand.reports.masking import mask
    from evenhand.reports.page import Case, Section
    from evenhand.reports.terminal import print_findings
    from evenhand.reports.triangles import simplex

__all__ = [
    "LIMITS",
    "Case",
    "Figure",
    "Grid",
    "Line",
    "Section",
    "bars",
    "findings_csv",
    "findings_latex",
    "findings_parquet",
    "histogram",
    "lines",
    "mask",
    "print_findings",
    "print_grid",
    "simplex",
    "write_report",
]

_MODULES = {
    "export": ("findings_csv", "findings_latex", "findings_parquet"),
    "figures": ("Figure", "Line", "bars", "histogram", "lines"),
    "folder": ("write_report",),
    "grids": ("Grid", "print_grid"),
    "limits": ("LIMITS",),
    "masking": ("mask",),
    "page": ("Case", "Section"),
    "triangles": ("simplex",),
    "terminal": ("print_findings",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)

"""One self-contained HTML page: findings, figures, posts to look at, and where they come from.

The page asks for nothing from anywhere (its content security policy forbids it), is readable
without JavaScript, on a phone, in light and dark, and in print. Its style sheet and script are the
files ``page.css`` and ``page.js`` beside this module.
"""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from evenhand.core.provenance import Run
from evenhand.core.records import Finding
from evenhand.reports._cases import Case, cases
from evenhand.reports._html import element, escaped, prose
from evenhand.reports._tables import glossary, mark, tables
from evenhand.reports.figures import Figure
from evenhand.reports.grids import Grid, grid_html
from evenhand.reports.limits import LIMITS
from evenhand.reports.numbers import NOTHING, count, interval_text, value_text
from evenhand.reports.wording import SIMULATED, simulated_suffix

__all__ = ["Case", "Section", "page"]

_MOST_KEY_FIGURES = 8
_MOST_NAMES = 4


@dataclass(frozen=True)
class Section:
    """A part of a page, in the order it is read: text, findings, figures, posts."""

    title: str
    paragraphs: Sequence[str] = ()
    """Plain text; what stands in backticks is set as code."""
    findings: Sequence[Finding] = ()
    figures: Sequence[Figure] = ()
    cases: Sequence[Case] = ()
    grids: Sequence[Grid] = ()
    """Shown before the findings; every figure in them is a finding too."""
    points: Sequence[str] = ()
    """A numbered list after the text, most important first."""

    def simulated(self) -> list[bool]:
        """For each finding and figure, whether it is simulated."""
        found = [finding.origin == SIMULATED for finding in self.findings]
        return found + [figure.simulated for figure in self.figures]


def page(
    title: str,
    sections: Sequence[Section],
    run: Run,
    *,
    summary: Sequence[str] = (),
    provenance: Mapping[str, Any] | None = None,
) -> str:
    """The whole page as text.

    ``summary`` is what a reader in a hurry should know; a line that counts the findings is added.
    ``provenance`` is ``run.provenance()`` where the caller has taken it already.
    """
    heading = title + simulated_suffix(made_up for s in sections for made_up in s.simulated())
    explained: set[str] = set()
    body = [
        f"<header>{element('h1', escaped(heading))}</header>",
        "<main>",
        _summary(sections, run, summary),
        _contents(sections),
        *(_section(section, index, explained) for index, section in enumerate(sections, start=1)),
        _provenance(run.provenance() if provenance is None else provenance),
        "</main>",
        f"<footer>{element('p', escaped(LIMITS))}</footer>",
    ]
    return _document(heading, "\n".join(filter(None, body)))


def _document(heading: str, body: str) -> str:
    style, script = _resource("page.css"), _resource("page.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{escaped(heading)}</title>
<style>{style}</style>
</head>
<body>
{body}
<script>{script}</script>
</body>
</html>
"""


def _resource(name: str) -> str:
    return files("evenhand.reports").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _summary(sections: Sequence[Section], run: Run, summary: Sequence[str]) -> str:
    findings = [finding for section in sections for finding in section.findings]
    paragraphs = "".join(element("p", prose(text)) for text in summary)
    counted = element("p", escaped(_counted(findings, run)), class_="counted")
    return (
        f'<section class="summary" aria-labelledby="summary"><h2 id="summary">Summary</h2>\n'
        f"{paragraphs}{_key_figures(findings)}{counted}</section>"
    )


def _counted(findings: Sequence[Finding], run: Run) -> str:
    """One sentence: how many findings, on what, how many without a value, how many simulated."""
    named = [f"{used.name} ({count(used.rows)} rows)" for used in run.data]
    names = ", ".join(named[:_MOST_NAMES])
    if len(named) > _MOST_NAMES:
        names += f" and {count(len(named) - _MOST_NAMES)} more"
    missing = sum(finding.value is None for finding in findings)
    simulated = sum(finding.origin == SIMULATED for finding in findings)
    words = f"{count(len(findings))} findings" + (f" from {names}" if names else "")
    if missing:
        words += f"; {count(missing)} without a value, with the reason beside it"
    if simulated:
        words += f"; {count(simulated)} {SIMULATED}"
    return words + "."


def _key_figures(findings: Sequence[Finding]) -> str:
    """The findings about the whole, as large figures."""
    main = [finding for finding in findings if not finding.group][:_MOST_KEY_FIGURES]
    return f'<dl class="key">{"".join(map(_key_figure, main))}</dl>' if main else ""


def _key_figure(finding: Finding) -> str:
    name = escaped(finding.measure) + mark(finding)
    reason = finding.why if finding.value is None else interval_text(finding)
    lines = filter(None, (reason, f"n = {count(finding.n)}"))
    rest = "".join(element("dd", escaped(line)) for line in lines)
    figure = element("dd", escaped(value_text(finding)), class_="figure")
    return element("div", element("dt", name) + figure + rest)


def _contents(sections: Sequence[Section]) -> str:
    if len(sections) < 2:
        return ""
    items = "".join(
        f'<li><a href="#section-{index}">{escaped(section.title)}</a></li>'
        for index, section in enumerate(sections, start=1)
    )
    last = '<li><a href="#provenance">Where this comes from</a></li>'
    return f'<nav aria-label="Contents"><ol>{items}{last}</ol></nav>'


def _section(section: Section, index: int, explained: set[str]) -> str:
    name = f"section-{index}"
    heading = escaped(section.title + simulated_suffix(section.simulated()))
    drawn = "\n".join(map(_figure, section.figures))
    parts = [
        f'<section aria-labelledby="{name}"><h2 id="{name}">{heading}</h2>',
        *(element("p", prose(text)) for text in section.paragraphs),
        _points(section.points),
        *(
            grid_html(grid, f"{name}-grid-{number}")
            for number, grid in enumerate(section.grids, start=1)
        ),
        _findings(section, name),
        f'<div class="figures">{drawn}</div>' if drawn else "",
        glossary(section.findings, explained),
        cases(section.cases),
        "</section>",
    ]
    return "\n".join(filter(None, parts))


def _points(points: Sequence[str]) -> str:
    items = "".join(element("li", prose(point)) for point in points)
    return element("ol", items, class_="points") if points else ""


def _findings(section: Section, name: str) -> str:
    """The findings; behind a click where a grid shows the main ones."""
    shown = tables(section.findings, name)
    if not (section.grids and shown):
        return shown
    words = f"All {count(len(section.findings))} findings of this section"
    return f"<details><summary>{words}</summary>\n{shown}</details>"


def _figure(figure: Figure) -> str:
    # The SVG is our own (see _svg) and escaped there.
    caption = element("figcaption", prose(figure.caption)) if figure.caption else ""
    return f"<figure>{figure.svg}{caption}</figure>"


def _provenance(facts: Mapping[str, Any]) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
    lines = {
        "Command": element("code", escaped(shlex.join(map(str, facts["command"])))),
        "Seed": escaped(facts["seed"]),
        "Evenhand": escaped(facts["evenhand"]),
        "Date": escaped(facts["at"]),
        "Time taken": escaped(f"{facts['seconds']:.1f} s"),
        "Python": escaped(facts["python"]),
        "Packages": escaped(packages),
    }
    entries = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in lines.items())
    return (
        '<section aria-labelledby="provenance"><h2 id="provenance">Where this comes from</h2>\n'
        "<details><summary>Command, seed, data and version</summary>\n"
        f'<dl class="facts">{entries}</dl>\n{_data(facts["data"])}</details></section>'
    )


def _data(used: Sequence[Mapping[str, Any]]) -> str:
    if not used:
        return "<p>No data was read.</p>"
    rows = "".join(
        f'<tr><th scope="row">{escaped(data["name"])}</th>'
        f'<td class="number" data-sort="{data["rows"]}">{count(data["rows"])}</td>'
        f"<td><code>{escaped(data['sha256'] or NOTHING)}</code></td></tr>"
        for data in used
    )
    return (
        '<div class="frame" role="region" aria-labelledby="data" tabindex="0">'
        '<table><caption id="data">Data read</caption><thead><tr><th scope="col">name</th>'
        '<th scope="col" class="number">rows</th><th scope="col">SHA-256</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )

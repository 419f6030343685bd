"""A model card as HTML: the little Markdown that cards use."""

from __future__ import annotations

import html
import re

from markupsafe import Markup

_CODE = re.compile(r"`([^`]+)`")
_BOLD = re.compile(r"\*\*([^*]+)\*\*")
_LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)\s]+|[\w./#-]+)\)")
_RULE = re.compile(r"^\|?[\s:|-]+\|?$")


def html_of(text: str) -> Markup:
    """Headings, paragraphs, lists, tables and code blocks; everything else is escaped."""
    out: list[str] = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            end = next(
                (n for n in range(at + 1, len(lines)) if lines[n].startswith("```")), len(lines)
            )
            out.append(f"<pre>{html.escape(chr(10).join(lines[at + 1 : end]))}</pre>")
            at = end + 1
        elif line.startswith("#"):
            level = min(len(line) - len(line.lstrip("#")), 6)
            out.append(f"<h{level}>{_inline(line.lstrip('# '))}</h{level}>")
            at += 1
        elif line.startswith("|"):
            at = _table(lines, at, out)
        elif line.lstrip().startswith(("- ", "* ")):
            at = _list(lines, at, out)
        elif not line.strip():
            at += 1
        else:
            end = at
            while end < len(lines) and lines[end].strip() and not _begins(lines[end]):
                end += 1
            end = max(end, at + 1)
            out.append(f"<p>{_inline(' '.join(lines[at:end]))}</p>")
            at = end
    return Markup("\n".join(out))


def _begins(line: str) -> bool:
    return line.startswith(("#", "|", "```")) or line.lstrip().startswith(("- ", "* "))


def _table(lines: list[str], at: int, out: list[str]) -> int:
    rows = []
    while at < len(lines) and lines[at].startswith("|"):
        rows.append([cell.strip() for cell in lines[at].strip().strip("|").split("|")])
        at += 1
    head, *body = rows
    if body and _RULE.match("|".join(body[0])):
        body = body[1:]
    out.append('<div class="wide"><table><thead><tr>')
    out += [f'<th scope="col">{_inline(cell)}</th>' for cell in head]
    out.append("</tr></thead><tbody>")
    for row in body:
        out.append("<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in row) + "</tr>")
    out.append("</tbody></table></div>")
    return at


def _list(lines: list[str], at: int, out: list[str]) -> int:
    items: list[str] = []
    while at < len(lines) and lines[at].strip():
        line = lines[at].strip()
        if line.startswith(("- ", "* ")):
            items.append(line[2:])
        elif _begins(line):
            break
        else:
            items[-1] += " " + line
        at += 1
    out.append("<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + "</ul>")
    return at


def _inline(text: str) -> str:
    found = html.escape(text)
    found = _CODE.sub(r"<code>\1</code>", found)
    found = _BOLD.sub(r"<strong>\1</strong>", found)
    return _LINK.sub(r'<a href="\2">\1</a>', found)

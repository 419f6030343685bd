"""Small pieces of HTML; everything that comes from outside is escaped here."""

from __future__ import annotations

import html
import re

from evenhand.reports.wording import printable

_CODE = re.compile(r"`([^`]+)`")


def escaped(text: object) -> str:
    """Text that is safe in an element and in a quoted attribute."""
    return html.escape(printable(str(text)), quote=True)


def prose(text: str) -> str:
    """Escaped text with what stands in backticks set as code.

    >>> prose("`f1` < 1")
    '<code>f1</code> &lt; 1'
    """
    return _CODE.sub(r"<code>\1</code>", escaped(text))


def element(name: str, content: str, **attributes: str | None) -> str:
    """An element around content that is HTML already; attributes are escaped, None leaves one out.

    A trailing underscore is dropped from attribute names and the others become hyphens.

    >>> element("td", "x", class_="a", data_sort="1")
    '<td class="a" data-sort="1">x</td>'
    """
    given = "".join(
        f' {key.removesuffix("_").replace("_", "-")}="{escaped(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{given}>{content}</{name}>"

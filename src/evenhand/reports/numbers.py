"""One way to write numbers, used in the terminal, the page, the figures and LaTeX.

Counts have thousands separators; shares and other figures below one have three decimals and no
leading zero; what is larger has one decimal at most. A figure that does not exist is a dash, and
one that is merely small or merely close to one never looks like 0 or 1.

>>> [number(x) for x in (0.6584, -0.25, 0.0, 0.0002, 0.9999, 1.0, 83.5, None)]
['.658', '−.250', '.000', '<.001', '>.999', '1.000', '83.5', '–']
>>> count(16849), bracket(0.641, 0.675)
('16,849', '[.641, .675]')
"""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.core.records import Finding

NOTHING = "–"
"""What stands where there is no number."""

_FRACTION_NAMES = ("share", "rate", "f1")
_LARGE = 10


def count(value: float) -> str:
    """A whole number with thousands separators."""
    return f"{value:,.0f}".replace("-", "−")


def number(value: float | None, *, scale: float | None = None) -> str:
    """A number as text; ``scale`` is the largest number it stands beside, if not itself."""
    if value is None:
        return NOTHING
    if max(abs(value), abs(scale or 0.0)) >= _LARGE:
        text = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
        return text.replace("-", "−")
    sign = "−" if value < 0 else ""
    size = abs(value)
    if 0 < size < 0.0005:
        return ">−.001" if sign else "<.001"
    if 0.9995 <= size < 1:
        return "<−.999" if sign else ">.999"
    return sign + f"{size:.3f}".removeprefix("0" if size < 1 else "")


def bracket(low: float | None, high: float | None, *, scale: float | None = None) -> str:
    """An interval as text; empty where neither end exists."""
    if low is None and high is None:
        return ""
    widest = max(abs(end) for end in (low, high, scale) if end is not None)
    return f"[{number(low, scale=widest)}, {number(high, scale=widest)}]"


def percent(share: float) -> str:
    """A share in words; what is merely close to none or all never reads as 0 or 100 %.

    >>> percent(0.413), percent(0.998), percent(0.001), percent(1)
    ('41 %', 'over 99 %', 'under 1 %', '100 %')
    """
    if 0 < share < 0.005:
        return "under 1 %"
    if 0.995 <= share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"


def alike(values: Sequence[float | None]) -> list[str]:
    """Numbers that stand together, written alike: as counts where all are whole and one exceeds 1.

    >>> alike([3, 0, None]), alike([0.5, 1.0]), alike([4.0, 12.5])
    (['3', '0', '–'], ['.500', '1.000'], ['4', '12.5'])
    """
    known = [value for value in values if value is not None]
    scale = max((abs(value) for value in known), default=0.0)
    counts = scale > 1 and all(float(value).is_integer() for value in known)
    return [number(value, scale=_LARGE if counts else scale) for value in values]


def value_text(finding: Finding) -> str:
    """The value of a finding as text."""
    if finding.value is not None and is_count(finding):
        return count(finding.value)
    return number(finding.value, scale=_scale(finding))


def interval_text(finding: Finding) -> str:
    """The interval of a finding as text, written in the same way as its value."""
    low, high = finding.low, finding.high
    if low is not None and high is not None and is_count(finding):
        return f"[{count(low)}, {count(high)}]"
    return bracket(low, high, scale=_scale(finding))


def is_count(finding: Finding) -> bool:
    """Whether a finding is written as a whole number: counted, or whole and larger than one.

    A share of exactly 0 or 1 is whole too, so measures named after a fraction are left out.
    """
    ends = (finding.value, finding.low, finding.high)
    whole = all(float(end).is_integer() for end in ends if end is not None)
    fraction = finding.measure.endswith(_FRACTION_NAMES)
    return whole and not fraction and (finding.method == "count" or _scale(finding) > 1)


def _scale(finding: Finding) -> float:
    ends = (finding.value, finding.low, finding.high)
    return max((abs(end) for end in ends if end is not None), default=0.0)

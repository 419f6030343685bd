from dataclasses import replace

import pytest

from evenhand.core.records import Finding
from evenhand.reports.numbers import bracket, interval_text, number, value_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.6584, ".658"),
        (-0.25, "−.250"),
        (0.0, ".000"),
        (-0.0, ".000"),
        (1.0, "1.000"),
        (-1.0, "−1.000"),
        (2.5, "2.500"),
        (83.0, "83"),
        (1234.56, "1,234.6"),
        (None, "–"),
    ],
)
def test_one_format(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0004, "<.001"), (-0.0004, ">−.001"), (0.9996, ">.999"), (-0.9996, "<−.999")],
)
def test_small_is_not_zero_and_almost_is_not_one(value: float, text: str) -> None:
    assert number(value) == text


def test_counts_have_separators_and_shares_decimals() -> None:
    assert value_text(Finding(measure="rows", value=16849, n=16849)) == "16,849"
    assert value_text(Finding(measure="rows", value=1, n=1)) == "1"
    assert value_text(Finding(measure="label_share", value=1, n=9)) == "1.000"
    assert value_text(Finding(measure="fleiss_kappa", value=1, n=9, method="Fleiss")) == "1.000"


def test_value_and_interval_are_written_alike() -> None:
    characters = Finding(measure="characters", value=83, n=9, low=9, high=140, method="median")
    assert (value_text(characters), interval_text(characters)) == ("83", "[9, 140]")
    counted = replace(characters, method="count", low=8, high=9, value=9)
    assert (value_text(counted), interval_text(counted)) == ("9", "[8, 9]")


def test_interval_with_one_end_or_none() -> None:
    assert bracket(0.1, None) == "[.100, –]"
    assert bracket(None, None) == ""


def test_a_whole_quantile_is_written_as_a_whole_number():
    found = Finding(measure="characters", value=8.0, n=5, method="quantile")
    assert value_text(found) == "8"

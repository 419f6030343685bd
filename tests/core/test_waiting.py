"""The pause a server asks for."""

from email.message import Message

import pytest

from evenhand.core.waiting import retry_after


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("", None),
        ("7", 7.0),
        (" 0 ", 0.0),
        ("-1", None),
        ("soon", None),
        ("Mon, 01 Jan 2001 00:00:00 GMT", 0.0),  # over long ago
        ("Fri, 31 Dec 9999 23:59:59 -1400", None),  # after the calendar ends
    ],
)
def test_the_pause_in_a_header(value, expected):
    headers = Message()
    if value is not None:
        headers["Retry-After"] = value
    assert retry_after(headers) == expected


def test_a_date_to_come():
    headers = Message()
    headers["Retry-After"] = "Fri, 01 Jan 2100 00:00:00 GMT"
    assert (retry_after(headers) or 0) > 1e6

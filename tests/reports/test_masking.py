import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.reports.masking import mask


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("RT @Jane_D: hi", "RT @user: hi"),
        (".@jane,@joe", ".@user,@user"),
        ("“@jane”", "“@user”"),
        ("@jane.bsky.social no", "@user no"),
        ("@jane@mastodon.social no", "@user no"),
        ("@\u2066jane\u2069 no", "@user\u2069 no"),
        ("＠jane", "@user"),
        ("ask u/jane-d or /u/joe_1", "ask @user or @user"),
        ("1@1@1@1", "1@user"),
        ("https://medium.com/@jane/a-b", "[link]"),
        ("jane.d+x@mail.example.org!", "[e-mail]!"),
        ("see https://t.co/Ab1 now", "see [link] now"),
        ("HTTP://EXAMPLE.ORG/a?b=@c", "[link]"),
        ("www.example.org", "[link]"),
        ("pic.twitter.com/abc and youtu.be/x", "[link] and [link]"),
        ("example.com is down", "[link] is down"),
        ("and/or 3.5 e.g. U.S. @ 5", "and/or 3.5 e.g. U.S. @ 5"),
    ],
)
def test_masks(text: str, masked: str) -> None:
    assert mask(text) == masked


@given(st.text(alphabet="ab@＠.-/: u_1\u200b"))
def test_no_handle_survives_and_masking_again_changes_nothing(text: str) -> None:
    masked = mask(text)
    assert not re.search("[@＠](?!user)[\u200b]*\\w", masked)
    assert mask(masked) == masked

import emoji
import polars as pl
import pytest

from evenhand.data.describe import describe, has_emoji
from factories import finding, make_corpus, value


def test_label_shares_by_hand():
    rows = [{"id": str(i), "label": "bad" if i < 3 else "ok"} for i in range(12)]
    found = describe(make_corpus(rows))
    assert value(found, "label_share", label="bad") == pytest.approx(0.25)
    assert value(found, "label_share", label="hateful") == pytest.approx(0.25)
    assert finding(found, "label_share", label="bad").method.endswith("Wilson interval")


def test_with_authors_the_interval_resamples_authors():
    rows = [{"id": str(i), "label": "bad" if i < 50 else "ok", "author": str(i // 25)}
            for i in range(100)]  # fmt: skip
    share = finding(describe(make_corpus(rows)), "label_share", label="bad")
    assert share.unit == "authors"
    # Four authors, all or nothing: the interval is far wider than that of 100 single posts (±.1).
    assert share.high - share.low > 0.5


def test_unlabelled_and_empty_posts_are_counted_not_dropped():
    rows = [{"id": "1", "text": "  ", "label": None}, {"id": "2", "text": "a", "label": "ok"}]
    found = describe(make_corpus(rows))
    assert value(found, "posts_empty") == 1
    assert value(found, "unlabelled") == 1
    assert finding(found, "label_share", label="ok").n == 1


def test_no_labels_is_null_with_a_reason():
    found = finding(describe(make_corpus([{"id": "1"}])), "label_share")
    assert (found.value, found.why) == (None, "no post has a label")


def test_every_emoji_is_seen():
    # Fully qualified emoji of the emoji package; ©, ® and ™ are left out on purpose.
    known = [e for e, data in emoji.EMOJI_DATA.items() if data["status"] == 2]
    known = [e for e in known if e[0] not in "©®™"]
    seen = pl.DataFrame({"t": known}).select(has_emoji(pl.col("t"))).to_series()
    missed = [name for name, hit in zip(known, seen, strict=True) if not hit]
    assert len(known) > 3000
    assert missed == []


@pytest.mark.parametrize("text", ["plain", "© 2020 ™", "12 * 3 #tag", "ÄÖ 中文 ♀"])
def test_what_is_no_emoji(text):
    seen = pl.DataFrame({"t": [text]}).select(has_emoji(pl.col("t"))).item()
    assert seen is ("♀" in text)  # the bare sign is an emoji shown as text

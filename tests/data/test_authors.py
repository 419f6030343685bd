import pytest

from evenhand.data.authors import author_findings
from factories import finding, make_corpus, value


def posts(*counts):
    """(author, label, how many) → posts."""
    rows = []
    for author, label, many in counts:
        for _ in range(many):
            rows.append({"id": f"{len(rows)}", "author": author, "label": label})
    return make_corpus(rows)


def test_authors_and_top_shares_by_hand():
    # bad: ann 6, bea 3, cat 1 → top 1 writes .6, top 2 .9, top 5 all.
    corpus = posts(("ann", "bad", 6), ("bea", "bad", 3), ("cat", "bad", 1), ("dan", "ok", 10))
    found = list(author_findings(corpus, 0))
    assert value(found, "authors") == 4
    assert value(found, "authors", label="bad") == 3
    assert [value(found, "top_author_share", label="bad", top=t) for t in (1, 2, 5)] == [
        pytest.approx(share) for share in (0.6, 0.9, 1.0)
    ]


def test_posts_without_an_author_are_left_out_of_counts():
    corpus = posts(("ann", "bad", 1), (None, "bad", 3), ("bea", "ok", 1))
    found = list(author_findings(corpus, 0))
    assert value(found, "authors") == 2
    assert finding(found, "top_author_share", label="bad", top=1).n == 1
    assert value(found, "author_known_share") == pytest.approx(2 / 5)


def test_the_three_look_ups_by_hand():
    # ann wrote 6 of 8 bad posts and 2 ok ones; bea 2 bad; cat 10 ok.
    # stated: all of ann's 8 → bad. bad: P 6/8, R 6/8, F1 .75; ok: P 10/12, R 10/12.
    # ideal: only ann's 6 bad → bad. bad: P 1, R 6/8, F1 6/7; ok: P 12/14, R 1, F1 12/13.
    corpus = posts(("ann", "bad", 6), ("ann", "ok", 2), ("bea", "bad", 2), ("cat", "ok", 10))
    found = list(author_findings(corpus, 0))
    stated = value(found, "author_lookup_f1", form="stated", average="macro")
    ideal = value(found, "author_lookup_f1", form="ideal", average="macro")
    assert stated == pytest.approx((0.75 + 10 / 12) / 2)
    assert ideal == pytest.approx((6 / 7 + 12 / 13) / 2)
    weighted = value(found, "author_lookup_f1", form="ideal", average="weighted")
    assert weighted == pytest.approx((8 * 6 / 7 + 12 * 12 / 13) / 20)


def test_author_majority_is_perfect_when_authors_never_vary():
    corpus = posts(("ann", "bad", 40), ("bea", "ok", 60))
    found = list(author_findings(corpus, 0))
    assert value(found, "author_lookup_f1", form="majority", average="macro") == 1


def test_author_majority_is_out_of_fold():
    # Everybody wrote one post: nothing is known of a test author, so all get the commoner label.
    rows = [
        {"id": str(i), "author": str(i), "label": "bad" if i < 30 else "ok"} for i in range(100)
    ]
    found = list(author_findings(make_corpus(rows), 0))
    # bad F1 0, ok P .7, R 1, F1 14/17; macro is half of it.
    majority = value(found, "author_lookup_f1", form="majority", average="macro")
    assert majority == pytest.approx(7 / 17)


def test_row_order_and_names_do_not_matter():
    corpus = posts(("ann", "bad", 6), ("ann", "ok", 2), ("bea", "bad", 2), ("cat", "ok", 10))
    renamed = posts(("zoe", "bad", 6), ("zoe", "ok", 2), ("yan", "bad", 2), ("bob", "ok", 10))
    shuffled = posts(("ann", "bad", 6), ("ann", "ok", 2), ("bea", "bad", 2), ("cat", "ok", 10))
    shuffled = make_corpus(
        [
            {"id": i, "author": a, "label": label}
            for i, a, label in shuffled.posts.select("id", "author")
            .with_columns(label=shuffled.gold["label"])
            .sample(fraction=1, shuffle=True, seed=1)
            .iter_rows()
        ]
    )
    as_dicts = [[f.as_dict() for f in author_findings(c, 0)] for c in (corpus, renamed, shuffled)]
    assert as_dicts[0] == as_dicts[1] == as_dicts[2]


@pytest.mark.parametrize(
    ("corpus", "why"),
    [
        (make_corpus([{"id": "1", "label": "bad"}]), "does not say who wrote"),
        (make_corpus([{"id": "1", "author": "ann"}]), "no labels"),
        (posts(("ann", "ok", 3)), "no label is declared hateful"),
        (posts(("ann", "bad", 3)), "every post has a hateful label"),
    ],
)
def test_what_does_not_exist_is_null_with_a_reason(corpus, why):
    [found] = [f for f in author_findings(corpus, 0) if f.measure == "author_lookup_f1"]
    assert found.value is None
    assert why in found.why


def test_author_findings_never_give_cases():
    corpus = posts(("ann", "bad", 6), ("bea", "ok", 3))
    assert not any(f.cases for f in author_findings(corpus, 0))

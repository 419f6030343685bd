import pytest

from evenhand.audits.gates import judge, read_gates
from evenhand.core.errors import BadInput
from evenhand.core.records import Finding

FOUND = [
    Finding(measure="unscored", value=0, n=9, group={"suite": "a"}, why="a count, no interval"),
    Finding(measure="accuracy", value=0.8, n=90, low=0.7, high=0.9, group={"suite": "a"}),
    Finding(measure="fpr_gap", value=0.1, n=90, low=0.0, high=0.3, group={"suite": "a"}),
    Finding(measure="accuracy", value=0.9, n=3, group={"suite": "b"}, why="too few"),
    Finding(measure="recall", value=None, n=0, group={}, why="no positives"),
]


def judged(tmp_path, text):
    file = tmp_path / "gates.toml"
    file.write_text(text, encoding="utf-8")
    return [why for _, why in judge(read_gates(file), FOUND) if why is not None]


def gate(measure, limit, group='{ suite = "a" }', more=""):
    return f'[[gate]]\nmeasure = "{measure}"\ngroup = {group}\n{limit}\n{more}\n'


@pytest.mark.parametrize(
    ("text", "breaks"),
    [
        (gate("accuracy", "at_least = 0.7"), False),
        (gate("accuracy", "at_least = 0.75"), True),  # .8 is enough, its lower end .7 is not
        (gate("accuracy", "at_least = 0.75", more='on = "point"'), False),
        (gate("unscored", "at_most = 0"), False),  # counted: nothing to be unsure of
        (gate("fpr_gap", "at_most = 0.3"), False),
        (gate("fpr_gap", "at_most = 0.2"), True),
        (gate("accuracy", "at_least = 0.5", group='{ suite = "b" }'), True),  # no interval
        (gate("accuracy", "at_least = 0.5", '{ suite = "b" }', 'on = "point"'), False),
        (gate("recall", "at_least = 0", group="{}"), True),  # no figure
    ],
    ids=[
        "holds",
        "bound",
        "point",
        "counted",
        "at-most",
        "at-most-broken",
        "no-interval",
        "alone",
        "null",
    ],
)
def test_a_gate_is_on_the_bad_end_unless_it_says_point(tmp_path, text, breaks):
    assert bool(judged(tmp_path, text)) == breaks


def test_what_broke_says_what_was_wanted_and_found(tmp_path):
    [why] = judged(tmp_path, gate("accuracy", "at_least = 0.75"))
    assert why == "found 0.800, 0.700 to 0.900 (n = 90)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "expected one or more"),
        ("gate = 1", "expected one or more"),
        ("[[gate]]\nmeasure = ", "not TOML"),
        (gate("accuracy", ""), "expected one number"),
        (gate("accuracy", "at_least = 1\nat_most = 2"), "expected one number"),
        (gate("accuracy", "at_least = true"), "expected one number"),
        (gate("accuracy", "at_least = 1", more='on = "top"'), "expected bound or point"),
        (gate("accuracy", "at_least = 1", more="sharp = 1"), "unknown key 'sharp'"),
        (gate("accuracy", "at_least = nan"), "expected one number"),
        ("gate = [1]", "expected a table"),
    ],
    ids=["empty", "no-table", "toml", "none", "two", "bool", "end", "key", "nan", "number"],
)
def test_a_wrong_gate_file_is_refused(tmp_path, text, expected):
    with pytest.raises(BadInput, match=expected):
        judged(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (gate("sharpness", "at_least = 1"), "no such measure in this audit; it has accuracy"),
        (gate("accuracy", "at_least = 1", '{ suite = "c" }'), "no figure has exactly this group"),
    ],
    ids=["measure", "group"],
)
def test_a_gate_about_nothing_is_broken(tmp_path, text, expected):
    [why] = judged(tmp_path, text)
    assert expected in why


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        read_gates(tmp_path / "nowhere.toml")

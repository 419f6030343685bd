import pytest

from evenhand.core.errors import BadInput, EvenhandError, Fault, Faults, LeakFound


def test_a_fault_names_file_and_line():
    assert (
        str(Fault("posts.csv", "the id is missing", 41)) == "posts.csv line 41: the id is missing"
    )


def test_twenty_faults_are_listed_and_the_rest_counted():
    faults = Faults("posts.csv")
    faults.add_lines("the id is missing", range(1, 1001))
    with pytest.raises(BadInput) as caught:
        faults.raise_if_any()
    lines = str(caught.value).splitlines()
    assert len(lines) == 21
    assert lines[0] == "posts.csv line 1: the id is missing"
    assert lines[-1] == "… and 980 more faults like these"


def test_no_fault_raises_nothing():
    faults = Faults("posts.csv")
    faults.raise_if_any()
    assert not faults


def test_exit_codes_of_the_tree():
    assert (EvenhandError.exit_code, BadInput.exit_code, LeakFound.exit_code) == (2, 2, 3)

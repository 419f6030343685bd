"""Maps to a recorded scale: they never fall, go through the threshold, and know their detector."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import BadInput
from evenhand.serving.mapping import AttributeMap, Chosen, Mapping, knots_of


@dataclass(frozen=True)
class Known:
    name: str = "mine"
    sha256: str | None = "ab" * 32


def made(**changes):
    chosen = Chosen(recorded=0.8, p=0.3, low=0.2, high=0.4, keep="flag-rate")
    one = AttributeMap(
        knots=((0.0, 0.0), (0.3, 0.8), (1.0, 1.0)),
        n=100,
        threshold=chosen,
        difference=(0.1, 0.05, 0.15),
    )
    fields = {"detector": "mine", "sha256": "ab" * 32, "maps": {"TOXICITY": one}, "about": {}}
    return Mapping(**(fields | changes))


def written(tmp_path, document):
    path = tmp_path / "mapping.json"
    path.write_text(json.dumps(document))
    return path


def test_a_line_between_the_knots(tmp_path):
    # Halfway from (0, 0) to (.3, .8) is (.15, .4); from (.3, .8) to (1, 1) at .65 it is .9.
    mapping = Mapping.read(written(tmp_path, made().to_json()), detector=Known())
    found = mapping.apply("TOXICITY", np.array([0.15, 0.3, 0.65, 1.0]))
    assert found.round(9).tolist() == [0.4, 0.8, 0.9, 1.0]
    assert (mapping.thresholds, mapping.recorded_thresholds) == (
        {"TOXICITY": 0.3},
        {"TOXICITY": 0.8},
    )
    assert mapping == made()


def test_equally_many_reach_each_score():
    # Ranks: .1→.2, .4→.5, .5→.6, .9→.7; the line goes through all four.
    line = knots_of([0.9, 0.1, 0.5, 0.4], [0.5, 0.7, 0.2, 0.6])
    assert line == ((0.0, 0.0), (0.1, 0.2), (0.4, 0.5), (0.5, 0.6), (0.9, 0.7), (1.0, 1.0))


def test_knots_that_contradict_the_threshold_are_left_out():
    # At .5 the threshold is to be .55: (.4, .5) is below and may stay, (.5, .6) gives way,
    # and with a threshold of .45 also (.4, .5) goes, since .5 would be flagged there.
    p, scores = [0.1, 0.4, 0.5, 0.9], [0.2, 0.5, 0.6, 0.7]
    assert knots_of(p, scores, anchor=(0.5, 0.55))[2:4] == ((0.4, 0.5), (0.5, 0.55))
    assert knots_of(p, scores, anchor=(0.5, 0.45))[1:3] == ((0.1, 0.2), (0.5, 0.45))


shares = st.floats(0, 1).map(lambda x: round(x, 3))


@given(st.lists(st.tuples(shares, shares), min_size=2, max_size=40), st.integers(0, 39), shares)
def test_flagged_as_mapped_exactly_when_flagged_by_the_threshold(rows, at, recorded):
    p, scores = np.array(rows).T
    threshold = p[at % len(p)]
    line = knots_of(p, scores, anchor=(threshold, recorded))
    knots, values = zip(*line, strict=True)
    mapped = np.interp(p, knots, values)
    assert list(values) == sorted(values)
    assert len(set(knots)) == len(knots)
    if recorded > 0:
        assert ((mapped >= recorded) == (p >= threshold)).all()


@pytest.mark.parametrize(
    "other", [Known(sha256="cd" * 32), Known(sha256=None), Known(name="b", sha256=None)]
)
def test_another_detector_is_refused_in_words(other):
    with pytest.raises(BadInput, match="made for mine .* but the detector is .*migrate report"):
        made().expect(other, "m.json")


def test_a_detector_that_is_not_saved_goes_by_its_name():
    unsaved = made(sha256=None)
    unsaved.expect(Known(sha256=None))
    with pytest.raises(BadInput, match="not a saved detector"):
        unsaved.expect(Known(name="other", sha256=None))


def test_an_attribute_without_a_map_is_refused():
    with pytest.raises(BadInput, match="no map of THREAT; it has TOXICITY"):
        made().apply("THREAT", [0.5])


def changed(attribute, **entry):
    document = made().to_json()
    document["attributes"][attribute] |= entry
    return document


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ([], "is no mapping"),
        ({"format": "x"}, "is no mapping"),
        (made().to_json() | {"version": 9}, "version 9"),
        (made().to_json() | {"attributes": {}}, "no attribute"),
        ({"format": "evenhand-mapping", "version": 1}, "has no 'detector'"),
        (changed("TOXICITY", knots=[[0, 0], [0.5, 0.9], [1, 0.8]]), "scores fall"),
        (changed("TOXICITY", knots=[[0, 0], [0.5, 2.0]]), "outside"),
        (changed("TOXICITY", knots=[[0.5, 0.1], [0.5, 0.2]]), "not in order"),
        (changed("TOXICITY", threshold={"p": 0.5}), "TOXICITY"),
        (changed("TOXICITY", knots=None), "TOXICITY"),
    ],
)
def test_a_damaged_mapping_is_refused(tmp_path, document, words):
    with pytest.raises(BadInput, match=words):
        Mapping.read(written(tmp_path, document))


def test_no_file_and_no_json(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        Mapping.read(tmp_path / "none.json")
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(BadInput, match="not JSON"):
        Mapping.read(tmp_path / "a.json")

"""A new detector beside the old one."""

from __future__ import annotations

import time

import httpx
import numpy as np
import pytest

from evenhand.core.errors import BadInput
from evenhand.serving.keys import Keys
from evenhand.serving.shadow import Drift, Switch


def test_drift_counts_by_hand():
    drift = Drift()
    # Thresholds .5: the first is flagged by both, the second by the new, the third by the old one.
    drift.add(np.array([0.9, 0.2, 0.6]), np.array([0.8, 0.7, 0.1]), 0.5, 0.5)
    found = drift.document()
    assert found["n"] == 3
    assert found["mean_distance"] == pytest.approx((0.1 + 0.5 + 0.5) / 3)
    assert found["newly_flagged"]["count"] == found["no_longer_flagged"]["count"] == 1
    assert found["newly_flagged"]["low"] < 1 / 3 < found["newly_flagged"]["high"]


def test_counts_of_two_workers_add_up():
    one, other = Drift(), Drift()
    one.add(np.array([0.9, 0.2]), np.array([0.8, 0.7]), 0.5, 0.5)
    other.add(np.array([0.6]), np.array([0.1]), 0.5, 0.5)
    both = {what: amount + other.counts()[what] for what, amount in one.counts().items()}
    all_at_once = Drift()
    all_at_once.add(np.array([0.9, 0.2, 0.6]), np.array([0.8, 0.7, 0.1]), 0.5, 0.5)
    assert Drift.of(both).document() == all_at_once.document()


def test_what_all_workers_saw_is_shown(serve, tmp_path):
    server = serve(
        "--detector", "python:served:plain", "--shadow", "python:served:other", "--workers", "2",
        "--state", str(tmp_path / "state.json"),
    )  # fmt: skip
    end = time.monotonic() + 60
    while server.log.read_text().count("Application startup complete") < 2:
        assert time.monotonic() < end
        time.sleep(0.1)
    for _ in range(20):  # a new connection each, so that both are asked
        assert httpx.post(f"{server.base}/score", json={"texts": ["hello"]}).status_code == 200
    with httpx.Client(base_url=server.base) as client:
        found = seen(client, 20)
    assert found["attributes"]["TOXICITY"]["newly_flagged"]["count"] == 20


def test_no_text_is_not_zero_drift():
    assert Drift().document() == {"n": 0, "why": "no text was scored by both detectors yet"}


def test_the_stability_index_is_zero_for_equal_scores_and_grows_with_distance():
    p = np.linspace(0.05, 0.95, 19)
    same, far = Drift(), Drift()
    same.add(p, p, 0.5, 0.5)
    far.add(p, p**3, 0.5, 0.5)
    assert same.stability_index() == pytest.approx(0)
    assert far.stability_index() > 0.1


def seen(client, n):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        found = client.get("/shadow").json()
        if found["attributes"]["TOXICITY"]["n"] >= n:
            return found
        time.sleep(0.02)
    raise AssertionError(found)


def test_shadow_promote_and_rollback(app, tmp_path):
    client = app(shadow="python:served:other", state=str(tmp_path / "state.json"))

    def toxicity():
        answer = client.post("/score", json={"texts": ["hello"]}).json()
        return answer["results"][0]["scores"]["TOXICITY"]

    assert toxicity() == 0.25
    found = seen(client, 1)
    assert found["answers"] == "python:served:plain"
    # .25 and 1 − .25: half apart, newly flagged at .5.
    assert found["attributes"]["TOXICITY"]["mean_distance"] == pytest.approx(0.5)
    assert found["attributes"]["TOXICITY"]["newly_flagged"]["count"] == 1
    assert client.post("/shadow/promote").json()["answers"] == "python:served:other"
    assert toxicity() == 0.75
    # The old one is the shadow now; old and new keep their sides.
    assert seen(client, 2)["attributes"]["TOXICITY"]["newly_flagged"]["count"] == 2
    # A server that starts anew goes on with the new one.
    again = app(shadow="python:served:other", state=str(tmp_path / "state.json"))
    assert again.get("/shadow").json()["answers"] == "python:served:other"
    assert client.post("/shadow/rollback").json()["answers"] == "python:served:plain"
    assert toxicity() == 0.25


def test_only_an_admin_may_change_over(app, tmp_path):
    client = app(shadow="python:served:other", require_key=True)
    keys = Keys(tmp_path / "keys.json")
    plain, admin = keys.add("site")[0], keys.add("owner", admin=True)[0]
    assert client.post("/shadow/promote").status_code == 401
    for key, status in ((plain, 403), (admin, 200)):
        answer = client.post("/shadow/promote", headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == status


def test_without_a_shadow(client):
    assert client.get("/shadow").status_code == 409
    assert client.post("/shadow/promote").status_code == 409


def test_a_shadow_that_breaks_changes_no_answer(app):
    client = app(shadow="python:served:broken")
    assert client.post("/score", json={"texts": ["break"]}).status_code == 200
    end = time.monotonic() + 20
    while not (failed := client.get("/shadow").json()["failed"]) and time.monotonic() < end:
        time.sleep(0.02)
    assert failed == 1


def test_a_shadow_must_share_an_attribute(app, tmp_path):
    (tmp_path / "odd.py").write_text("def f(texts):\n    return [0.5 for t in texts]\n")
    with pytest.raises(BadInput, match="has no attribute of"):
        app(shadow="python:odd:f")


def test_a_state_that_cannot_be_read_changes_nothing(tmp_path):
    path = tmp_path / "state.json"
    switch = Switch(path)
    assert switch.new is False
    path.write_text("{")
    assert Switch(path).new is False
    switch.turn(new=True)
    assert Switch(path).new is True

"""API keys and rates."""

from __future__ import annotations

import json
import multiprocessing
import re
import stat
from datetime import UTC, datetime

import pytest

from evenhand.cli.serving import listed
from evenhand.core.errors import BadInput
from evenhand.serving import keys as module
from evenhand.serving.keys import Keys, Limiter


def test_a_key_is_shown_once_and_kept_as_a_hash(tmp_path):
    keys = Keys(tmp_path / "keys.json")
    made, key = keys.add("site", rate=60)
    stored = (tmp_path / "keys.json").read_text()
    assert made not in stored
    assert len(made) > 40
    assert keys.found(made) == key
    assert keys.found(made + "x") is None
    assert stat.S_IMODE((tmp_path / "keys.json").stat().st_mode) == 0o600


def test_the_list_has_whole_times_on_a_narrow_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    file = tmp_path / "keys.json"
    Keys(file).add("a site with a name", rate=600)
    Keys(file).revoke("a site with a name")
    Keys(file).add("other")
    listed(file)
    told = capsys.readouterr().out
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    assert len(re.findall(rf"{day} \d\d:\d\d\b", told)) == 3  # made twice, revoked once
    assert "…" not in told
    assert "as many requests a minute as" in told


def test_a_running_server_sees_keys_come_and_go(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.0)
    seen, owner = Keys(tmp_path / "keys.json"), Keys(tmp_path / "keys.json")
    assert seen.found("ev-nothing") is None
    made, _ = owner.add("site")
    assert seen.found(made) is not None
    owner.revoke("site")
    assert seen.found(made) is None
    assert [key.revoked is not None for key in owner.all()] == [True]


def test_a_file_that_breaks_leaves_the_keys_known_before_in_force(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.0)
    keys = Keys(tmp_path / "keys.json")
    made, _ = keys.add("site")
    assert keys.found(made) is not None
    (tmp_path / "keys.json").write_text("{")
    assert keys.found(made) is not None
    assert "stay in force" in caplog.text


def test_a_name_is_used_once_and_free_again_after_revoking(tmp_path):
    keys = Keys(tmp_path / "keys.json")
    _, first = keys.add("site")
    with pytest.raises(BadInput, match="there is a key named 'site'"):
        keys.add("site")
    keys.revoke(first.id)
    keys.add("site")
    with pytest.raises(BadInput, match="no key is named 'other'; found site"):
        keys.revoke("other")


@pytest.mark.parametrize(("name", "rate"), [(" ", None), ("a", 0.0), ("a", -1.0)])
def test_a_key_without_a_name_or_with_no_rate_is_refused(tmp_path, name, rate):
    with pytest.raises(BadInput):
        Keys(tmp_path / "keys.json").add(name, rate=rate)


@pytest.mark.parametrize("content", ["", "[]", '{"keys": [{"id": 1}]}', "\x00"])
def test_another_file_is_refused_in_words(tmp_path, content):
    (tmp_path / "keys.json").write_text(content)
    with pytest.raises(BadInput, match="is no file of keys"):
        Keys(tmp_path / "keys.json").all()


def _add(path, number):
    Keys(path).add(f"site {number}")


def test_processes_that_add_at_once_lose_no_key(tmp_path):
    path = tmp_path / "keys.json"
    context = multiprocessing.get_context("fork")
    several = [context.Process(target=_add, args=(path, number)) for number in range(8)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    assert len(json.loads(path.read_text())["keys"]) == 8


def test_a_caller_has_a_burst_and_then_the_rate():
    # 60 a minute: a burst of ten, then one a second.
    limiter = Limiter(60)
    assert [limiter.seconds_to_wait("a", None, now=0.0) for _ in range(10)] == [0.0] * 10
    assert limiter.seconds_to_wait("a", None, now=0.0) == pytest.approx(1.0)
    assert limiter.seconds_to_wait("b", None, now=0.0) == 0.0  # another caller
    assert limiter.seconds_to_wait("a", None, now=0.5) == pytest.approx(0.5)
    assert limiter.seconds_to_wait("a", None, now=1.0) == 0.0


def test_a_rate_of_its_own_comes_before_the_servers():
    limiter = Limiter(None)
    assert all(limiter.seconds_to_wait("a", None, now=0.0) == 0.0 for _ in range(100))
    # 6 a minute: one at once, the next after ten seconds.
    assert limiter.seconds_to_wait("b", 6, now=0.0) == 0.0
    assert limiter.seconds_to_wait("b", 6, now=0.0) == pytest.approx(10.0)


def test_callers_are_forgotten_before_they_fill_the_memory(monkeypatch):
    monkeypatch.setattr(Limiter, "_MOST_CALLERS", 10)
    limiter = Limiter(60)
    for number in range(1000):
        limiter.seconds_to_wait(f"c{number}", None, now=float(number))
    assert len(limiter._callers) <= 11

"""Kept scores: what is written, and files that cannot be used."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.core.errors import BadInput
from evenhand.models.score_cache import ScoreCache, cache_folder


@pytest.fixture
def cache(tmp_path):
    return ScoreCache.of("perspective:http://a", "TOXICITY", tmp_path / "new" / "folder")


def test_what_was_kept_is_found(cache):
    assert cache.find(["a"]) == {}
    cache.keep([("a", 0.25), ("b", 1.0)])
    cache.keep([("a", 0.5), ("\ud83d", 0.0)])  # half an emoji
    found = cache.find(["a", "c", "\ud83d"])
    assert {text: kept.p for text, kept in found.items()} == {"a": 0.5, "\ud83d": 0.0}


def test_many_at_once(cache):
    texts = [str(n) for n in range(1201)]
    cache.keep((text, 0.5) for text in texts)
    assert len(cache.find([*texts, "other"])) == 1201


def test_the_file_is_named_by_server_and_attribute(cache, tmp_path):
    others = [
        ScoreCache.of("perspective:http://b", "TOXICITY", tmp_path),
        ScoreCache.of("perspective:http://a", "INSULT", tmp_path),
    ]
    assert len({cache.path.name, *(other.path.name for other in others)}) == 3
    assert "http" not in cache.path.name


def break_it(cache, how):
    cache.keep([(str(n), 0.5) for n in range(500)])
    sound = cache.path.read_bytes()
    if how == "text":
        cache.path.write_bytes(b"this is no database at all" * 100)
    elif how == "cut off":
        cache.path.write_bytes(sound[:5000])
    else:
        with closing(sqlite3.connect(cache.path, isolation_level=None)) as connection:
            connection.execute(how)


@pytest.mark.parametrize(
    "how",
    ["text", "cut off", "PRAGMA user_version = 2", "UPDATE about SET value = 'x'",
     "UPDATE scores SET day = 'x'"],
)  # fmt: skip
def test_a_file_that_is_broken_is_named(cache, how):
    break_it(cache, how)
    with pytest.raises(BadInput, match=rf"{cache.path}: cannot be used.*Delete the file"):
        cache.find([str(n) for n in range(500)])


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    cache = ScoreCache.of("a", "b", tmp_path / "file")
    with pytest.raises(BadInput, match=r"cannot be kept in scores-.*EVENHAND_CACHE.*--no-cache"):
        cache.find(["a"])


def test_a_table_that_is_not_there(cache):
    break_it(cache, "DROP TABLE scores")
    with pytest.raises(BadInput, match="scores cannot be kept"):
        cache.find(["a"])


def test_where_scores_are_kept(monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", "~/mine")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path.home() / "mine"
    monkeypatch.delenv("EVENHAND_CACHE")
    assert cache_folder() == Path("/x/evenhand")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "evenhand"

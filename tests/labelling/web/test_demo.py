"""The demo's campaign: simulated, says so, and has something to see on every page."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenhand.labelling import opened, read_campaign, read_posts
from evenhand.labelling.records import read_records
from evenhand.studies.demo_label import make_demo_campaign


@pytest.mark.slow
def test_the_demo_has_votes_cases_and_posts_left(tmp_path: Path) -> None:
    make_demo_campaign(tmp_path / "demo")
    campaign = read_campaign(tmp_path / "demo")
    assert campaign.title == {"en": "Demo (simulated)", "de": "Demo (simuliert)"}
    with opened(campaign) as store:
        now = store.progress()
        assert 0 < now.cohorts[0].votes < now.cohorts[0].wanted == 180
        assert now.cases_open > 0
        assert read_records(store, read_posts(campaign)).corpus.origin == "simulated"
    before = (tmp_path / "demo" / "secret").read_text()
    make_demo_campaign(tmp_path / "demo")  # an old one stays
    assert (tmp_path / "demo" / "secret").read_text() == before

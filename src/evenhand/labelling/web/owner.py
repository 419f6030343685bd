"""The owner's pages: how far the campaign is, invites, figures, exports. Nobody is ranked."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path

from evenhand.labelling.export import FORMS, export
from evenhand.labelling.records import read_records
from evenhand.labelling.web.asking import Ask, Reply, attached, to

_LONG = 10
"""Digits of a number that no database would take."""


def dashboard(ask: Ask) -> Reply:
    """Progress, votes per post, exposure in total, exports."""
    return ask.page("dashboard.html", totals=ask.site.store.progress(), forms=FORMS)


def figures(ask: Ask) -> Reply:
    """Agreement with intervals, annotators one by one, current estimates."""
    from evenhand.labelling.web.figures import figures_of  # with scipy: a worker starts without

    return ask.page("figures.html", figures=figures_of(ask.site))


def invites_page(ask: Ask) -> Reply:
    """Every invite; codes are not among them, only their hashes are kept."""
    return _invites(ask)


def invite(ask: Ask) -> Reply:
    """A new invite; its code is shown this once."""
    many, days = ask.one("most"), ask.one("days")
    if not (many.isdecimal() and days.isdecimal() and 0 < int(many) <= 10**6 and int(days) > 0):
        return _invites(ask, status=422, wrong=True)
    code = ask.site.store.invites.make(
        ask.one("cohort"), most=int(many), days=min(int(days), 3650), note=ask.one("note")[:200]
    )
    return _invites(ask, code=code)


def revoke(ask: Ask) -> Reply:
    """Let nobody in with this invite any more."""
    number = ask.one("invite")
    if number.isdecimal() and len(number) < _LONG:
        ask.site.store.invites.revoke(int(number))
    return to("/invites")


def _invites(ask: Ask, code: str = "", status: int = 200, wrong: bool = False) -> Reply:
    found = ask.site.store.invites.all()
    link = f"{ask.site.settings.base}/join/{code}" if code else ""
    now = ask.site.store.context.clock()
    return ask.page(
        "invites.html", status, invites=found, code=code, link=link, wrong=wrong, now=now
    )


def download(ask: Ask) -> Reply:
    """An export as one file."""
    form = ask.path["form"]
    if form not in FORMS:
        return ask.refused(404, "missing")
    site = ask.site
    records = read_records(site.store, site.posts)
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory(prefix="evenhand-export-") as place:
        folder = export(Path(place) / form, form, site.campaign, records)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*")):
                archive.write(path, Path(form) / path.relative_to(folder))
    headers = attached(f"{site.campaign.name}-{form}.zip")
    return Reply(packed.getvalue(), media_type="application/zip", headers=headers)

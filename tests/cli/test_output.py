"""What people see of work that takes long."""

from __future__ import annotations

import pytest

from evenhand.cli import output


def test_a_log_file_gets_a_line_once_in_a_while(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    now = [0.0]
    monkeypatch.setattr(output.time, "monotonic", lambda: now[0])
    with output.progress("training") as step:
        for second in (1, 59, 61, 70, 180):
            now[0] = float(second)
            step("learning", second, 200 if second < 180 else None)
    # 61 of 200 are 30 %; at 70 less than a minute has passed since.
    assert capsys.readouterr().err.splitlines() == ["1 min: learning (30%)", "3 min: learning"]

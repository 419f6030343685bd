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
            step(f"step {second} of 200", second, 200)
    assert capsys.readouterr().err.splitlines() == [
        "1 min: step 61 of 200",
        "3 min: step 180 of 200",
    ]

"""Listing and help are quick because they import nothing heavy."""

import subprocess
import sys

import pytest

HEAVY = ("numpy", "polars", "sklearn", "litestar", "torch", "matplotlib", "scipy")
CODE = """
import sys
from evenhand.cli import main
sys.argv[1:] = {words}
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
print("HEAVY", sorted(set(sys.modules) & set({heavy})), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words",
    [["--help"], ["--version"], ["plugins"], ["plugins", "--json"], ["data", "--help"],
     ["data", "check", "--help"], ["demo", "--help"], ["label", "--help"],
     ["serve", "--help"], ["migrate", "--help"], ["keys", "--help"]],
)  # fmt: skip
def test_nothing_heavy_is_imported(words):
    code = CODE.format(words=words, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "HEAVY []"


def test_the_check_sees_a_heavy_import():
    code = CODE.format(words=["doctor"], heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "polars" in done.stderr.splitlines()[-1]

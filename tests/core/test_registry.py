import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.core import registry
from evenhand.core.errors import UnknownComponent

PLUGIN = Path(__file__).parents[1] / "outside_plugin"


def test_names_are_sorted_and_ours_are_there():
    names = registry.names("readers")
    assert names == sorted(names)
    assert {"waseem_hovy", "davidson", "hatexplain"} <= set(names)


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(UnknownComponent, match="did you mean davidson"):
        registry.get("readers", "davidsen")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The tiny outside package, installed by pip into a folder of its own."""
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--target", str(target), str(PLUGIN)]
    subprocess.run(command, check=True, capture_output=True)
    return target


def evenhand(installed, *words):
    env = os.environ | {"PYTHONPATH": str(installed)}
    command = [sys.executable, "-m", "evenhand", *words]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def test_a_plugin_from_outside_is_listed_and_used(installed):
    done = evenhand(installed, "data", "describe", "tiny", "--json")
    findings = {f["measure"]: f["value"] for f in json.loads(done.stdout)["findings"]}
    assert findings["posts"] == 2
    listed = json.loads(evenhand(installed, "plugins", "--json").stdout)["components"]
    assert {"kind": "readers", "name": "tiny", "packages": ["evenhand-tiny"]} in listed


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("broken", ["evenhand-tiny", "cannot be loaded", "nowhere"]),
        ("davidson", ["offered by evenhand and evenhand-tiny", "uninstall one"]),
        ("odd", ["is a int; expected a Reader"]),
    ],
)
def test_broken_and_doubly_offered_components_are_clear_errors(installed, name, words):
    done = evenhand(installed, "data", "describe", name)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert all(word in done.stderr for word in words)


def test_one_broken_plugin_does_not_break_the_list(installed):
    done = evenhand(installed, "data", "list", "--json")
    lines = {line["name"]: line["installed"] for line in json.loads(done.stdout)["corpora"]}
    assert lines["broken"] == "broken"
    assert lines["edos"] in ("yes", "no")

"""Sets of thresholds by name, and which community uses which: a TOML file of the owner's.

::

    [sets.strict]
    TOXICITY = 0.6

    [communities]
    "/forum/movies" = "strict"

The set ``shipped`` is the detector's own. A set need not name every attribute: the others keep
their shipped thresholds. Thresholds are in the scale that scores are shown in.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.errors import BadInput
from evenhand.serving.engine import Engine

SHIPPED = "shipped"


@dataclass(frozen=True)
class Thresholds:
    """What an owner has set."""

    sets: Mapping[str, Mapping[str, float]]
    communities: Mapping[str, str]
    """Community → set."""

    @classmethod
    def read(cls, path: str | None, engine: Engine) -> Thresholds:
        """From a file, checked against what the detector has; without one nothing is set."""
        if path is None:
            return cls({}, {})
        try:
            found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: is no TOML: {error}") from error
        faults = [
            f"{path}: [{name}] is not known; expected [sets.NAME] and [communities]"
            for name in found
            if name not in ("sets", "communities")
        ]
        sets, communities = found.get("sets", {}), found.get("communities", {})
        if not isinstance(sets, dict) or not isinstance(communities, dict):
            raise BadInput(f"{path}: expected tables [sets.NAME] and [communities]")
        for name, values in sets.items():
            for attribute, value in values.items() if isinstance(values, dict) else ():
                if attribute not in engine.attributes:
                    faults.append(
                        f"{path}: sets.{name} names {attribute}; "
                        f"{engine.loaded.name} has {', '.join(engine.attributes)}"
                    )
                elif not isinstance(value, int | float) or not 0 <= value <= 1:
                    faults.append(f"{path}: sets.{name}.{attribute} is {value}; expected 0 to 1")
            if not isinstance(values, dict):
                faults.append(f"{path}: sets.{name} is no table; expected ATTRIBUTE = number")
        for community, name in communities.items():
            if name != SHIPPED and name not in sets:
                known = ", ".join([*sets, SHIPPED])
                faults.append(f"{path}: {community!r} uses set {name!r}; found {known}")
        if faults:
            raise BadInput(*faults)
        return cls(sets, communities)

    def named(self, name: str | None, community: str | None) -> Mapping[str, float] | None:
        """The set asked for by name, or that of the community; None for an unknown name."""
        if name is None:
            name = self.communities.get(community or "", SHIPPED)
        return {} if name == SHIPPED else self.sets.get(name)

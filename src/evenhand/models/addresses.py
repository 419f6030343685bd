"""What a user typed, fit to be shown: no login, and no value that may be a key.

Behind a ``?`` only the values of settings known to be harmless are shown. A key under another name
(``api_key=…``, ``token=…``) is a mistake we report, and the report must not hold the key.
"""

from __future__ import annotations

import re

HARMLESS = ("language", "model")
"""Settings whose value may be shown."""
_SETTING = re.compile(r"([?&#])([^=&#\s]*)=([^&#]*)")
_PLAIN_VALUE = re.compile(r"[\w.:/+-]*")
_NAMELESS = re.compile(r"([?&#])[^=&#]+(?=[&#]|$)")
# A password may hold a slash or an @: with a colon before it, all up to the last @ is a login.
_LOGIN = re.compile(r"(//)(?:[^/\s:]*:\S*|[^/\s]*)@")
_LATE_LOGIN = re.compile(r"(//)[^?#]*[?#].*@.*", re.DOTALL)


def without_key(text: str) -> str:
    """One word of a command line without what may be secret.

    >>> without_key("perspective:https://me:secret@a.org?key=secret&language=en")
    'perspective:https://…@a.org?key=…&language=en'
    """
    if "://" in text:
        # An @ behind the ? may end a password or be part of a key: nothing is sure.
        text = _LATE_LOGIN.sub(r"\1…", text)
        text = _NAMELESS.sub(r"\1…", text)
    return _LOGIN.sub(r"\1…@", _SETTING.sub(_shown, text))


def _shown(setting: re.Match[str]) -> str:
    mark, name, value = setting.groups()
    plain = name in HARMLESS and _PLAIN_VALUE.fullmatch(value)
    return f"{mark}{name}={value if plain else '…'}"

"""The command line: commands that parse, call one function and print.

Exit codes are decided here and nowhere else: 0 done, 2 the input is bad, 3 a gate failed, 1 our
bug (with a traceback). Command modules import only what parsing needs; the work is imported when
a command runs, so that ``--help`` is quick.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run ``evenhand``."""
    from evenhand.cli.app import app
    from evenhand.core.errors import EvenhandError

    try:
        app(prog_name="evenhand")
    except EvenhandError as error:
        print(f"evenhand: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)

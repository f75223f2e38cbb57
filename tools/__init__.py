"""The command lines."""

import sys
from functools import partial
from typing import Any


def _interrupted(otherwise: Any, kind: type[BaseException], error: Any, traceback: Any) -> None:
    """Ctrl-C while the modules of a command are imported is a line, as it is in `run_command`."""
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
    else:
        otherwise(kind, error, traceback)


sys.excepthook = partial(_interrupted, sys.excepthook)

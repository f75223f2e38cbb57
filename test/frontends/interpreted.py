"""Models of other formats, run by the reference interpreter: twenty times as soon as compiled."""

from pathlib import Path
from types import SimpleNamespace

from bench.formats.sweep.judge import Interpreted


def interpreted(path: Path) -> Interpreted:
    """The model of a file, with `input_names`, `run` and a call as a compiled one has them."""
    return Interpreted(SimpleNamespace(model=path, options={}))

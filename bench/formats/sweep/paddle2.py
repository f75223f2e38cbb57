"""PaddlePaddle's operators and layers, in the form of version 2."""

from __future__ import annotations

import os
from collections.abc import Iterator

os.environ["FLAGS_enable_pir_api"] = "0"  # noqa: SIM112

from .cases import Subject
from .paddle import subjects as of_either_form


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    return of_either_form()

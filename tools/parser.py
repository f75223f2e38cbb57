"""The parser of command lines, whose faults are errors as all others."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from ..ir.diagnostics import NncError
from .command import Streams


class Parser(argparse.ArgumentParser):
    """argparse's, which would end the process itself, and leave help unwritten without a word."""

    def error(self, message: str) -> NoReturn:
        raise NncError(f"{self.prog}: {message}; {self.prog} --help explains")

    def _print_message(self, message: str, file: Any = None) -> None:
        stream = file or Streams.standard().stdout
        stream.write(message)
        stream.flush()

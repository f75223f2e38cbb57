"""The parser of command lines, which reports faults as NncError."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from ..ir.diagnostics import NncError
from .command import Streams


class Parser(argparse.ArgumentParser):
    """argparse's parser, which raises NncError where argparse would end the process, and does not
    ignore failures to write help.
    """

    def error(self, message: str) -> NoReturn:
        raise NncError(f"{self.prog}: {message}; {self.prog} --help explains")

    def _print_message(self, message: str, file: Any = None) -> None:
        stream = file or Streams.standard().stdout
        stream.write(message)
        stream.flush()

"""Finds which of PaddlePaddle's two forms a model has, and reads it with its parameters."""

from __future__ import annotations

from ..common.graph import Graph
from ..common.source import Source
from .params import read_params


def read(source: Source) -> Graph:
    """The graph of a model. Raises NncError."""
    if source.head.lstrip()[:1] == b"{":
        from .pir import read_pir

        program, stored = read_pir(source)
    else:
        from .program import read_program

        program, stored = read_program(source)
    program.constants = dict(program.constants) | read_params(source, stored)
    return program

"""The table of CoreML's operations and layers.

The parameters of an operation's converter have the names of the operation's inputs; what it has
besides are attributes, which must be constants. Layers of neural networks are called after their
messages, `ConvolutionLayer`; their inputs have no names.
"""

from __future__ import annotations

from inspect import Parameter, signature

from ..common.rows import Rows

ROWS = Rows(__package__)


def inputs_of(kind: str) -> list[tuple[str, bool]]:
    """The names of the inputs that an operation's converter takes, and whether they are lists."""
    convert = ROWS.find(kind)
    if convert is None:
        return []
    parameters = list(signature(convert).parameters.values())[1:]
    return [(one.name, one.kind is Parameter.VAR_POSITIONAL) for one in parameters]

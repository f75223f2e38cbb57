"""What programs of many operators have in common."""

import os

import paddle
from paddle import nn

FORM = "FLAGS_enable_pir_api"
OLD = paddle.__version__.startswith("2") or os.environ.get(FORM) == "0"
"""Whether programs are written in the form before PIR."""


class Group(nn.Layer):
    """A program whose results are those of many expressions of its inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.build()

    def build(self) -> None:
        """Makes the layers."""

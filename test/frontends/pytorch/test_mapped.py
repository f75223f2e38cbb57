"""How operators take batches that `torch.vmap` maps, as their rows say."""

from __future__ import annotations

from typing import Any

import pytest
from nnc.frontends.common.graph import Node
from nnc.frontends.pytorch.arguments import Ref
from nnc.frontends.pytorch.mapped import PREFIX, unmapped
from nnc.frontends.pytorch.program import Layout
from nnc.ir.diagnostics import NncError
from nnc.ir.types import f32

pytestmark = pytest.mark.formats

X, HIDDEN = Ref("x"), Ref("hidden")
SHAPES = {"x": (5, 3, 4), "hidden": (3, 4), "y": (3, 4), "out": (5, 3, 4)}


def mapped(kind: str, **arguments: Any) -> Node:
    """The node of an operator on matrices of which x has a batch."""
    batch = [
        Node(f"{PREFIX}_vmap_increment_nesting", "", [], [], {"arguments": [5]}),
        Node(f"{PREFIX}_add_batch_dim", "", ["x"], ["hidden"], {"arguments": [X, 0, 1]}),
        Node(f"aten.{kind}", "y", ["hidden"], ["y"], {"self": HIDDEN} | arguments),
    ]
    layouts = {name: Layout(shape, (1,) * len(shape), f32) for name, shape in SHAPES.items()}
    return unmapped(batch, layouts)[-1]


@pytest.mark.parametrize(
    ("kind", "arguments", "wanted"),
    [
        ("relu.default", {}, {}),
        ("softmax.int", {"dim": 1}, {"dim": 2}),
        ("sum.default", {}, {"dim": [1, 2]}),
        ("argmax.default", {"dim": 0}, {"dim": 1}),
        ("unbind.int", {}, {"dim": 1}),
        ("permute.default", {"dims": [1, 0]}, {"dims": [0, 2, 1]}),
        ("flatten.using_ints", {}, {"start_dim": 1}),
        ("view.default", {"size": [12]}, {"size": [5, 12]}),
        ("t.default", {}, {"dim0": -2, "dim1": -1}),
    ],
)
def test_dimensions_are_those_behind_the_batch(kind, arguments, wanted):
    found = mapped(kind, **arguments).attributes
    assert {key: found[key] for key in wanted} == wanted


@pytest.mark.parametrize("kind", ["argmax.default", "max.default", "roll.default", "where.default"])
def test_all_elements_in_a_row_would_be_those_of_the_whole_batch(kind):
    with pytest.raises(NncError, match=r"not supported where torch\.vmap"):
        mapped(kind)

"""The recipes that make the nodes of valid models, and how often each is used."""

from __future__ import annotations

import random
from typing import Any

from . import operators
from .control import CONTROL
from .graphs import Graph, RejectedNodeError

HOW_OFTEN = {
    4: "smooth exact arithmetic product reduce convolve",
    3: "steps cut gather concat reshape transpose dimensions cast",
    2: "compare where clip divide split expand pad pool softmax "
    "normalize quantize integer_product recurrent order resize",
    1: "logic remainder bits shift elements rows fill one_hot triangle "
    "running_sum einsum blocks select",
}
_RECIPES = [getattr(operators, name) for names in HOW_OFTEN.values() for name in names.split()]
_WEIGHTS = [weight for weight, names in HOW_OFTEN.items() for _ in names.split()]


def grow(g: Graph, nodes: int) -> None:
    """Add `nodes` nodes to a graph, or fewer if too many are rejected."""
    for _ in range(3 * nodes):
        if len(g.nodes) >= nodes:
            return
        before = len(g.inputs), len(g.stored), len(g.values)
        recipe: Any = g.choice.choices(_RECIPES, _WEIGHTS)[0]
        if g.choice.random() < 0.06:
            recipe = g.choice.choice(CONTROL)
        try:
            recipe(g)
        except RejectedNodeError:
            for made, count in zip((g.inputs, g.stored, g.values), before, strict=True):
                del made[count:]


def valid_graph(choice: random.Random) -> Any:
    """A random valid model."""
    while True:
        g = Graph(choice)
        try:
            grow(g, choice.choice((1, 1, 1, 2, 3, 4, 6, 9)))
            return g.finished()
        except RejectedNodeError:
            continue

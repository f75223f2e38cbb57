"""Mixtures of experts: feed-forward networks, each token being sent to a few."""

from __future__ import annotations

from ...common.importer import NodeLayer
from ...common.loops import branch
from ...common.vocabulary import *
from ..layer import rows
from .decoder import ACTIVATIONS, let_through, one_matrix


@rows("Shares")
def shares(n: NodeLayer, logits: Value, bias: Value | None = None) -> Value:
    """The weight of each expert's result for a token [1, S, experts]: mostly 0.

    A bias [experts] counts in the choice of experts, not in their weights.
    """
    used, count = n.attributes["used"], logits.type.shape[2]
    assert count is not None
    gating, found = n.attributes["gating"], Term(n, logits)
    if gating != 3:
        found = found.made(_GATINGS[gating](logits))
    chosen = found if bias is None else found + Term(n, bias)
    groups, used_groups = n.attributes["groups"]
    if groups > 1:
        chosen = _of_best_groups(n, chosen, groups, used_groups)
    values, places = (Term(n, v) for v in largest(n, chosen.value, n.constant(used), 2))
    if bias is not None or groups > 1:
        values = found.gather_elements(places, 2)
    if gating == 3:
        values = values.made(nn.Softmax(values.value, axis=2))
    if n.attributes["normalizes"]:
        values = values / values.sum(2, keep=True).max(_LEAST_SUM)
    if n.attributes["scale"] != 1:
        values = values * n.attributes["scale"]
    chosen = _named(n, places, count)
    return chosen.choose(values.spread(0, 1), 0.0).sum(2).value


def _named(n: NodeLayer, places: Term, count: int) -> Term:
    """One-hot vectors of indices: [.., places, count]."""
    return places.spread(0, 1).equals(constant(n, np.arange(count), places.element))


def _of_best_groups(n: NodeLayer, chosen: Term, groups: int, used: int) -> Term:
    """-inf where an expert is in none of the groups with the largest sums of their two best."""
    whole = [(chosen.value, i) for i in range(3)]
    each = (chosen.shape[2] or 0) // groups
    apart = chosen.reshape(*whole[:2], groups, each)
    best = Term(n, largest(n, apart.value, n.constant(2), 3)[0]).sum(3)
    places = Term(n, largest(n, best.value, n.constant(used), 2)[1])
    kept = _named(n, places, groups).cast(f32).sum(2).spread(0, 1) > 0.5
    return kept.choose(apart, -math.inf).reshape(*whole)


_LEAST_SUM = 2.0**-14
"""Experts whose weights sum to less, mostly sigmoids of far negative numbers, count less.
Source: llama.cpp, src/llama-graph.cpp, build_moe_ffn."""
_GATINGS = {1: lambda x: nn.Softmax(x, axis=2), 2: nn.Sigmoid}
"""The functions that make experts' weights from the router's results, by their numbers in files."""


@rows("Experts")
def experts(n: NodeLayer, x: Value, shares: Value, scales: Value | None, *tensors: Value) -> Value:
    """The sum of the experts' results, weighted by `shares`, and by `scales` [experts] if given.

    The attribute `matrices` names the tensors [experts, rows, columns]: `gate`, or not, `up` and
    `down`, or `gate_up`, whose rows are those of both; biases [experts, rows] may follow them.
    With `weighs_operands`, the shares are factors of x in place of the results. An expert without
    tokens is not computed.
    """
    shape = shape_vector(n, [(x, i) for i in range(3)])
    total = constant(n, 0.0, f32).filled(Term(n, shape))
    for number in range(shares.type.shape[2] or 0):
        share = Term(n, shares).part(2, number, number + 1)

        def sent(total: Term = total, share: Term = share, number: int = number) -> list[Value]:
            if n.attributes["weighs_operands"]:
                found = _expert(n, Term(n, x) * share, tensors, number)
            else:
                found = _expert(n, Term(n, x), tensors, number) * share
            if scales is not None:
                found = found * Term(n, scales).column(number, 0).cast(f32)
            return [(total + found).value]

        def not_sent(total: Term = total) -> list[Value]:
            return [total.value]

        is_used = share.largest(0, 1, 2) > 0.0
        (found,) = branch(n, is_used.value, [sent, not_sent])
        total = Term(n, found)
    return total.value


def _expert(n: NodeLayer, x: Term, tensors: Sequence[Value], number: int) -> Term:
    """The result of one expert for all tokens."""
    matrices, function = n.attributes["matrices"], n.attributes["function"]
    limit = n.attributes["limit"]

    def product(name: str, x: Term) -> Term:
        k = matrices.index(name)
        found = x @ one_matrix(n, tensors[k], n.attributes["packings"][k], number).transpose(1, 0)
        if len(tensors) == len(matrices):
            return found
        return found + Term(n, tensors[len(matrices) + k]).column(number, 0).cast(f32)

    if "gate_up" in matrices:
        both = product("gate_up", x)
        half = (both.shape[2] or 0) // 2
        hidden = let_through(function, both.part(2, 0, half), both.part(2, half, 2 * half), limit)
    elif "gate" in matrices:
        hidden = let_through(function, product("gate", x), product("up", x), limit)
    else:
        hidden = ACTIVATIONS[function](product("up", x))
    return product("down", hidden)


@rows("SharedShare")
def shared_share(n: NodeLayer, x: Value, out: Value, weight: Value) -> Value:
    """The result of a shared expert, times its own gate."""
    gate = (Term(n, x) * Term(n, weight).cast(f32).flat()).sum(2, keep=True)
    return (Term(n, out) * gate.function(nn.Sigmoid)).value

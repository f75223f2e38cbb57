"""The converters of layers with several streams of hidden vectors [1, S, D], see `altup`."""

from __future__ import annotations

from ...common.importer import NodeLayer
from ...common.vocabulary import *
from ..layer import rows
from .decoder import one_matrix


@rows("LinearAt")
def linear_at(n: NodeLayer, x: Value, weight: Value) -> Value:
    """The product of x and one of the matrices [count, rows, columns]."""
    table = one_matrix(n, weight, n.attributes["packing"], n.attributes["index"])
    return (Term(n, x) @ table.transpose(1, 0)).value


@rows("AsLong")
def as_long(n: NodeLayer, x: Value, like: Value) -> Value:
    """The vectors x with the lengths of the vectors `like`."""
    wanted, own = ((t * t).mean(2, keep=True) for t in (Term(n, like), Term(n, x)))
    return (Term(n, x) * (wanted / own.max(_LEAST)).function(nn.Sqrt)).value


_LEAST = 1e-5
"""No vector's mean square counts as smaller. Source: transformers, Gemma3nTextModel."""


@rows("Predict")
def predict(n: NodeLayer, coefficients: Value, *streams: Value) -> list[Value]:
    """Each stream plus a sum of all, by the coefficients [1, S, streams * streams]."""
    own, terms = Term(n, coefficients), [Term(n, x) for x in streams]
    count = len(streams)
    return [
        sum((x * own.part(2, j, j + 1) for j, x in enumerate(terms, k * count)), terms[k]).value
        for k in range(count)
    ]


@rows("Correct")
def correct(n: NodeLayer, coefficients: Value, found: Value, *predicted: Value) -> list[Value]:
    """Each predicted stream plus the active one's error, by the coefficients [1, S, streams]."""
    own, terms = Term(n, coefficients), [Term(n, x) for x in predicted]
    error = Term(n, found) - terms[n.attributes["active"]]
    return [(x + error * (own.part(2, k, k + 1) + 1.0)).value for k, x in enumerate(terms)]


@rows("Sparse")
def sparse(n: NodeLayer, x: Value) -> Value:
    """How far elements exceed the mean by `factor` standard deviations, else 0."""
    term = Term(n, x)
    mean = term.mean(2, keep=True)
    apart = term - mean
    deviation = (apart * apart).mean(2, keep=True).function(nn.Sqrt)
    return (apart - deviation * n.attributes["factor"]).max(0.0).value

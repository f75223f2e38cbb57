"""Transforms of the scores of classifiers and regressors."""

from __future__ import annotations

from .words import *


def two_classes(first: Term, second: Term) -> Term:
    """Scores [B, 1] of two classes side by side."""
    return joined([first, second], 1)


def transformed(scores: Term, kind: str) -> Term:
    """Scores [B, C] after a transform as ONNX names it. Raises NncError for another name."""
    n = scores.n
    match kind:
        case "NONE":
            return scores
        case "LOGISTIC":
            return scores.function(nn.Sigmoid)
        case "SOFTMAX":
            return scores.made(nn.Softmax(scores.value, axis=1))
        case "SOFTMAX_ZERO":
            # Scores of zero, which no tree has named, stay zero.
            zero = (scores < 1e-7) & (scores > -1e-7)
            top = scores.largest(1, keep=True)
            powers = zero.choose(scores, (scores - top).function(nn.Exp))
            return powers / powers.sum(1, keep=True)
        case "PROBIT":
            return _inverse_erf(scores * 2.0 - 1.0) * math.sqrt(2)
    raise n.error(
        f"attribute 'post_transform' is '{kind}', expected NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO "
        "or PROBIT"
    )


def _inverse_erf(x: Term) -> Term:
    """Winitzki's approximation of the inverse error function, good to 2e-3.

    Source: "A handy approximation for the error function and its inverse" (2008), with a = 0.147.
    """
    a = 0.147
    log = ((1.0 - x) * (x + 1.0)).function(nn.Log)
    half = log * 0.5 + 2 / (math.pi * a)
    size = ((half * half - log / a).function(nn.Sqrt) - half).function(nn.Sqrt)
    return (x < 0.0).choose(-size, size)

"""MXNet, and the cases that the files `make_*.py` describe."""

import os
import sys

import numpy as np

PART = sys.argv[1] if len(sys.argv) > 1 else "operators"
os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"
# Without oneDNN some operators of recurrence fail, with it some others.
os.environ["MXNET_MKLDNN_ENABLED"] = str(int(PART in ("recurrence", "integers")))
import mxnet as mx

S, NP, NPX = mx.sym, mx.sym.np, mx.sym.npx
random = np.random.default_rng(0)
CASES = []


def f(*shape):
    return random.standard_normal(shape).astype("f")


def case(name, make, deep=False, **inputs):
    """An operator, or several on the same inputs."""
    variables = {k: S.var(k) for k in inputs}
    if deep:
        variables = {k: v.as_np_ndarray() for k, v in variables.items()}
    made = make(**variables)
    CASES.append((name, S.Group(list(made)) if isinstance(made, (list, tuple)) else made, inputs))


def evaluated(name, symbol, inputs):
    """The outputs; labels and other inputs that matter in training only are zeros."""
    deep = name.startswith("deep")
    with mx.util.np_shape(deep), mx.util.np_array(deep):
        given = {k: mx.nd.array(v, dtype=v.dtype) for k, v in inputs.items()}
        if deep:
            given = {k: v.as_np_ndarray() for k, v in given.items()}
        known = {k: v.shape for k, v in inputs.items()}
        sizes, _, _ = symbol.infer_shape(**known)
        for argument, size in zip(symbol.list_arguments(), sizes or ()):  # None: not all are known
            if argument not in given:
                given[argument] = mx.nd.zeros(size)
        arguments = {k: given[k] for k in symbol.list_arguments()}
        others = {k: given[k] for k in symbol.list_auxiliary_states()}
        outputs = symbol.bind(mx.cpu(), arguments, aux_states=others).forward(is_train=False)
        return [y.asnumpy() for y in outputs]

"""Which operation of MIL each layer of a network stands for, where one does."""

from __future__ import annotations

_REDUCED = "L1 L2 Max Min Sum Prod Mean LogSum SumSquare LogSumExp"
_OPS = "l1_norm l2_norm max min sum prod mean log_sum sum_square log_sum_exp"
REDUCTIONS = {
    f"reduce{name}": f"reduce_{op}" for name, op in zip(_REDUCED.split(), _OPS.split(), strict=True)
}

BINARY = {
    "add": "add",
    "multiply": "mul",
    "max": "maximum",
    "min": "minimum",
    "addBroadcastable": "add",
    "subtractBroadcastable": "sub",
    "multiplyBroadcastable": "mul",
    "divideBroadcastable": "real_div",
    "floorDivBroadcastable": "floor_div",
    "modBroadcastable": "mod",
    "powBroadcastable": "pow",
    "maxBroadcastable": "maximum",
    "minBroadcastable": "minimum",
    "equal": "equal",
    "notEqual": "not_equal",
    "lessThan": "less",
    "lessEqual": "less_equal",
    "greaterThan": "greater",
    "greaterEqual": "greater_equal",
    "logicalAnd": "logical_and",
    "logicalOr": "logical_or",
}
"""With one input, the other is the number `alpha`."""

UNARY = {
    "SQRT": "sqrt",
    "RSQRT": "rsqrt",
    "INVERSE": "inverse",
    "EXP": "exp",
    "LOG": "log",
    "ABS": "abs",
    "THRESHOLD": "threshold",
}

ACTIVATIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "linear": ("linear_activation", ("alpha", "beta")),
    "ReLU": ("relu", ()),
    "leakyReLU": ("leaky_relu", ("alpha",)),
    "thresholdedReLU": ("thresholded_relu", ("alpha",)),
    "tanh": ("tanh", ()),
    "scaledTanh": ("scaled_tanh", ("alpha", "beta")),
    "sigmoid": ("sigmoid", ()),
    "sigmoidHard": ("sigmoid_hard", ("alpha", "beta")),
    "ELU": ("elu", ("alpha",)),
    "softsign": ("softsign", ()),
    "softplus": ("softplus", ()),
}

SAMPLING = {
    "STRICT_ALIGN_ENDPOINTS_MODE": "STRICT_ALIGN_CORNERS",
    "ALIGN_ENDPOINTS_MODE": "ALIGN_CORNERS",
    "UPSAMPLE_MODE": "DEFAULT",
}

_SLICE = {
    "begin": "beginIds",
    "end": "endIds",
    "stride": "strides",
    "begin_mask": "beginMasks",
    "end_mask": "endMasks",
    "squeeze_mask": "squeezeMasks",
}

DIRECT: dict[str, tuple[str, str, dict[str, str]]] = {
    "copy": ("identity", "x", {}),
    "ceil": ("ceil", "x", {}),
    "floor": ("floor", "x", {}),
    "sign": ("sign", "x", {}),
    "round": ("round", "x", {}),
    "exp2": ("exp2", "x", {}),
    "sin": ("sin", "x", {}),
    "cos": ("cos", "x", {}),
    "tan": ("tan", "x", {}),
    "tanh": ("tanh", "x", {}),
    "erf": ("erf", "x", {}),
    "gelu": ("gelu", "x", {"mode": "mode"}),
    "clip": ("clip", "x", {"alpha": "minVal", "beta": "maxVal"}),
    "clampedReLU": ("clamped_relu", "x", {"alpha": "alpha", "beta": "beta"}),
    "logicalNot": ("logical_not", "x", {}),
    "lrn": (
        "local_response_norm",
        "x",
        {"size": "localSize", "alpha": "alpha", "beta": "beta", "k": "k"},
    ),
    "l2normalize": ("l2_norm", "x", {"epsilon": "epsilon"}),
    "softmaxND": ("softmax", "x", {"axis": "axis"}),
    "transpose": ("transpose", "x", {"perm": "axes"}),
    "permute": ("transpose", "x", {"perm": "axis"}),
    "concatND": ("concat", "*values", {"axis": "axis", "interleave": "interleave"}),
    "stack": ("stack", "*values", {"axis": "axis"}),
    "splitND": (
        "split",
        "x",
        {"axis": "axis", "num_splits": "numSplits", "split_sizes": "splitSizes"},
    ),
    "expandDims": ("expand_dims", "x", {"axes": "axes"}),
    "reshapeStatic": ("reshape", "x", {"shape": "targetShape"}),
    "rankPreservingReshape": ("reshape", "x", {"shape": "targetShape"}),
    "sliceStatic": ("slice_by_index", "x", _SLICE),
    "tile": ("tile", "x", {"reps": "reps"}),
    "gather": ("gather", "x indices", {"axis": "axis"}),
    "gatherND": ("gather_nd", "x indices", {}),
    "gatherAlongAxis": ("gather_along_axis", "x indices", {"axis": "axis"}),
    "topK": ("topk", "x", {"axis": "axis", "k": "K", "ascending": "useBottomK"}),
    "argSort": ("argsort", "x", {"axis": "axis"}),
    "cumSum": (
        "cumsum",
        "x",
        {"axis": "axis", "exclusive": "excludeFinalSum", "reverse": "reverse"},
    ),
    "getShape": ("shape", "x", {}),
    "fillLike": ("fill_like", "ref_tensor", {"value": "value"}),
    "whereBroadcastable": ("select", "cond a b", {}),
}
"""The operation, the names of its inputs (`*` for a list), and its attributes' fields."""

"""The MIL operation of each layer of a network that has no weights."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """An operation, the names of its inputs (`*` for a list), and the layer's field for each
    attribute.
    """

    op: str
    inputs: list[str]
    fields: dict[str, str]


def _rows(text: str) -> dict[str, Row]:
    """Rows by layer, from lines of: layer, operation, inputs joined by commas, attributes as
    `name=field` or `name=number`.
    """
    found = {}
    for layer, op, inputs, *pairs in map(str.split, text.strip().splitlines()):
        parted = (pair.partition("=") for pair in pairs)
        fields = {name: field or name for name, _, field in parted}
        found[layer] = Row(op, inputs.split(","), fields)
    return found


LAYERS = _rows("""
copy identity x
ceil ceil x
floor floor x
sign sign x
round round x
exp2 exp2 x
asin asin x
acos acos x
atan atan x
sinh sinh x
cosh cosh x
atanh atanh x
sin sin x
cos cos x
tan tan x
tanh tanh x
erf erf x
gelu gelu x mode
clip clip x alpha=minVal beta=maxVal
clampedReLU clamped_relu x alpha beta
logicalNot logical_not x
lrn local_response_norm x size=localSize alpha beta k
l2normalize l2_norm x epsilon
softmax softmax x axis=-3
concat concat *values axis=-3
split split x axis=-3 num_splits=nOutputs
softmaxND softmax x axis
transpose transpose x perm=axes
permute transpose x perm=axis
concatND concat *values axis interleave
stack stack *values axis
splitND split x axis num_splits=numSplits split_sizes=splitSizes
expandDims expand_dims x axes
reshapeStatic reshape x shape=targetShape
rankPreservingReshape reshape x shape=targetShape
sliceStatic slice_by_index x begin=beginIds end=endIds stride=strides begin_mask=beginMasks \
end_mask=endMasks squeeze_mask=squeezeMasks
tile tile x,reps reps
gather gather x,indices axis
gatherND gather_nd x,indices
gatherAlongAxis gather_along_axis x,indices axis
topK topk x,k axis k=K ascending=useBottomK
cumSum cumsum x axis exclusive=excludeFinalSum reverse
getShape shape x
reshapeDynamic reshape x,shape
whereNonZero non_zero x
flattenTo2D flatten2d x axis
whereBroadcastable select cond,a,b
constantPad pad x pad=padAmounts constant_val=value to_sizes=padToGivenOutputSizeMode
asinh asinh x
acosh acosh x
reverseSeq reverse_sequence x,lengths batch_axis=batchAxis seq_axis=sequenceAxis
sliceDynamic slice_by_index x,begin,end,stride begin_mask=beginMasks end=endIds \
  end_mask=endMasks stride=strides squeeze_mask=squeezeMasks
slidingWindows sliding_windows x axis size=windowSize stride=step
broadcastToStatic broadcast_to x shape=targetShape
broadcastToDynamic broadcast_to x,shape
matrixBandPart band_part x lower=numLower upper=numUpper
lowerTriangular lower_triangular x k
upperTriangular upper_triangular x k
NonMaximumSuppression non_maximum_suppression boxes,scores iou_threshold=iouThreshold \
  score_threshold=scoreThreshold max_boxes=maxBoxes per_class_suppression=perClassSuppression
sliceBySize slice_along x,begin axis size
""")

ACTIVATIONS = _rows("""
linear linear_activation x alpha beta
ReLU relu x
leakyReLU leaky_relu x alpha
thresholdedReLU thresholded_relu x alpha
tanh tanh x
scaledTanh scaled_tanh x alpha beta
sigmoid sigmoid x
sigmoidHard sigmoid_hard x alpha beta
ELU elu x alpha
softsign softsign x
softplus softplus x
""")

UNARY = _rows("""
SQRT sqrt x
RSQRT rsqrt x epsilon
INVERSE inverse x epsilon
EXP exp x
LOG log x epsilon
ABS abs x
THRESHOLD threshold x alpha
""")

EVERY = _rows("""
oneHot one_hot indices,one_hot_vector_size one_hot_vector_size=oneHotVectorSize axis \
  on_value=onValue off_value=offValue
rangeStatic range_1d - end=endValue start=startValue step=stepSizeValue
rangeDynamic range_1d end,start,step start=startValue step=stepSizeValue
fillStatic fill - shape=targetShape value
fillDynamic fill shape value
fillLike fill_like ref_tensor value
scatter scatter data,indices,updates axis mode
scatterND scatter_nd data,indices,updates mode
scatterAlongAxis scatter_along_axis data,indices,updates axis mode
""")
"""Rows for layers whose operations get all attributes, also those that are 0 or absent in files."""

ZEROS = {
    ("l2_norm", "epsilon"): 1e-6,
    ("local_response_norm", "k"): 1.0,
    ("rsqrt", "epsilon"): 1e-6,
    ("inverse", "epsilon"): 1e-6,
    ("log", "epsilon"): 1e-6,
}
"""What an attribute is where the layer's field is 0. Source: NeuralNetwork.proto."""

_REDUCED = "L1 L2 Max Min Sum Prod Mean LogSum SumSquare LogSumExp"
_OPS = "l1_norm l2_norm max min sum prod mean log_sum sum_square log_sum_exp"
REDUCTIONS = {
    f"reduce{name}": f"reduce_{op}" for name, op in zip(_REDUCED.split(), _OPS.split(), strict=True)
}

MODES = {name[6:].upper(): op for name, op in REDUCTIONS.items()}
MODES["AVG"] = MODES["MEAN"]
"""The reduction of each mode of the older `reduce` layer."""

POOLINGS = {
    "MAX": ("max_pool", "reduce_max"),
    "AVERAGE": ("avg_pool", "reduce_mean"),
    "L2": ("l2_pool", "reduce_l2_norm"),
}
"""For each kind of pooling: the op over windows, and the reduction over the whole image."""

_BINARY = """
add=add multiply=mul max=maximum min=minimum addBroadcastable=add subtractBroadcastable=sub
multiplyBroadcastable=mul divideBroadcastable=real_div floorDivBroadcastable=floor_div
modBroadcastable=mod powBroadcastable=pow maxBroadcastable=maximum minBroadcastable=minimum
equal=equal notEqual=not_equal lessThan=less lessEqual=less_equal greaterThan=greater
greaterEqual=greater_equal logicalAnd=logical_and logicalOr=logical_or logicalXor=logical_xor
"""
BINARY = {layer: op for layer, _, op in (pair.partition("=") for pair in _BINARY.split())}
"""The op of each layer with two inputs; if the second is missing, `alpha` takes its place."""

SAMPLING = {
    "STRICT_ALIGN_ENDPOINTS_MODE": "STRICT_ALIGN_CORNERS",
    "ALIGN_ENDPOINTS_MODE": "ALIGN_CORNERS",
    "UPSAMPLE_MODE": "DEFAULT",
}

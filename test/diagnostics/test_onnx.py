"""What the importer says of faulty nodes: one small graph for each message."""

import re

import onnx.parser
import pytest
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError

# inputs => outputs { nodes }, as ONNX's own text; message; opset where not 21
GRAPHS = [
    ("float[2,3] x => float y { y = Identity(nothing) }", "'nothing' is not defined"),
    (
        "float[2,3] x => float y { y = Softmax<axis = 1.5>(x) }",
        "attribute 'axis' is of type FLOAT, expected INT",
    ),
    ("float[2,3] x => int16 y { y = BitCast<to = 5>(x) }", "differ in size", 26),
    ('float[2,3] x => float y { y = Einsum<equation = "ij,jk">(x) }', "has 2 terms for 1 inputs"),
    ('float[2,3] x => float y { y = Einsum<equation = "i1->i">(x) }', "is not a list of letters"),
    (
        'float[2,3] x => float y { y = Einsum<equation = "ii->i">(x) }',
        "a repeated letter needs equal extents",
    ),
    (
        'float[2,3] x => float y { y = Einsum<equation = "ij,ij->ij">(x, z) z = Transpose(x) }',
        "",
    ),
    (
        'float[2,3] x, float[4,5] z => float y { y = Einsum<equation = "ij,jk->ik">(x, z) }',
        "letter 'j' has 3 and 4 elements",
    ),
    ("float[2,3] x => float y { y = Conv(x, x, x, x, x) }", "input"),
    (
        "float[1,2,3,4] x, float[2,2] w => float y { y = Conv(x, w) }",
        "input 'W' has rank 2, expected 4",
    ),
    (
        "float[1,2,4,4] x, float[2,2,3,3] w => float y "
        "{ y = ConvTranspose<output_shape = [1]>(x, w) }",
        "output_shape has 1 elements, expected 2",
    ),
    (
        "=> float y <int64[1] s = {2}> { y = ConstantOfShape<value = float[2] {1, 2}>(s) }",
        "attribute 'value' has 2 elements, expected 1",
    ),
    (
        "int64[N] s => float y { t = ConstantOfShape(s) y = Identity(t) }",
        "the number of dimensions of the result must be known",
    ),
    (
        "=> float y <int64[1] s = {-2}> { y = ConstantOfShape(s) }",
        r"shape \[-2\] has a negative extent",
    ),
    ("float[2,3] x, float[2] z => float y { y = Concat<axis = 0>(x, z) }", "inputs of ranks"),
    (
        "float[2,3] x => float y, float z { y, z = Split<axis = 1, num_outputs = 3>(x) }",
        "2 outputs, but attribute 'num_outputs' is 3",
    ),
    (
        "float[2,3] x => float y, float z { y, z = Split<axis = 1>(x) }",
        "3 elements do not split into 2 equal parts",
        13,
    ),
    (
        "float[2,3] x => float y <int64[3] p = {1,1,1}, int64[1] a = {0}> { y = Pad(x, p, , a) }",
        "3 pads for 1 axes, expected 2",
    ),
    ("float[2,3] x => float y <int64[1] r = {-1}> { y = Tile(x, r) }", "repeats are"),
    (
        "float[2,3] x, int64[3] l => float y "
        "{ y = ReverseSequence<time_axis = 1, batch_axis = 1>(x, l) }",
        "time_axis and batch_axis are 1 and 1, expected 0 and 1",
    ),
    (
        "float[2] x, int64[2] l => float y { y = ReverseSequence(x, l) }",
        "ranks 1 and 1, expected at least 2, and 1",
    ),
    (
        "float[2,3] x => float y <int64[1] s = {4}> { y = CenterCropPad(x, s) }",
        "1 extents for 2 axes",
    ),
    (
        "float[N,3] x, int64[3] s => float y { y = CenterCropPad(x, s) }",
        "3 extents for 2 axes",
    ),
    (
        "float[2,3] x, float[3] s => float y "
        "{ y = BatchNormalization<spatial = 0>(x, s, s, s, s) }",
        "attribute 'spatial' is 0, expected 1",
        7,
    ),
    (
        "float[1,3,2] x, float[2] s => float y { y = GroupNormalization<num_groups = 2>(x, s, s) }",
        "3 channels do not split into 2 groups",
        18,
    ),
    (
        "float[2,3] x => float y { y = LpNormalization<p = 3>(x) }",
        "attribute 'p' is 3, expected 1 or 2",
    ),
    (
        "float[2,3] x, int64[3] p => float y { y = Pad(x, p) }",
        "3 pads, expected 4",
    ),
    (
        "float[2,3] x, int64[3] p, int64[1] a => float y { y = Pad(x, p, , a) }",
        "3 pads for 1 axes, expected 2",
    ),
    (
        "float[1,1,2,2] x, int64[1,1,2,2] i => float y "
        "{ y = MaxUnpool<kernel_shape = [2, 2, 2]>(x, i) }",
        "'kernel_shape' has 3 elements, expected 2",
    ),
    (
        "float[2,3] x, float[4,4] s => uint8 y { y = QuantizeLinear<axis = 1>(x, s) }",
        "a scale of shape",
    ),
    (
        "float[2,3] x, float s, float z => float y { y = QuantizeLinear<output_dtype = 1>(x, s) }",
        "quantization to .* is not supported",
    ),
    (
        "float[2,1,3] x, float[1,8,3] w, float[1,9,2] r => float y "
        "{ y = LSTM<hidden_size = 2>(x, w, r) }",
        "has shape .*, expected",
    ),
    (
        "float[2,3] x, int64[N] s => float y { t = Reshape(x, s) y = Identity(t) }",
        "the number of dimensions",
    ),
    (
        "float[2,3] x => float y <int64[2] s = {4, 2}> { y = Reshape(x, s) }",
        "6 elements do not fit shape",
    ),
    (
        "float[2,3] x, int64[N] s => float y { t = Expand(x, s) y = Identity(t) }",
        "the number of dimensions",
    ),
    ("float[1,1,4,4] x => float y { y = Resize(x) }", "neither scales nor sizes are given"),
    (
        "float[1,1,H,4] x, int64[3] s => float y { y = Resize(x, , , s) }",
        "3 sizes, expected 4",
    ),
    (
        "float[1,1,4,4] x => float y <int64[4] s = {1,1,8,8}> "
        '{ y = Resize<keep_aspect_ratio_policy = "odd">(x, , , s) }',
        "attribute 'keep_aspect_ratio_policy' is 'odd'",
    ),
    (
        "float[1,1,4,4] x => float y <int64[4] s = {1,1,8,8}> "
        '{ y = Resize<coordinate_transformation_mode = "tf_crop_and_resize">(x, , , s) }',
        "tf_crop_and_resize needs the input 'roi'",
    ),
    (
        "float[1,1,4,4] x => float y <int64[4] s = {1,1,8,8}, float[2] r = {0, 1}> "
        '{ y = Resize<coordinate_transformation_mode = "tf_crop_and_resize">(x, r, , s) }',
        "2 bounds in roi, expected 8",
    ),
    (
        "float[1,1,4,4] x, int64[2,2] s => float y { y = Resize(x, , , s) }",
        "sizes must be a vector, but have shape",
    ),
    (
        "float[2,3] x => float y <int64 i = {5}> { s = SequenceConstruct(x) y = SequenceAt(s, i) }",
        "position 5 is out of range for a sequence of 1",
    ),
    (
        "float[2,3] x => float y <int64 i = {5}> "
        "{ s = SequenceConstruct(x) t = SequenceErase(s, i) y = SequenceAt(t, i) }",
        "position 5 is out of range for a sequence of 1",
    ),
    (
        "float[2,3] x => float y { s = SequenceEmpty() y = ConcatFromSequence<axis = 0>(s) }",
        "the sequence is empty",
    ),
    (
        "float[2,3] x => float y { s = SequenceConstruct(x) y = ReduceMean(s) }",
        "input 'data' is a sequence, expected a tensor",
    ),
    ("float[2,3] x => float y <int64[2] a = {1,-1}> { y = ReduceSum(x, a) }", "name an axis twice"),
    (
        "float[2,3] x => float y <int64[2] a = {1,1}> { y = CumSum(x, a) }",
        "axis must be one number, but has 2 elements",
    ),
    (
        'float[1,1,H,4] x, float[1,1,2,K] w => float y { y = Conv<auto_pad = "SAME_UPPER", strides = [2, 2]>(x, w) }',
        "padding SAME_UPPER needs a kernel of known extents",
    ),
]


@pytest.mark.parametrize("case", GRAPHS, ids=lambda case: case[1] or case[0][:60])
def test_graph(case: tuple) -> None:
    text, message, opset = (*case, 21)[:3]
    inputs, outputs, rest = re.fullmatch(r"(.*?)=>([^<{]*)(.*)", text).groups()
    head = f'<ir_version: 10, opset_import: ["" : {opset}]>'
    model = onnx.parser.parse_model(f"{head} g ({inputs}) => ({outputs}) {rest}")
    with pytest.raises(NncError, match=message):
        import_model(model)

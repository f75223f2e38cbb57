"""Operators of PaddlePaddle 2 in terms of PIR: a line for each whose name or operands differ.

    old name  PIR's name  operands  -> results  attribute=its name in PIR

An operand is the name of a slot of the old operator: `*` marks a list, `|` separates alternatives
of which the first one present is taken, and `@` an attribute used if there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

_TABLE = """
conv2d conv2d Input Filter Bias -> Output
depthwise_conv2d depthwise_conv2d Input Filter Bias -> Output
conv3d conv3d Input Filter -> Output
conv2d_transpose conv2d_transpose Input Filter none@output_size -> Output
depthwise_conv2d_transpose depthwise_conv2d_transpose Input Filter none@output_size -> Output
batch_norm batch_norm X Mean Variance Scale Bias -> Y
layer_norm layer_norm X Scale Bias -> Y
instance_norm instance_norm X Scale Bias -> Y
group_norm group_norm X Scale Bias -> Y
pool2d pool2d X none@ksize -> Out
pool3d pool3d X none@ksize -> Out
max_pool2d_with_index max_pool2d_with_index X -> Out Mask
elementwise_add add X Y -> Out
elementwise_sub subtract X Y -> Out
elementwise_mul multiply X Y -> Out
elementwise_div divide X Y -> Out
elementwise_max maximum X Y -> Out
elementwise_min minimum X Y -> Out
elementwise_pow elementwise_pow X Y -> Out
elementwise_mod remainder X Y -> Out
elementwise_floordiv floor_divide X Y -> Out
elementwise_fmax fmax X Y -> Out
elementwise_fmin fmin X Y -> Out
equal equal X Y -> Out
not_equal not_equal X Y -> Out
less_than less_than X Y -> Out
less_equal less_equal X Y -> Out
greater_than greater_than X Y -> Out
greater_equal greater_equal X Y -> Out
logical_and logical_and X Y -> Out
logical_or logical_or X Y -> Out
logical_xor logical_xor X Y -> Out
matmul_v2 matmul X Y -> Out trans_x=transpose_x trans_y=transpose_y
matmul matmul X Y -> Out transpose_X=transpose_x transpose_Y=transpose_y
bmm bmm X Y -> Out
mv mv X Vec -> Out
inverse inverse Input -> Output
determinant determinant Input -> Out
slogdeterminant slogdet Input -> Out
svd svd X -> U S VH
qr qr X -> Q R
eigh eigh X -> Eigenvalues Eigenvectors
lu lu X -> Out Pivots Infos pivots=pivot
lu_unpack lu_unpack X Pivots -> Pmat L U
gammaincc gammaincc x y -> out
nextafter nextafter x y -> out
empty empty *ShapeTensorList|ShapeTensor@shape -> Out
fractional_max_pool2d fractional_max_pool2d x -> out mask
fractional_max_pool3d fractional_max_pool3d x -> out mask
complex complex X Y -> Out
eigvalsh eigvalsh X -> Eigenvalues Eigenvectors
triangular_solve triangular_solve X Y -> Out
cholesky_solve cholesky_solve X Y -> Out
segment_pool segment_pool X SegmentIds -> Out SummedIds
graph_send_recv send_u_recv X Src_index Dst_index Out_size@out_size -> Out Dst_count
baddbmm baddbmm Input X Y -> Out Alpha=alpha Beta=beta
mean_all mean_all X -> Out
softmax_with_cross_entropy cross_entropy_with_softmax Logits Label -> Softmax Loss
nll_loss nll_loss X Label Weight -> Out Total_weight
huber_loss huber_loss X Y -> Out Residual
bce_loss bce_loss X Label -> Out
sigmoid_cross_entropy_with_logits sigmoid_cross_entropy_with_logits X Label pos_weight -> Out
kldiv_loss kldiv_loss X Target -> Loss
log_loss log_loss Predicted Labels -> Loss
unique unique X -> Out Indices Index Counts
unique_consecutive unique_consecutive X -> Out Index Counts
mode mode X -> Out Indices
histogram histogram X Weight -> Out
bitwise_left_shift bitwise_left_shift x y -> out
bitwise_right_shift bitwise_right_shift x y -> out
addmm addmm Input X Y -> Out Alpha=alpha Beta=beta
multi_dot multi_dot *X -> Out
bilinear_tensor_product bilinear X Y Weight Bias -> Out
bitwise_and bitwise_and X Y -> Out
bitwise_or bitwise_or X Y -> Out
bitwise_xor bitwise_xor X Y -> Out
copysign copysign x y -> out
dist dist X Y -> Out
cummax cummax x -> out indices
cummin cummin x -> out indices
bincount bincount X Weights none@minlength -> Out
masked_fill masked_fill x mask value@value -> out
multiplex multiplex *X Ids -> Out
spectral_norm spectral_norm Weight U V -> Out
i0 i0 x -> out
i0e i0e x -> out
i1 i1 x -> out
i1e i1e x -> out
rrelu rrelu X -> Out Noise
swiglu swiglu x y -> out
conv3d_transpose conv3d_transpose Input Filter -> Output
max_pool3d_with_index max_pool3d_with_index X -> Out Mask
flash_attn flash_attn q k v fixed_seed_offset attn_mask -> out
dot dot X Y -> Out
kron kron X Y -> Out
mul mul X Y -> Out
fc fc Input W Bias -> Out
scale scale X ScaleTensor@scale -> Out
clip clip X Min@min Max@max -> Out
pow pow X -> Out
leaky_relu leaky_relu X -> Out alpha=negative_slope
hard_sigmoid hardsigmoid X -> Out
hard_swish hardswish X -> Out
hard_shrink hardshrink X -> Out
prelu prelu X Alpha -> Out
cast cast X -> Out out_dtype=dtype
where where Condition X Y -> Out
dropout dropout X -> Out
reshape reshape X *ShapeTensor|Shape@shape -> Out
reshape2 reshape X *ShapeTensor|Shape@shape -> Out
flatten_contiguous_range flatten X -> Out
flatten2 flatten2 X -> Out
squeeze2 squeeze X none@axes -> Out
unsqueeze2 unsqueeze X *AxesTensorList|AxesTensor@axes -> Out
transpose2 transpose X -> Out axis=perm
transpose transpose X -> Out axis=perm
expand_v2 expand X *expand_shapes_tensor|Shape@shape -> Out
expand_as_v2 expand_as X Y -> Out
tile tile X *repeat_times_tensor|RepeatTimes@repeat_times -> Out
concat concat *X AxisTensor@axis -> Out
stack stack *X -> Y
unstack unstack X -> *Y
unbind unbind X -> *Out
split split X *SectionsTensorList@sections AxisTensor@axis -> *Out
slice slice Input *StartsTensorList|StartsTensor@starts *EndsTensorList|EndsTensor@ends -> Out
strided_slice strided_slice Input *StartsTensorList|StartsTensor@starts \
*EndsTensorList|EndsTensor@ends *StridesTensorList|StridesTensor@strides -> Out
shape shape Input -> Out
size numel Input -> Out
gather gather X Index Axis@axis -> Out
gather_nd gather_nd X Index -> Out
index_select index_select X Index -> Out dim=axis
index_sample index_sample X Index -> Out
take_along_axis take_along_axis Input Index -> Result Axis=axis
lookup_table_v2 embedding Ids W -> Out
one_hot_v2 one_hot X depth_tensor@depth -> Out
scatter_nd_add scatter_nd_add X Index Updates -> Out
arg_max argmax X none@axis -> Out
arg_min argmin X none@axis -> Out
top_k_v2 topk X K@k -> Out Indices
argsort argsort X -> Out Indices
where_index nonzero Condition -> Out
reduce_sum sum X none@dim -> Out keep_dim=keepdim
reduce_mean mean X none@dim -> Out keep_dim=keepdim
reduce_max max X none@dim -> Out keep_dim=keepdim
reduce_min min X none@dim -> Out keep_dim=keepdim
reduce_prod prod X none@dim -> Out keep_dim=keepdim
reduce_all all X none@dim -> Out keep_dim=keepdim
reduce_any any X none@dim -> Out keep_dim=keepdim
logsumexp logsumexp X none@axis -> Out
mean mean X -> Out
cumsum cumsum X none@axis -> Out
p_norm p_norm X -> Out
norm norm X -> Out
sum add_n *X -> Out
assign_value assign_value -> Out
fill_constant fill_constant none@value *ShapeTensorList|ShapeTensor@shape -> Out
fill_any_like full_like X none@value -> Out
fill_zeros_like zeros_like X -> Out
fill_constant_batch_size_like full_batch_size_like Input -> Out
range arange Start End Step -> Out
meshgrid meshgrid *X -> *Out
isnan_v2 isnan X -> Out
isinf_v2 isinf X -> Out
isfinite_v2 isfinite X -> Out
roll roll X ShiftsTensor@shifts -> Out
flip flip X -> Out
tril_triu tril_triu X -> Out
nearest_interp_v2 nearest_interp X OutSize *SizeTensor Scale -> Out
bilinear_interp_v2 bilinear_interp X OutSize *SizeTensor Scale -> Out
linear_interp_v2 linear_interp X OutSize *SizeTensor Scale -> Out
bicubic_interp_v2 bicubic_interp X OutSize *SizeTensor Scale -> Out
trilinear_interp_v2 trilinear_interp X OutSize *SizeTensor Scale -> Out
pad3d pad3d X Paddings@paddings -> Out
pad pad X none@pad_value -> Out
shuffle_channel shuffle_channel X -> Out group=groups
rnn rnn Input *PreState *WeightList SequenceLength -> Out none *State
select_input select_input Mask *X -> Out
einsum einsum *Operands -> Out
unfold unfold X -> Y
fold fold X -> Y
maxout maxout X -> Out
temporal_shift temporal_shift X -> Out
grid_sampler grid_sample X Grid -> Output
affine_grid affine_grid Theta OutputShape@output_shape -> Output
deformable_conv deformable_conv Input Offset Filter Mask -> Output
deformable_conv_v1 deformable_conv Input Offset Filter -> Output
yolo_box yolo_box X ImgSize -> Boxes Scores
prior_box prior_box Input Image -> Boxes Variances
box_coder box_coder PriorBox PriorBoxVar TargetBox -> OutputBox
nms nms Boxes -> KeepBoxesIdxs iou_threshold=threshold
multiclass_nms3 multiclass_nms3 BBoxes Scores RoisNum -> Out Index NmsRoisNum
matrix_nms matrix_nms BBoxes Scores -> Out Index RoisNum
roi_align roi_align X ROIs RoisNum -> Out
roi_pool roi_pool X ROIs RoisNum -> Out Argmax
psroi_pool psroi_pool X ROIs RoisNum -> Out
put_along_axis put_along_axis Input Index Value -> Result Axis=axis Reduce=reduce
scatter scatter X Ids Updates -> Out
index_put index_put x *indices value -> out
index_add index_add X Index AddValue -> Out
masked_select masked_select X Mask -> Y
repeat_interleave repeat_interleave X RepeatsTensor -> Out Repeats=repeats dim=axis
sequence_mask sequence_mask X MaxLenTensor@maxlen -> Y
linspace linspace Start Stop Num -> Out
logspace logspace Start Stop Num Base -> Out
nanmedian nanmedian X -> Out MedianIndex
eye eye none@num_rows none@num_columns -> Out
tril_indices tril_indices -> out
triu_indices triu_indices -> out
diag_v2 diag X -> Out
diagonal diagonal Input -> Out
trace trace Input -> Out
diag_embed diag_embed Input -> Out
kthvalue kthvalue X -> Out Indices
searchsorted searchsorted SortedSequence Values -> Out
crop_tensor crop X *ShapeTensor|Shape@shape *OffsetsTensor|Offsets@offsets -> Out
broadcast_tensors broadcast_tensors *X -> *Out
unpool unpool X Indices none@output_size -> Out
atan2 atan2 X1 X2 -> Out
lerp lerp X Y Weight -> Out
isclose isclose Input Other Rtol@rtol Atol@atol -> Out
allclose allclose Input Other Rtol@rtol Atol@atol -> Out
equal_all equal_all X Y -> Out
cross cross X Y -> Out dim=axis
elementwise_heaviside heaviside X Y -> Out
label_smooth label_smooth X PriorDist -> Out
quantize_linear quantize_linear X Scale ZeroPoint -> Y
dequantize_linear dequantize_linear X Scale ZeroPoint -> Y
fake_quantize_dequantize_moving_average_abs_max fake_quantize_dequantize_moving_average_abs_max \
X InScale -> Out OutScale
generate_proposals_v2 generate_proposals Scores BboxDeltas ImShape Anchors Variances \
-> RpnRois RpnRoiProbs RpnRoisNum pre_nms_topN=pre_nms_top_n post_nms_topN=post_nms_top_n
distribute_fpn_proposals distribute_fpn_proposals FpnRois RoisNum \
-> *MultiFpnRois *MultiLevelRoIsNum RestoreIndex
set_value set_value Input ValueTensor *StartsTensorList@starts *EndsTensorList@ends \
*StepsTensorList@steps -> Out fp32_values=values
"""


@dataclass(frozen=True)
class Slot:
    """An operand of an operator, with its names in PaddlePaddle 2, separated by `|`.

    `many` says that it is a list; `attribute` names the attribute used if it is absent.
    """

    name: str
    many: bool = False
    attribute: str = ""

    @property
    def names(self) -> list[str]:
        """The operand's names in PaddlePaddle 2, the preferred one first."""
        return self.name.split("|")


@dataclass(frozen=True)
class Operator:
    """An operator of PaddlePaddle 2 in terms of PIR: a line of the table above."""

    kind: str
    inputs: tuple[Slot, ...]
    outputs: tuple[str, ...]
    renamed: Mapping[str, str]


def _slot(word: str) -> Slot:
    name, _, attribute = word.partition("@")
    return Slot(name.lstrip("*"), word.startswith("*"), attribute)


def _operator(line: str) -> tuple[str, Operator]:
    left, _, right = line.partition("->")
    old, kind, *inputs = left.split()
    words = right.split()
    outputs = tuple(word for word in words if "=" not in word)
    renamed = dict(word.split("=") for word in words if "=" in word)
    return old, Operator(kind, tuple(map(_slot, inputs)), outputs, renamed)


OPERATORS: Mapping[str, Operator] = dict(map(_operator, _TABLE.strip().splitlines()))


@cache
def of_operands(kind: str) -> frozenset[str]:
    """The attributes of PaddlePaddle 2 that are operands of PIR's operator."""
    rules = (rule for rule in OPERATORS.values() if rule.kind == kind)
    return frozenset(slot.attribute for rule in rules for slot in rule.inputs if slot.attribute)

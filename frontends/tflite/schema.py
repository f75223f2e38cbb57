"""The tables of .tflite files, version 3, and those of the operators' options.

Source: schema.fbs of TensorFlow Lite.
"""

from __future__ import annotations

from ..wire.flatbuffers import Schema

MODEL = Schema("""
Model
  0 version u32
  1 operator_codes OperatorCode*
  2 subgraphs SubGraph*
  3 description string
  4 buffers Buffer*
  6 metadata Metadata*
  7 signatures Signature*
OperatorCode
  0 old_code i8
  1 custom string
  2 version i32 =1
  3 code i32
SubGraph
  0 tensors Tensor*
  1 inputs i32*
  2 outputs i32*
  3 operators Operator*
  4 name string
Tensor
  0 shape i32*
  1 type i8
  2 buffer u32
  3 name string
  4 quantization Quantization
  5 is_variable bool
  6 sparsity Sparsity
  7 signature i32*
Quantization
  2 scale f32*
  3 zero i64*
  4 details_kind u8
  5 details any
  6 axis i32
Blocks
  0 scales i32
  1 zero_points i32 =-1
  2 size i32
Sparsity
  0 order i32*
  1 block_map i32*
  2 dims Dimension*
Dimension
  0 is_sparse i8
  1 size i32
  2 segments_kind u8
  3 segments any
  4 indices_kind u8
  5 indices any
Int32Vector
  0 values i32*
Uint16Vector
  0 values u16*
Uint8Vector
  0 values u8*
Operator
  0 code u32
  1 inputs i32*
  2 outputs i32*
  4 options any
  5 custom u8*
  8 intermediates i32*
  9 custom_offset u64
  10 custom_size u64
  12 options_2 any
Buffer
  0 data u8*
  1 offset u64
  2 size u64
Metadata
  0 name string
  1 buffer u32
Signature
  0 inputs TensorName*
  1 outputs TensorName*
  2 key string
  4 subgraph u32
TensorName
  0 name string
  1 tensor u32
""")

OPTIONS = Schema("""
CONV_2D
  0 padding i8
  1 stride_w i32
  2 stride_h i32
  3 activation i8
  4 dilation_w i32 =1
  5 dilation_h i32 =1
  6 bias_type i8
CONV_3D CONV_3D_TRANSPOSE
  0 padding i8
  1 stride_d i32
  2 stride_w i32
  3 stride_h i32
  4 activation i8
  5 dilation_d i32 =1
  6 dilation_w i32 =1
  7 dilation_h i32 =1
DEPTHWISE_CONV_2D
  0 padding i8
  1 stride_w i32
  2 stride_h i32
  3 multiplier i32
  4 activation i8
  5 dilation_w i32 =1
  6 dilation_h i32 =1
TRANSPOSE_CONV
  0 padding i8
  1 stride_w i32
  2 stride_h i32
  3 activation i8
  4 bias_type i8
AVERAGE_POOL_2D MAX_POOL_2D L2_POOL_2D
  0 padding i8
  1 stride_w i32
  2 stride_h i32
  3 filter_w i32
  4 filter_h i32
  5 activation i8
FULLY_CONNECTED
  0 activation i8
  1 weights_format i8
  2 keep_dims bool
  3 asymmetric_inputs bool
  4 bias_type i8
ADD SUB
  0 activation i8
  1 powers_of_two bool =1
MUL DIV L2_NORMALIZATION
  0 activation i8
RNN
  0 activation i8
  1 asymmetric_inputs bool
CONCATENATION
  0 axis i32
  1 activation i8
UNIDIRECTIONAL_SEQUENCE_RNN
  0 time_major bool
  1 activation i8
  2 asymmetric_inputs bool
BIDIRECTIONAL_SEQUENCE_RNN
  0 time_major bool
  1 activation i8
  2 merge_outputs bool
  3 asymmetric_inputs bool
LSTM
  0 activation i8
  1 cell_clip f32
  2 projection_clip f32
  3 kernel i8
  4 asymmetric_inputs bool
UNIDIRECTIONAL_SEQUENCE_LSTM
  0 activation i8
  1 cell_clip f32
  2 projection_clip f32
  3 time_major bool
  4 asymmetric_inputs bool
  5 diagonal bool
BIDIRECTIONAL_SEQUENCE_LSTM
  0 activation i8
  1 cell_clip f32
  2 projection_clip f32
  3 merge_outputs bool
  4 time_major bool =1
  5 asymmetric_inputs bool
SVDF
  0 rank i32
  1 activation i8
  2 asymmetric_inputs bool
SOFTMAX
  0 beta f32
LOCAL_RESPONSE_NORMALIZATION
  0 radius i32
  1 bias f32
  2 alpha f32
  3 beta f32
RESIZE_BILINEAR
  0 new_height i32
  1 new_width i32
  2 align_corners bool
  3 half_pixel bool
RESIZE_NEAREST_NEIGHBOR
  0 align_corners bool
  1 half_pixel bool
CALL
  0 graph u32
RESHAPE
  0 shape i32*
SPACE_TO_DEPTH DEPTH_TO_SPACE
  0 block i32
GATHER
  0 axis i32
  1 batch_dims i32
MEAN SUM REDUCE_PROD REDUCE_MAX REDUCE_MIN REDUCE_ANY REDUCE_ALL
  0 keep_dims bool
SQUEEZE
  0 axes i32*
SPLIT SPLIT_V
  0 count i32
STRIDED_SLICE
  0 begin_mask i32
  1 end_mask i32
  2 ellipsis_mask i32
  3 new_axis_mask i32
  4 shrink_axis_mask i32
  5 offset bool
CAST
  0 from i8
  1 to i8
ARG_MAX ARG_MIN SHAPE
  0 type i8
UNIQUE
  0 type i8 =2
FAKE_QUANT
  0 low f32
  1 high f32
  2 bits i32
  3 narrow bool
PACK UNPACK
  0 count i32
  1 axis i32
ONE_HOT
  0 axis i32
LEAKY_RELU
  0 alpha f32
MIRROR_PAD
  0 mode i8
REVERSE_SEQUENCE
  0 time i32
  1 batch i32
IF
  0 then i32
  1 otherwise i32
WHILE
  0 condition i32
  1 body i32
CALL_ONCE
  0 graph i32
BATCH_MATMUL
  0 adj_x bool
  1 adj_y bool
  2 asymmetric_inputs bool
CUMSUM
  0 exclusive bool
  1 reverse bool
VAR_HANDLE
  0 container string
  1 name string
GELU
  0 approximate bool
BUCKETIZE
  0 boundaries f32*
EMBEDDING_LOOKUP_SPARSE
  0 combiner i8
HASHTABLE
  0 table i32
  1 key i8
  2 value i8
RANDOM_UNIFORM RANDOM_STANDARD_NORMAL MULTINOMIAL
  0 seed i64
  1 seed2 i64
LSH_PROJECTION
  0 type i8
STABLEHLO_CONCATENATE
  0 dimension i64
STABLEHLO_BROADCAST_IN_DIM
  0 broadcast_dimensions i64*
STABLEHLO_SLICE
  0 start_indices i64*
  1 limit_indices i64*
  2 strides i64*
STABLEHLO_CONVOLUTION
  0 window_strides i64*
  1 padding i64*
  2 lhs_dilation i64*
  3 rhs_dilation i64*
  4 window_reversal bool*
  5 input_batch i64
  6 input_feature i64
  7 input_spatial i64*
  8 kernel_input i64
  9 kernel_output i64
  10 kernel_spatial i64*
  11 output_batch i64
  12 output_feature i64
  13 output_spatial i64*
  14 feature_group_count i64
  15 batch_group_count i64
  16 precision u32*
STABLEHLO_REDUCE
  0 dimensions i64*
  1 body i32
STABLEHLO_COMPARE
  0 comparison_direction u32
  1 compare_type u32
STABLEHLO_DYNAMIC_SLICE
  0 slice_sizes i64*
STABLEHLO_PAD
  0 edge_padding_low i64*
  1 edge_padding_high i64*
  2 interior_padding i64*
STABLEHLO_IOTA
  0 iota_dimension i64
STABLEHLO_DOT_GENERAL
  0 lhs_batch i64*
  1 rhs_batch i64*
  2 lhs_sum i64*
  3 rhs_sum i64*
  4 precision u32*
STABLEHLO_REDUCE_WINDOW
  0 window_dimensions i64*
  1 window_strides i64*
  2 base_dilations i64*
  3 window_dilations i64*
  4 padding i64*
  5 body i32
STABLEHLO_SORT
  0 dimension i64
  1 is_stable bool
  2 comparator i32
STABLEHLO_WHILE
  0 condition i32
  1 body i32
STABLEHLO_GATHER
  0 offset_dims i64*
  1 collapsed_slice_dims i64*
  2 start_index_map i64*
  3 index_vector_dim i64
  4 slice_sizes i64*
  5 indices_are_sorted bool
STABLEHLO_SCATTER
  0 indices_are_sorted bool
  1 update_window_dims i64*
  2 inserted_window_dims i64*
  3 scatter_dims_to_operand_dims i64*
  4 index_vector_dim i64
  5 unique_indices bool
  6 update i32
STABLEHLO_TRANSPOSE
  0 permutation i64*
STABLEHLO_COMPOSITE
  0 name string
  1 decomposition i32
  2 attributes u8*
  3 attributes_format i8
  4 version i32
STABLEHLO_CASE
  0 branches i32*
SPARSE_TO_DENSE
  0 validate_indices bool
NONE
""")

_CODES = """
ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE
EMBEDDING_LOOKUP FLOOR FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D
LOCAL_RESPONSE_NORMALIZATION LOGISTIC LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1
RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS SKIP_GRAM
CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND
SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE
BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM
CAST PRELU MAXIMUM ARG_MAX MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL LESS_EQUAL SELECT SLICE
SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT RSQRT SHAPE POW
ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT UNPACK
REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE RESIZE_NEAREST_NEIGHBOR
LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL REVERSE_V2 ADD_N GATHER_ND COS
WHERE RANK ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE
NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM
BATCH_MATMUL PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO RFFT2D CONV_3D IMAG
REAL COMPLEX_ABS HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL
CONV_3D_TRANSPOSE VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE BROADCAST_ARGS RANDOM_STANDARD_NORMAL
BUCKETIZE RANDOM_UNIFORM MULTINOMIAL GELU DYNAMIC_UPDATE_SLICE RELU_0_TO_1 UNSORTED_SEGMENT_PROD
UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM ATAN2 UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR
RIGHT_SHIFT STABLEHLO_LOGISTIC STABLEHLO_ADD STABLEHLO_DIVIDE STABLEHLO_MULTIPLY
STABLEHLO_MAXIMUM STABLEHLO_RESHAPE STABLEHLO_CLAMP STABLEHLO_CONCATENATE
STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CONVOLUTION STABLEHLO_SLICE STABLEHLO_CUSTOM_CALL
STABLEHLO_REDUCE STABLEHLO_ABS STABLEHLO_AND STABLEHLO_COSINE STABLEHLO_EXPONENTIAL
STABLEHLO_FLOOR STABLEHLO_LOG STABLEHLO_MINIMUM STABLEHLO_NEGATE STABLEHLO_OR STABLEHLO_POWER
STABLEHLO_REMAINDER STABLEHLO_RSQRT STABLEHLO_SELECT STABLEHLO_SUBTRACT STABLEHLO_TANH
STABLEHLO_SCATTER STABLEHLO_COMPARE STABLEHLO_CONVERT STABLEHLO_DYNAMIC_SLICE
STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_PAD STABLEHLO_IOTA STABLEHLO_DOT_GENERAL
STABLEHLO_REDUCE_WINDOW STABLEHLO_SORT STABLEHLO_WHILE STABLEHLO_GATHER STABLEHLO_TRANSPOSE
DILATE STABLEHLO_RNG_BIT_GENERATOR REDUCE_WINDOW STABLEHLO_COMPOSITE STABLEHLO_SHIFT_LEFT
STABLEHLO_CBRT STABLEHLO_CASE
"""
CODES = _CODES.split()
"""The builtin operators by their numbers."""

_ELEMENTS = """
f32 f16 i32 ui8 i64 string i1 i16 complex64 i8 f64 complex128 ui64 resource variant ui32 ui16 i4
bf16 i2 ui4 f8E4M3FN f8E5M2
"""
ELEMENTS = _ELEMENTS.split()
"""The element types by their numbers."""

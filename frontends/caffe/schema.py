"""The messages of Caffe's nets, with what SSD's, Faster R-CNN's and NVIDIA's projects add.

Projects give fields of layers the same numbers; `Weights` reads only what is the same in all.

Source: BVLC/caffe, weiliu89/caffe (ssd) and NVIDIA/caffe, src/caffe/proto/caffe.proto
"""

from __future__ import annotations

from ..wire.protobuf import Schema

SCHEMA = Schema("""
Phase = TRAIN TEST
Shape
  1 dim int*
Blob
  1 num int
  2 channels int
  3 height int
  4 width int
  5 data float*
  7 shape Shape
  8 double_data double*
  10 raw_data_type Raw
  12 raw_data bytes
Raw = DOUBLE FLOAT FLOAT16 INT UINT
Net
  1 name string
  2 layers V1Layer*
  3 input string*
  4 input_dim int*
  8 input_shape Shape*
  100 layer Layer*
Weights
  2 layers V1Blobs*
  100 layer Blobs*
V1Blobs
  4 name string
  6 blobs Blob*
Blobs
  1 name string
  7 blobs Blob*
Rule
  1 phase Phase
  2 min_level int
  3 max_level int
  4 stage string*
  5 not_stage string*
Transform
  1 scale float =1
  3 crop_size int
  4 mean_file string
  5 mean_value float*
Layer
  1 name string
  2 type string
  3 bottom string*
  4 top string*
  7 blobs Blob*
  8 include Rule*
  9 exclude Rule*
  100 transform_param Transform
  103 argmax_param ArgMax
  104 concat_param Concat
  106 convolution_param Convolution
  107 data_param Data
  108 dropout_param Dropout
  109 dummy_data_param Dummy
  110 eltwise_param Eltwise
  111 exp_param Exp
  117 inner_product_param InnerProduct
  118 lrn_param Lrn
  119 memory_data_param Memory
  120 mvn_param Mvn
  121 pooling_param Pooling
  122 power_param Power
  123 relu_param Relu
  125 softmax_param Axis
  126 slice_param Slice
  128 threshold_param Threshold
  130 python_param Python
  131 prelu_param Prelu
  132 spp_param Spp
  133 reshape_param Reshape
  134 log_param Exp
  135 flatten_param Flatten
  136 reduction_param Reduction
  137 embed_param InnerProduct
  138 tile_param Tile
  139 batch_norm_param BatchNorm
  140 elu_param Elu
  141 bias_param Scale
  142 scale_param Scale
  143 input_param Input
  144 crop_param Crop
  145 parameter_param Parameter
  146 recurrent_param Recurrent
  147 swish_param Swish
  148 clip_param Clip
  149 reorg_param Reorg
  150 interp_param Interp
  151 upsample_param Upsample
  164 shuffle_channel_param Shuffle
  201 proposal_param Proposal
  202 permute_param Permute
  203 prior_box_param PriorBox
  204 detection_output_param Detection
  206 norm_param Normalize
  1137 bn_param BatchNorm
  10002 psroi_pooling_param PsroiPooling
  8266711 roi_pooling_param RoiPooling
  8266712 roi_align_param RoiAlign
V1Layer
  2 bottom string*
  3 top string*
  4 name string
  5 type V1Type
  6 blobs Blob*
  9 concat_param Concat
  10 convolution_param Convolution
  11 data_param Data
  12 dropout_param Dropout
  17 inner_product_param InnerProduct
  18 lrn_param Lrn
  19 pooling_param Pooling
  21 power_param Power
  22 memory_data_param Memory
  23 argmax_param ArgMax
  24 eltwise_param Eltwise
  25 threshold_param Threshold
  26 dummy_data_param Dummy
  30 relu_param Relu
  31 slice_param Slice
  32 include Rule*
  33 exclude Rule*
  34 mvn_param Mvn
  36 transform_param Transform
  39 softmax_param Axis
  41 exp_param Exp
V1Type = NONE ACCURACY BNLL CONCAT CONVOLUTION DATA DROPOUT EUCLIDEAN_LOSS
V1Type = FLATTEN HDF5_DATA 14:INNER_PRODUCT LRN 17:POOLING RELU SIGMOID SOFTMAX
V1Type = SOFTMAX_LOSS SPLIT TANH 25:ELTWISE POWER 29:MEMORY_DATA ARGMAX THRESHOLD
V1Type = DUMMY_DATA SLICE MVN ABSVAL SILENCE 38:EXP DECONVOLUTION
ArgMax
  1 out_max_val bool
  2 top_k int =1
  3 axis int
Concat
  1 concat_dim int =1
  2 axis int =1
Convolution
  1 num_output int
  2 bias_term bool =1
  3 pad int*
  4 kernel_size int*
  5 group int =1
  6 stride int*
  9 pad_h int
  10 pad_w int
  11 kernel_h int
  12 kernel_w int
  13 stride_h int
  14 stride_w int
  16 axis int =1
  18 dilation int*
Data
  4 batch_size int
  5 crop_size int
Dummy
  2 num int*
  3 channels int*
  4 height int*
  5 width int*
  6 shape Shape*
Memory
  1 batch_size int
  2 channels int
  3 height int
  4 width int
EltwiseKind = PROD SUM MAX
Eltwise
  1 operation EltwiseKind =SUM
  2 coeff float*
Exp
  1 base float =-1
  2 scale float =1
  3 shift float
InnerProduct
  1 num_output int
  2 bias_term bool =1
  5 axis int =1
  6 transpose bool
Region = ACROSS_CHANNELS WITHIN_CHANNEL
Lrn
  1 local_size int =5
  2 alpha float =1
  3 beta float =0.75
  4 norm_region Region
  5 k float =1
Mvn
  1 normalize_variance bool =1
  2 across_channels bool
  3 eps float =1e-9
Method = MAX AVE STOCHASTIC
Round = CEIL FLOOR
Pooling
  1 pool Method
  2 kernel_size int*
  3 stride int*
  4 pad int*
  5 kernel_h int
  6 kernel_w int
  7 stride_h int
  8 stride_w int
  9 pad_h int
  10 pad_w int
  12 global_pooling bool
  13 round_mode Round
  1000 ceil_mode bool =1
Power
  1 power float =1
  2 scale float =1
  3 shift float
Relu
  1 negative_slope float
Axis
  2 axis int =1
Slice
  1 slice_dim int =1
  2 slice_point int*
  3 axis int =1
Threshold
  1 threshold float
Prelu
  2 channel_shared bool
Reshape
  1 shape Shape
  2 axis int
  3 num_axes int =-1
Flatten
  1 axis int =1
  2 end_axis int =-1
ReductionKind = 1:SUM ASUM SUMSQ MEAN
Reduction
  1 operation ReductionKind
  2 axis int
  3 coeff float =1
Tile
  1 axis int =1
  2 tiles int
BatchNorm
  1 use_global_stats bool =1
  3 eps float =1e-5
  7 scale_bias bool
Elu
  1 alpha float =1
Dropout
  1 dropout_ratio float =0.5
  2 scale_train bool =1
Scale
  1 axis int =1
  2 num_axes int =1
  4 bias_term bool
Input
  1 shape Shape*
Crop
  1 axis int =2
  2 offset int*
Parameter
  1 shape Shape
Recurrent
  1 num_output int
  5 expose_hidden bool
Swish
  1 beta float =1
Clip
  1 min float
  2 max float
Reorg
  1 stride int =2
  2 reverse bool
Interp
  1 height int
  2 width int
  3 zoom_factor int =1
  4 shrink_factor int =1
  5 pad_beg int
  6 pad_end int
Upsample
  1 scale int =2
  2 scale_h int
  3 scale_w int
  6 upsample_h int
  7 upsample_w int
Shuffle
  1 group int =1
Permute
  1 order int*
Code = 1:CORNER CENTER_SIZE CORNER_SIZE
PriorBox
  1 min_size float*
  2 max_size float*
  3 aspect_ratio float*
  4 flip bool =1
  5 clip bool
  6 variance float*
  7 img_size int
  8 img_h int
  9 img_w int
  10 step float
  11 step_h float
  12 step_w float
  13 offset float =0.5
Nms
  1 nms_threshold float =0.3
  2 top_k int
Detection
  1 num_classes int
  2 share_location bool =1
  3 background_label_id int
  4 nms_param Nms
  6 code_type Code
  7 keep_top_k int =-1
  8 variance_encoded_in_target bool
  9 confidence_threshold float
Normalize
  1 across_spatial bool =1
  3 channel_shared bool =1
  4 eps float =1e-10
Proposal
  1 feat_stride int =16
  2 base_size int =16
  3 min_size int =16
  4 ratio float*
  5 scale float*
  6 pre_nms_topn int =6000
  7 post_nms_topn int =300
  8 nms_thresh float =0.7
Python
  1 module string
  2 layer string
  3 param_str string
Spp
  1 pyramid_height int
  2 pool Method
PsroiPooling
  1 spatial_scale float
  2 output_dim int
  3 group_size int
RoiPooling
  1 pooled_h int
  2 pooled_w int
  3 spatial_scale float =1
RoiAlign
  1 pooled_h int
  2 pooled_w int
  3 spatial_scale float =1
  4 sample_ratio int
""")

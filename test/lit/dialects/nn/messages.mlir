// What no other test provokes of the messages of the dialect nn.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

%0 = "t.s"() : () -> tensor<2xf32>
%1 = "t.s"() : () -> tensor<4x8xf32>
// expected-error@+1 {{'nn.rms_norm' op dimensions 8 and 2 do not broadcast}}
%2 = nn.rms_norm %1, %0 {axis = 1 : i64} : (tensor<4x8xf32>, tensor<2xf32>) -> tensor<4x8xf32>

// -----

func.func @simple(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4xf32> {
  %0 = nn.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = nn.relu %0 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
// expected-error@+1 {{'nn.reduce_sum' op axes [2, 2] name an axis twice}}
  %2 = nn.reduce_sum %1 {axes = array<i64: 2, 2>} : (tensor<1x4x6x6xf32>) -> tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}

// -----

%s0 = "t.s"() : () -> tensor<8x5x4x1x5xsi8>
// expected-error@+1 {{'nn.broadcast_dynamic' op shape must be a 1-D tensor of i64, but got 'tensor<8x5x4x1x5xsi8>'}}
%r1:1 = "nn.broadcast_dynamic"(%s0, %s0) : (tensor<8x5x4x1x5xsi8>, tensor<8x5x4x1x5xsi8>) -> (tensor<8x5x4x1x5xsi8>)

// -----

%0 = "t.s"() : () -> tensor<2x3x3x16xf32>
%1 = "t.s"() : () -> tensor<2x3x3x16xf32>
// expected-error@+1 {{'nn.blocked_depthwise_conv' op the ranks of x and weight do not fit: 'tensor<2x3x3x16xf32>' and 'tensor<2x3x3x16xf32>'}}
%2 = nn.blocked_depthwise_conv %1, %0 : (tensor<2x3x3x16xf32>, tensor<2x3x3x16xf32>) -> tensor<1x2x7x7x16xf32>

// -----

%0 = "t.s"() : () -> tensor<4x2x3x3x16x8xf32>
%1 = "t.s"() : () -> tensor<4x0x?x16x?xvector<3x1x4x2x16xindex>>
// expected-error@+1 {{'nn.blocked_conv' op x and weight have different element types: 'tensor<4x0x?x16x?xvector<3x1x4x2x16xindex>>' and 'tensor<4x2x3x3x16x8xf32>'}}
%2 = "nn.blocked_conv"(%1, %0) <{strides = array<i64: 2, 2>}> : (tensor<4x0x?x16x?xvector<3x1x4x2x16xindex>>, tensor<4x2x3x3x16x8xf32>) -> tensor<1x4x4x4x8xf32>

// -----

%0 = "t.s"() : () -> tensor<f32>
// expected-error@+1 {{'nn.fill' op cannot fill 'tensor<3xi0>' with 'tensor<f32>'}}
%1 = nn.fill %0 : (tensor<f32>) -> tensor<3xi0>

// -----

%0 = "t.s"() : () -> tensor<f32>
// expected-error@+1 {{'nn.fill' op the shape of 'tensor<4x?xf32>' is not known; use nn.fill_dynamic}}
%1 = nn.fill %0 : (tensor<f32>) -> tensor<4x?xf32>

// -----

%0 = "t.s"() : () -> tensor<?xi64>
%1 = "t.s"() : () -> tensor<f32>
// expected-error@+1 {{'nn.fill_dynamic' op shape must have a known length}}
%2 = nn.fill_dynamic %0, %1 : (tensor<?xi64>, tensor<f32>) -> tensor<?x?xf32>

// -----

%0 = "t.s"() : () -> tensor<2xi64>
%1 = "t.s"() : () -> tensor<2xi64>
// expected-error@+1 {{'nn.fill_dynamic' op value must have rank 0, but got 'tensor<2xi64>'}}
%2 = nn.fill_dynamic %0, %1 : (tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>

// -----

"func.func"() <{function_type = () -> (), sym_name = "f"}> ({
%s0 = "arith.constant"() <{value = dense<1> : tensor<4xsi8>}> : () -> tensor<4xsi8>
// expected-error@+1 {{'nn.range' op operands must be 0-d tensors of one type, but got 'tensor<4xsi8>'}}
%r1:1 = "nn.range"(%s0, %s0, %s0) : (tensor<4xsi8>, tensor<4xsi8>, tensor<4xsi8>) -> (tensor<4xsi8>)
"func.return"() : () -> ()
}) : () -> ()

// -----

%0 = "t.s"() : () -> tensor<0xf32>
// expected-error@+1 {{'nn.cast' op cannot change the shape: 'tensor<0xf32>' to 'tensor<4xi64>'}}
%1 = nn.cast %0 : (tensor<0xf32>) -> tensor<4xi64>

// -----

"func.func"() <{function_type = () -> (), sym_name = "f"}> ({
%s0 = "t.s"() : () -> tensor<16x4xi7>
// expected-error@+1 {{'nn.where' op condition must be a tensor of i1, but got 'tensor<16x4xi7>'}}
%r1:1 = "nn.where"(%s0, %s0, %s0) : (tensor<16x4xi7>, tensor<16x4xi7>, tensor<16x4xi7>) -> (tensor<16x4xi7>)
"func.return"() : () -> ()
}) : () -> ()

// -----

%0 = "t.s"() : () -> tensor<i1000>
%1 = "t.s"() : () -> tensor<f32>
%2 = "t.s"() : () -> tensor<4xi1>
// expected-error@+1 {{'nn.where' op operands have different element types: 'i1000' and 'f32'}}
%3 = nn.where %2, %0, %1 : (tensor<4xi1>, tensor<i1000>, tensor<f32>) -> tensor<i1000>

// -----

%0 = "t.s"() : () -> tensor<4x2xi64>
%1 = "t.s"() : () -> tensor<1x8x0xui8>
// expected-error@+1 {{'nn.gather_elements' op data and indices differ in rank: 'tensor<1x8x0xui8>' and 'tensor<4x2xi64>'}}
%2 = "nn.gather_elements"(%1, %0) <{axis = 1 : i64}> : (tensor<1x8x0xui8>, tensor<4x2xi64>) -> tensor<4x2xf32>

// -----

%0 = "t.s"() : () -> tensor<3x9999999999xi64>
%1 = "t.s"() : () -> tensor<4x8x2xf32>
// expected-error@+1 {{'nn.gather_nd' op 0 batch dimensions and tuples of 9999999999 do not fit 'tensor<4x8x2xf32>', 'tensor<3x9999999999xi64>'}}
%2 = nn.gather_nd %1, %0 : (tensor<4x8x2xf32>, tensor<3x9999999999xi64>) -> tensor<3x2xf32>

// -----

%0 = "t.s"() : () -> tensor<3x?xi64>
%1 = "t.s"() : () -> tensor<4x8x2xf32>
// expected-error@+1 {{'nn.gather_nd' op the last dimension of indices must be known, but got 'tensor<3x?xi64>'}}
%2 = nn.gather_nd %1, %0 : (tensor<4x8x2xf32>, tensor<3x?xi64>) -> tensor<3x2xf32>

// -----

%0 = "t.s"() : () -> tensor<16x5xindex>
%1 = "t.s"() : () -> tensor<4xi64>
%2 = "t.s"() : () -> tensor<2xf32>
// expected-error@+1 {{'nn.one_hot' op depth must hold one number, but got 'tensor<16x5xindex>'}}
%3 = nn.one_hot %1, %0, %2 {axis = 1 : i64} : (tensor<4xi64>, tensor<16x5xindex>, tensor<2xf32>) -> tensor<4x?xf32>

// -----

%0 = "t.s"() : () -> tensor<i64>
%1 = "t.s"() : () -> tensor<4xi64>
%2 = "t.s"() : () -> tensor<i64>
// expected-error@+1 {{'nn.one_hot' op values must be [off, on], but got 'tensor<i64>'}}
%3 = nn.one_hot %1, %0, %2 {axis = 1 : i64} : (tensor<4xi64>, tensor<i64>, tensor<i64>) -> tensor<3x?xf32>

// -----

%0 = "t.s"() : () -> tensor<0x2xi64>
%1 = "t.s"() : () -> tensor<4x2xf32>
%2 = "t.s"() : () -> tensor<4x8xf32>
// expected-error@+1 {{'nn.scatter_elements' op updates do not fit data and indices: 'tensor<4x2xf32>'}}
%3 = nn.scatter_elements %2, %0, %1 {axis = 1 : i64} : (tensor<4x8xf32>, tensor<0x2xi64>, tensor<4x2xf32>) -> tensor<4x8xf32>

// -----

%0 = "t.s"() : () -> tensor<3x3xi64>
%1 = "t.s"() : () -> tensor<3x4xf32>
%2 = "t.s"() : () -> tensor<8x4xf32>
// expected-error@+1 {{'nn.scatter_nd' op indices do not fit data: 'tensor<3x3xi64>' and 'tensor<8x4xf32>'}}
%3 = nn.scatter_nd %2, %0, %1 : (tensor<8x4xf32>, tensor<3x3xi64>, tensor<3x4xf32>) -> tensor<8x4xf32>

// -----

%0 = "t.s"() : () -> tensor<3x1xi64>
%1 = "t.s"() : () -> tensor<8x4xf32>
%2 = "t.s"() : () -> tensor<8x4xf32>
// expected-error@+1 {{'nn.scatter_nd' op updates must be 'tensor<3x4xf32>', but got 'tensor<8x4xf32>'}}
%3 = nn.scatter_nd %2, %0, %1 : (tensor<8x4xf32>, tensor<3x1xi64>, tensor<8x4xf32>) -> tensor<8x4xf32>

// -----

%0 = "t.s"() : () -> tensor<0x3xui64>
%1 = "t.s"() : () -> tensor<2x8xf32>
// expected-error@+1 {{'nn.concat' op operands do not fit together: 'tensor<0x3xui64>' and 'tensor<2x8xf32>'}}
%2 = "nn.concat"(%0, %1) <{axis = 0 : i64}> : (tensor<0x3xui64>, tensor<2x8xf32>) -> tensor<6x8xf32>

// -----

%0 = "t.s"() : () -> tensor<2x3x4x4xf32>
// expected-error@+1 {{'nn.depth_to_space' op 3 channels do not split into blocks of 2 x 2}}
%1 = nn.depth_to_space %0 {block = 2 : i64} : (tensor<2x3x4x4xf32>) -> tensor<1x2x8x8xf32>

// -----

%0 = "t.s"() : () -> tensor<4x8xf32>
%1 = "t.s"() : () -> tensor<f32>
// expected-error@+1 {{'nn.pad' op pads remove more than there is of 'tensor<4x8xf32>'}}
%2 = nn.pad %0, %1 {pads = array<i64: -9223372036854775808, 1, 0, 1>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x10xf32>

// -----

%0 = "t.s"() : () -> tensor<4x8xf32>
// expected-error@+1 {{'nn.slice' op cannot slice 'tensor<4x8xf32>' to 'tensor<0x5x4xi64>'}}
%1 = nn.slice %0 {starts = array<i64: 1, 0>, steps = array<i64: 1, 2>} : (tensor<4x8xf32>) -> tensor<0x5x4xi64>

// -----

%0 = "t.s"() : () -> tensor<4x8xf32>
// expected-error@+1 {{'nn.slice' op dimension 0 of 'tensor<?x4xf32>' is known and must be given}}
%1 = nn.slice %0 {starts = array<i64: 1, 0>, steps = array<i64: 1, 2>} : (tensor<4x8xf32>) -> tensor<?x4xf32>

// -----

%0 = "t.s"() : () -> tensor<4x8xf32>
// expected-error@+1 {{'nn.slice' op steps must not be 0, starts not negative}}
%1 = nn.slice %0 {starts = array<i64: 1, -2147483648>, steps = array<i64: 1, 2>} : (tensor<4x8xf32>) -> tensor<2x4xf32>

// -----

%0 = "t.s"() : () -> tensor<1x2x5x8xf32>
// expected-error@+1 {{'nn.space_to_depth' op 'tensor<1x2x5x8xf32>' does not split into blocks of 2 x 2}}
%1 = nn.space_to_depth %0 {block = 2 : i64} : (tensor<1x2x5x8xf32>) -> tensor<1x8x4x4xf32>

// -----

%0 = "t.s"() : () -> tensor<6x8xf32>
// expected-error@+1 {{'nn.split' op 'tensor<2x3xf32>' is not a part of 'tensor<6x8xf32>'}}
%1:2 = nn.split %0 {axis = 0 : i64} : (tensor<6x8xf32>) -> (tensor<4x8xf32>, tensor<2x3xf32>)

// -----

%0 = "t.s"() : () -> tensor<6x8xf32>
// expected-error@+1 {{'nn.split' op dimension 0 of the parts must be known}}
%1:2 = nn.split %0 {axis = 0 : i64} : (tensor<6x8xf32>) -> (tensor<?x8xf32>, tensor<2x8xf32>)

// -----

%0 = "t.s"() : () -> tensor<6x8xf32>
// expected-error@+1 {{'nn.split' op the parts have 4 elements along axis 0 of 'tensor<6x8xf32>'}}
%1:2 = nn.split %0 {axis = 0 : i64} : (tensor<6x8xf32>) -> (tensor<4x8xf32>, tensor<0x8xf32>)

// -----

%0 = "t.s"() : () -> tensor<4x8xf32>
// expected-error@+1 {{'nn.tile' op repeats must not be negative}}
%1 = "nn.tile"(%0) <{repeats = array<i64: -2147483648, 1>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>

// -----

%0 = "t.s"() : () -> tensor<i1>
// expected-error@+1 {{'nn.trilu' op x must have at least rank 2, but got 'tensor<i1>'}}
%1 = nn.trilu %0 {upper = false} : (tensor<i1>) -> tensor<i1>

// -----

%0 = "t.s"() : () -> tensor<5xui64, affine_map<(d0, d1) -> (d1, d0)>>
// expected-error@+1 {{'nn.depth_to_space' op x must have rank 4, but got 'tensor<5xui64, affine_map<(d0, d1) -> (d1, d0)>>'}}
%1 = nn.depth_to_space %0 {block = 2 : i64} : (tensor<5xui64, affine_map<(d0, d1) -> (d1, d0)>>) -> tensor<1x2x8x8xf32>

// -----

%0 = "t.s"() : () -> tensor<8xf32>
%1 = "t.s"() : () -> tensor<8xf32>
%2 = "t.s"() : () -> tensor<1x8x4x4xf32>
// expected-error@+1 {{'nn.group_norm' op 8 channels do not split into 3 groups}}
%3 = nn.group_norm %2, %1, %0 {groups = 3 : i64} : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>

// -----

%0 = "t.s"() : () -> tensor<1x8x4x4xf32>
// expected-error@+1 {{'nn.lrn' op size must be positive}}
%1 = nn.lrn %0 {size = -2147483648 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>

// -----

%0 = "t.s"() : () -> tensor<1x4xf16>
%1 = "t.s"() : () -> tensor<1x4xf16>
%2 = "t.s"() : () -> tensor<1x8x4x4xf32>
// expected-error@+1 {{'nn.instance_norm' op scale must have rank 1, but got 'tensor<1x4xf16>'}}
%3 = nn.instance_norm %2, %1, %0 : (tensor<1x8x4x4xf32>, tensor<1x4xf16>, tensor<1x4xf16>) -> tensor<1x8x4x4xf32>

// -----

%0 = "t.s"() : () -> tensor<2xf32>
%1 = "t.s"() : () -> tensor<2xf32>
%2 = "t.s"() : () -> tensor<1x8x4x4xf32>
// expected-error@+1 {{'nn.instance_norm' op x has 8 channels but scale has 2 elements}}
%3 = nn.instance_norm %2, %1, %0 : (tensor<1x8x4x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x8x4x4xf32>

// -----

%0 = "t.s"() : () -> tensor<1xtf32>
// expected-error@+1 {{'nn.lrn' op x must have at least rank 2, but got 'tensor<1xtf32>'}}
%1 = nn.lrn %0 {size = 5 : i64} : (tensor<1xtf32>) -> tensor<1xtf32>

// -----

%0 = "t.s"() : () -> tensor<5xtf32>
// expected-error@+1 {{'nn.lp_pool' op x must have at least rank 3, but got 'tensor<5xtf32>'}}
%1 = nn.lp_pool %0 {kernel = array<i64: 2, 2>, p = 3 : i64} : (tensor<5xtf32>) -> tensor<1x8x3x3xf32>

// -----

func.func @channels(%x: tensor<ui64>, %w: tensor<4x5x3x3xf32>) {
// expected-error@+1 {{'nn.conv' op x and weight must have one rank of at least 3: 'tensor<ui64>' and 'tensor<4x5x3x3xf32>'}}
  %0 = nn.conv %x, %w : (tensor<ui64>, tensor<4x5x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

%0 = "t.s"() : () -> tensor<8x3x2x2xf32>
%1 = "t.s"() : () -> tensor<1x8x4x4xf32>
// expected-error@+1 {{'nn.conv_transpose' op 8 channels do not split into 5 groups}}
%2 = "nn.conv_transpose"(%1, %0) <{groups = 5 : i64, strides = array<i64: 2, 2>}> : (tensor<1x8x4x4xf32>, tensor<8x3x2x2xf32>) -> tensor<1x3x8x8xf32>

// -----

%0 = "t.s"() : () -> tensor<8x3x2x2xf32>
%1 = "t.s"() : () -> tensor<16x1xsi8>
// expected-error@+1 {{'nn.conv_transpose' op x and weight must have one rank of at least 3: 'tensor<16x1xsi8>' and 'tensor<8x3x2x2xf32>'}}
%2 = nn.conv_transpose %1, %0 {strides = array<i64: 2, 2>} : (tensor<16x1xsi8>, tensor<8x3x2x2xf32>) -> tensor<1x3x8x8xf32>

// -----

%0 = "t.s"() : () -> tensor<8x3x2x2xf32>
%1 = "t.s"() : () -> tensor<1x4x4x4xf32>
// expected-error@+1 {{'nn.conv_transpose' op x has 4 channels but weight expects 8}}
%2 = nn.conv_transpose %1, %0 {strides = array<i64: 2, 2>} : (tensor<1x4x4x4xf32>, tensor<8x3x2x2xf32>) -> tensor<1x3x8x8xf32>

// -----

%0 = "t.s"() : () -> tensor<4x8xf32>
%1 = "t.s"() : () -> tensor<0xmemref<*xui64>, 1>
// expected-error@+1 {{'nn.matmul' op operands have different element types: 'tensor<4x8xf32>' and 'tensor<0xmemref<*xui64>, 1 : i64>'}}
%2 = nn.matmul %0, %1 : (tensor<4x8xf32>, tensor<0xmemref<*xui64>, 1>) -> tensor<4x2xf32>

// -----

%s0 = "t.s"() : () -> tensor<i16777215>
%s1 = "t.s"() : () -> tensor<i16777215>
// expected-error@+1 {{'nn.matmul' op operands must have at least rank 1}}
%r2:1 = "nn.matmul"(%s0, %s1) : (tensor<i16777215>, tensor<i16777215>) -> (tensor<i16777215>)

// -----

%0 = "t.s"() : () -> tensor<8xi64>
%1 = "t.s"() : () -> tensor<4x8xf32>
// expected-error@+1 {{'nn.top_k' op k must hold one i64, but got 'tensor<8xi64>'}}
%2:2 = nn.top_k %1, %0 {axis = 1 : i64} : (tensor<4x8xf32>, tensor<8xi64>) -> (tensor<4x?xf32>, tensor<4x?xi64>)

// -----

"func.func"() <{function_type = () -> (), sym_name = "f"}> ({
// expected-error@+1 {{'nn.kernel' op block arguments must have the operands' types}}
"nn.kernel"() ({
^bb0(%a0: tensor<0xi8>, %a1: i8):
}) : () -> ()
"func.return"() : () -> ()
}) : () -> ()

// -----

"func.func"() <{function_type = () -> (), sym_name = "f"}> ({
// expected-error@+1 {{'nn.kernel' op needs a block}}
"nn.kernel"() ({
}) : () -> ()
"func.return"() : () -> ()
}) : () -> ()

// -----

%0 = "t.s"() : () -> tensor<?xi64>
%1 = "t.s"() : () -> tensor<8xf32>
// expected-error@+1 {{'nn.broadcast_dynamic' op shape must have a known length}}
%2 = nn.broadcast_dynamic %1, %0 : (tensor<8xf32>, tensor<?xi64>) -> tensor<?x8xf32>

// -----

%0 = "t.s"() : () -> tensor<4xf32>
// expected-error@+1 {{'nn.broadcast_to' op cannot broadcast 'tensor<4xf32>' to 'tensor<4x8xf32>'}}
%1 = nn.broadcast_to %0 : (tensor<4xf32>) -> tensor<4x8xf32>

// -----

%0 = "t.s"() : () -> tensor<2xf32>
// expected-error@+1 {{'nn.broadcast_to' op dimension 0 of 'tensor<?x8xf32>' is not known; use nn.broadcast_dynamic}}
%1 = nn.broadcast_to %0 : (tensor<2xf32>) -> tensor<?x8xf32>

// -----

func.func @reshapes(%x: tensor<?x16xf32>) -> tensor<?x?xf32> {
  %0 = nn.reshape %x : (tensor<?x16xf32>) -> tensor<?xf32>
  %1 = nn.reshape %0 : (tensor<?xf32>) -> tensor<?xf32>
// expected-error@+1 {{'nn.reshape' op at most one dimension may be unknown, but for those that both shapes begin with; use nn.reshape_dynamic}}
  %2 = nn.reshape %1 : (tensor<?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// -----

func.func @reshape(%x: tensor<3x4xf32>) {
// expected-error@+1 {{'nn.reshape' op cannot change the element type: 'tensor<3x4xf32>' to 'tensor<vector<4xi16777215>>'}}
  %0 = nn.reshape %x : (tensor<3x4xf32>) -> tensor<vector<4xi16777215>>
  return
}

// -----

%0 = "t.s"() : () -> tensor<?xi64>
%1 = "t.s"() : () -> tensor<?x8xf32>
// expected-error@+1 {{'nn.reshape_dynamic' op shape must have a known length}}
%2 = nn.reshape_dynamic %1, %0 : (tensor<?x8xf32>, tensor<?xi64>) -> tensor<?x?xf32>

// -----

%0 = "t.s"() : () -> tensor<1x8x4x4xf32>
// expected-error@+1 {{'nn.avg_pool' op strides and dilations must be positive}}
%1 = nn.avg_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 0>} : (tensor<1x8x4x4xf32>) -> tensor<1x8x2x2xf32>

// -----

%0 = "t.s"() : () -> tensor<16xi1000>
// expected-error@+1 {{'nn.winograd_weight' op x must be a blocked 3x3 kernel of static shape, but got 'tensor<16xi1000>'}}
%1 = nn.winograd_weight %0 : (tensor<16xi1000>) -> tensor<36x32x32xf32>

// -----

%x = "t.s"() : () -> tensor<1x2x4x4x8xf32>
%w = "t.s"() : () -> tensor<2x2x3x3x8x8xf32>
// expected-error@+1 {{'nn.blocked_conv' op strides has 1 elements, expected 2}}
%0 = "nn.blocked_conv"(%x, %w) <{strides = array<i64: 2>}> : (tensor<1x2x4x4x8xf32>, tensor<2x2x3x3x8x8xf32>) -> tensor<1x2x2x2x8xf32>

// -----

%x = "t.s"() : () -> tensor<4x4xf32>
%i = "t.s"() : () -> tensor<4xi64>
// expected-error@+1 {{'nn.scatter_elements' op data and indices differ in rank: 'tensor<4x4xf32>' and 'tensor<4xi64>'}}
%0 = nn.scatter_elements %x, %i, %x {axis = 0 : i64} : (tensor<4x4xf32>, tensor<4xi64>, tensor<4x4xf32>) -> tensor<4x4xf32>

// -----

%x = "t.s"() : () -> tensor<4x4xf32>
%i = "t.s"() : () -> tensor<3x2x1xi64>
// expected-error@+1 {{'nn.gather_nd' op 'tensor<4x4xf32>' and 'tensor<3x2x1xi64>' differ in dimension 0}}
%0 = nn.gather_nd %x, %i {batch_dims = 1 : i64} : (tensor<4x4xf32>, tensor<3x2x1xi64>) -> tensor<3x2xf32>

// -----

// expected-error@+1 {{'nn.concat' op needs at least one operand}}
%0 = "nn.concat"() <{axis = 0 : i64}> : () -> tensor<0xf32>

// -----

%x = "t.s"() : () -> tensor<4xf32>
// expected-error@+1 {{'nn.slice' op elements 2, .., 4 are not all in dimension 0}}
%0 = nn.slice %x {starts = array<i64: 2>} : (tensor<4xf32>) -> tensor<3xf32>

// -----

%x = "t.s"() : () -> tensor<4xf32>
// expected-error@+1 {{'nn.slice' op starts has 2 elements, expected 1}}
%0 = nn.slice %x {starts = array<i64: 2, 1>} : (tensor<4xf32>) -> tensor<2xf32>

// -----

%x = "t.s"() : () -> tensor<1x3x4x4xf32>
%w = "t.s"() : () -> tensor<4x1x3x3xf32>
// expected-error@+1 {{'nn.conv' op 4 output channels do not split into 3 groups}}
%0 = nn.conv %x, %w {groups = 3 : i64} : (tensor<1x3x4x4xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x2x2xf32>

// -----

%x = "t.s"() : () -> tensor<1x3x4x4xf32>
%w = "t.s"() : () -> tensor<3x3x3x3xf64>
// expected-error@+1 {{'nn.conv' op x and weight have different element types: 'tensor<1x3x4x4xf32>' and 'tensor<3x3x3x3xf64>'}}
%0 = nn.conv %x, %w : (tensor<1x3x4x4xf32>, tensor<3x3x3x3xf64>) -> tensor<1x3x2x2xf32>

// -----

%x = "t.s"() : () -> tensor<1x3x4x4xf32>
%w = "t.s"() : () -> tensor<3x3x3x3xf64>
// expected-error@+1 {{'nn.conv_transpose' op x and weight have different element types: 'tensor<1x3x4x4xf32>' and 'tensor<3x3x3x3xf64>'}}
%0 = nn.conv_transpose %x, %w : (tensor<1x3x4x4xf32>, tensor<3x3x3x3xf64>) -> tensor<1x3x6x6xf32>

// -----

%x = "t.s"() : () -> tensor<1x3x4x4xf32>
// expected-error@+1 {{'nn.resize' op cannot resize 'tensor<1x3x4x4xf32>' to 'tensor<1x3x8xf32>'}}
%0 = nn.resize %x : (tensor<1x3x4x4xf32>) -> tensor<1x3x8xf32>

// -----

%x = "t.s"() : () -> tensor<1x3x4x4xf32>
// expected-error@+1 {{'nn.resize' op scales must be given where the result's shape is not known}}
%0 = nn.resize %x : (tensor<1x3x4x4xf32>) -> tensor<1x3x8x?xf32>

// -----

%x = "t.s"() : () -> tensor<1x3x4x4xf32>
// expected-error@+1 {{'nn.resize' op coordinate_transform "tf_crop_and_resize" needs roi}}
%0 = nn.resize %x {coordinate_transform = "tf_crop_and_resize"} : (tensor<1x3x4x4xf32>) -> tensor<1x3x8x8xf32>

// -----

%x = "t.s"() : () -> tensor<3xf32>
// expected-error@+1 {{'nn.broadcast_to' op cannot broadcast 'tensor<3xf32>' to 'tensor<4xf32>'}}
%0 = nn.broadcast_to %x : (tensor<3xf32>) -> tensor<4xf32>

// -----

%x = "t.s"() : () -> tensor<3xf32>
// expected-error@+1 {{'nn.broadcast_to' op cannot broadcast 'tensor<3xf32>' to 'tensor<3xf64>'}}
%0 = nn.broadcast_to %x : (tensor<3xf32>) -> tensor<3xf64>

// -----

%x = "t.s"() : () -> tensor<1x2x1x6x8xf32>
// expected-error@+1 {{'nn.winograd_input' op x must be blocked and made of tiles of 4 and a border, got 'tensor<1x2x1x6x8xf32>'}}
%0 = nn.winograd_input %x {tile = 4 : i64} : (tensor<1x2x1x6x8xf32>) -> tensor<36x2x1x1x1x8xf32>

// -----

%x = "t.s"() : () -> tensor<36x2x1x1x1x8xf32>
%i = "t.s"() : () -> tensor<4x4xf32>
// expected-error@+1 {{'nn.winograd_output' op image must have rows and columns, but got 'tensor<4x4xf32>'}}
%0 = nn.winograd_output %x, %i {tile = 4 : i64} : (tensor<36x2x1x1x1x8xf32>, tensor<4x4xf32>) -> tensor<1x2x4x4x8xf32>

// -----

%x = "t.s"() : () -> tensor<1x2x7x6x8xf32>
// expected-error@+1 {{'nn.winograd_input' op there are tiles of 2 and 4, not of 5}}
%0 = nn.winograd_input %x {tile = 5 : i64} : (tensor<1x2x7x6x8xf32>) -> tensor<36x2x1x1x1x8xf32>

// -----

%x = "t.s"() : () -> tensor<1x2x7x6x8xf32>
// expected-error@+1 {{'nn.winograd_input' op there are strides of 1 and 2, not of 3}}
%0 = nn.winograd_input %x {stride = 3 : i64} : (tensor<1x2x7x6x8xf32>) -> tensor<36x2x1x1x1x8xf32>

// -----

%x = "t.s"() : () -> tensor<35x2x1x1x1x8xf32>
// expected-error@+1 {{'nn.winograd_output' op x must be tiles at 36 points, but got 'tensor<35x2x1x1x1x8xf32>'}}
%0 = nn.winograd_output %x {tile = 4 : i64} : (tensor<35x2x1x1x1x8xf32>) -> tensor<1x2x4x4x8xf32>

// -----

%x, %p = "test.op"() : () -> (tensor<4x8xf32>, tensor<3xi64>)
// expected-error@+1 {{'nn.pad_dynamic' op pads must have 4 elements, but is 'tensor<3xi64>'}}
%0 = nn.pad_dynamic %x, %p : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<?x?xf32>

// -----

%x, %s, %n = "test.op"() : () -> (tensor<4x8xf32>, tensor<2xf32>, tensor<2xi64>)
// expected-error@+1 {{'nn.resize_dynamic' op sizes must have 1 elements, but is 'tensor<2xi64>'}}
%0 = nn.resize_dynamic %x, %s, %n {axes = array<i64: 1>} : (tensor<4x8xf32>, tensor<2xf32>, tensor<2xi64>) -> tensor<4x?xf32>

// -----

%x, %s, %n = "test.op"() : () -> (tensor<4x8xf32>, tensor<2xf32>, tensor<1xi64>)
// expected-error@+1 {{'nn.resize_dynamic' op scales must be 1 numbers of type f32, but is 'tensor<2xf32>'}}
%0 = nn.resize_dynamic %x, %s, %n {axes = array<i64: 1>} : (tensor<4x8xf32>, tensor<2xf32>, tensor<1xi64>) -> tensor<4x?xf32>

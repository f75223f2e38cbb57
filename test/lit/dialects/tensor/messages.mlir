// What no other test provokes of the messages of the dialect tensor.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

"func.func"() <{function_type = () -> (), sym_name = "f"}> ({
// expected-error@+1 {{'tensor.from_elements' op expected 1 elements for tensor<i32>, found 0}}
%r0:1 = "tensor.from_elements"() : () -> (tensor<i32>)
"func.return"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{'tensor.from_elements' op result type must be a statically shaped tensor}}
%r0:1 = "tensor.from_elements"() : () -> (tensor<?x16xvector<16xi64>>)

// -----

%0 = "t.s"() : () -> index
// expected-error@+1 {{'tensor.generate' op must have as many index operands as dynamic extents in the result type}}
%generated = tensor.generate %0 {
} : tensor<8xindex>

// -----

%0 = "t.s"() : () -> index
%1 = "t.s"() : () -> tensor<8x8xf32>
%2 = "t.s"() : () -> f32
// expected-error@+1 {{'tensor.pad' op expected block argument 2 to be an index}}
%padded = tensor.pad %1 low[1, %0] high[1, 2] {
^bb0(%arg0: index, %arg1: i64):
} : tensor<8x8xf32> to tensor<10x?xf32>

// -----

%0 = "t.s"() : () -> index
// expected-error@+1 {{'tensor.generate' op expected a 'tensor.yield' at the end of the body}}
%generated = tensor.generate %0 {
^bb0(%arg0: index):
} : tensor<?xindex>

// -----

"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "example"}> ({
    %0 = "t.s"() : () -> index
    ^bb0(%arg0: index):
// expected-error@+1 {{must have one body argument per input dimension}}
    %1 = "tensor.generate"(%0) ({
      "tensor.yield"(%arg0) : (index) -> ()
    }) : (index) -> tensor<?xindex>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----

%0 = "t.s"() : () -> tensor<3x6xf32>
%1 = "t.s"() : () -> tensor<5x6xf32>
// expected-error@+1 {{'tensor.concat' op rank of concatenated inputs must match result rank}}
%2 = "tensor.concat"(%0, %1) <{dim = 0 : i64}> : (tensor<3x6xf32>, tensor<5x6xf32>) -> tensor<i64>

// -----

%0 = "t.s"() : () -> index
%1 = "t.s"() : () -> tensor<?x4xf32>
// expected-error@+1 {{'tensor.expand_shape' op expected dimension 0 of collapsed type to be static value of 1}}
%expanded = tensor.expand_shape %1 [[0], [1, 2]] output_shape [%0, 2, 2] : tensor<?x4xf32> into tensor<1x2x2xf32>

// -----

%0 = "t.s"() : () -> index
%1 = "t.s"() : () -> tensor<4x4xf32>
%2 = "t.s"() : () -> tensor<8x8xf32>
// expected-error@+1 {{'tensor.insert_slice' op expected the result to have the type of the destination}}
%3 = "tensor.insert_slice"(%1, %2, %0) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: 0, -9223372036854775808>, static_sizes = array<i64: 4, 4>, static_strides = array<i64: 1, 1>}> : (tensor<4x4xf32>, tensor<8x8xf32>, index) -> tensor<3x8xf32>

// -----

%0 = "t.s"() : () -> index
%1 = "t.s"() : () -> tensor<2xvector<3x3xui64>>
%2 = "t.s"() : () -> f32
// expected-error@+1 {{failed to infer expectedType from sourceType 'tensor<2xvector<3x3xui64>>', specified resultType is 'tensor<10x?xf32>'}}
%padded = tensor.pad %1 low[1, %0] high[1, 2] {
} : tensor<2xvector<3x3xui64>> to tensor<10x?xf32>

// -----

%0 = "t.s"() : () -> index
%1 = "t.s"() : () -> tensor<8x8xf32>
%2 = "t.s"() : () -> f32
// expected-error@+1 {{specified type 'tensor<10x?xf32>' does not match the inferred type 'tensor<17x?xf32>'}}
%padded = tensor.pad %1 low[1, %0] high[8, 2] {
} : tensor<8x8xf32> to tensor<10x?xf32>

// -----

%0 = "t.s"() : () -> tensor<2xi64>
%1 = "t.s"() : () -> tensor<2xi64>
// expected-error@+1 {{'tensor.reshape' op element types of source and destination tensor types should be the same}}
%reshape = tensor.reshape %1(%0) : (tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>

// -----

%0 = "t.s"() : () -> tensor<?xf32>
// expected-error@+1 {{'tensor.collapse_shape' op expected reassociation indices to be contiguous}}
%collapsed = tensor.collapse_shape %0 [[0, 1]] : tensor<?xf32> into tensor<?xf32>

// -----

func.func @f(%t: tensor<3x8xf32>) {
// expected-error@+1 {{offset 0 is out-of-bounds: 6 >= 3}}
  %0 = tensor.extract_slice %t[6, 0] [4, 4] [1, 1] : tensor<3x8xf32> to tensor<1x4xf32>
  return
}

// -----

%x = "t.s"() : () -> tensor<4xf32>
%0 = scf.forall (%i) in (4) shared_outs(%t = %x) -> (tensor<4xf32>) {
  scf.forall.in_parallel {
// expected-error@+1 {{'tensor.parallel_insert_slice' op may only insert into an output block argument}}
    tensor.parallel_insert_slice %x into %x[%i] [4] [1] : tensor<4xf32> into tensor<4xf32>
  }
}

// -----

%x = "t.s"() : () -> tensor<4xf32>
// expected-error@+1 {{'tensor.concat' op result type 'tensor<9xf32>' does not match inferred shape 'tensor<8xf32>' static sizes}}
%0 = "tensor.concat"(%x, %x) <{dim = 0 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<9xf32>

// -----

%x = "t.s"() : () -> tensor<4xf32>
// expected-error@+1 {{'tensor.concat' op inputs and result element type must match}}
%0 = "tensor.concat"(%x) <{dim = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf64>

// -----

// expected-error@+1 {{'tensor.concat' op requires at least one input}}
%0 = "tensor.concat"() <{dim = 0 : i64}> : () -> tensor<0xf32>

// -----

%x = "t.s"() : () -> tensor<8xf32>
// expected-error@+1 {{'tensor.expand_shape' op expected number of static shape dims to be equal to the output rank (2) but found 1 inputs instead}}
%0 = "tensor.expand_shape"(%x) <{reassociation = [[0, 1]], static_output_shape = array<i64: 8>}> : (tensor<8xf32>) -> tensor<2x4xf32>

// -----

%x = "t.s"() : () -> tensor<?xf32>
// expected-error@+1 {{'tensor.expand_shape' op mismatch in dynamic dims in output_shape and static_output_shape: static_output_shape has 1 dynamic dims while output_shape has 0 values}}
%0 = "tensor.expand_shape"(%x) <{reassociation = [[0, 1]], static_output_shape = array<i64: -9223372036854775808, 4>}> : (tensor<?xf32>) -> tensor<?x4xf32>

// -----

%x = "t.s"() : () -> tensor<?x4xf32>
// expected-error@+1 {{'tensor.collapse_shape' op expected dimension 0 of collapsed type to be dynamic since one or more of the corresponding dimensions in the expanded type is dynamic}}
%0 = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<8xf32>

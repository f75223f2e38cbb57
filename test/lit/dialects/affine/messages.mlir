// What no other test provokes of the messages of the dialect affine.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

%i = "t.s"() : () -> index
%m = "t.s"() : () -> memref<8xf32>
// expected-error@+1 {{'affine.dma_start' op requires an affine map attribute 'src_map'}}
"affine.dma_start"(%m, %i, %m, %i, %m, %i, %i) {dst_map = affine_map<(d0) -> (d0)>, tag_map = affine_map<(d0) -> (d0)>} : (memref<8xf32>, index, memref<8xf32>, index, memref<8xf32>, index, index) -> ()

// -----

%i = "t.s"() : () -> index
%m = "t.s"() : () -> memref<8xf32>
// expected-error@+1 {{'affine.dma_start' op expected more operands}}
"affine.dma_start"(%m, %i, %m) {src_map = affine_map<(d0) -> (d0)>, dst_map = affine_map<(d0) -> (d0)>, tag_map = affine_map<(d0) -> (d0)>} : (memref<8xf32>, index, memref<8xf32>) -> ()

// -----

%i = "t.s"() : () -> index
%m = "t.s"() : () -> memref<8xf32>
// expected-error@+1 {{'affine.dma_start' op expected DMA destination to be of memref type}}
"affine.dma_start"(%m, %i, %i, %i, %m, %i, %i) {src_map = affine_map<(d0) -> (d0)>, dst_map = affine_map<(d0) -> (d0)>, tag_map = affine_map<(d0) -> (d0)>} : (memref<8xf32>, index, index, index, memref<8xf32>, index, index) -> ()

// -----

%i = "t.s"() : () -> index
%m = "t.s"() : () -> memref<8xf32>
// expected-error@+1 {{'affine.dma_start' op incorrect number of operands}}
"affine.dma_start"(%m, %i, %m, %i, %m, %i) {src_map = affine_map<(d0) -> (d0)>, dst_map = affine_map<(d0) -> (d0)>, tag_map = affine_map<(d0) -> (d0)>} : (memref<8xf32>, index, memref<8xf32>, index, memref<8xf32>, index) -> ()

// -----

%i = "t.s"() : () -> index
%m = "t.s"() : () -> memref<8xf32>
// expected-error@+1 {{'affine.dma_wait' op incorrect number of operands}}
"affine.dma_wait"(%m, %i) {tag_map = affine_map<(d0) -> (d0)>} : (memref<8xf32>, index) -> ()

// -----

%x = "t.s"() : () -> f32
// expected-error@+1 {{'affine.for' op mismatch between the number of loop-carried values and results}}
"affine.for"(%x) <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 1>, step = 1 : index, upperBoundMap = affine_map<() -> (8)>}> ({
^bb0(%i: index, %a: f32):
  affine.yield %a : f32
}) : (f32) -> ()

// -----

// expected-error@+1 {{'affine.parallel' op expected lower bound map to have at least one result}}
"affine.parallel"() <{lowerBoundsGroups = dense<0> : tensor<1xi32>, lowerBoundsMap = affine_map<() -> ()>, reductions = [], steps = [1], upperBoundsGroups = dense<1> : tensor<1xi32>, upperBoundsMap = affine_map<() -> (8)>}> ({
^bb0(%i: index):
  affine.yield
}) : () -> ()

// -----

// expected-error@+1 {{'affine.parallel' op expected lower bounds map to have 1 results}}
"affine.parallel"() <{lowerBoundsGroups = dense<1> : tensor<1xi32>, lowerBoundsMap = affine_map<() -> (0, 1)>, reductions = [], steps = [1], upperBoundsGroups = dense<1> : tensor<1xi32>, upperBoundsMap = affine_map<() -> (8)>}> ({
^bb0(%i: index):
  affine.yield
}) : () -> ()

// -----

// expected-error@+1 {{'affine.parallel' op attribute 'reductions' failed to satisfy constraint: Reduction ops}}
%0 = "affine.parallel"() <{lowerBoundsGroups = dense<1> : tensor<1xi32>, lowerBoundsMap = affine_map<() -> (0)>, reductions = [unit], steps = [1], upperBoundsGroups = dense<1> : tensor<1xi32>, upperBoundsMap = affine_map<() -> (8)>}> ({
^bb0(%i: index):
  %x = "t.s"() : () -> f32
  affine.yield %x : f32
}) : () -> f32

// -----

func.func @f() {
// expected-error@+1 {{'affine.yield' op only terminates affine.if/for/parallel regions}}
  affine.yield
}

// -----

%i = "t.s"() : () -> index
// expected-error@+1 {{'affine.apply' op mapping must produce one value}}
%0 = "affine.apply"(%i) <{map = affine_map<(d0) -> (d0, d0)>}> : (index) -> index

// What has no form in the llvm dialect is an error that names the operation.
// RUN: nn-opt --lower-to-llvm --verify-diagnostics --split-input-file %s

func.func @unranked(%m: memref<4xf32>) {
  // expected-error @below {{'memref.cast' op unranked memrefs have no form in the llvm dialect}}
  %u = memref.cast %m : memref<4xf32> to memref<*xf32>
  return
}

// -----

// expected-error @below {{'func.func' op type tensor<4xf32> has no form in the llvm dialect}}
func.func @tensors(%t: tensor<4xf32>) {
  return
}

// -----

func.func @scan(%v: vector<4xf32>, %s: vector<f32>) {
  // expected-error @below {{'vector.vscale' has no lowering to the llvm dialect}}
  %n = vector.vscale
  return
}

// -----

func.func @base(%m: memref<4xf32, strided<[1], offset: ?>>) -> f32 {
  %c0 = arith.constant 0 : index
  // expected-error @below {{needs the start of the buffer, which is not known}}
  %v = memref.reinterpret_cast %m to offset: [0], sizes: [2], strides: [1] : memref<4xf32, strided<[1], offset: ?>> to memref<2xf32>
  %x = memref.load %v[%c0] : memref<2xf32>
  return %x : f32
}

// -----

func.func @a(%x: memref<4xf32>) attributes {nn.entry, nn.output_names = []} {
  return
}
// expected-error @below {{several functions are marked nn.entry: @a, @b}}
func.func @b(%x: memref<4xf32>) attributes {nn.entry, nn.output_names = []} {
  return
}

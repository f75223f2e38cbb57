// What the verifier rejects, in upstream's words.
// RUN: nn-opt --split-input-file --verify-diagnostics %s

func.func @f(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{'affine.load' op affine map num results must equal memref rank}}
  affine.for %k = 0 to 8 { %0 = affine.load %m[%k] : memref<8x8xf32> }
  return
}

// -----

func.func @f(%m: memref<8x8xf32>, %v: f32) {
  // expected-error @+1 {{'affine.store' op affine map num results must equal memref rank}}
  affine.for %k = 0 to 8 { affine.store %v, %m[%k] : memref<8x8xf32> }
  return
}

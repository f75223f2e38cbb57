// nn-opt --lower-to-llvm
func.func @f(%m: memref<4xf32>, %i: index) -> f32 {
  %0 = memref.load %m[%i] : memref<4xf32>
  %1 = arith.addf %0, %0 : f32
  return %1 : f32
}

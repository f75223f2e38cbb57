// nn-opt --inline
func.func private @twice(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}
func.func @main(%x: f32) -> f32 {
  %0 = call @twice(%x) : (f32) -> f32
  %1 = call @twice(%0) : (f32) -> f32
  return %1 : f32
}

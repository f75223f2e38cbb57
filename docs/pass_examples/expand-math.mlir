// nn-opt --expand-math
func.func @f(%x: f32) -> f32 {
  %0 = math.exp2 %x : f32
  return %0 : f32
}

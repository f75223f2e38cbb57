// nn-opt --symbol-dce
func.func private @unused()
func.func private @used(%a: i32) -> i32 {
  return %a : i32
}
func.func @main(%a: i32) -> i32 {
  %0 = call @used(%a) : (i32) -> i32
  return %0 : i32
}

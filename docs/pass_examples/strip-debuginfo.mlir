// nn-opt --strip-debuginfo --mlir-print-debuginfo
func.func @f(%a: i32 loc("model.py":3:7)) -> i32 {
  %0 = arith.addi %a, %a : i32 loc("sum")
  return %0 : i32
}

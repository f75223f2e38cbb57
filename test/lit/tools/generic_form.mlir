// --mlir-print-op-generic prints a form that needs no dialect, and reads it back.
// RUN: nn-opt --mlir-print-op-generic %s | filecheck %s
// RUN: nn-opt --mlir-print-op-generic %s | nn-opt | filecheck %s --check-prefix=BACK

// CHECK: "builtin.module"() ({
// CHECK:   "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "f"}> ({
// CHECK:   ^bb0(%[[X:.*]]: tensor<4xf32>):
// CHECK:     %[[R:.*]] = "nn.relu"(%[[X]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:     "func.return"(%[[R]]) : (tensor<4xf32>) -> ()

// BACK: func.func @f(%[[X:.*]]: tensor<4xf32>) -> tensor<4xf32> {
// BACK:   nn.relu %[[X]] : (tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A reproducer keeps the data that the text gave, in one section with the pipeline.
// RUN: nn-opt --cse --mlir-generate-reproducer=%t.mlir %s | filecheck %s --check-prefix=RESULT
// RUN: cat %t.mlir | filecheck %s
// RUN: mlir-opt-22 --run-reproducer %t.mlir | filecheck %s --check-prefix=DATA
// RUN: nn-opt --run-reproducer %t.mlir | filecheck %s --check-prefix=DATA

// CHECK:      {-#
// CHECK-NEXT:   dialect_resources: {
// CHECK-NEXT:     builtin: {
// CHECK-NEXT:       blob: "0x04000000010000000200000003000000"
// CHECK-NEXT:     }
// CHECK-NEXT:   },
// CHECK-NEXT:   external_resources: {
// CHECK-NEXT:     mlir_reproducer: {
// CHECK-NEXT:       pipeline: "builtin.module(cse)",
// CHECK:      #-}
// CHECK-NOT:  {-#

// RESULT: other_tool

// DATA: dense_resource<blob>
// DATA: blob: "0x04000000010000000200000003000000"
func.func @f() -> tensor<3xi32> {
  %r = arith.constant dense_resource<blob> : tensor<3xi32>
  return %r : tensor<3xi32>
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x04000000010000000200000003000000"
    }
  },
  external_resources: {
    other_tool: {
      key: "value"
    }
  }
#-}

// Resources whose text is longer than the limit are left out, as mlir-opt leaves them out.
// RUN: nn-opt --mlir-elide-resource-strings-if-larger=5 %s | filecheck %s --check-prefix=FIVE
// RUN: nn-opt --mlir-elide-resource-strings-if-larger=20 %s | filecheck %s --check-prefix=TWENTY
// RUN: nn-opt --mlir-elide-resource-strings-if-larger=36 %s | filecheck %s --check-prefix=ALL
// RUN: nn-opt --mlir-elide-resource-strings-if-larger=20 %s -o %t.ours.mlir
// RUN: mlir-opt-22 --mlir-elide-resource-strings-if-larger=20 %s -o %t.theirs.mlir
// RUN: diff %t.ours.mlir %t.theirs.mlir

// FIVE:      {-#
// FIVE-NEXT:   external_resources: {
// FIVE-NEXT:     foo: {
// FIVE-NEXT:       on: true
// FIVE-NEXT:     }

// TWENTY-NOT: blob:
// TWENTY:     on: true,
// TWENTY-NEXT: short: "0x08000000AABB"

// ALL: blob: "0x04000000010000000200000003000000"
// ALL: text: "a string of some length",
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
    foo: {
      text: "a string of some length",
      on: true,
      short: "0x08000000AABB"
    }
  }
#-}

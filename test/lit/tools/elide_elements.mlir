// Large elements are left out or written in hexadecimal, above the number that the flag gives.
// RUN: nn-opt --mlir-elide-elementsattrs-if-larger=4 %s | filecheck %s --check-prefix=ELIDE
// RUN: nn-opt --mlir-elide-elementsattrs-if-larger=5 %s | filecheck %s --check-prefix=KEEP
// RUN: nn-opt --mlir-print-elementsattrs-with-hex-if-larger=4 %s | filecheck %s --check-prefix=HEX
// RUN: nn-opt --mlir-print-elementsattrs-with-hex-if-larger=5 %s | filecheck %s --check-prefix=KEEP
// RUN: nn-opt --mlir-print-elementsattrs-with-hex-if-larger=-1 %s | filecheck %s --check-prefix=KEEP
// RUN: nn-opt --mlir-elide-elementsattrs-if-larger=4 %s | mlir-opt-22 | filecheck %s --check-prefix=ELIDE
// RUN: not nn-opt --mlir-elide-elementsattrs-if-larger=many %s 2>&1 | filecheck %s --check-prefix=ERROR

// ELIDE: dense_resource<__elided__> : tensor<5xi32>
// ELIDE: dense<2> : tensor<50xi32>
// ELIDE: dense_resource<__elided__> : tensor<1x5xf32>
// KEEP:  dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
// KEEP:  dense<2> : tensor<50xi32>
// HEX:   dense<"0x0100000002000000030000000400000005000000"> : tensor<5xi32>
// HEX:   dense<2> : tensor<50xi32>
// ERROR: error: nn-opt: option '--mlir-elide-elementsattrs-if-larger' takes a whole number, not 'many'
func.func @f() -> (tensor<5xi32>, tensor<50xi32>, tensor<1x5xf32>) {
  %0 = arith.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  %1 = arith.constant dense<2> : tensor<50xi32>
  %2 = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<1x5xf32>
  return %0, %1, %2 : tensor<5xi32>, tensor<50xi32>, tensor<1x5xf32>
}

// --mlir-pass-statistics says what passes counted, by place in the pipeline or by pass.
// RUN: nn-opt --pass-pipeline='builtin.module(func.func(cse),canonicalize,cse)' --mlir-pass-statistics %s 2>&1 | filecheck %s
// RUN: nn-opt --pass-pipeline='builtin.module(func.func(cse),canonicalize,cse)' --mlir-pass-statistics --mlir-pass-statistics-display=list %s 2>&1 | filecheck %s --check-prefix=LIST

// CHECK:      ===-------------------------------------------------------------------------===
// CHECK-NEXT:                          ... Pass statistics report ...
// CHECK-NEXT: ===-------------------------------------------------------------------------===
// CHECK-NEXT: 'func.func' Pipeline
// CHECK-NEXT:   CSE
// CHECK-NEXT:     (S) 2 num-cse'd - Number of operations CSE'd
// CHECK-NEXT:     (S) 0 num-dce'd - Number of operations DCE'd
// CHECK-NEXT: Canonicalizer
// CHECK-NEXT: CSE
// CHECK-NEXT:   (S) 0 num-cse'd - Number of operations CSE'd
// CHECK-NEXT:   (S) 0 num-dce'd - Number of operations DCE'd

// LIST:      CSE
// LIST-NEXT:   (S) 2 num-cse'd - Number of operations CSE'd
// LIST-NEXT:   (S) 0 num-dce'd - Number of operations DCE'd
// LIST-NEXT: Canonicalizer
// LIST-NOT:  CSE
func.func @f(%a: f32) -> f32 {
  %0 = arith.mulf %a, %a : f32
  %1 = arith.mulf %a, %a : f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
func.func @g(%a: f32) -> f32 {
  %0 = arith.mulf %a, %a : f32
  %1 = arith.mulf %a, %a : f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}

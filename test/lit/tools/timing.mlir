// --mlir-timing prints where the time went: parsing, verifying, each pass, printing, and the total.
// RUN: nn-opt --pass-pipeline='builtin.module(func.func(cse,canonicalize),cse)' --mlir-timing %s 2>&1 | filecheck %s
// RUN: nn-opt --pass-pipeline='builtin.module(func.func(cse,canonicalize),cse)' --mlir-timing --verify-each=0 %s 2>&1 | filecheck %s --check-prefix=BARE
// RUN: nn-opt --pass-pipeline='builtin.module(func.func(cse,canonicalize),cse)' --mlir-timing --mlir-timing-display=list %s 2>&1 | filecheck %s --check-prefix=LIST

// CHECK:      ===-------------------------------------------------------------------------===
// CHECK-NEXT:                          ... Execution time report ...
// CHECK-NEXT: ===-------------------------------------------------------------------------===
// CHECK-NEXT:   Total Execution Time: {{[0-9.]+}} seconds
// CHECK-EMPTY:
// CHECK-NEXT:   ----Wall Time----  ----Name----
// CHECK-NEXT:  {{ *[0-9.]+ \( *[0-9.]+%\)}}  Parser
// CHECK-NEXT:  {{ *[0-9.]+ \( *[0-9.]+%\)}}  Verifier
// CHECK-NEXT:  {{ *[0-9.]+ \( *[0-9.]+%\)}}  'func.func' Pipeline
// CHECK-NEXT:  {{ *[0-9.]+ \( *[0-9.]+%\)}}    CSE
// CHECK-NEXT:  {{ *[0-9.]+ \( *[0-9.]+%\)}}      (V) Verifier
// CHECK-NEXT:  {{ *[0-9.]+ \( *[0-9.]+%\)}}    Canonicalizer
// CHECK-NEXT:  {{ *[0-9.]+ \( *[0-9.]+%\)}}      (V) Verifier
// CHECK-NEXT:  {{ *[0-9.]+ \( *[0-9.]+%\)}}  CSE
// CHECK-NEXT:  {{ *[0-9.]+ \( *[0-9.]+%\)}}    (V) Verifier
// CHECK-NEXT:  {{ *[0-9.]+ \( *[0-9.]+%\)}}  Output
// CHECK-NEXT:  {{ *[0-9.]+ \( *[0-9.]+%\)}}  Rest
// CHECK-NEXT:  {{ *[0-9.]+}} (100.0%)  Total

// BARE-NOT:  (V) Verifier

// In the list the two runs of CSE are one row; the rows are sorted by time, root first.
// LIST:      ----Wall Time----  ----Name----
// LIST-NEXT: (100.0%)  root
// LIST-DAG:  {{^ *[0-9.]+ \( *[0-9.]+%\)}}  Parser
// LIST-DAG:  {{^ *[0-9.]+ \( *[0-9.]+%\)}}  CSE
// LIST-DAG:  {{^ *[0-9.]+ \( *[0-9.]+%\)}}  Canonicalizer
// LIST-DAG:  {{^ *[0-9.]+ \( *[0-9.]+%\)}}  (V) Verifier
// LIST:      Rest
// LIST-NEXT: Total
// LIST-NOT:  CSE
func.func @f(%a: f32) -> f32 {
  return %a : f32
}
func.func @g(%a: f32) -> f32 {
  return %a : f32
}

// A part that fails leaves its place empty; the others are printed, and the exit code is 1.
// RUN: not nn-opt --split-input-file %s 2>&1 | filecheck %s

// CHECK-DAG:  split_failures.mlir:17:3: error: unknown operation 'nope'
// CHECK-DAG:  func.func private @a()
// CHECK:      {{^}}// -----
// CHECK-NEXT: {{^}}// -----
// CHECK-NEXT: module {
// CHECK-NEXT:   func.func private @b()

func.func private @a()

// -----

func.func @failing() {
  // The position is that in the whole file.
  nope
  return
}

// -----

func.func private @b()

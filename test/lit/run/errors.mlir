// Faulty arguments give one error that says what was found and what is expected.
// RUN: not nn-run %s --entry main --args 'f32[3]:ones' 2>&1 | filecheck %s --check-prefix=COUNT
// RUN: not nn-run %s --args 'f32[3]:ones,i32:1' 2>&1 | filecheck %s --check-prefix=SHAPE
// RUN: not nn-run %s --args 'f32[2]:ones,f32:1' 2>&1 | filecheck %s --check-prefix=ELEMENT
// RUN: not nn-run %s --args 'f32[2]:[1,2,3],1' 2>&1 | filecheck %s --check-prefix=NUMBERS
// RUN: not nn-run %s --args 'f32[2]:oens,1' 2>&1 | filecheck %s --check-prefix=WORD
// RUN: not nn-run %s --args 'none.npy,1' 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not nn-run %s --args 'ones,3000000000000' 2>&1 | filecheck %s --check-prefix=RANGE
// RUN: not nn-run %s --args '[1,2,1' 2>&1 | filecheck %s --check-prefix=BRACKET
// RUN: not nn-run %s --entry other --args '1' 2>&1 | filecheck %s --check-prefix=ENTRY
// RUN: not nn-run %s --args 'ones,0' 2>&1 | filecheck %s --check-prefix=DIVISION
// RUN: not nn-run %s --args 'ones,1' --max-steps 1 2>&1 | filecheck %s --check-prefix=STEPS
// RUN: not nn-run %s --args 'ones,1' --compile --trace 2>&1 | filecheck %s --check-prefix=TRACE

// COUNT: error: nn-run: '@main' takes 2 arguments (tensor<2xf32>, i32), but --args gives 1
// SHAPE: error: nn-run: argument 0 ('f32[3]:ones'): the function takes tensor<2xf32>, not f32[3]
// ELEMENT: error: nn-run: argument 1 ('f32:1'): the function takes i32, not f32
// NUMBERS: error: nn-run: argument 0 ('f32[2]:[1,2,3]'): 2 elements expected, found 3
// WORD: error: nn-run: argument 0 ('f32[2]:oens'): 'oens' is not of type f32, and none of random, zeros, ones, arange
// FILE: error: nn-run: argument 0 ('none.npy'): cannot read '{{.*}}none.npy': No such file or directory
// RANGE: error: nn-run: argument 1 ('3000000000000'): 3000000000000 does not fit in i32
// BRACKET: error: nn-run: cannot read the arguments '[1,2,1'
// ENTRY: error: nn-run: there is no function '@other'; there are @main
// DIVISION: error: 'arith.divsi' op divides by zero
// STEPS: error: stopped after 1 operations
// TRACE: error: nn-run: --trace needs --interpret
func.func @main(%x: tensor<2xf32>, %n: i32) -> (tensor<2xf32>, i32) {
  %seven = arith.constant 7 : i32
  %q = arith.divsi %seven, %n : i32
  return %x, %q : tensor<2xf32>, i32
}

// --no-implicit-module takes one operation as it is; without it a module is put around several.
// RUN: nn-opt --no-implicit-module %s | filecheck %s
// RUN: nn-opt --no-implicit-module --cse %s | filecheck %s
// RUN: nn-opt --no-implicit-module --pass-pipeline='func.func(cse)' %s | filecheck %s
// RUN: nn-opt %s | filecheck %s --check-prefix=MODULE
// RUN: not nn-opt --pass-pipeline='func.func(cse)' %s 2>&1 | filecheck %s --check-prefix=WRONG

// CHECK-NOT: module
// CHECK:     {{^}}func.func @f
// MODULE:      {{^}}module {
// MODULE-NEXT:   func.func @f
// WRONG: error: can't run 'func.func' pass manager on 'builtin.module' op
func.func @f(%a: f32) -> f32 {
  return %a : f32
}

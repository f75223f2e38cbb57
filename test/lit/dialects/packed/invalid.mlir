// What packed.dot does not take.
// RUN: nn-opt --verify-diagnostics --split-input-file %s

func.func @width(%a: i64) -> i64 {
  // expected-error @+1 {{operand #0 must be 32-bit words}}
  %0 = packed.dot "s16" %a, %a : i64
  return %0 : i64
}

// -----

func.func @packing(%a: i32) -> i32 {
  // expected-error @+1 {{one of "u8s8", "s8", "s16"}}
  %0 = packed.dot "s4" %a, %a : i32
  return %0 : i32
}

// --verify-diagnostics compares what is said with the comments beside the faulty lines.
// RUN: nn-opt --split-input-file --verify-diagnostics %s

func.func @add(%a: i32, %b: f32) -> i32 {
  // expected-error@+1 {{expects different type than prior uses: 'i32' vs 'f32'}}
  %0 = arith.addi %a, %b : i32
  return %0 : i32
}

// -----

func.func @result() -> i32 {
  %0 = arith.constant 1.0 : f32
  return %0 : f32 // expected-error {{type of return operand 0 ('f32') doesn't match function result type ('i32')}}
}

// -----

func.func @terminator(%a: i32) {
  // expected-error@below {{block with no terminator}}
  %0 = arith.addi %a, %a : i32
}

// -----

// expected-error@+1 {{'their.op' is of the unregistered dialect}}
"their.op"() : () -> ()

// What the verifier says of branches and loops.
// RUN: nn-opt %s --split-input-file --verify-diagnostics

func.func @f(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<3xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'nn.if' op region #1 must yield 'tensor<4xf32>', but yields 'tensor<3xf32>'}}
  %y = nn.if %c -> (tensor<4xf32>) {
    nn.yield %a : tensor<4xf32>
  } else {
    nn.yield %b : tensor<3xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%c: tensor<i1>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'nn.while' op the 'before' region must end in 'nn.condition'}}
  %y = nn.while (%x = %a) : (tensor<4xf32>) -> (tensor<4xf32>) {
    nn.yield %x : tensor<4xf32>
  } do {
  ^bb0(%x: tensor<4xf32>):
    nn.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%c: tensor<i1>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'nn.while' op the 'after' region must yield 'tensor<4xf32>', 'tensor<4xf32>', but yields 'tensor<4xf32>'}}
  %y, %s = nn.while (%x = %a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
    nn.condition(%c)
  } do {
  ^bb0(%x: tensor<4xf32>):
    nn.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%c: tensor<i1>, %a: tensor<4xf32>) -> tensor<f32> {
  // expected-error @+1 {{'nn.while' op stacks rows to a 'tensor<f32>', expected one more dimension}}
  %y, %s = nn.while (%x = %a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
    nn.condition(%c)
  } do {
  ^bb0(%x: tensor<4xf32>):
    nn.yield %x, %x : tensor<4xf32>, tensor<4xf32>
  }
  return %s : tensor<f32>
}

// -----

func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32>
func.func @f(%c: tensor<i1>, %a: tensor<3xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'nn.call_if' op 'g' is a (tensor<4xf32>) -> tensor<4xf32>, which does not take the operands}}
  %y = nn.call_if %c, @g, @g(%a) : (tensor<3xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @f(%c: tensor<i1>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'nn.call_if' op 'g' does not reference a valid function}}
  %y = nn.call_if %c, @g, @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @missing(%n: tensor<2xi64>) -> tensor<i1> {
  // expected-error@+1 {{'v0 == n2' has an operand that is missing or of another kind}}
  %p = nn.holds %n {code = "n0 // 4; v0 == n2"} : (tensor<2xi64>) -> tensor<i1>
  func.return %p : tensor<i1>
}

// -----

func.func @kind(%n: tensor<2xi64>) -> tensor<i1> {
  // expected-error@+1 {{'v0 and n1' has an operand that is missing or of another kind}}
  %p = nn.holds %n {code = "n0 < 4; v0 and n1"} : (tensor<2xi64>) -> tensor<i1>
  func.return %p : tensor<i1>
}

// -----

func.func @remainder(%n: tensor<2xi64>) -> tensor<i1> {
  // expected-error@+1 {{'n0 % 0.5' has an operand that is missing or of another kind}}
  %p = nn.holds %n {code = "n0 % 0.5; v0 == n1"} : (tensor<2xi64>) -> tensor<i1>
  func.return %p : tensor<i1>
}

// -----

func.func @no_float(%n: tensor<2xi64>) -> tensor<i1> {
  // expected-error@+1 {{'1e999' does not fit 64 bits}}
  %p = nn.holds %n {code = "n0 < 1e999"} : (tensor<2xi64>) -> tensor<i1>
  func.return %p : tensor<i1>
}

// -----

func.func @no_step(%n: tensor<2xi64>) -> tensor<i1> {
  // expected-error@+1 {{'n0 ** 2' is not a step of the form 'a operator b'}}
  %p = nn.holds %n {code = "n0 ** 2"} : (tensor<2xi64>) -> tensor<i1>
  func.return %p : tensor<i1>
}

// -----

func.func @no_condition(%n: tensor<2xi64>) -> tensor<i1> {
  // expected-error@+1 {{the last step 'n0 + n1' is not a condition}}
  %p = nn.holds %n {code = "n0 + n1"} : (tensor<2xi64>) -> tensor<i1>
  func.return %p : tensor<i1>
}

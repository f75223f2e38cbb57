// Ops on strings, sequences, optionals and maps say what is wrong with their types.
// RUN: nn-opt --split-input-file --verify-diagnostics %s

func.func @position(%s: !nn.sequence<tensor<4xf32>>, %i: tensor<2xi64>) {
  // expected-error @below {{a position must be one integer, but got 'tensor<2xi64>'}}
  %0 = nn.sequence_at %s, %i : (!nn.sequence<tensor<4xf32>>, tensor<2xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @element(%s: !nn.sequence<tensor<4xf32>>, %x: tensor<4xi64>) {
  // expected-error @below {{is 'tensor<4xf32>' or 'tensor<4xi64>'}}
  %0 = nn.sequence_insert %s, %x :
      (!nn.sequence<tensor<4xf32>>, tensor<4xi64>) -> !nn.sequence<tensor<4xf32>>
  return
}

// -----

func.func @result(%s: !nn.sequence<tensor<4xf32>>) {
  // expected-error @below {{infers result type 'tensor<?xf32>', but got 'tensor<4x4xf32>'}}
  %0 = nn.sequence_concat %s {axis = 0 : i64} : (!nn.sequence<tensor<4xf32>>) -> tensor<4x4xf32>
  return
}

// -----

func.func @none(%o: !nn.optional<none>) {
  // expected-error @below {{the optional has no value}}
  %0 = nn.optional_get_element %o : (!nn.optional<none>) -> tensor<f32>
  return
}

// -----

func.func @pattern(%x: tensor<2x!nn.string>) {
  // expected-error @below {{the pattern is not valid}}
  %0 = nn.regex_match %x {pattern = "(a"} : (tensor<2x!nn.string>) -> tensor<2xi1>
  return
}

// -----

func.func @rewriting(%x: tensor<2x!nn.string>) {
  // expected-error @below {{the pattern is not valid}}
  %0 = nn.regex_replace %x {pattern = "a", rewrite = "\\1"} : (tensor<2x!nn.string>) -> tensor<2x!nn.string>
  return
}

// -----

func.func @key(%x: tensor<2x!nn.string>) {
  // expected-error @below {{a key must have two integers}}
  %0 = nn.string_hash %x {key = array<i64: 1>} : (tensor<2x!nn.string>) -> tensor<2xi64>
  return
}

// -----

func.func @keys(%x: tensor<2xi64>) {
  // expected-error @below {{keys are 'tensor<1x!nn.string>', but x is 'tensor<2xi64>'}}
  %0 = nn.lookup %x {
      keys = dense<"a"> : tensor<1x!nn.string>, values = dense<1> : tensor<1xi64>,
      default = dense<0> : tensor<i64>} : (tensor<2xi64>) -> tensor<2xi64>
  return
}

// -----

func.func @rows(%x: tensor<2x3xf32>) {
  // expected-error @below {{x must have rows of 2 elements, but got 'tensor<2x3xf32>'}}
  %0 = nn.zip_map %x {keys = dense<[1, 2]> : tensor<2xi64>} :
      (tensor<2x3xf32>) -> !nn.sequence<!nn.map<i64, f32>>
  return
}

// -----

func.func @branch(%c: tensor<i1>, %s: !nn.sequence<tensor<4xf32>>) {
  // expected-error @below {{region #0 must yield 'tensor<4xf32>', but yields '!nn.sequence<tensor<4xf32>>'}}
  %0 = nn.if %c -> (tensor<4xf32>) {
    nn.yield %s : !nn.sequence<tensor<4xf32>>
  } else {
    nn.yield %s : !nn.sequence<tensor<4xf32>>
  }
  return
}

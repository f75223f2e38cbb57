// What no other test provokes of the messages of lowering.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(lower-all)'

module {
// expected-error@+1 {{@example does not end in func.return}}
  func.func @example() {
    %0 = "t.s"() : () -> tensor<4xf32>
  }
}

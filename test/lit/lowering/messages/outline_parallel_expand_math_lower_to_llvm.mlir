// What no other test provokes of the messages of lowering.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(outline-parallel,expand-math,lower-to-llvm)'

// expected-error@+1 {{'vector.vscale' has no lowering to the llvm dialect at the top of a module}}
%n = vector.vscale

// -----

  "func.func"() <{function_type = () -> (), sym_name = "example"}> ({
// expected-error@+1 {{'vector.step' op scalable vectors are not supported: vector<[4]xindex>}}
    %0 = "vector.step"() : () -> vector<[4]xindex>
    "func.return"() : () -> ()
  }) : () -> ()
"builtin.module"() ({
}) : () -> ()

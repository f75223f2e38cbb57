// What no other test provokes of the messages of lowering.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(lower-to-llvm)'

"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "example"}> ({
// expected-error@+1 {{'ub.poison' op elements of type memref<0x?xi128> cannot be in memory}}
    %0 = "ub.poison"() <{value = #ub.poison}> : () -> memref<4xmemref<0x?xi128>>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// What no other test provokes of the messages of the dialect func.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// expected-error@+1 {{'func.func' op expects argument attribute dictionary to be a DictionaryAttr}}
"func.func"() <{arg_attrs = [() -> i32, 0x7F : f8E5M2], function_type = (f32, f32) -> f32, sym_name = "half", sym_visibility = "private"}> ({
}) : () -> ()

// -----

// expected-error@+1 {{'func.func' op visibility expected to be one of ["public", "private", "nested"], but got "t.s"}}
"func.func"() <{function_type = (f32) -> i32, sym_name = "g", sym_visibility = "t.s"}> ({
  %0 = "func.constant"() <{value = @g}> : () -> ((f32) -> i32)
}) : () -> ()

// -----

%f = "t.s"() : () -> ((i32) -> f32)
%x = "t.s"() : () -> i64
// expected-error@+1 {{'func.call_indirect' op failed to verify that callee input types match argument types}}
%0 = "func.call_indirect"(%f, %x) : ((i32) -> f32, i64) -> f32

// -----

%f = "t.s"() : () -> ((i32) -> f32)
%x = "t.s"() : () -> i32
// expected-error@+1 {{'func.call_indirect' op failed to verify that callee result types match result types}}
%0 = "func.call_indirect"(%f, %x) : ((i32) -> f32, i32) -> i64

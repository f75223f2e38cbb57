// What no other test provokes of the messages of the dialect cf.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

"func.func"() <{function_type = (i32) -> i32, sym_name = "f"}> ({
^bb0(%arg0: i32):
// expected-error@+1 {{'cf.switch' op 'case_operand_segments' do not match the case operands}}
  "cf.switch"(%arg0, %arg0)[^bb1, ^bb2] <{case_operand_segments = array<i32: 8>, case_values = dense<42> : vector<1xi32>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i32) -> ()
^bb1(%0: i32):
  "func.return"(%0) : (i32) -> ()
^bb2:
  "func.return"(%arg0) : (i32) -> ()
}) : () -> ()

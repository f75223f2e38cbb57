// What no other test provokes of the messages of the dialect schedule.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

"schedule.for"() <{kernel = @relu}> ({
^bb0(%arg0: !schedule.stage):
// expected-error@+1 {{'schedule.loops' op has 2 results for 8 loops}}
  %0:2 = "schedule.loops"(%arg0) <{count = 8 : i64}> : (!schedule.stage) -> (!schedule.loop, !schedule.loop)
}) : () -> ()

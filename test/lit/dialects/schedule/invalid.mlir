// Schedules that break a rule of the dialect.
// RUN: nn-opt %s --split-input-file --verify-diagnostics

schedule.for @f {
^bb0(%a: !schedule.stage):
  %i, %j = schedule.loops 2 of %a
  // expected-error @+1 {{expects a factor of at least 1, found 0}}
  %o, %p = schedule.split %i by 0
}

// -----

// expected-error @+1 {{block arguments must be !schedule.stage, found index}}
schedule.for @f {
^bb0(%a: index):
}

// -----

schedule.for @f {
^bb0(%a: !schedule.stage):
  // expected-error @+1 {{is not a scheduling operation}}
  %c = arith.constant 1 : index
}

// -----

// expected-error @+1 {{expects parent op 'schedule.for'}}
"schedule.reorder"() : () -> ()

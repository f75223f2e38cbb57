// The operations of a schedule keep the names of stages and loops; the generic form is valid MLIR.
// RUN: nn-opt %s | nn-opt | filecheck %s
// RUN: nn-opt --mlir-print-op-generic %s | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: schedule.for @conv {
// CHECK-NEXT:  ^bb0(%fill: !schedule.stage, %conv: !schedule.stage):
// CHECK-NEXT:    schedule.inline %fill
// CHECK-NEXT:    %copy = schedule.cache 1 of %conv order [1, 0]
// CHECK-NEXT:    %n, %c, %k = schedule.loops 3 of %conv
// CHECK-NEXT:    %nc = schedule.collapse %n, %c
// CHECK-NEXT:    %o, %i = schedule.split %nc by 32
// CHECK-NEXT:    %u, %v = schedule.split %i by 8
// CHECK-NEXT:    schedule.reorder %o, %k, %u, %v
// CHECK-NEXT:    schedule.parallel %o
// CHECK-NEXT:    schedule.unroll %u
// CHECK-NEXT:    schedule.unroll partial %k
// CHECK-NEXT:    schedule.vectorize %v
// CHECK-NEXT:    schedule.accumulate %k
// CHECK-NEXT:    schedule.prefetch 1 of %conv ahead 1024
// CHECK-NEXT:    schedule.fuse %fill at %o
// CHECK-NEXT:    schedule.fuse rolled ordered %copy at %o
// GENERIC: "schedule.for"() <{kernel = @conv}> ({
// GENERIC: "schedule.loops"(%{{.*}}) <{count = 3 : i64}> : (!schedule.stage) -> (!schedule.loop, !schedule.loop, !schedule.loop)
schedule.for @conv {
^bb0(%fill: !schedule.stage, %conv: !schedule.stage):
  schedule.inline %fill
  %copy = schedule.cache 1 of %conv order [1, 0]
  %n, %c, %k = schedule.loops 3 of %conv
  %nc = schedule.collapse %n, %c
  %o, %i = schedule.split %nc by 32
  %u, %v = schedule.split %i by 8
  schedule.reorder %o, %k, %u, %v
  schedule.parallel %o
  schedule.unroll %u
  schedule.unroll partial %k
  schedule.vectorize %v
  schedule.accumulate %k
  schedule.prefetch 1 of %conv ahead 1024
  schedule.fuse %fill at %o
  schedule.fuse rolled ordered %copy at %o
}

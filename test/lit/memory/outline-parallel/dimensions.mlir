// A parallel loop of several dimensions becomes one over the product of their lengths, from
// whose index the body finds its own; bounds and steps that are no constants are passed.
// RUN: nn-opt --outline-parallel %s | filecheck %s

// CHECK-LABEL: func.func private @fill_parallel_0
// CHECK-SAME:    %[[BEGIN:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index
// CHECK-SAME:    %[[LOW:[a-z0-9]+]]: index, %[[HIGH:[a-z0-9]+]]: index, %[[A:[a-z0-9]+]]: memref<?x?xf32>
// CHECK-DAG:     %[[STEP:.*]] = arith.constant 4 : index
// CHECK:         %[[SPAN:.*]] = arith.subi %[[HIGH]], %[[LOW]]
// CHECK:         %[[POSITIVE:.*]] = arith.maxsi %[[SPAN]]
// CHECK-NEXT:    %[[LENGTH:.*]] = arith.ceildivui %[[POSITIVE]], %{{.*}}
// CHECK:         scf.for %[[AT:.*]] = %[[BEGIN]] to %[[END]]
// CHECK-NEXT:      %[[COLUMN:.*]] = arith.remui %[[AT]], %[[LENGTH]]
// CHECK-NEXT:      %[[ROW:.*]] = arith.divui %[[AT]], %[[LENGTH]]
// CHECK-NEXT:      %[[SCALED:.*]] = arith.muli %[[COLUMN]]
// CHECK-NEXT:      %[[J:.*]] = arith.addi %[[SCALED]], %[[LOW]]
// CHECK-NEXT:      memref.store %{{.*}}, %[[A]][%[[ROW]], %[[J]]]

// CHECK-LABEL: func.func @fill(
// CHECK:         %[[TOTAL:.*]] = arith.muli
// CHECK-NEXT:    call @fill_parallel_0(%{{.*}}, %{{.*}}, %[[TOTAL]],
func.func @fill(%a: memref<?x?xf32>, %rows: index, %low: index, %high: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  scf.parallel (%i, %j) = (%c0, %low) to (%rows, %high) step (%c1, %c4) {
    memref.store %x, %a[%i, %j] : memref<?x?xf32>
    scf.reduce
  }
  return
}

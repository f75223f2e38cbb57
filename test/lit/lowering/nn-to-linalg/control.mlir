// Branches become scf.if, loops scf.while. What has a static shape is written to buffers made
// before; what has not is yielded, and freed where the next one replaces it.
// RUN: nn-opt --lower-to-linalg %s | filecheck %s

// CHECK-LABEL: func.func @branch(
// CHECK-SAME:    %[[C:.*]]: memref<i1>, %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<?xf32>, %[[OUT:.*]]: memref<4xf32>) -> memref<?xf32>
// CHECK:         %[[P:.*]] = memref.load %[[C]][]
// CHECK:         %[[Y:.*]] = scf.if %[[P]] -> (memref<?xf32>) {
// CHECK-NEXT:      %[[T:.*]] = func.call @branch_then_0(%[[A]], %[[B]], %[[OUT]])
// CHECK-NEXT:      scf.yield %[[T]]
// CHECK:         } else {
// CHECK-NEXT:      %[[E:.*]] = func.call @branch_else_0(%[[A]], %[[B]], %[[OUT]])
// CHECK-NEXT:      scf.yield %[[E]]
// CHECK:         return %[[Y]]
func.func @branch(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %y:2 = nn.if %c -> (tensor<4xf32>, tensor<?xf32>) {
    %0 = nn.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    nn.yield %0, %b : tensor<4xf32>, tensor<?xf32>
  } else {
    %1 = nn.relu %b : (tensor<?xf32>) -> tensor<?xf32>
    nn.yield %a, %1 : tensor<4xf32>, tensor<?xf32>
  }
  return %y#0, %y#1 : tensor<4xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @grow(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<i1>, %[[A:[a-z0-9]+]]: memref<?xf32>, %{{[a-z0-9]+}}: memref<2xf32>, %[[OUT:[a-z0-9]+]]: memref<2xf32>)
// CHECK:         memref.copy %{{.*}}, %[[OUT]]
// CHECK:         %[[FIRST:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NEXT:    memref.copy %[[A]], %[[FIRST]]
// CHECK:         %[[ROWS:.*]] = memref.alloc(%{{.*}}) : memref<?x2xf32>
// CHECK:         scf.while (%{{.*}} = %[[FIRST]], %{{.*}} = %[[ROWS]], %{{.*}} = %c0)
// CHECK:           func.call @grow_while_0(
// CHECK:           scf.condition
// CHECK:         ^bb0(%[[STATE:.*]]: memref<?xf32>, %[[STACK:.*]]: memref<?x2xf32>, %[[COUNT:.*]]: index):
// CHECK:           %[[FULL:.*]] = arith.cmpi eq, %[[COUNT]]
// CHECK:           %[[ROOM:.*]] = scf.if %[[FULL]] -> (memref<?x2xf32>) {
// CHECK:             memref.dealloc %[[STACK]]
// CHECK:           %[[NEXT:.*]] = func.call @grow_do_0(
// CHECK:           memref.subview %[[ROOM]][%[[COUNT]], 0] [1, 2]
// CHECK:           memref.copy %{{.*}}, %[[OUT]]
// CHECK:           memref.dealloc %[[STATE]]
// CHECK:           scf.yield %[[NEXT]], %[[ROOM]]
func.func @grow(%c: tensor<i1>, %a: tensor<?xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<?xf32>, tensor<?x2xf32>) {
  %x, %y, %on, %rows = nn.while (%s = %b, %t = %a, %go = %c)
      : (tensor<2xf32>, tensor<?xf32>, tensor<i1>)
      -> (tensor<2xf32>, tensor<?xf32>, tensor<i1>, tensor<?x2xf32>) {
    nn.condition(%go)
  } do {
  ^bb0(%s: tensor<2xf32>, %t: tensor<?xf32>, %go: tensor<i1>):
    %stop = nn.constant dense<false> : tensor<i1>
    %0 = nn.relu %s : (tensor<2xf32>) -> tensor<2xf32>
    %1 = nn.concat %t, %t {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    nn.yield %0, %1, %stop, %s : tensor<2xf32>, tensor<?xf32>, tensor<i1>, tensor<2xf32>
  }
  return %x, %y, %rows : tensor<2xf32>, tensor<?xf32>, tensor<?x2xf32>
}

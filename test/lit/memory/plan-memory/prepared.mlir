// What is made at creation lies in a block of its own; what it is made of starts the weights.
// RUN: nn-opt --plan-memory %s | filecheck %s

// CHECK:      nn.prepared = {large = {data = dense_resource<made> : tensor<32xf32>, offset = 0 : i64}}
// CHECK-SAME: nn.weights = {
// CHECK-SAME:   bytes = {data = dense_resource<bytes> : tensor<32xi8>, offset = 0 : i64}
// CHECK-SAME:   plain = {data = dense_resource<plain> : tensor<32xf32>, offset = 64 : i64}

// CHECK:      func.func @main(
// CHECK-SAME:   %[[WEIGHTS:[^ ]*]]: memref<192xi8> {nn.weights}, %[[PREPARED:[^ ]*]]: memref<128xi8> {nn.prepared})
// CHECK-DAG:    memref.view %[[PREPARED]][%{{.*}}][] : memref<128xi8> to memref<32xf32>
// CHECK-DAG:    memref.view %[[WEIGHTS]][%{{.*}}][] : memref<192xi8> to memref<32xf32>

// CHECK:      func.func @prepare_0(
// CHECK-SAME:   memref<32xf32> {nn.offset = 0 : i64, nn.weight = "made"}
// CHECK-SAME:   %[[WEIGHTS:[^ ]*]]: memref<192xi8> {nn.weights})
// CHECK-SAME:   nn.used_weights = 32 : i64
// CHECK:        memref.view %[[WEIGHTS]][%{{.*}}][] : memref<192xi8> to memref<32xi8>

// Nobody uses what this one makes.
// CHECK-NOT:  @prepare_1

module {
  memref.global "private" constant @plain : memref<32xf32> = dense_resource<plain>
  memref.global "private" constant @large : memref<32xf32> = dense_resource<made>
  memref.global "private" constant @bytes : memref<32xi8> = dense_resource<bytes>
  func.func private @kernel(memref<32xf32>, memref<32xf32>, memref<32xf32>)
  func.func private @widen(memref<32xi8>, memref<32xf32>)
  func.func @main(%x: memref<32xf32>) attributes {nn.entry} {
    %plain = memref.get_global @plain : memref<32xf32>
    %large = memref.get_global @large : memref<32xf32>
    func.call @kernel(%plain, %large, %x) : (memref<32xf32>, memref<32xf32>, memref<32xf32>) -> ()
    return
  }
  func.func @prepare_0(%out: memref<32xf32> {nn.weight = "made"}) attributes {nn.prepare = 0 : i64} {
    %bytes = memref.get_global @bytes : memref<32xi8>
    func.call @widen(%bytes, %out) : (memref<32xi8>, memref<32xf32>) -> ()
    return
  }
  func.func @prepare_1(%out: memref<32xf32> {nn.weight = "other"}) attributes {nn.prepare = 1 : i64} {
    %bytes = memref.get_global @bytes : memref<32xi8>
    func.call @widen(%bytes, %out) : (memref<32xi8>, memref<32xf32>) -> ()
    return
  }
}

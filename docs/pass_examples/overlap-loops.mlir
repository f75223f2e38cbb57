// nn-opt --overlap-loops
module attributes {nnc.target = {name = "x86-64-v3", machine = {cores = 2 : i64}}} {
  func.func private @step(%w: memref<512x512xf32>, %x: memref<512xf32>, %y: memref<512xf32>) attributes {nn.kernel} {
    linalg.matvec ins(%w, %x : memref<512x512xf32>, memref<512xf32>) outs(%y : memref<512xf32>)
    return
  }
  func.func @main(%w: memref<512x512xf32>, %a: memref<512xf32>, %b: memref<512xf32>) attributes {nn.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %0 = scf.while (%i = %c0) : (index) -> index {
      %go = arith.cmpi slt, %i, %c64 : index
      scf.condition(%go) %i : index
    } do {
    ^bb0(%i: index):
      func.call @step(%w, %a, %a) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    %1 = scf.while (%i = %c0) : (index) -> index {
      %go = arith.cmpi slt, %i, %c64 : index
      scf.condition(%go) %i : index
    } do {
    ^bb0(%i: index):
      func.call @step(%w, %b, %b) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    return
  }
}

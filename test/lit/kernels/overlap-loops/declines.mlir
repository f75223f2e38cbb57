// overlap-loops leaves loops of which one needs what the other makes, whose number of iterations
// is used, that are too short, or whose kernels four threads share.
// RUN: nn-opt --overlap-loops %s | filecheck %s

// CHECK-NOT: scf.parallel
module attributes {nnc.target = {name = "x86-64-v3", machine = {cores = 4 : i64}}} {
func.func private @step(%w: memref<512x512xf32>, %x: memref<512xf32>, %y: memref<512xf32>) attributes {nn.kernel} {
  linalg.matvec ins(%w, %x : memref<512x512xf32>, memref<512xf32>) outs(%y : memref<512xf32>)
  return
}
func.func private @small(%x: memref<16xf32>, %y: memref<16xf32>) attributes {nn.kernel} {
  linalg.copy ins(%x : memref<16xf32>) outs(%y : memref<16xf32>)
  return
}
func.func private @shared(%w: memref<512x512xf32>, %x: memref<512xf32>, %y: memref<512xf32>) attributes {nn.kernel} {
  linalg.matvec ins(%w, %x : memref<512x512xf32>, memref<512xf32>) outs(%y : memref<512xf32>)
  return
}
schedule.for @shared {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.parallel %i
}

// The second loop reads what the first one writes, or what is copied from that.
func.func private @read(%w: memref<512x512xf32>, %a: memref<512xf32>, %b: memref<512xf32>, %d: memref<512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n0 = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @step(%w, %a, %a) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  %n1 = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @step(%w, %a, %b) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  return
}
func.func private @copied(%w: memref<512x512xf32>, %a: memref<512xf32>, %b: memref<512xf32>, %d: memref<512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n0 = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @step(%w, %a, %a) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  memref.copy %a, %d : memref<512xf32> to memref<512xf32>
  %n1 = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @step(%w, %d, %b) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  return
}
// It writes what the first one reads.
func.func private @written(%w: memref<512x512xf32>, %a: memref<512xf32>, %b: memref<512xf32>, %d: memref<512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n0 = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @step(%w, %a, %b) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  %n1 = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @step(%w, %d, %a) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  return
}
// A function between them may do anything.
func.func private @outside()
func.func private @called(%w: memref<512x512xf32>, %a: memref<512xf32>, %b: memref<512xf32>, %d: memref<512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n0 = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @step(%w, %a, %a) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  call @outside() : () -> ()
  %n1 = scf.while (%i = %c0) : (index) -> index {
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
func.func private @counted(%w: memref<512x512xf32>, %a: memref<512xf32>, %b: memref<512xf32>, %d: memref<512xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n0 = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @step(%w, %a, %a) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  %n1 = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @step(%w, %b, %b) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  return %n0, %n1 : index, index
}
func.func private @short(%a: memref<16xf32>, %b: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n0 = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @small(%a, %a) : (memref<16xf32>, memref<16xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  %n1 = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @small(%b, %b) : (memref<16xf32>, memref<16xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  return
}
func.func private @threads(%w: memref<512x512xf32>, %a: memref<512xf32>, %b: memref<512xf32>, %d: memref<512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n0 = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @shared(%w, %a, %a) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  %n1 = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @shared(%w, %b, %b) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  return
}

// A function that calls itself.
func.func private @again(%x: memref<512xf32>) {
  call @again(%x) : (memref<512xf32>) -> ()
  return
}
func.func @recursive(%x: memref<512xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.while (%i = %c0) : (index) -> index {
    %2 = arith.cmpi slt, %i, %n : index
    scf.condition(%2) %i : index
  } do {
  ^bb0(%i: index):
    func.call @again(%x) : (memref<512xf32>) -> ()
    %2 = arith.addi %i, %c1 : index
    scf.yield %2 : index
  }
  return
}
}

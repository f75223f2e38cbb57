// Less work is shared by threads in a kernel that only loops call: they are awake.
// RUN: nn-opt --choose-schedules %s | filecheck %s

// CHECK: schedule.for @once
// CHECK-NOT: schedule.parallel
// CHECK: schedule.for @repeated
// CHECK: schedule.parallel
module attributes {nnc.target = {name = "x86-64-v3", machine = {cores = 2 : i64}}} {
func.func private @once(%x: memref<16384xf32>, %y: memref<16384xf32>) attributes {nn.kernel} {
  linalg.map { math.sqrt } ins(%x : memref<16384xf32>) outs(%y : memref<16384xf32>)
  return
}
func.func private @repeated(%x: memref<16384xf32>, %y: memref<16384xf32>) attributes {nn.kernel, nn.repeated} {
  linalg.map { math.sqrt } ins(%x : memref<16384xf32>) outs(%y : memref<16384xf32>)
  return
}
}

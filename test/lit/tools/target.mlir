// `--target` makes the module say what it is for, by the target's own name; passes read it there,
// and a pass that is given a target writes it. Without any of these nothing is written.
// RUN: nn-opt --target=avx2 %s | filecheck %s --check-prefix=V3
// RUN: nn-opt --machine=avx2 %s | filecheck %s --check-prefix=V3
// RUN: nn-opt --choose-schedules=target=x86-64-v3 %s | filecheck %s --check-prefixes=V3,NARROW
// RUN: nn-opt --choose-schedules=machine=avx2 %s | filecheck %s --check-prefixes=V3,NARROW
// RUN: nn-opt --target=avx2 %s | nn-opt --choose-schedules | filecheck %s --check-prefixes=V3,NARROW
// RUN: nn-opt --target=avx2 %s | nn-opt --target=avx2 --choose-schedules=target=avx2 | filecheck %s --check-prefixes=V3,NARROW
// RUN: nn-opt --choose-schedules=target=x86-64-v4 %s | filecheck %s --check-prefix=WIDE
// RUN: nn-opt --choose-schedules %s | filecheck %s --check-prefix=NONE

// V3: module attributes {nnc.target = "x86-64-v3"}
// NARROW: schedule.split %{{.*}} by 8
// NARROW: schedule.vectorize
// WIDE: module attributes {nnc.target = "x86-64-v4"}
// WIDE: schedule.split %{{.*}} by 16
// WIDE: schedule.vectorize
// NONE-NOT: nnc.target
#id = affine_map<(i) -> (i)>
func.func private @relu(%x: memref<100xf32>, %y: memref<100xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<100xf32>) outs(%y : memref<100xf32>) {
  ^bb0(%a: f32, %b: f32):
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  }
  return
}

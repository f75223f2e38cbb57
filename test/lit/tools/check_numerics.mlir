// --check-numerics is silent where every pass keeps what functions compute, on every level.
// RUN: nn-opt --check-numerics=samples=2 --lower-all %s | filecheck %s
// RUN: nn-opt --check-numerics=seed=7,samples=2,exact --canonicalize --cse %s | filecheck %s --check-prefix=GRAPH
// RUN: nn-opt --lower-all %s | nn-opt --check-numerics=samples=2 --canonicalize --cse | filecheck %s
// RUN: not nn-opt --check-numerics=sample=3 --cse %s 2>&1 | filecheck %s --check-prefix=OPTION

// CHECK: llvm.func @nnc_run
// GRAPH: nn.softmax
// OPTION: error: --check-numerics has no option 'sample'; it has: seed, samples, tolerance, exact, max-steps, seconds, reproducer
func.func @main(%x: tensor<3x8xf32>, %i: tensor<2xi64>) -> tensor<2x8xf32> attributes {nn.entry} {
  %y = nn.softmax %x {axis = 1 : i64} : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %z = nn.gather %y, %i {axis = 0 : i64} : (tensor<3x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  return %z : tensor<2x8xf32>
}

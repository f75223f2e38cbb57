// Affine maps and integer sets: names, simplification, printing.
"t.maps"() {a = affine_map<() -> ()>, b = affine_map<() -> (0)>, c = affine_map<(d0) -> ()>, d = affine_map<(i, j) -> (j, i)>, e = affine_map<(i)[N] -> (i + N)>, f = affine_map<()[s0] -> (s0)>,
  g = affine_map<(d0, d1) -> (d0 + d1, d0 - d1, d0 * 2, 2 * d0)>, h = affine_map<(d0) -> (d0 floordiv 2, d0 ceildiv 3, d0 mod 4)>, i = affine_map<(d0) -> (-d0, -(d0 + 1), - 5)>,
  j = affine_map<(d0)[s0] -> (d0 * s0, (d0 + 1) * s0, s0 * d0, s0 * s0)>, k = affine_map<(d0) -> (d0 + 0, d0 * 1, d0 * 0, 0 * d0, d0 - 0, 0 - d0)>,
  l = affine_map<(d0) -> (d0 + 1 + 2, d0 * 2 * 3, (d0 + 1) + (d0 + 2), 1 + d0)>} : () -> ()
"t.simplified"() {a = affine_map<(d0, d1) -> (d0 - d0, d0 + d0, d0 * 2 + d0, d0 * 2 - d0 * 3, d0 + d1 - d0)>, b = affine_map<(d0) -> (d0 mod 1, d0 floordiv 1, d0 ceildiv 1, d0 mod -4, 5 mod 3)>,
  c = affine_map<(d0) -> ((d0 * 4) mod 4, (d0 * 4) floordiv 2, (d0 * 4) floordiv 8, (d0 * 8) ceildiv 4, (d0 * 4 + 4) floordiv 4)>, d = affine_map<() -> (7 floordiv 2, -7 floordiv 2, -7 mod 2, -7 ceildiv 2, 7 ceildiv 2)>,
  e = affine_map<(d0)[s0] -> (d0 - s0 * 2, -d0 + s0, s0 - d0, -(d0 - s0), -(s0 * 3))>, f = affine_map<(d0)[s0] -> (d0 mod s0, d0 floordiv s0, d0 ceildiv (s0 + 1))>,
  g = affine_map<(d0, d1)[s0, s1] -> (d0 + d1 + s0 + s1 + 5, (d0 + s0) + (d1 + s1), d0 + (d1 + (s0 + 1)))>, h = affine_map<(d0, d1) -> (d0 - (d0 floordiv 4) * 4, d0 - 4 * (d0 floordiv 4), d1 + d0 mod 4)>,
  i = affine_map<(d0, d1) -> (d0 * -1, d0 * -2, d0 * -1 + d1, d0 * -2 + d1, d1 + d0 * -1, d1 + d0 * -2, -d0 - d1, d0 + -5)>, j = affine_map<(d0)[s0, s1, s2, s3] -> (d0 + s0 + -(s0 - (s0 - s1) * s2) + s3)>,
  k = affine_map<(d0, d1) -> (-(d0 * 2) - (d1 * 3), -(d0 floordiv 2), d1 - d0 floordiv 2, d1 - (d0 mod 3) * 2, (-d0) * 3, (-d0) floordiv 2, (d0 - d1) * -1, (d0 + d1) * -4)>} : () -> ()
"t.sets"() {a = affine_set<(d0) : (d0 >= 0)>, b = affine_set<(i)[N] : (i >= 0, N - i - 1 >= 0)>, c = affine_set<(d0, d1) : (d0 - d1 == 0, d0 == d1)>, d = affine_set<() : ()>, e = affine_set<(d0) : ()>,
  f = affine_set<(d0) : (d0 <= 5, 5 >= d0, d0 + 1 == 7)>, g = affine_set<(d0) : (d0 mod 2 == 0)>, h = affine_set<()[s0] : (s0 >= 3)>, i = affine_set<(d0) : (1 == 0)>, j = affine_set<(d0) : (0 >= 0, d0 * 2 - 3 >= 0)>} : () -> ()

// -----

// The same map twice has one alias; identical sets too; maps in types.
"t.a"() {a = affine_map<(d0) -> (d0)>, b = [affine_map<(i) -> (i)>, affine_map<(d0) -> (d0 + 1)>], c = memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>} : () -> ()
"t.b"() {a = affine_set<(d0) : (d0 >= 0)>, b = affine_set<(x) : (x >= 0)>, c = {m = affine_map<(d0) -> (d0 * 2)>}, d = tensor<2xf32, affine_map<(d0) -> (d0 * 3)>>} : () -> ()
%0 = "t.c"() : () -> memref<2x2xf32, affine_map<(d0, d1) -> (d0 + d1)>>
"t.d"(%0) ({
^bb0(%a: memref<3xf32, affine_map<(d0) -> (d0 * 5)>>):
  "t.e"() {z = affine_map<(d0) -> (d0 * 6)>, a = affine_map<(d0) -> (d0 * 7)>} : () -> ()
}) {m = affine_map<(d0) -> (d0 * 8)>} : (memref<2x2xf32, affine_map<(d0, d1) -> (d0 + d1)>>) -> ()

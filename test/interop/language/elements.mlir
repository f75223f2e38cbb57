// dense: every element type, splats, nesting, hexadecimal.
"t.integers"() {a = dense<1> : tensor<4xi32>, b = dense<[1, 2]> : tensor<2xi8>, c = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>, d = dense<-1> : vector<4xi4>,
  e = dense<[1, 1, 1]> : tensor<3xi32>, f = dense<[0xF, -128]> : tensor<2xi8>, g = dense<255> : tensor<2xui8>, h = dense<[-1, 1]> : tensor<2xsi4>, i = dense<5> : tensor<i32>,
  j = dense<[170141183460469231731687303715884105727, -5]> : tensor<2xi128>, k = dense<[1, 2, 3]> : tensor<3xi3>, l = dense<200> : tensor<2xi8>, m = dense<[[[1]]]> : tensor<1x1x1xi32>} : () -> ()
"t.bools"() {a = dense<true> : tensor<4xi1>, b = dense<[true, false]> : tensor<2xi1>, c = dense<0> : tensor<2xi1>, d = dense<[1, 0, 1]> : vector<3xi1>, e = dense<false> : tensor<i1>,
  f = dense<[true, false, true, true, false, false, true, true, true]> : tensor<9xi1>, g = dense<"0xFF"> : tensor<8xi1>, h = dense<"0x05"> : tensor<3xi1>, i = dense<"0x00"> : tensor<4xi1>,
  j = dense<1> : tensor<2xui1>, k = dense<-1> : tensor<2xsi1>} : () -> ()
"t.index"() {a = dense<[1, -1]> : tensor<2xindex>, b = dense<7> : vector<4xindex>, c = dense<[9223372036854775807, 0]> : tensor<2xindex>} : () -> ()
"t.floats"() {a = dense<1.0> : tensor<4xf32>, b = dense<[1.0, -0.0, 0.1]> : tensor<3xf32>, c = dense<[0x7FC00000, 0x7F800000]> : tensor<2xf32>, d = dense<0x7FF8000000000001> : tensor<f64>,
  e = dense<[1.5, 2.5]> : tensor<2xbf16>, f = dense<0.1> : tensor<2xf16>, g = dense<[1.0, 0x7F]> : tensor<2xf8E4M3FN>, h = dense<[0.5, 6.0]> : tensor<2xf4E2M1FN>, i = dense<1.0> : tensor<2xf80>,
  j = dense<1.0> : tensor<2xtf32>, k = dense<[1.0, 2.0]> : tensor<2xf128>, l = dense<[1.0, 7.5]> : tensor<2xf6E2M3FN>, m = dense<[0x7FC1, 0x7F80]> : tensor<2xbf16>} : () -> ()
"t.complex"() {a = dense<(1.0, 2.0)> : tensor<complex<f32>>, b = dense<[(1.0, -0.0), (0.1, 0x7F800000)]> : tensor<2xcomplex<f32>>, c = dense<(1, -2)> : tensor<2xcomplex<i8>>,
  d = dense<[(true, false)]> : tensor<1xcomplex<i1>>, e = dense<[(1, 2), (3, 4)]> : tensor<2xcomplex<i64>>, f = dense<"0x0000803F00000040"> : tensor<1xcomplex<f32>>} : () -> ()
"t.strings"() {a = dense<"x"> : tensor<!t.string>, b = dense<["a", "b\n", ""]> : tensor<3x!t.string>, c = dense<"same"> : tensor<2x!t.string>, d = dense<[["a"], ["b"]]> : tensor<2x1x!t.string>,
  e = dense<["q\"", "\\"]> : tensor<2x!t.string>, f = dense<["a", "a"]> : tensor<2x!t.string>} : () -> ()
"t.empty"() {a = dense<> : tensor<0xf32>, b = dense<> : tensor<2x0xi32>, c = dense<> : tensor<0x0xi1>, d = dense<> : tensor<0x!t.string>, e = dense<> : tensor<0xcomplex<f32>>} : () -> ()
"t.hex"() {a = dense<"0x0100000002000000"> : tensor<2xi32>, b = dense<"0x00"> : tensor<1xi8>, c = dense<"0x0000803F"> : tensor<1xf32>, d = dense<"0x0000803F"> : tensor<4xf32>,
  e = dense<"0x0100000000000000"> : tensor<1xindex>, f = dense<"0x0102"> : tensor<2xi4>} : () -> ()
"t.encoded"() {a = dense<1> : tensor<2xi32, "e">, b = dense<[1, 2]> : vector<2xi32>, c = dense<[1.0, 2.0]> : tensor<2xf32, #t.e>} : () -> ()

// -----

// More than a hundred elements are written in hexadecimal.
"t.long"() {a = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44,
  45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92,
  93, 94, 95, 96, 97, 98, 99, 100]> : tensor<101xi16>, b = dense<3> : tensor<1000xi8>} : () -> ()

// -----

// sparse: indices and values, splats, no elements.
"t.sparse"() {a = sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>, b = sparse<0, -2.0> : tensor<1xf32>, c = sparse<[[0, 0, 0]], [1.0]> : tensor<1x1x1xf32>,
  d = sparse<[[1]], 4> : vector<5xi8>, e = sparse<[0, 2], [1, 2]> : vector<4xi32>, f = sparse<[[0, 1]], (1.0, 2.0)> : tensor<2x2xcomplex<f32>>,
  g = sparse<[[0]], "x"> : tensor<2x!t.string>, h = sparse<> : tensor<4xi32>, i = sparse<[[0, 1], [1, 0]], true> : tensor<2x2xi1>, j = sparse<[[0]], [0x7FC00000]> : tensor<2xf32>} : () -> ()

// -----

// Constants and globals of elements that are not dense.
%0 = arith.constant sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>
%1 = arith.constant dense_resource<blob> : tensor<3xf32>
memref.global constant @g : memref<4xi32> = sparse<[[1]], 5>

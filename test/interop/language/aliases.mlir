// Which attributes and types get aliases, and their numbers.
"t.tuples"() {a = tuple<i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15, i16, i17>,
  b = tuple<i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15, i16>,
  c = tuple<tuple<i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15, i16, i17>, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15, i16, i17>} : () -> ()
%0 = "t.value"() : () -> tuple<memref<2x2xi8, affine_map<(d0, d1) -> (d1, d0)>>, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15, i16, i17>

// -----

// An operation's types come before its attributes.
%0 = "t.a"() {y = affine_map<(d0) -> (d0 * 2)>, a = affine_map<(d0) -> (d0 * 3)>, zz = affine_map<(d0) -> (d0 * 4)>} : () -> memref<4xi8, affine_map<(d0) -> (d0 * 5)>>
"t.b"(%0) ({
  %1 = "t.c"() {a = affine_map<(d0) -> (d0 * 6)>} : () -> memref<4xi8, affine_map<(d0) -> (d0 * 7)>>
}) {a = affine_map<(d0) -> (d0 * 8)>} : (memref<4xi8, affine_map<(d0) -> (d0 * 5)>>) -> ()

// -----

// Attributes that nest aliased ones; sets and maps are numbered apart.
"t.a"() {a = distinct[0]<affine_map<(d0) -> (d0)>>, b = distinct[1]<distinct[0]<affine_map<(d0) -> (d0)>>>, c = affine_set<(d0) : (d0 >= 0)>,
  d = [{x = affine_map<() -> (0)>}, affine_set<(d0) : (d0 - 1 >= 0)>]} : () -> ()

// -----

// Functions and structured operations with maps.
func.func @f(%m: memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>, %n: memref<4xf32, affine_map<(d0) -> (d0 + 4)>>) attributes {t.m = affine_map<(d0) -> (d0)>} {
  "t.x"(%m) {m = affine_map<(d0) -> (-d0)>} : (memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>) -> ()
  return
}

// -----

// Attributes of a function's arguments get no alias by standing there, those of results do.
func.func @f(%x: i32 {t.a = affine_map<(d0) -> (d0 + 5)>}, %y: i32 {t.a = affine_map<(d0) -> (d0 + 6)>}) -> (i32 {t.b = affine_map<(d0) -> (d0 + 7)>}) {
  "t.x"() {m = affine_map<(d0) -> (d0 + 6)>} : () -> ()
  return %x : i32
}
func.func private @g(i32 {t.a = affine_map<(d0) -> (d0 + 8)>})

// What the verifier rejects, in upstream's words.
// RUN: nn-opt %s --split-input-file --verify-diagnostics

func.func @rows() {
  // expected-error@+1 {{'amx.tile_zero' op bad row height: 17}}
  %t = amx.tile_zero : !amx.tile<17x16xi32>
  return
}

// -----

func.func @row_of_68_bytes() {
  // expected-error@+1 {{'amx.tile_zero' op bad column width: 68}}
  %t = amx.tile_zero : !amx.tile<16x17xi32>
  return
}

// -----

func.func @row_of_2_bytes() {
  // expected-error@+1 {{'amx.tile_zero' op bad column width: 2}}
  %t = amx.tile_zero : !amx.tile<16x2xi8>
  return
}

// -----

func.func @memory_of_one_dimension(%m: memref<64xi8>, %i: index) {
  // expected-error@+1 {{'amx.tile_load' op requires at least 2D memref}}
  %t = amx.tile_load %m[%i] : memref<64xi8> into !amx.tile<16x64xi8>
  return
}

// -----

func.func @indices(%m: memref<4x64xi8>, %i: index, %t: !amx.tile<4x64xi8>) {
  // expected-error@+1 {{'amx.tile_store' op requires 2 indices}}
  amx.tile_store %m[%i], %t : memref<4x64xi8>, !amx.tile<4x64xi8>
  return
}

// -----

func.func @stride(%m: memref<4x64xi8, strided<[1, ?]>>, %i: index) {
  // expected-error@+1 {{'amx.tile_load' op requires memref with unit innermost stride}}
  %t = amx.tile_load %m[%i, %i] : memref<4x64xi8, strided<[1, ?]>> into !amx.tile<4x64xi8>
  return
}

// -----

func.func @shapes(%a: !amx.tile<8x64xi8>, %b: !amx.tile<16x64xi8>, %c: !amx.tile<16x16xi32>) {
  // expected-error@+1 {{'amx.tile_muli' op bad mult shape: 16 x 16 x 16}}
  %t = amx.tile_muli %a, %b, %c : !amx.tile<8x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
  return
}

// -----

func.func @steps(%a: !amx.tile<16x32xi8>, %b: !amx.tile<16x64xi8>, %c: !amx.tile<16x16xi32>) {
  // expected-error@+1 {{'amx.tile_muli' op bad mult shape: 16 x 16 x 8}}
  %t = amx.tile_muli %a, %b, %c : !amx.tile<16x32xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
  return
}

// -----

func.func @sums(%a: !amx.tile<16x64xi8>, %c: !amx.tile<16x16xf32>) {
  // expected-error@+1 {{'amx.tile_muli' op operand #2 must be tile of 32-bit signless integer values, but got '!amx.tile<16x16xf32>'}}
  %t = amx.tile_muli %a, %a, %c : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xf32>
  return
}

// -----

func.func @halves(%a: !amx.tile<16x32xbf16>, %b: !amx.tile<16x32xf16>, %c: !amx.tile<16x16xf32>) {
  // expected-error@+1 {{'amx.tile_mulf' op unsupported type combination}}
  %t = amx.tile_mulf %a, %b, %c : !amx.tile<16x32xbf16>, !amx.tile<16x32xf16>, !amx.tile<16x16xf32>
  return
}

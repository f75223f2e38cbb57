// What the verifier rejects, in upstream's words.
// RUN: nn-opt --split-input-file --verify-diagnostics %s

// -----

gpu.module @k {
  // expected-error @+1 {{'gpu.func' op expected memory space workgroup in attribution}}
  gpu.func @f(%a: f32) workgroup(%b : memref<4xf32, #gpu.address_space<private>>) kernel {
    gpu.return
  }
}

// -----

gpu.module @k {
  // expected-error @+1 {{'gpu.func' op expected memref type in attribution}}
  gpu.func @f(%a: f32) workgroup(%b : f32) kernel {
    gpu.return
  }
}

// -----

gpu.module @k {
  // expected-note @+1 {{return type declared here}}
  gpu.func @f(%a: f32) -> f32 {
    // expected-error @+1 {{'gpu.return' op expected 1 result operands}}
    gpu.return
  }
}

// -----

gpu.module @k {
  gpu.func @f(%a: f32) -> i32 {
    // expected-error @+1 {{'gpu.return' op unexpected type `'f32'' for operand #0}}
    gpu.return %a : f32
  }
}

// -----

gpu.module @k {
  // expected-error @+1 {{'gpu.func' op attribute 'known_block_size' failed to satisfy constraint: i32 dense array attribute with 3 elements (if present)}}
  gpu.func @f() kernel attributes {known_block_size = array<i32: 1, 2>} {
    gpu.return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @f(%a: f32) kernel { gpu.return }
    gpu.func @g(%a: f32) { gpu.return }
  }
  func.func @a(%n: index, %x: i32) {
    // expected-error @+1 {{'gpu.launch_func' op kernel function '@k::@h' is undefined}}
    gpu.launch_func @k::@h blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : i32)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @g(%a: f32) { gpu.return }
  }
  func.func @a(%n: index, %x: i32) {
    // expected-error @+1 {{'gpu.launch_func' op kernel function is missing the 'gpu.kernel' attribute}}
    gpu.launch_func @k::@g blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : i32)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @g(%a: f32) kernel { gpu.return }
  }
  func.func @a(%n: index, %x: i32) {
    // expected-error @+1 {{'gpu.launch_func' op type of function argument 0 does not match}}
    gpu.launch_func @k::@g blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : i32)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @g(%a: f32) kernel { gpu.return }
  }
  func.func @a(%n: index, %x: i32) {
    // expected-error @+1 {{'gpu.launch_func' op got 0 kernel operands but expected 1}}
    gpu.launch_func @k::@g blocks in (%n, %n, %n) threads in (%n, %n, %n)
    return
  }
}

// -----

module {
  gpu.module @k {
    gpu.func @g(%a: f32) kernel { gpu.return }
  }
  func.func @a(%n: index, %x: i32) {
    // expected-error @+1 {{'gpu.launch_func' op expected the closest surrounding module to have the 'gpu.container_module' attribute}}
    gpu.launch_func @k::@g blocks in (%n, %n, %n) threads in (%n, %n, %n)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @k {
  }
  func.func @a(%n: index, %x: i32) {
    // expected-error @+1 {{'gpu.launch_func' op kernel container 'j' is undefined}}
    gpu.launch_func @j::@g blocks in (%n, %n, %n) threads in (%n, %n, %n)
    return
  }
}

// -----

func.func @a(%v: f32) {
   // expected-error @+1 {{`and` reduction operation is not compatible with type 'f32'}}
   %q = gpu.subgroup_reduce and %v : (f32) -> f32
   return
}

// -----

func.func @a(%v: f32) {
   // expected-error @+1 {{'gpu.subgroup_reduce' op cluster size 3 is not a power of two}}
   %q = gpu.subgroup_reduce add %v cluster(size = 3) : (f32) -> f32
   return
}

// -----

func.func @a(%v: f32) {
   // expected-error @+1 {{'gpu.subgroup_reduce' op cluster stride 3 is not a power of two}}
   %q = gpu.subgroup_reduce add %v cluster(size = 4, stride = 3) : (f32) -> f32
   return
}

// -----

func.func @a(%v: index, %i: i32) {
    // expected-error @+1 {{'gpu.shuffle' op operand #0 must be Integer or Float or fixed-length vector of Integer or Float values of ranks 1, but got 'index'}}
    %r3, %ok3 = gpu.shuffle up %v, %i, %i : index
   return
}

// -----

func.func @a(%v: index, %i: i32) {
    // expected-error @+1 {{'gpu.return' op expects parent op 'gpu.func'}}
    gpu.return
}

// -----

func.func @a(%v: index, %i: i32, %m: memref<?xf32>, %k: memref<4xf32>) {
    // expected-error @+1 {{'gpu.alloc' op incorrect number of dynamic sizes, has 0, expected 1}}
    %a = gpu.alloc () : memref<?xf32>
    return
}

// -----

func.func @a(%v: index, %i: i32, %m: memref<?xf32>, %k: memref<4xf32>, %g: memref<5xf32>) {
    // expected-error @+1 {{'gpu.memcpy' op arguments have incompatible shape}}
    gpu.memcpy %k, %g : memref<4xf32>, memref<5xf32>
    return
}

// -----

func.func @a(%v: index, %i: i32, %m: memref<?xf32>, %k: memref<4xf32>, %g: memref<4xf16>) {
    // expected-error @+1 {{'gpu.memcpy' op arguments have incompatible element type}}
    gpu.memcpy %k, %g : memref<4xf32>, memref<4xf16>
    return
}

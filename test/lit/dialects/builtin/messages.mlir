// What no other test provokes of the messages of the language and of rules for every operation.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

%s0 = "t.s"() : () -> i7
// expected-error@+1 {{'builtin.unrealized_conversion_cast' op expected at least one result for cast operation}}
"builtin.unrealized_conversion_cast"(%s0, %s0) : (i7, i7) -> ()

// -----

%0 = "t.s"() : () -> index
%1 = "t.s"() : () -> vector<4x16xf32>
// expected-error@+1 {{'vector.extract' op expected 2 dynamic position values, but found 1}}
%2 = vector.extract %1[-9223372036854775808, %0] : f32 from vector<4x16xf32>

// -----

%0 = "t.s"() : () -> tensor<i1000>
%1 = "t.s"() : () -> tensor<i1000>
%2 = "t.s"() : () -> tensor<4xf32>
// expected-error@+1 {{'nn.clip' op operands have different element types: 'f32', 'i1000'}}
%3 = nn.clip %2, %1, %0 : (tensor<4xf32>, tensor<i1000>, tensor<i1000>) -> tensor<4xf32>

// -----

// expected-error@+1 {{#llvm.di_label: expected the name of a parameter and '='}}
llvm.intr.dbg.label #llvm.di_label<scope > #llvm.di_file<"a.c" in "/">, name = "x"=

// -----

// expected-error@+1 {{#llvm.di_label: duplicate or unknown struct parameter name: llvm.intr.dbg.label}}
llvm.intr.dbg.label #llvm.di_label<llvm.intr.dbg.label = #llvm.di_file<"a.c" in "/">, name = "x">

// -----

llvm.func @f() {
// expected-error@+1 {{#llvm.blocktag: parameter 'id': expected an integer, found '1.000000e+00 : f64'}}
  llvm.blocktag <id = 1.0>
}

// -----

#di_file = #llvm.di_file<"a.c" in "/">
// expected-error@+1 {{#llvm.di_label: parameter 'name': expected a string}}
#di_label = #llvm.di_label<scope = #di_file, name = x>

// -----

llvm.func @f() {
// expected-error@+1 {{#llvm.blocktag: parameter 'id': expected an integer, found '1.000000e+00 : f64'}}
  llvm.blocktag <id = 1.0>
}

// -----

// expected-error@+1 {{#llvm.alias_scope: parameter 'domain': expected an attribute 'llvm.alias_scope_domain', found '"a"'}}
#alias_scope = #llvm.alias_scope<id = "a", domain = "a">

// -----

// expected-error@+1 {{#llvm.mlir.module_flag: parameter 'key': expected a string, found 'i32'}}
llvm.module_flags [#llvm.mlir.module_flag<error, i32, 4 : i32>]

// -----

// expected-error@+1 {{#llvm.di_label: expected the name of a parameter and '='}}
llvm.intr.dbg.label #llvm.di_label<scope > #llvm.di_file<"a.c" in "/">, name = "x"=

// -----

// expected-error@+1 {{an unranked memref has no layout}}
%r = llvm.sub %a, %b : memref<*xi1000, strided<[?], offset: ?>>

// -----

// expected-error@+1 {{multiple memory spaces specified in memref type}}
%0 = math.log10 %a : memref<tf32, "space", unit>

// -----

// expected-error@+1 {{cannot apply encoding to unranked tensor}}
%r = llvm.fpext %a : f32 to vector<tensor<*xi1, [1, 2]>>

// -----

// expected-error@+1 {{invalid tensor element type: 'tensor<1x8xindex>'}}
%0 = math.cos %a : tensor<*xtensor<1x8xindex>>

// -----

// expected-error@+1 {{vector elements must be int/index/float type but got 'vector<8xi8>'}}
%p = llvm.mlir.zero : vector<vector<8xi8>>

// -----

func.func @f(%arg0: f32, %arg1: i32) -> i32 {
// expected-error@+1 {{expected named operation to have atleast 1 result}}
  %0:0 = call @g(%arg0, %arg1) : (f32, i32) -> (f32, i32)
}

// -----

// expected-error@+1 {{use of value '%l' expects different type than prior uses: '!schedule.loop' vs '!schedule.stage'}}
schedule.fuse %l at %l

// -----

// expected-error@+1 {{use of undeclared SSA value name '%arg1'}}
  %0 = llvm.insertvalue %arg1, %arg0[0] : !llvm.struct<(i64, ptr)> 
llvm.func @f(%arg0: !llvm.struct<(i64, ptr)>, %arg1: i64) {
}

// -----

// expected-error@+1 {{expected element type to be complex, found '9223372036854775808.'}}
memref.global "private" constant @ones : memref<complex<f32>> = dense<9223372036854775808.>

// -----

// expected-error@+1 {{expected a number of type f32, found 'false'}}
  %false = nn.constant dense<false> : tensor<4xf32>

// -----

// expected-error@+1 {{integer constant out of range for attribute}}
llvm.intr.ubsantrap <{failureKind = 0xFFFFFFFFFFFFFFFF : i8}>

// -----

// expected-error@+1 {{expected a string as element of type memref<*xi64>}}
memref.global "private" constant @ones : memref<1x8xmemref<*xi64>> = dense<1.000000e+00>

// -----

// expected-error@+1 {{expected elements, since 'tensor<2xf32>' is not empty}}
"func.func"() <{function_type = () -> (), sym_name = dense<> : tensor<2xf32>}> ({

// -----

llvm.func @f(%v: vector<4x5xi1>, %x: i64) {
  llvm.switch %v : vector<4x5xi1>, ^bb1(%x : i64) [
// expected-error@+1 {{expected an element of type vector<4x5xi1>, found '-2'}}
    -2: ^bb2
  ]
}

// -----

// expected-error@+1 {{expected 1 result types, found 0}}
%intptr = memref.extract_aligned_pointer_as_index %0 : memref<8xf32> -> 

// -----

// expected-error@+1 {{expected 1 operands, found 0}}
%y = nn.asinh  : (i0) -> i0

// -----

func.func @growing(%x: tensor<1000000xi64>) -> tensor<1000000xi64> {
// expected-error@+1 {{expected elements of a tensor, dense or dense_resource, found 'dense<100000> : vector<8xi1000>'}}
  %many = nn.constant dense<100000> : vector<8xi1000>
}

// -----

// expected-note@+2 {{'[' opens here}}
// expected-error@+1 {{expected ']', found '>'}}
%0 = #foo.bar<[1, 2, {a}>() : () -> f32

// -----

%0 = "t.s"() : () -> memref<5xi7>
// expected-error@+1 {{'arith.bitcast' op all non-scalar operands/results must have the same shape and base type}}
%1 = arith.bitcast %0 : memref<5xi7> to vector<4xi32>

// -----

%0 = "t.s"() : () -> vector<4xi8>
// expected-error@+1 {{'arith.extsi' op if an operand is non-scalar, then there must be at least one non-scalar result}}
%1 = arith.extsi %0 : vector<4xi8> to i16

// -----

func.func @f() {
// expected-error@+1 {{'ub.unreachable' op must be the last operation in the parent block}}
  ub.unreachable ub.unreachable
}

// -----

// expected-error@+1 {{'tensor.generate' op using value defined outside the region}}
%generated = tensor.generate %0 {
// expected-note@+1 {{operand defined here (op in another block)}}
%0 = "t.s"() : () -> index
} : tensor<?xindex>

// -----

// expected-error@+1 {{'nn.conv' op expected 2 or more operands, but found 0}}
%0 = "nn.conv"() : () -> i64

// -----

%0 = "t.s"() : () -> index
// expected-error@+1 {{'memref.alloc' op 'operandSegmentSizes' attribute cannot have negative elements}}
%1 = "memref.alloc"(%0) <{alignment = 64 : i64, operandSegmentSizes = array<i32: 1, -1>}> : (index) -> memref<4x?xf32>

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
// expected-error@+1 {{'scf.parallel' op 'operandSegmentSizes' attribute for specifying operand segments must have 4 elements, but got 1}}
  "scf.parallel"() ({
   }) {operandSegmentSizes = array<i64: 1>} : () -> ()
  return
}

// -----

// expected-error@+1 {{'memref.alloca' op operand count (0) does not match with the total size (6) specified in attribute 'operandSegmentSizes'}}
%0 = "memref.alloca"() <{operandSegmentSizes = array<i32: 0, 6>}> : () -> memref<?xf32>

// -----

"func.func"() <{function_type = () -> (), sym_name = "f"}> ({
%s0 = "t.s"() : () -> i1000
%s1 = "t.s"() : () -> i1000
// expected-error@+1 {{'vector.transfer_write' op operand group 'valueToStore' requires 1 element, but found 2}}
"vector.transfer_write"(%s0, %s0, %s0, %s1, %s1) <{permutation_map = #ub.poison, in_bounds = [[], [unit]], operandSegmentSizes = array<i32: 2, 1, 2, 0>}> : (i1000, i1000, i1000, i1000, i1000) -> ()
"func.return"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{'linalg.copy' op requires attribute 'operandSegmentSizes' as array<i32: ..>}}
%r10:3 = "linalg.copy"() <{cast = dense<true> : vector<4xi1>}> ({
}) : () -> (si8, si8, si8)

// -----

%s0 = "t.s"() : () -> memref<4xf16>
// expected-error@+1 {{'affine.load' op failed to verify that result is the element type of memref: expected 'f16', but got 'memref<4xf16>'}}
%r1:1 = "affine.load"(%s0) : (memref<4xf16>) -> (memref<4xf16>)

// -----

%0 = "t.s"() : () -> i32
%1 = scf.execute_region -> i32 {
^bb1:
// expected-error@+1 {{'cf.br' op with successors must terminate its parent block}}
  cf.br ^bb1
  scf.yield %0 : i32
}

// -----

// expected-error@+1 {{'func.func' op expects a non-empty block: an empty block needs at least a terminator}}
func.func @f(%arg0: ui64) -> ui64 {
^bb1(%0: ui64):
}

// -----

// expected-error@+1 {{'vector.transfer_write' op attribute 'in_bounds' failed to satisfy constraint: array attribute}}
vector.transfer_write %v, %m[%i, %j] {in_bounds = 0 : i32} : vector<4xf32>, memref<?x?xf32>

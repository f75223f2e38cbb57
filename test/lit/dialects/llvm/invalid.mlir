// What the verifier rejects, in upstream's words.
// RUN: nn-opt --split-input-file --verify-diagnostics %s

llvm.func @f(%p: !llvm.ptr) {
  // expected-error @+1 {{'llvm.load' op unsupported ordering 'release'}}
  %0 = llvm.load %p atomic release {alignment = 4 : i64} : !llvm.ptr -> f32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr) {
  // expected-error @+1 {{'llvm.load' op expected alignment for atomic access}}
  %0 = llvm.load %p atomic monotonic : !llvm.ptr -> f32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %x: f32) {
  // expected-error @+1 {{'llvm.store' op unsupported ordering 'acquire'}}
  llvm.store %x, %p atomic acquire {alignment = 4 : i64} : f32, !llvm.ptr
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %x: f32) {
  // expected-error @+1 {{'llvm.store' op expected syncscope to be null for non-atomic access}}
  llvm.store %x, %p {syncscope = "x"} : f32, !llvm.ptr
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %x: i1) {
  // expected-error @+1 {{'llvm.store' op unsupported type 'i1' for atomic access}}
  llvm.store %x, %p atomic monotonic {alignment = 4 : i64} : i1, !llvm.ptr
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %x: f32) {
  // expected-error @+1 {{'llvm.atomicrmw' op expected LLVM IR integer type}}
  %0 = llvm.atomicrmw add %p, %x monotonic : !llvm.ptr, f32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %x: i32) {
  // expected-error @+1 {{'llvm.atomicrmw' op expected LLVM IR floating point type}}
  %0 = llvm.atomicrmw fadd %p, %x monotonic : !llvm.ptr, i32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %x: i1) {
  // expected-error @+1 {{'llvm.atomicrmw' op unexpected LLVM IR type for 'xchg' bin_op}}
  %0 = llvm.atomicrmw xchg %p, %x monotonic : !llvm.ptr, i1
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %x: i32) {
  // expected-error @+1 {{'llvm.atomicrmw' op expected at least 'monotonic' ordering}}
  %0 = llvm.atomicrmw xchg %p, %x unordered : !llvm.ptr, i32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %x: i32) {
  // expected-error @+1 {{'llvm.cmpxchg' op ordering must be at least 'monotonic'}}
  %0 = llvm.cmpxchg %p, %x, %x unordered monotonic : !llvm.ptr, i32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %x: i32) {
  // expected-error @+1 {{'llvm.cmpxchg' op ordering must be at least 'monotonic'}}
  %0 = llvm.cmpxchg %p, %x, %x monotonic unordered : !llvm.ptr, i32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %x: i32) {
  // expected-error @+1 {{'llvm.cmpxchg' op failure ordering cannot be 'release' or 'acq_rel'}}
  %0 = llvm.cmpxchg %p, %x, %x seq_cst release : !llvm.ptr, i32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %x: i1) {
  // expected-error @+1 {{'llvm.cmpxchg' op unexpected LLVM IR type}}
  %0 = llvm.cmpxchg %p, %x, %x seq_cst monotonic : !llvm.ptr, i1
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{'llvm.fence' op can be given only acquire, release, acq_rel, and seq_cst orderings}}
  llvm.fence monotonic
  llvm.return
}

// -----

llvm.func @f(%x: i32) {
  // expected-error @+1 {{expects number of branch weights to match number of successors: 1 vs 2}}
  llvm.switch %x : i32, ^bb1 [
    1: ^bb1
  ] {branch_weights = array<i32: 1>}
^bb1:
  llvm.return
}

// -----

llvm.func @f(%x: i32, %c: i1) {
  // expected-error @+1 {{expects number of branch weights to match number of successors: 1 vs 2}}
  llvm.cond_br %c weights([1]), ^bb1, ^bb1
^bb1:
  llvm.return
}

// -----

llvm.func @f(%x: i32) {
  // expected-error @+1 {{'llvm.bitcast' op can only cast pointers from and to pointers}}
  %0 = llvm.bitcast %x : i32 to !llvm.ptr
  llvm.return
}

// -----

llvm.func @f(%x: i32) {
  // expected-error @+1 {{integer width of the output type is smaller or equal to the integer width of the input type}}
  %0 = llvm.sext %x : i32 to i16
  llvm.return
}

// -----

llvm.func @f(%x: vector<4xi32>) {
  // expected-error @+1 {{input type is a vector but output type is an integer}}
  %0 = llvm.zext %x : vector<4xi32> to i64
  llvm.return
}

// -----

llvm.func @f(%x: !llvm.struct<(i32)>) {
  // expected-error @+1 {{position out of bounds: 1}}
  %0 = llvm.extractvalue %x[1] : !llvm.struct<(i32)>
  llvm.return
}

// -----

llvm.func @f(%x: !llvm.struct<(i32)>, %y: f32) {
  // expected-error @+1 {{'llvm.insertvalue' op cannot insert f32 into a member of type i32}}
  %0 = llvm.insertvalue %y, %x[0] : !llvm.struct<(i32)>
  llvm.return
}

// -----

llvm.func @f() -> i32 {
  // expected-error @+1 {{'llvm.return' op expected 1 operand}}
  llvm.return
}

// -----

llvm.func @f() {
  %0 = llvm.mlir.constant(1 : i32) : i32
  // expected-error @+1 {{'llvm.return' op expected no operands}}
  llvm.return %0 : i32
}

// -----

llvm.func @f() -> i32 {
  %0 = llvm.mlir.constant(1.0 : f32) : f32
  // expected-error @+1 {{'llvm.return' op mismatching result types}}
  llvm.return %0 : f32
}

// -----

llvm.func @f() {
  // expected-error @+1 {{'llvm.mlir.constant' op expected integer type}}
  %0 = llvm.mlir.constant(1 : i32) : f32
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{'llvm.mlir.constant' op expected array type of 3 i8 elements for the string constant}}
  %0 = llvm.mlir.constant("abc") : !llvm.array<4 x i8>
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{'llvm.mlir.constant' op expected array attribute of size 2}}
  %0 = llvm.mlir.constant([1 : i32]) : !llvm.struct<(i32, i32)>
  llvm.return
}

// -----

// expected-error @+1 {{'llvm.mlir.global' op expects type to be a valid element type for an LLVM global}}
llvm.mlir.global internal @g(1 : i32) : !llvm.void

// -----

// expected-error @+1 {{'llvm.mlir.global' op expected zero value for 'common' linkage}}
llvm.mlir.global common @g(1 : i32) : i32

// -----

// expected-error @+1 {{'llvm.mlir.global' op expected array type for 'appending' linkage}}
llvm.mlir.global appending @g(1 : i32) : i32

// -----

// expected-error @+1 {{'llvm.mlir.global' op requires an i8 array type of the length equal to that of the string attribute}}
llvm.mlir.global internal @g("abc") : i32

// -----

// expected-error @+1 {{'llvm.mlir.global' op cannot have both initializer value and region}}
llvm.mlir.global internal @g(1 : i32) : i32 {
  %0 = llvm.mlir.constant(1 : i32) : i32
  llvm.return %0 : i32
}

// -----

// expected-error @+1 {{'llvm.mlir.global' op initializer region type 'i32' does not match global type 'i64'}}
llvm.mlir.global internal @g() : i64 {
  %0 = llvm.mlir.constant(1 : i32) : i32
  llvm.return %0 : i32
}

// -----

// expected-error @+1 {{'llvm.mlir.global' op initializer region cannot return void}}
llvm.mlir.global internal @g() : i64 {
  llvm.return
}

// -----

// expected-error @+1 {{ctors, priorities, and data must have the same number of elements}}
llvm.mlir.global_ctors ctors = [@f], priorities = [], data = [#llvm.zero]
llvm.func @f() { llvm.return }

// -----

// expected-error @+1 {{'llvm.mlir.alias' op 'common' linkage not supported in aliases, available options: private, internal, linkonce, weak, linkonce_odr, weak_odr, external or available_externally}}
llvm.mlir.alias common @a : i32 {
  %0 = llvm.mlir.zero : !llvm.ptr
  llvm.return %0 : !llvm.ptr
}

// -----

// expected-error @+1 {{'llvm.mlir.alias' op initializer region must always return a pointer}}
llvm.mlir.alias external @a : i32 {
  %0 = llvm.mlir.constant(1 : i32) : i32
  llvm.return %0 : i32
}

// -----

// expected-error @+1 {{'llvm.mlir.ifunc' op 'common' linkage not supported in ifuncs, available options: private, internal, linkonce, weak, linkonce_odr, weak_odr, or external linkage}}
llvm.mlir.ifunc common @a : !llvm.func<void ()>, !llvm.ptr @r
llvm.func @r() -> !llvm.ptr { %0 = llvm.mlir.zero : !llvm.ptr
 llvm.return %0 : !llvm.ptr }

// -----

// expected-error @+1 {{'llvm.func' op functions cannot have 'common' linkage}}
llvm.func common @f()

// -----

llvm.func @f(%p: !llvm.ptr) {
  // expected-error @+1 {{'llvm.getelementptr' op index 1 indexing a struct is out of bounds}}
  %0 = llvm.getelementptr %p[0, 3] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i32)>
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %i: i32) {
  // expected-error @+1 {{'llvm.getelementptr' op expected index 1 indexing a struct to be constant}}
  %0 = llvm.getelementptr %p[0, %i] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.struct<(i32)>
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %i: i32) {
  // expected-error @+1 {{'llvm.getelementptr' op type 'i32' cannot be indexed (index #1)}}
  %0 = llvm.getelementptr %p[0, 1] : (!llvm.ptr) -> !llvm.ptr, i32
  llvm.return
}

// -----

llvm.func @f(%x: i32) {
  // expected-error @+1 {{'llvm.call_intrinsic' op intrinsic name must start with 'llvm.'}}
  %0 = llvm.call_intrinsic "foo"(%x) : (i32) -> i32
  llvm.return
}

// -----

llvm.comdat @c {
  // expected-error @+1 {{only comdat selector symbols can appear in a comdat region}}
  llvm.return
}

// -----

llvm.func @f() attributes {personality = @f} {
  // expected-error @+1 {{first operation in unwind destination should be a llvm.landingpad operation}}
  llvm.invoke @f() to ^bb1 unwind ^bb1 : () -> ()
^bb1:
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{'llvm.linker_options' op must appear at the module level}}
  llvm.linker_options ["a"]
  llvm.return
}

// -----

// expected-error @+1 {{'llvm.module_flags' op expected a module flag attribute}}
llvm.module_flags [1 : i32]

// -----

llvm.func @f(%a: vector<[4]xf32>, %b: vector<4xf32>) {
  // expected-error @+1 {{'llvm.intr.vector.insert' op failed to verify that it is not inserting scalable into fixed-length vectors.}}
  %0 = llvm.intr.vector.insert %a, %b[0] : vector<[4]xf32> into vector<4xf32>
  llvm.return
}

// -----

llvm.func @f(%a: vector<4xf32>) {
  // expected-error @+1 {{'llvm.intr.vector.extract' op failed to verify that it is not extracting scalable from fixed-length vectors.}}
  %0 = llvm.intr.vector.extract %a[0] : vector<[4]xf32> from vector<4xf32>
  llvm.return
}

// -----

llvm.func @f(%x: i32, %y: i64) {
  // expected-error @+1 {{use of value '%y' expects different type than prior uses: 'i32' vs 'i64'}}
  %0 = llvm.add %x, %y : i32
  llvm.return
}

// -----

llvm.func @f(%x: f32) {
  // expected-error @+1 {{'llvm.add' op operand #0 must be signless integer or LLVM dialect-compatible vector of signless integer, but got 'f32'}}
  %0 = "llvm.add"(%x, %x) : (f32, f32) -> f32
  llvm.return
}

// -----

// expected-error @+1 {{'llvm.mlir.global' op expects type to be a valid element type for an LLVM global}}
llvm.mlir.global @x() : tensor<4xf32>

// -----

llvm.func @f() {
  // expected-error @+1 {{expected 1 operand bundle tags, but actually got 0}}
  "llvm.call"() <{callee = @f, op_bundle_sizes = array<i32: 0>, operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
  llvm.return
}

// -----

llvm.func @f(%x: i32) {
  // expected-error @+1 {{'llvm.call' op op_bundle_operands count (1) does not match with the total size (2) specified in attribute 'op_bundle_sizes'}}
  "llvm.call"(%x) <{callee = @f, op_bundle_sizes = array<i32: 2>, op_bundle_tags = ["a"], operandSegmentSizes = array<i32: 0, 1>}> : (i32) -> ()
  llvm.return
}

// -----

llvm.func @p() -> i32
llvm.func @f(%x: i32) attributes {personality = @p} {
  // expected-error @+1 {{landingpad instruction expects at least one clause or cleanup attribute}}
  %0 = llvm.landingpad : i32
  llvm.return
}

// -----

// expected-error @+1 {{invalid function argument type: '!llvm.void'}}
module attributes {a.x = !llvm.func<void (void)>} {}

// -----

// expected-error @+1 {{invalid array element type: '!llvm.void'}}
module attributes {a.x = !llvm.array<1 x void>} {}

// -----

// expected-error @+1 {{invalid LLVM structure element type: '!llvm.void'}}
module attributes {a.x = !llvm.struct<(void)>} {}

// -----

llvm.func @f(%x: i32) {
  // expected-error @+1 {{llvm.landingpad needs to be in a function with a personality}}
  %0 = llvm.landingpad cleanup : !llvm.struct<(ptr, i32)>
  llvm.return
}

// -----

// expected-error @+1 {{#llvm.loop_unroll: duplicate or unknown struct parameter name: nothing}}
module attributes {a.x = #llvm.loop_unroll<nothing = 1>} {}

// -----

// expected-error @+1 {{#llvm.access_group: struct is missing required parameter: id}}
module attributes {a.x = #llvm.access_group<>} {}

// -----

// expected-error @+1 {{#llvm.loop_unroll: parameter 'count': expected an integer, found '"x"'}}
module attributes {a.x = #llvm.loop_unroll<count = "x">} {}

// -----

// expected-error @+1 {{#llvm.loop_unroll: parameter 'disable' takes one value}}
module attributes {a.x = #llvm.loop_unroll<disable = true, false>} {}

// -----

// expected-error @+1 {{#llvm.loop_unroll: expected the name of a parameter and '='}}
module attributes {a.x = #llvm.loop_unroll<1>} {}

// -----

// expected-error @+1 {{#llvm.constant_range has 3 parameters}}
module attributes {a.x = #llvm.constant_range<i8, 1, 2, 3>} {}

// -----

// expected-error @+1 {{#llvm.dereferenceable: parameter 'bytes': expected an integer, found 'true'}}
module attributes {a.x = #llvm.dereferenceable<bytes = true>} {}

// -----

// expected-error @+1 {{parameter 'mayBeNull': expected 'true' or 'false', found '3 : i64'}}
module attributes {a.x = #llvm.dereferenceable<bytes = 1, mayBeNull = 3>} {}

// -----

// expected-error @+1 {{'bad' is not a memory effect; expected: none, read, write, readwrite}}
module attributes {a.x = #llvm.memory_effects<other = bad>} {}

// -----

// expected-error @+1 {{'foo' is not a tag; expected: one that starts with DW_TAG_}}
module attributes {a.x = #llvm.di_basic_type<tag = foo, name = "x">} {}

// -----

// expected-error @+1 {{parameter 'tag': expected a word}}
module attributes {a.x = #llvm.di_basic_type<tag = 1, name = "x">} {}

// -----

// expected-error @+1 {{'A' is not a debug info flag}}
module attributes {a.x = #llvm.di_local_variable<scope = #llvm.zero, flags = "A|B">} {}

// -----

// expected-error @+1 {{'DW_foo' is not an operation; expected one that starts DW_OP_}}
module attributes {a.x = #llvm.di_expression<[DW_foo]>} {}

// -----

// expected-error @+1 {{expected a list of operations '[DW_OP_..]'}}
module attributes {a.x = #llvm.di_expression<1>} {}

// -----

// expected-error @+1 {{parameter 'members': expected '{' and members}}
module attributes {a.x = #llvm.tbaa_type_desc<id = "a", members = 1>} {}

// -----

// expected-error @+1 {{parameter 'features': expected a list of strings}}
module attributes {a.x = #llvm.target_features<1>} {}

// -----

// expected-error @+1 {{expected an attribute 'llvm.alias_scope_domain', found '#llvm.di_file<"a" in "b">'}}
module attributes {a.x = #llvm.alias_scope<id = "a", domain = #llvm.di_file<"a" in "b">>} {}

// -----

// expected-error @+1 {{parameter 'name': expected a string}}
module attributes {a.x = #llvm.di_file<foo>} {}

// -----

// expected-error @+1 {{the size of an array is not negative}}
module attributes {a.x = !llvm.array<-1 x i8>} {}

// -----

// expected-error @+1 {{either all arguments have names or none has}}
llvm.func @f(i32, %x: i32)

// -----

// expected-error @+1 {{expected '@' and a name, found 'foo'}}
llvm.func foo @f()

// -----

// expected-error @+1 {{expected ':' and a type: only a string implies the type of a global}}
llvm.mlir.global @x()

// -----

llvm.func @f(%x: vector<4xi32>) {
  // expected-error @+1 {{input and output vectors are of incompatible shape}}
  %0 = llvm.zext %x : vector<4xi32> to vector<5xi64>
  llvm.return
}

// -----

llvm.func @f(%x: !llvm.ptr) {
  // expected-error @+1 {{'llvm.bitcast' op cannot cast pointer to vector of pointers}}
  %0 = llvm.bitcast %x : !llvm.ptr to vector<2x!llvm.ptr>
  llvm.return
}

// -----

llvm.func @f(%x: vector<2x!llvm.ptr>) {
  // expected-error @+1 {{'llvm.bitcast' op cannot cast vector of pointers to pointer}}
  %0 = llvm.bitcast %x : vector<2x!llvm.ptr> to !llvm.ptr
  llvm.return
}

// -----

llvm.func @f() {
  // expected-error @+1 {{'llvm.mlir.constant' op expected vector or array type}}
  %0 = llvm.mlir.constant(dense<1> : tensor<2xi32>) : i32
  llvm.return
}

// -----

// expected-error @+1 {{'llvm.mlir.alias' op initializer region must always return a pointer}}
"llvm.mlir.alias"() <{alias_type = i32, linkage = #llvm.linkage<external>, sym_name = "a", visibility_ = 0 : i64}> ({
  llvm.return
}) : () -> ()

// -----

llvm.func @f(%x: i32) {
  // expected-error @+1 {{input type is an integer but output type is a vector}}
  %0 = llvm.zext %x : i32 to vector<4xi64>
  llvm.return
}

// -----

llvm.func @f(%x: i32) {
  // expected-error @+1 {{a filter clause takes an array, a catch clause another type; found 'i32'}}
  %0 = llvm.landingpad (filter %x : i32) : i32
  llvm.return
}

// -----

func.func @a(%a: vector<i32>) {
  // expected-error @+1 {{'llvm.intr.vector.insert' op takes vectors of one dimension}}
  %0 = "llvm.intr.vector.insert"(%a, %a) <{pos = 0 : i64}> : (vector<i32>, vector<i32>) -> vector<i32>
  return
}

// What no other test provokes of the messages of the dialect llvm.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

llvm.func @f(%arg0: !llvm.struct<(i64, ptr)>, %arg1: bf16) {
// expected-error@+1 {{'llvm.insertvalue' op cannot insert bf16 into a member of type i64}}
  %0 = llvm.insertvalue %arg1, %arg0[0] : !llvm.struct<(i64, ptr)> 
  llvm.return
}

// -----

// expected-error@+1 {{'inboundsnuw' is not a getelementptr flag; expected one of: none, inbounds, inbounds_flag, nusw, nuw}}
%q = llvm.getelementptr inboundsnuw %p[%i, 3] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>

// -----

%0 = "t.s"() : () -> i64
%1 = "t.s"() : () -> !llvm.ptr
// expected-error@+1 {{'llvm.getelementptr' op expected 0 dynamic indices, found 1}}
%2 = "llvm.getelementptr"(%1, %0) <{elem_type = !llvm.array<4 x f32>, noWrapFlags = 7 : i32, rawConstantIndices = array<i32: 8, 3>}> : (!llvm.ptr, i64) -> !llvm.ptr

// -----

// expected-error@+1 {{'llvm.func' op entry block arguments do not match the function's type}}
  "llvm.func"() <{CConv = #llvm.cconv<ccc>, function_type = !llvm.func<void (struct<(ptr, i32)>)>, linkage = #llvm.linkage<external>, sym_name = "f", unnamed_addr = 0 : i64, visibility_ = 0 : i64}> ({
"builtin.module"() ({
  ^bb0(%arg0: !llvm.struct<(ptr, i32)>):
  }) : () -> ()
}) : () -> ()

// -----

%x = "t.s"() : () -> vector<131072xi8>
%y = "t.s"() : () -> vector<4xi8>
// expected-error@+1 {{'llvm.intr.vector.insert' op failed to verify that vectors are not bigger than 2^17 bits.}}
%0 = llvm.intr.vector.insert %y, %x[0] : vector<4xi8> into vector<131072xi8>

// -----

// expected-error@+1 {{'llvm.func' op external functions must have 'external' or 'extern_weak' linkage}}
llvm.func internal @f()

// -----

// expected-error@+1 {{'llvm.func' op attribute 'function_type' failed to satisfy constraint: type attribute of LLVM function type}}
"llvm.func"() <{CConv = #llvm.cconv<ccc>, function_type = () -> (), linkage = #llvm.linkage<external>, sym_name = "f"}> ({
}) : () -> ()

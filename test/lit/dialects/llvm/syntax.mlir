// Forms of text that the examples of ops do not show: words in front of symbols, attributes of
// functions and calls, metadata and its aliases, types by name.
// RUN: nn-opt %s | filecheck %s

// CHECK: #access_group = #llvm.access_group<id = distinct[0]<>>
// CHECK: #di_file = #llvm.di_file<"a.c" in "/src">
// CHECK: #loop_unroll = #llvm.loop_unroll<disable = true>
// CHECK: #tbaa_root = #llvm.tbaa_root<id = "types">
// CHECK: #di_compile_unit = #llvm.di_compile_unit<id = distinct[1]<>, sourceLanguage = DW_LANG_C, file = #di_file, isOptimized = true, emissionKind = Full>
// CHECK: #loop_annotation = #llvm.loop_annotation<unroll = #loop_unroll, mustProgress = true, parallelAccesses = #access_group>
// CHECK: #di_subprogram = #llvm.di_subprogram<compileUnit = #di_compile_unit, scope = #di_file, name = "f", file = #di_file, line = 3, subprogramFlags = "Definition|Optimized">
// CHECK: #tbaa_type_desc = #llvm.tbaa_type_desc<id = "int", members = {<#tbaa_root, 0>}>
// CHECK: #di_local_variable = #llvm.di_local_variable<scope = #di_subprogram, name = "x", line = 4, arg = 1, flags = Public>
// CHECK: #tbaa_tag = #llvm.tbaa_tag<base_type = #tbaa_type_desc, access_type = #tbaa_type_desc, offset = 0>

#group = #llvm.access_group<id = distinct[7]<>>
#file = #llvm.di_file<"a.c" in "/src">
#unit = #llvm.di_compile_unit<id = distinct[3]<>, sourceLanguage = DW_LANG_C, file = #file, isOptimized = true, emissionKind = Full>
#function = #llvm.di_subprogram<compileUnit = #unit, scope = #file, name = "f", file = #file, line = 3, subprogramFlags = "Definition|Optimized">
#variable = #llvm.di_local_variable<scope = #function, name = "x", line = 4, arg = 1, flags = "Private|Protected">
#type = #llvm.tbaa_type_desc<id = "int", members = {<#llvm.tbaa_root<id = "types">, 0>}>
#tag = #llvm.tbaa_tag<base_type = #type, access_type = #type, offset = 0, constant = false>
#loop = #llvm.loop_annotation<mustProgress = true, unroll = <disable = true>, parallelAccesses = #group>

// CHECK: llvm.comdat @choices {
llvm.comdat @choices {
  // CHECK-NEXT: llvm.comdat_selector @one any
  llvm.comdat_selector @one any
}

// CHECK: llvm.mlir.global weak hidden thread_local unnamed_addr constant @g(1 : i32) comdat(@choices::@one) {addr_space = 0 : i32, alignment = 8 : i64, dso_local, section = "s"} : i32
llvm.mlir.global weak hidden thread_local unnamed_addr constant @g(1 : i32) comdat(@choices::@one) {dso_local, section = "s", alignment = 8} : i32
// CHECK: llvm.mlir.global external @named() {addr_space = 0 : i32} : !llvm.struct<"list", (ptr, array<2 x struct<"list">>)>
llvm.mlir.global @named() : !llvm.struct<"list", (!llvm.ptr, !llvm.array<2 x struct<"list">>)>
// CHECK: llvm.mlir.global external @opaque() {addr_space = 0 : i32} : !llvm.struct<"o", opaque>
llvm.mlir.global external @opaque() : !llvm.struct<"o", opaque>
// CHECK: llvm.mlir.global private @text("ab\00") {addr_space = 0 : i32}
llvm.mlir.global private @text("ab\00")

// CHECK: llvm.func internal hidden local_unnamed_addr fastcc @f(%{{.*}}: i32 {llvm.noundef}, ...) -> (i32 {llvm.signext}) vscale_range(1, 2) comdat(@choices::@one) attributes {frame_pointer = #llvm.framePointerKind<"non-leaf">, target_features = #llvm.target_features<["+a", "-b"]>, uwtable_kind = #llvm.uwtableKind<sync>}
llvm.func internal hidden local_unnamed_addr fastcc @f(%x: i32 {llvm.noundef}, ...) -> (i32 {llvm.signext}) vscale_range(1, 2) comdat(@choices::@one) attributes {uwtable_kind = #llvm.uwtableKind<sync>, frame_pointer = #llvm.framePointerKind<"non-leaf">, target_features = #llvm.target_features<["+a", "-b"]>} {
  llvm.return %x : i32
}

// CHECK: llvm.func @calls
llvm.func @calls(%x: i32, %p: !llvm.ptr, %c: i1) {
  // CHECK: llvm.call fastcc tail @f(%{{.*}}) vararg(!llvm.func<i32 (i32, ...)>) ["tag"(%{{.*}} : i32), "none"()] {no_inline} : (i32 {llvm.noundef}) -> (i32 {llvm.signext})
  %0 = llvm.call fastcc tail @f(%x) vararg(!llvm.func<i32 (i32, ...)>) ["tag"(%x : i32), "none"()] {no_inline} : (i32 {llvm.noundef}) -> (i32 {llvm.signext})
  // CHECK: llvm.call %{{.*}}(%{{.*}}) : !llvm.ptr, (i32) -> ()
  llvm.call %p(%x) : !llvm.ptr, (i32) -> ()
  // CHECK: llvm.inline_asm is_align_stack tail_call_kind = <tail> asm_dialect = intel "nop", ""  : () -> ()
  llvm.inline_asm is_align_stack tail_call_kind = <tail> asm_dialect = intel "nop", "" : () -> ()
  // CHECK: llvm.intr.dbg.value #di_local_variable #llvm.di_expression<[DW_OP_LLVM_convert(16, DW_ATE_signed), DW_OP_deref]> = %{{.*}} : i32
  llvm.intr.dbg.value #variable #llvm.di_expression<[DW_OP_LLVM_convert(16, DW_ATE_signed), DW_OP_deref]> = %x : i32
  // CHECK: llvm.load %{{.*}} atomic syncscope("s") acquire {access_groups = [#access_group], alignment = 4 : i64, tbaa = [#tbaa_tag]} : !llvm.ptr -> i32
  %1 = llvm.load %p atomic syncscope("s") acquire {tbaa = [#tag], access_groups = [#group], alignment = 4} : !llvm.ptr -> i32
  // CHECK: llvm.alloca %{{.*}} x f32 : (i32) -> !llvm.ptr
  %2 = llvm.alloca %x x f32 {alignment = 0} : (i32) -> !llvm.ptr
  llvm.br ^bb1
^bb1:
  // CHECK: llvm.cond_br %{{.*}} weights([1, 2]), ^bb1, ^bb2 {loop_annotation = #loop_annotation}
  llvm.cond_br %c weights([1, 2]), ^bb1, ^bb2 {loop_annotation = #loop}
^bb2:
  llvm.return
}

// The label of the first block may declare the arguments.
// CHECK: llvm.func @labelled(%[[A:.*]]: f32) -> f32 {
// CHECK-NEXT: llvm.return %[[A]] : f32
llvm.func @labelled(f32) -> f32 {
^bb0(%a: f32):
  llvm.return %a : f32
}

"""Ops of the llvm dialect that nothing in nnc makes itself, as tables (see `op_table.py`).

Those whose forms are alike are in `intrinsic_table.py`, a line for each.
"""

from __future__ import annotations

from ...ir.declare import TYPE
from ..index_lists import plain_error
from ..op_table import OpTable
from ..vocabulary import *
from .attributes import COMDAT, LINKAGE, UNNAMED_ADDR, VISIBILITY
from .checks import check_initializer
from .debug_info import EXPRESSION, LABEL, LOCAL_VARIABLE, NO_OPERATIONS
from .intrinsic_table import ATTRIBUTES, KINDS
from .intrinsics_memory import MemoryIntrinsic
from .metadata import AliasScope, BlockAddress, BlockTag, attribute_of

_VALUES = {name: constraint for name, (constraint, _) in KINDS.items()}

_ATTRIBUTES = {name: kind for name, (kind, _) in ATTRIBUTES.items()} | {
    "address_space": (ATTRIBUTES["i32"][0], 0),
    "alias_scope": attribute_of(AliasScope),
    "array": ARRAY,
    "block_address": attribute_of(BlockAddress),
    "block_tag": attribute_of(BlockTag),
    "comdat": COMDAT,
    "expression": (EXPRESSION, NO_OPERATIONS),
    "label": LABEL,
    "linkage": LINKAGE,
    "symbol": SYMBOL,
    "symbol_name": SYMBOL_NAME,
    "type": TYPE,
    "unit": UNIT,
    "unnamed_addr": UNNAMED_ADDR,
    "unnamed_addr_or_none": (UNNAMED_ADDR, "none"),
    "variable": LOCAL_VARIABLE,
    "visibility": (VISIBILITY, "default"),
}


def _table(text: str, base: type[Op] = Op) -> OpTable:
    return OpTable("llvm", __name__, _VALUES, _ATTRIBUTES, text, base=base)


# -- values ----------------------------------------------------------------------------------------

VALUES = _table(
    """
    mlir.none Pure: The token that stands for none.
      -> res:token
    = attr-dict `:` type($res)
    > %t = llvm.mlir.none : !llvm.token

    intr.expect Pure: The value, which is likely the one expected.
      val:scalar_int expected:=val -> res:=val
    = $val `,` $expected attr-dict `:` type($val)
    > %r = llvm.intr.expect %x, %y : i32

    intr.expect.with.probability Pure: The value, which is the one expected with a probability.
      val:scalar_int expected:=val !prob:f64 -> res:=val
    = $val `,` $expected `,` $prob attr-dict `:` type($val)
    > %r = llvm.intr.expect.with.probability %x, %y, 5.000000e-01 : i16

    intr.experimental.constrained.uitofp Pure: A float from an unsigned integer.
      arg_0:any !roundingmode:rounding !fpExceptionBehavior:exceptions -> res:any
    = $arg_0 $roundingmode $fpExceptionBehavior attr-dict `:` type($arg_0) `to` type($res)
    > %r = llvm.intr.experimental.constrained.uitofp %x towardzero ignore : i32 to f32

    intr.experimental.constrained.sitofp Pure: A float from a signed integer.
      arg_0:any !roundingmode:rounding !fpExceptionBehavior:exceptions -> res:any
    = $arg_0 $roundingmode $fpExceptionBehavior attr-dict `:` type($arg_0) `to` type($res)
    > %r = llvm.intr.experimental.constrained.sitofp %x tonearest maytrap : i32 to f32

    intr.experimental.constrained.fptrunc Pure: A narrower float.
      arg_0:any !roundingmode:rounding !fpExceptionBehavior:exceptions -> res:any
    = $arg_0 $roundingmode $fpExceptionBehavior attr-dict `:` type($arg_0) `to` type($res)
    > %r = llvm.intr.experimental.constrained.fptrunc %x upward strict : f64 to f32

    intr.experimental.constrained.fpext Pure: A wider float.
      arg_0:any !fpExceptionBehavior:exceptions -> res:any
    = $arg_0 $fpExceptionBehavior attr-dict `:` type($arg_0) `to` type($res)
    > %r = llvm.intr.experimental.constrained.fpext %x ignore : f32 to f64

    intr.vector.insert Pure: A vector with the elements from a position on replaced by another's.
      dstvec:vec srcvec:vec !pos:i64 -> res:=dstvec
    = $srcvec `,` $dstvec `[` $pos `]` attr-dict `:` type($srcvec) `into` type($res)
    > func.func @f(%arg0: vector<4xf32>, %arg1: vector<8xf32>) {
    >   %0 = llvm.intr.vector.insert %arg0, %arg1[4] : vector<4xf32> into vector<8xf32>
    >   return
    > }

    intr.vector.extract Pure: Elements of a vector from a position on.
      srcvec:vec !pos:i64 -> res:vec
    = $srcvec `[` $pos `]` attr-dict `:` type($res) `from` type($srcvec)
    > %r = llvm.intr.vector.extract %v[4] : vector<4xf32> from vector<8xf32>

    intr.get.active.lane.mask Pure: Which lanes of a loop that starts at `base` are below `n`.
      base:scalar_int n:scalar_int -> res:vec
    = $base `,` $n attr-dict `:` type($base) `,` type($n) `to` type($res)
    > %m = llvm.intr.get.active.lane.mask %i, %n : i64, i64 to vector<7xi1>

    intr.matrix.multiply: The product of two matrices.
      lhs:vec rhs:vec !lhs_rows:i32 !lhs_columns:i32 !rhs_columns:i32 -> res:vec
    = $lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)` `->` type($res)
    > %r = llvm.intr.matrix.multiply %a, %b {lhs_columns = 16 : i32, lhs_rows = 4 : i32,
      rhs_columns = 3 : i32} : (vector<64xf32>, vector<48xf32>) -> vector<12xf32>

    intr.matrix.transpose: A matrix with rows and columns exchanged.
      matrix:vec !rows:i32 !columns:i32 -> res:vec
    = $matrix attr-dict `:` type($matrix) `into` type($res)
    > %r = llvm.intr.matrix.transpose %m {columns = 16 : i32, rows = 3 : i32} :
      vector<48xf32> into vector<48xf32>
    """
)


def _bits(type: Type) -> int:
    element = type.element_type  # type: ignore[attr-defined]
    return type.shape[0] * getattr(element, "bit_width", 64)  # type: ignore[attr-defined]


def _verify_parts(op: Operation, whole: Type, part: Type, verb: str) -> None:
    """Check a vector and its part: 1-D, not too large, and fixed-size parts of fixed ones."""
    if any(isinstance(one, VectorType) and one.rank != 1 for one in (whole, part)):
        raise op.error("takes vectors of one dimension")
    if max(_bits(whole), _bits(part)) > 131072:
        raise op.error("failed to verify that vectors are not bigger than 2^17 bits.")
    if isinstance(part, VectorType) and any(part.scalable) and not any(whole.scalable):  # type: ignore[attr-defined]
        raise op.error(f"failed to verify that it is not {verb} fixed-length vectors.")


@VALUES.verifies("intr.vector.insert")
def _verify_insert(op: Any) -> None:
    _verify_parts(op, op.dstvec.type, op.srcvec.type, "inserting scalable into")


@VALUES.verifies("intr.vector.extract")
def _verify_extract(op: Any) -> None:
    _verify_parts(op, op.srcvec.type, op.res.type, "extracting scalable from")


# -- memory ----------------------------------------------------------------------------------------

_table(
    """
    intr.matrix.column.major.load ReadsMemory: A matrix in memory, columns `stride` apart.
      data:ptr stride:scalar_int !isVolatile:i1 !rows:i32 !columns:i32 -> res:vec
    = $data `,` `<` `stride` `=` $stride `>` attr-dict `:` type($res) `from` type($data)
      `stride` type($stride)
    > %r = llvm.intr.matrix.column.major.load %p, <stride = %s> {columns = 16 : i32,
      isVolatile = false, rows = 3 : i32} : vector<48xf32> from !llvm.ptr stride i64

    intr.matrix.column.major.store WritesMemory: Write a matrix, columns `stride` apart.
      matrix:vec data:ptr stride:scalar_int !isVolatile:i1 !rows:i32 !columns:i32
    = $matrix `,` $data `,` `<` `stride` `=` $stride `>` attr-dict `:` type($matrix) `to`
      type($data) `stride` type($stride)
    > llvm.intr.matrix.column.major.store %m, %p, <stride = %s> {columns = 16 : i32,
      isVolatile = false, rows = 3 : i32} : vector<48xf32> to !llvm.ptr stride i64

    intr.vacopy WritesMemory: A second list of variadic arguments where the first one is now.
      dest_list:ptrs src_list:ptrs
    = $src_list `to` $dest_list attr-dict `:` type(operands)
    > func.func @f(%arg0: !llvm.ptr, %arg1: !llvm.ptr) {
    >   llvm.intr.vacopy %arg0 to %arg1 : !llvm.ptr, !llvm.ptr
    >   return
    > }

    intr.dbg.declare WritesMemory: The address at which a source variable lies.
      addr:ptr !varInfo:variable !locationExpr:expression
    = qualified($varInfo) (qualified($locationExpr)^)? `=` $addr `:` type($addr) attr-dict
    > llvm.intr.dbg.declare
      #llvm.di_local_variable<scope = #llvm.di_file<"a.c" in "/">, name = "x"> = %p : !llvm.ptr

    intr.dbg.value WritesMemory: The value that a source variable has from here on.
      value:any !varInfo:variable !locationExpr:expression
    = qualified($varInfo) (qualified($locationExpr)^)? `=` $value `:` type($value) attr-dict
    > llvm.intr.dbg.value
      #llvm.di_local_variable<scope = #llvm.di_file<"a.c" in "/">, name = "x">
      #llvm.di_expression<[DW_OP_plus_uconst(8)]> = %x : i32

    intr.dbg.label WritesMemory: Where a label of the source stands.
      !label:label
    = $label attr-dict
    > llvm.intr.dbg.label #llvm.di_label<scope = #llvm.di_file<"a.c" in "/">, name = "x">

    intr.experimental.noalias.scope.decl: Where a scope of accesses that do not alias starts.
      !scope:alias_scope
    = $scope attr-dict
    > llvm.intr.experimental.noalias.scope.decl
      #llvm.alias_scope<id = "a", domain = #llvm.alias_scope_domain<id = "d">>
    """
)

_table(
    """
    intr.memset WritesMemory: Set bytes to a value.
      dst:ptrs val:int len:int !isVolatile:i1
    > "llvm.intr.memset"(%d, %v, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()

    intr.memcpy.inline WritesMemory: Copy a constant number of bytes without a call.
      dst:ptrs src:ptrs !len:integer !isVolatile:i1
    > "llvm.intr.memcpy.inline"(%d, %s) <{isVolatile = false, len = 10 : i64}> :
      (!llvm.ptr, !llvm.ptr) -> ()

    intr.memset.inline WritesMemory: Set a constant number of bytes without a call.
      dst:ptrs val:int !len:integer !isVolatile:i1
    > "llvm.intr.memset.inline"(%d, %v) <{isVolatile = false, len = 10 : i64}> :
      (!llvm.ptr, i8) -> ()
    """,
    base=MemoryIntrinsic,
)

# -- control ---------------------------------------------------------------------------------------

CONTROL = _table(
    """
    intr.ubsantrap: Stop the program, which a sanitizer found at fault.
      !failureKind:i8
    = prop-dict attr-dict
    > llvm.intr.ubsantrap <{failureKind = 1 : i8}>

    intr.coro.suspend: Suspend a coroutine; how it goes on.
      save:token final:i1 -> res:any
    = $save `,` $final attr-dict `:` type($res)
    > %r = llvm.intr.coro.suspend %t, %c : i8

    blocktag: Gives the block in which it stands the number by which its address is taken.
      !tag:block_tag
    = $tag attr-dict
    > llvm.func @f() {
    >   llvm.blocktag <id = 1>
    >   llvm.return
    > }

    blockaddress Pure ConstantLike: The address of a block, for `llvm.indirectbr`.
      !block_addr:block_address -> res:ptr
    = $block_addr attr-dict `:` type($res)
    > llvm.func @f() -> !llvm.ptr {
    >   %0 = llvm.blockaddress <function = @f, tag = <id = 1>> : !llvm.ptr
    >   llvm.br ^bb1
    > ^bb1:
    >   llvm.blocktag <id = 1>
    >   llvm.return %0 : !llvm.ptr
    > }

    landingpad: The exception that an `llvm.invoke` got: what it is, and which clause took it.
      !cleanup:unit clauses:any* -> res:any
    = custom<LandingpadClauses>($cleanup, $clauses, type($clauses)) attr-dict `:` type($res)
    > llvm.func @personality(...) -> i32
    > llvm.func @f() attributes {personality = @personality} {
    >   %0 = llvm.mlir.zero : !llvm.ptr
    >   llvm.invoke @f() to ^bb1 unwind ^bb2 : () -> ()
    > ^bb1:
    >   llvm.return
    > ^bb2:
    >   %1 = llvm.landingpad cleanup (catch %0 : !llvm.ptr) : !llvm.struct<(ptr, i32)>
    >   llvm.resume %1 : !llvm.struct<(ptr, i32)>
    > }

    resume Terminator: Go on with an exception that a landing pad got.
      value:any
    = $value attr-dict `:` type($value)
    > llvm.func @f(%x: !llvm.struct<(ptr, i32)>) {
    >   llvm.resume %x : !llvm.struct<(ptr, i32)>
    > }
    """
)


@CONTROL.verifies("landingpad")
def _verify_landingpad(op: Any) -> None:
    """Check that a landing pad has clauses, in a function with a personality."""
    function = op.parent_op
    while function is not None and function.name != "llvm.func":
        function = function.parent_op
    if function is not None and "personality" not in function.properties:
        raise plain_error(op, "llvm.landingpad needs to be in a function with a personality")
    if not op.cleanup and not op.clauses:
        raise plain_error(
            op, "landingpad instruction expects at least one clause or cleanup attribute"
        )


# -- modules and what they name --------------------------------------------------------------------

MODULES = _table(
    """
    mlir.global_ctors: Functions that run before `main`, with priorities and their data.
      !ctors:array !priorities:array !data:array
    = `ctors` `=` $ctors `,` `priorities` `=` $priorities `,` `data` `=` $data attr-dict
    > module {
    >   llvm.mlir.global_ctors ctors = [@start], priorities = [0 : i32], data = [#llvm.zero]
    >   llvm.func @start() {
    >     llvm.return
    >   }
    > }

    mlir.global_dtors: Functions that run after `main`, with priorities and their data.
      !dtors:array !priorities:array !data:array
    = `dtors` `=` $dtors `,` `priorities` `=` $priorities `,` `data` `=` $data attr-dict
    > module {
    >   llvm.mlir.global_dtors dtors = [@stop], priorities = [0 : i32], data = [#llvm.zero]
    >   llvm.func @stop() {
    >     llvm.return
    >   }
    > }

    linker_options: Options for the linker.
      !options:array
    = $options attr-dict
    > module {
    >   llvm.linker_options ["/DEFAULTLIB:", "libcmt"]
    > }

    module_flags: Flags of the module.
      !flags:array
    = $flags attr-dict
    > module {
    >   llvm.module_flags [#llvm.mlir.module_flag<error, "wchar_size", 4 : i32>]
    > }

    mlir.alias IsolatedFromAbove Symbol: Another name for the pointer that the body returns.
      !sym_name:symbol_name !alias_type:type !linkage:linkage !dso_local:unit !thread_local_:unit
      !unnamed_addr:unnamed_addr? !visibility_:visibility ^initializer
    = custom<LLVMAlias>($sym_name) attr-dict `:` $alias_type $initializer
    > module {
    >   llvm.mlir.global internal @x(1 : i32) {addr_space = 0 : i32} : i32
    >   llvm.mlir.alias external @y : i32 {
    >     %0 = llvm.mlir.addressof @x : !llvm.ptr
    >     llvm.return %0 : !llvm.ptr
    >   }
    > }

    mlir.ifunc IsolatedFromAbove Symbol: A function whose address another one gives when loaded.
      !sym_name:symbol_name !i_func_type:type !resolver:symbol !resolver_type:type
      !linkage:linkage !dso_local:unit !address_space:address_space
      !unnamed_addr:unnamed_addr_or_none !visibility_:visibility
    = custom<LLVMIFunc>($sym_name) `:` $i_func_type `,` $resolver_type $resolver attr-dict
    > module {
    >   llvm.mlir.ifunc external @f : !llvm.func<f32 (i64)>, !llvm.ptr @resolver
    >   llvm.func @resolver() -> !llvm.ptr {
    >     %0 = llvm.mlir.zero : !llvm.ptr
    >     llvm.return %0 : !llvm.ptr
    >   }
    > }

    comdat NoTerminator SymbolTable Symbol: A table of comdat selectors.
      !sym_name:symbol_name ^body
    = $sym_name $body attr-dict
    > module {
    >   llvm.comdat @choices {
    >     llvm.comdat_selector @one exactmatch
    >     llvm.comdat_selector @two largest
    >   }
    > }

    comdat_selector Symbol: How a linker chooses among several definitions.
      !sym_name:symbol_name !comdat:comdat
    = $sym_name $comdat attr-dict
    > module {
    >   llvm.comdat @choices {
    >     llvm.comdat_selector @one any
    >   }
    > }
    """
)


@MODULES.verifies("mlir.global_ctors")
def _verify_constructors(op: Any) -> None:
    _verify_lists(op, op.ctors, op.priorities, op.data, "ctors")


@MODULES.verifies("mlir.global_dtors")
def _verify_destructors(op: Any) -> None:
    _verify_lists(op, op.dtors, op.priorities, op.data, "dtors")


def _verify_lists(
    op: Op, functions: Sequence, priorities: Sequence, data: Sequence, words: str
) -> None:
    if not len(functions) == len(priorities) == len(data):
        message = f"{words}, priorities, and data must have the same number of elements"
        raise plain_error(op, message)


@MODULES.verifies("linker_options")
def _verify_at_module_level(op: Any) -> None:
    parent = op.parent_op
    if parent is not None and parent.name != "builtin.module":
        raise op.error("must appear at the module level")


@MODULES.verifies("module_flags")
def _verify_flags(op: Any) -> None:
    _verify_at_module_level(op)
    for flag in ArrayAttr(op.flags).elements:
        if flag.name != "llvm.mlir.module_flag":
            raise op.error("expected a module flag attribute")


_ALIASABLE = ("private", "internal", "linkonce", "weak", "linkonce_odr", "weak_odr", "external")


def _verify_linkage(op: Any, words: str, last: str) -> None:
    if op.linkage in _ALIASABLE or ("available" in last and op.linkage == "available_externally"):
        return
    raise op.error(
        f"'{op.linkage}' linkage not supported in {words}, available options: "
        f"{', '.join(_ALIASABLE[:-1])}, {last}"
    )


@MODULES.verifies("mlir.alias")
def _verify_alias(op: Any) -> None:
    _verify_linkage(op, "aliases", "external or available_externally")
    check_initializer(op, op.initializer, None)


@MODULES.verifies("mlir.ifunc")
def _verify_ifunc(op: Any) -> None:
    _verify_linkage(op, "ifuncs", "or external linkage")


@MODULES.verifies("comdat")
def _verify_comdat(op: Any) -> None:
    """Check that a comdat contains selectors only."""
    for inner in (inner for block in op.body.blocks for inner in block):
        if inner.name != "llvm.comdat_selector":
            message = "only comdat selector symbols can appear in a comdat region"
            raise plain_error(inner, message)

"""Modules of kernels, and kernels."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir.declare import FUNCTION_TYPE
from ...ir.diagnostics import Diagnostic
from ...ir.symbols import symbol_name
from ...ir.traits import Symbol
from .. import func
from ..vocabulary import *
from .attributes import PRIVATE, WORKGROUP, AddressSpace

KERNEL = "gpu.kernel"
CONTAINER = "gpu.container_module"
SHARED = "workgroup_attributions"
SUBGROUP = "nn.subgroup_size"
"""The attribute of a kernel with the number of threads of a subgroup."""


class GPUModuleOp(
    Op,
    name="gpu.module",
    traits=(IsolatedFromAbove, NoTerminator, SingleBlock, Symbol, SymbolTable),
):
    """A module of functions for a device. Source: upstream gpu.module."""

    sym_name = attribute(SYMBOL_NAME)
    targets: Any = attribute(ARRAY, optional=True)
    offloadingHandler: Any = attribute(ANY, optional=True)  # noqa: N815
    body: RegionField = region()

    format = (
        "$sym_name custom<ModuleTargets>($offloadingHandler, $targets) attr-dict-with-keyword $body"
    )
    example = """
        gpu.module @kernels {
        }
    """

    @staticmethod
    def of(name: str, loc: Location = UNKNOWN) -> GPUModuleOp:
        """A module without functions."""
        return GPUModuleOp(name, body=Region([Block([])]), loc=loc)


class GPUFuncOp(Op, name="gpu.func", traits=(IsolatedFromAbove, HasParent("gpu.module"), Symbol)):
    """A function that runs on a device. With `kernel`, it can be launched.

    The entry block's arguments are the function's, then the buffers that each group of threads has
    (`workgroup`), then those that each thread has (`private`). Source: upstream gpu.func.
    """

    function_type = attribute(FUNCTION_TYPE)
    arg_attrs: Any = attribute(ARRAY, optional=True)
    res_attrs: Any = attribute(ARRAY, optional=True)
    known_block_size: Any = attribute(I32_ARRAY, optional=True)
    known_grid_size: Any = attribute(I32_ARRAY, optional=True)
    body: RegionField = region()

    format = (
        "custom<GpuFunction>($function_type, $arg_attrs, $res_attrs, $body) attr-dict-with-keyword "
        "custom<FunctionBody>($body)"
    )
    example = """
        gpu.module @kernels {
          gpu.func @f() workgroup(%arg0 : memref<8xf32, #gpu.address_space<workgroup>>) kernel {
            gpu.return
          }
        }
    """

    @staticmethod
    def of(
        name: str,
        inputs: Sequence[Type],
        workgroup: Sequence[Type] = (),
        private: Sequence[Type] = (),
        *,
        is_kernel: bool = True,
        known_block_size: Sequence[int] | None = None,
        attributes: dict[str, Attribute] | None = None,
        loc: Location = UNKNOWN,
    ) -> GPUFuncOp:
        """A kernel without results and with an empty entry block."""
        own: dict[str, Attribute] = {"sym_name": StringAttr(name)}
        if is_kernel:
            own[KERNEL] = UnitAttr()
        own[SHARED] = IntegerAttr(len(workgroup), i64)
        return GPUFuncOp(
            FunctionType(tuple(inputs), ()),
            known_block_size=known_block_size,
            body=Region([Block([*inputs, *workgroup, *private])]),
            attributes=own | (attributes or {}),
            loc=loc,
        )

    @property
    def sym_name(self) -> str:
        """The function's name."""
        return symbol_name(self) or ""

    @property
    def is_kernel(self) -> bool:
        """Whether the function is a kernel, which `gpu.launch_func` may launch."""
        return KERNEL in self.attributes

    @property
    def args(self) -> list[BlockArgument]:
        """The function's arguments, without the buffers that follow them in the entry block."""
        return self.body.blocks[0].args[: len(self.function_type.inputs)]

    @property
    def workgroup_buffers(self) -> list[BlockArgument]:
        """The buffers that each group has."""
        start = len(self.function_type.inputs)
        return self.body.blocks[0].args[start : start + self._shared]

    @property
    def private_buffers(self) -> list[BlockArgument]:
        """The buffers that each thread has."""
        return self.body.blocks[0].args[len(self.function_type.inputs) + self._shared :]

    @property
    def _shared(self) -> int:
        number = self.attributes.get(SHARED)
        return number.value if isinstance(number, IntegerAttr) else 0

    def verify_op(self) -> None:
        if not self.sym_name:
            raise self.error("requires attribute 'sym_name'")
        if self.is_kernel and self.function_type.results:
            raise self.error("expected void return type for kernel function")
        for what in ("known_block_size", "known_grid_size"):
            sizes = getattr(self, what)
            if sizes is not None and len(sizes) != 3:
                raise self.error(
                    f"attribute '{what}' failed to satisfy constraint: i32 dense array attribute "
                    "with 3 elements (if present)"
                )
        if not self.body.blocks:
            raise self.error("expected body with at least one block")
        size = self.attributes.get(SUBGROUP)
        if size is not None and not (isinstance(size, IntegerAttr) and size.value > 0):
            raise self.error(f"attribute '{SUBGROUP}' is a number of threads, above 0")
        self._verify_arguments()

    def _verify_arguments(self) -> None:
        args, inputs = self.body.blocks[0].args, self.function_type.inputs
        if len(args) < len(inputs) + self._shared:
            raise self.error(
                f"expected at least {len(inputs) + self._shared} arguments to body region"
            )
        for i, (arg, type) in enumerate(zip(args, inputs, strict=False)):
            if arg.type is not type:
                raise self.error(f"expected body region argument #{i} to be of type '{type}'")
        for buffers, space in (
            (self.workgroup_buffers, WORKGROUP),
            (self.private_buffers, PRIVATE),
        ):
            for buffer in buffers:
                if not isinstance(buffer.type, MemRefType):
                    raise self.error("expected memref type in attribution")
                found = buffer.type.memory_space
                if isinstance(found, AddressSpace) and found is not space:
                    raise self.error(f"expected memory space {space.value} in attribution")


class Return(Op, name="gpu.return", traits=(Pure, HasParent("gpu.func"), Terminator)):
    """The end of a function of a device. Source: upstream gpu.return."""

    values: Operands = operands()

    format = "attr-dict ($values^ `:` type($values))?"
    example = """
        gpu.module @kernels {
          gpu.func @f(%arg0: f32) -> f32 {
            gpu.return %arg0 : f32
          }
        }
    """

    def verify_op(self) -> None:
        function = self.parent_op
        if not isinstance(function, GPUFuncOp):
            return
        wanted = function.function_type.results
        if len(wanted) != len(self.values):
            note = Diagnostic("note", "return type declared here", function.loc)
            message = f"'{self.name}' op expected {len(wanted)} result operands"
            raise VerifyError(message, self.loc, [note])
        for i, (type, value) in enumerate(zip(wanted, self.values, strict=True)):
            if type is not value.type:
                raise self.error(f"unexpected type `'{value.type}'' for operand #{i}")


FunctionWithCode = func.FuncOp | GPUFuncOp


def functions_with_code(module: Any) -> Iterator[FunctionWithCode]:
    """The functions of a module that have a body, its devices' included."""
    for op in module.body_block:
        if isinstance(op, GPUModuleOp):
            yield from (inner for inner in op.body.blocks[0] if isinstance(inner, GPUFuncOp))
        elif isinstance(op, func.FuncOp) and not op.is_declaration:
            yield op


def subgroup_size(kernel: GPUFuncOp) -> int:
    """The threads in a subgroup of a kernel: from its attribute, or the usual number."""
    size = kernel.attributes.get(SUBGROUP)
    return size.value if isinstance(size, IntegerAttr) else 32

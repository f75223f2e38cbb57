"""Launches of kernels, and waiting for operations that run in the background."""

from __future__ import annotations

from ..index_lists import by_field
from ..vocabulary import *
from .attributes import ASYNC, Token
from .functions import CONTAINER, GPUFuncOp, GPUModuleOp
from .ids import GlobalId, LaneId, SubgroupId, ThreadId
from .together import Shuffle, SubgroupReduce

OF_THREADS = (ThreadId, GlobalId, LaneId, SubgroupId, Shuffle, SubgroupReduce)
"""The operations whose results differ from thread to thread."""


class LaunchFunc(Op, name="gpu.launch_func", traits=(WritesMemory,)):
    """Run a kernel: a grid of groups of threads, all with the same arguments.

    If it has a token as a result, it runs in the background until the token is waited for;
    otherwise it is complete before the next operation. Source: upstream gpu.launch_func.
    """

    asyncDependencies: Operands = operands(Token)  # noqa: N815
    gridSizeX: Operand = operand(Index)  # noqa: N815
    gridSizeY: Operand = operand(Index)  # noqa: N815
    gridSizeZ: Operand = operand(Index)  # noqa: N815
    blockSizeX: Operand = operand(Index)  # noqa: N815
    blockSizeY: Operand = operand(Index)  # noqa: N815
    blockSizeZ: Operand = operand(Index)  # noqa: N815
    clusterSizeX: OptionalOperand = optional_operand(Index)  # noqa: N815
    clusterSizeY: OptionalOperand = optional_operand(Index)  # noqa: N815
    clusterSizeZ: OptionalOperand = optional_operand(Index)  # noqa: N815
    dynamicSharedMemorySize: OptionalOperand = optional_operand(Exactly(i32, "i32"))  # noqa: N815
    kernelOperands: Operands = operands()  # noqa: N815
    asyncObject: OptionalOperand = optional_operand(AnyType)  # noqa: N815
    kernel: Any = attribute(instance(SymbolRefAttr))
    asyncToken: OptionalResult = optional_result(Token)  # noqa: N815

    format = (
        f"{ASYNC} (`<` $asyncObject^ `:` type($asyncObject) `>`)? $kernel "
        "(`clusters` `in` ` ` `(` $clusterSizeX^ `,` $clusterSizeY `,` $clusterSizeZ `)`)? "
        "`blocks` `in` ` ` `(` $gridSizeX `,` $gridSizeY `,` $gridSizeZ `)` "
        "`threads` `in` ` ` `(` $blockSizeX `,` $blockSizeY `,` $blockSizeZ `)` ` ` "
        "(` ` `dynamic_shared_memory_size` $dynamicSharedMemorySize^)? "
        "custom<LaunchArguments>($kernelOperands, type($kernelOperands)) attr-dict"
    )
    example = """
        module attributes {gpu.container_module} {
          gpu.module @kernels {
            gpu.func @f(%arg0: f32) kernel {
              gpu.return
            }
          }
          func.func @main(%arg0: index, %arg1: f32) {
            gpu.launch_func  @kernels::@f blocks in (%arg0, %arg0, %arg0) threads in (%arg0, %arg0, %arg0)  args(%arg1 : f32)
            return
          }
        }
    """  # noqa: E501

    @property
    def grid(self) -> tuple[Any, Any, Any]:
        """How many groups there are along each axis."""
        return self.gridSizeX, self.gridSizeY, self.gridSizeZ

    @property
    def block(self) -> tuple[Any, Any, Any]:
        """How many threads a group has along each axis."""
        return self.blockSizeX, self.blockSizeY, self.blockSizeZ

    def set_threads(self, along_x: Value) -> None:
        """Set the number of threads of a group along x."""
        self.set_operand(self._first_of("blockSizeX"), along_x)

    @property
    def first_argument(self) -> int:
        """The operand number (from 0) of the kernel's first argument."""
        return self._first_of("kernelOperands")

    def _first_of(self, name: str) -> int:
        """The number of the first operand of a field."""
        part = next(part for part in self.definition.operands if part.name == name)
        return self.definition.operand_range(self, part.position)[0]

    def verify_op(self) -> None:
        module = self.enclosing_module()
        if module is None:
            return
        if CONTAINER not in module.attributes:
            raise self.error(
                f"expected the closest surrounding module to have the '{CONTAINER}' attribute"
            )
        kernels = find_kernels(module, self.kernel.root)
        if kernels is None:
            raise self.error(f"kernel container '{self.kernel.root}' is undefined")
        function = find_kernel(module, self.kernel)
        if function is None:
            raise self.error(f"kernel function '{self.kernel}' is undefined")
        if not function.is_kernel:
            raise self.error("kernel function is missing the 'gpu.kernel' attribute")
        wanted = function.function_type.inputs
        if len(wanted) != len(self.kernelOperands):
            raise self.error(
                f"got {len(self.kernelOperands)} kernel operands but expected {len(wanted)}"
            )
        for i, (type, value) in enumerate(zip(wanted, self.kernelOperands, strict=True)):
            if type is not value.type:
                raise self.error(f"type of function argument {i} does not match")

    def enclosing_module(self) -> Operation | None:
        """The module in which the kernel's name is looked up."""
        at = self.parent_op
        while at is not None and at.name != "builtin.module":
            at = at.parent_op
        return at

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        given = by_field(self, operands)
        sizes = [int(given[f"{what}Size{axis}"]) for what in ("grid", "block") for axis in "XYZ"]
        if any(n <= 0 for n in sizes[3:]) or any(n < 0 for n in sizes[:3]):
            raise NncError(
                f"'{self.name}' op: no grid of {sizes[:3]} groups of {sizes[3:]} threads"
            )
        function = find_kernel(frame.module, self.kernel)
        if function is None:
            raise NncError(f"there is no kernel '{self.kernel}' to launch")
        frame.launch(function, tuple(sizes[:3]), tuple(sizes[3:]), given["kernelOperands"])
        return [0] * len(self.results)


class Wait(Op, name="gpu.wait"):
    """Wait for the operations that give the tokens; `async` waits in the background and gives a
    token.

    Source: upstream gpu.wait.
    """

    asyncDependencies: Operands = operands(Token)  # noqa: N815
    asyncToken: OptionalResult = optional_result(Token)  # noqa: N815

    format = f"{ASYNC} attr-dict"
    example = "%t = gpu.wait async"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return [0] * len(self.results)


def find_kernels(module: Operation, name: str) -> GPUModuleOp | None:
    """The module of kernels of this name, or None."""
    for inner in module.regions[0].ops:
        if isinstance(inner, GPUModuleOp) and inner.sym_name == name:
            return inner
    return None


def find_kernel(module: Operation, reference: SymbolRefAttr) -> GPUFuncOp | None:
    """The function that `@module::@function` names, or None."""
    kernels = find_kernels(module, reference.root)
    for function in kernels.body.ops if kernels is not None else ():
        if isinstance(function, GPUFuncOp) and (function.sym_name,) == reference.nested:
            return function
    return None


def is_by_thread(kernel: GPUFuncOp) -> bool:
    """Whether a kernel is written for single threads, and not for whole groups.

    A kernel that does not use thread ids is a tile program: a group executes it once, as a whole.
    """
    return any(isinstance(op, OF_THREADS) for op in kernel.walk())

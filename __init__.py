"""nnc, a compiler for neural networks: models of any framework in, native code out.

    import nnc
    model = nnc.compile("model.onnx")
    y = model(x)

Nothing is imported before it is needed.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in `typing`, which is not imported for it: a command starts here
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike
    from typing import Any

    from .ir.core import Operation
    from .ir.diagnostics import NncError
    from .runtime.model import Model

    __version__: str
__all__ = ["NncError", "compile", "load", "operator", "parse"]


def __getattr__(name: str) -> Any:
    """The error and the version, imported when they are first used."""
    if name == "NncError":
        from .ir.diagnostics import NncError

        return NncError
    if name == "__version__":
        from .ir.version import VERSION

        return VERSION
    raise AttributeError(f"module 'nnc' has no attribute '{name}'")


def compile(
    model: Any,
    inputs: Any = None,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    constants: Mapping[str, Any] | None = None,
    signature: str | None = None,
    ops: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    threads: int = 1,
    target: str | None = None,
    fast_math: bool = True,
    cache: bool = True,
    fallback: bool = True,
    tuned: str | PathLike[str] | None = None,
    machine: str | None = None,
) -> Model:
    """A callable executable from a model.

    `model` is the path of a model in any format that nnc reads, or of IR text (`.mlir`, any stage),
    or `onnx:NAME`, a model that ships in the onnx package (`onnx:light_resnet50`); or the bytes of
    a file, an `onnx.ModelProto`, a `torch.export.ExportedProgram`, a `torch.nn.Module` or a
    function of PyTorch or JAX with example `inputs` (a tuple, or a dictionary by name), or a
    module that `load` or `parse` returns.

    `shapes` fixes the shapes of inputs by name; `constants`
    fixes the values of inputs by name (`{"sr": 16000}`), and removes these inputs; `signature` is
    the name of the function to compile of a SavedModel, a `.tflite` file or a CoreML program; `ops`
    are Python files that declare custom operators. `target` is what to compile for, a name that
    `nnc targets` lists or "host"; by default what the module says, else this machine (`machine` is
    the older name of this argument). Without `fast_math`, floating-point operations are those that
    the model states, in their order: no Winograd, no sums in parts, numbers of 16 bits rounded
    after each operation. With `cache`, a model that was compiled before is read from disk
    (`nnc cache` shows what is there). `tuned` is a folder that `nnc tune` has written, whose
    schedules are used where they fit. Without `fallback`, a model is refused if the target, a
    device, would leave some of its steps to this machine's processor.

    Called with NumPy arrays, in order or by name, the executable returns the output, or a tuple
    of them.

    Raises:
        NncError: the model cannot be read or compiled; the message names file and node.
    """
    from pathlib import Path

    from .driver.compile import compile_model
    from .kernels.tuned import TunedFolder

    _load_operators(ops)
    return compile_model(
        _traced(model, inputs),
        shapes=shapes,
        constants=constants,
        signature=signature,
        threads=threads,
        target=target or machine,
        fast_math=fast_math,
        cache=cache,
        fallback=fallback,
        tuned=TunedFolder(Path(tuned)) if tuned is not None else None,
    )


def load(
    model: Any,
    inputs: Any = None,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    constants: Mapping[str, Any] | None = None,
    signature: str | None = None,
    ops: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
) -> Operation:
    """The IR module of a model, not lowered: an ONNX file gives operations of the dialect `nn`.

    `inputs`, `shapes`, `constants`, `signature` and `ops` are those of `compile`.

    Raises:
        NncError: the model cannot be read.
    """
    from .driver.compile import load_module

    _load_operators(ops)
    return load_module(
        _traced(model, inputs), shapes=shapes, constants=constants, signature=signature
    )


def _traced(model: Any, inputs: Any) -> Any:
    from .frontends.common.packaged import PACKAGED, packaged_model
    from .frontends.common.source import Traced

    if isinstance(model, str) and model.startswith(PACKAGED):
        model = packaged_model(model)
    return model if inputs is None else Traced(model, inputs)


def _load_operators(ops: str | PathLike[str] | Sequence[str | PathLike[str]]) -> None:
    from os import PathLike
    from pathlib import Path

    if not ops:
        return
    from .frontends.onnx.own import load_operators

    for path in [ops] if isinstance(ops, str | PathLike) else ops:
        load_operators(Path(path))


def operator(
    name: str, opset: int = 18, host: bool = False, gives: Callable[..., Any] | None = None
) -> Callable[[Any], Any]:
    """A decorator that declares a custom operator, from a class or a function; see
    examples/my_ops.py.

    `name` is the domain and the operator: `com.example.Squareplus`. A class is an op like those of
    the dialect `nn`, whose result a comprehension defines; a function composes ONNX's operators of
    version `opset`. With `host`, the function computes on NumPy arrays when the model runs, and
    `gives` returns the shape and dtype of its result from the operands (which have `shape` and
    `dtype`) and the attributes.

    Raises:
        NncError: the declaration is faulty, or there is such an operator already.
    """
    from .frontends.onnx import own

    return own.operator(name, opset, host, gives)


def parse(text: str, filename: str = "-", *, allow_unregistered: bool = False) -> Operation:
    """The verified module of IR text; `str(module)` prints it back.

    Raises:
        NncError: with line, column and the text at fault.
    """
    from .ir.syntax.parser import parse_module

    module = parse_module(text, filename, allow_unregistered=allow_unregistered)
    module.verify()
    return module

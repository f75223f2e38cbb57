"""Reads files of `torch.export.save` without PyTorch.

Source: torch/_export/serde/schema.py, schema 8.20.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.diagnostics import NncError
from ...ir.numpy_types import type_to_numpy
from ...ir.polynomial import Size
from ...ir.types import Dim, TensorType, Type, f64, i1, i64, size_fault
from ..common.graph import Graph
from ..common.inputs import Input
from ..common.source import Source
from ..wire.archive import Archive
from .arguments import ELEMENTS, GraphRef, Ref, words
from .guards import Guards, guards_of, places_of
from .layout import Layout
from .pickled import Tensor, read_tensors
from .program import WITH_EFFECTS, Program, node, tensor_input, without_token
from .sizes import polynomial

MAJOR = 8
"""The schema's major version; later minor versions only add fields."""

_FIRST = words(
    """
    - uint8 int8 int16 int32 int64 float16 float32 float64 - complex64 complex128 bool bfloat16
    """
)
_CODES = dict(enumerate(_FIRST)) | {28: "uint16", 29: "float8_e4m3fn", 30: "float8_e5m2"}
_CODES |= {31: "float8_e4m3fnuz", 32: "float8_e5m2fnuz", 34: "uint32", 35: "uint64"}

_HOW = "write it with torch.export.save(torch.export.export(model, inputs), 'model.pt2')"

_SYMBOL = re.compile(r"^Symbol\('(\w+)'")


def read(source: Source) -> Graph:
    """The graph of a model. Raises NncError."""
    if source.object is not None:
        from .live import read_live

        return read_live(source)
    if not source.head.startswith(b"PK"):
        how = f"{_HOW}; of scikit-learn, convert it with skl2onnx"
        raise source.error(f"a pickle, which may run any code and is not read; {how}")
    archive = Archive(source)
    if _OLDER in archive:
        return _read(source, _OlderReader(source, archive, _OLDER))
    models = [name for name in archive.members if re.search(r"(^|/)models/[^/]+\.json$", name)]
    if not models:
        raise source.error(f"{_what_it_is(archive)}; {_HOW}")
    if len(models) > 1:
        raise source.error(f"the archive has {len(models)} models, expected one")
    return _read(source, _Reader(source, archive, models[0]))


def _read(source: Source, reader: _Reader) -> Graph:
    try:
        return reader.read()
    except NncError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise source.error(f"the program is broken: {type(error).__name__}: {error}") from None


def _what_it_is(archive: Archive) -> str:
    names = list(archive.members)
    if any("/aotinductor/" in name for name in names):
        return "a package of AOTInductor, native code of PyTorch's without a program"
    if any("/code/" in name or name.startswith("code/") for name in names):
        return "a TorchScript archive, whose weights are a pickle that is not read"
    if any(name.endswith("data.pkl") for name in names):
        return "a pickle of torch.save, which may run any code and is not read"
    return "an archive without a program"


class _Reader:
    def __init__(self, source: Source, archive: Archive, model: str) -> None:
        self.source = source
        self.archive = archive
        self.model = model
        self.root = model.rpartition("models/")[0]
        self.name = model.rpartition("/")[2].removesuffix(".json")

    def json(self, name: str) -> Any:
        try:
            return json.loads(self.archive.read(name).tobytes())
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise self.source.error(f"'{name}' is not JSON: {error}") from None

    def read(self) -> Graph:
        self.program: Any = self.json(self.model)
        version = self.program["schema_version"]
        if version["major"] != MAJOR:
            raise self.source.error(
                f"schema {version['major']}.{version['minor']}, expected {MAJOR}.x; {_HOW}"
            )
        module = self.program["graph_module"]
        specs = module["signature"]
        found = self.graph(module["graph"])
        inputs = {value.name: value for value in found.inputs}
        found.inputs = []
        self.constants(found, specs["input_specs"], inputs)
        found.guards = self.guards(found, module, specs["input_specs"])
        kinds = [_one(spec)[0] for spec in specs["output_specs"]]
        if len(kinds) != len(found.outputs):
            raise self.source.error("the signature does not fit the program")
        for value, spec in zip(found.outputs, specs["output_specs"], strict=True):
            self.note_change(found, value, *_one(spec))
        found.outputs = [
            value for value, kind in zip(found.outputs, kinds, strict=True) if kind == "user_output"
        ]
        return found.graph("torch " + str(self.program.get("torch_version", "")))

    def guards(self, found: Program, module: Any, specs: Any) -> Guards:
        """What the program requires of its inputs; PyTorch up to 2.8 wrote no guards."""
        texts = self.program.get("guards_code") or ()
        found_ranges = self.program.get("range_constraints") or {}
        ranges = {
            size: (one["min_val"], one["max_val"])
            for text, one in found_ranges.items()
            if (size := polynomial(text)) is not None
        }
        signature = module["module_call_graph"][0]["signature"]
        inputs = [
            content for kind, content in map(_one, specs) if kind in (_INPUT, "constant_input")
        ]
        names = [_names(one["arg"])[0] if "arg" in one else "" for one in inputs]
        arguments = (signature or {}).get("forward_arg_names")
        places = places_of(signature["in_spec"], arguments) if arguments else ()
        sizes = {name: _sizes(module["graph"], name) for name in names}
        return guards_of(texts, places, names, found.inputs, sizes, ranges)

    def constants(self, found: Program, specs: Any, inputs: Mapping[str, Input]) -> None:
        """Split a program's inputs: weights become constants, by value name; others stay inputs."""
        files = {
            "weights": self.payload("weights"),
            "constants": self.payload("constants"),
        }
        for spec in specs:
            kind, content = _one(spec)
            if kind == _INPUT:
                arg_kind, arg = _one(content["arg"])
                name = str(arg.get("name") or arg.get("as_name")) if isinstance(arg, dict) else ""
                if arg_kind in ("as_tensor", "as_sym_int", "as_sym_float") and name in inputs:
                    found.inputs.append(inputs[name])
            elif kind in ("parameter", "buffer", "tensor_constant"):
                name, key = content["arg"]["name"], content[f"{_NAMES[kind]}_name"]
                where = files["weights"] if key in files["weights"] else files["constants"]
                if key not in where:
                    raise self.source.error(f"the archive has no weights '{key}'")
                found.constants[name] = self.array(key, where[key])
                if kind == "buffer":
                    found.buffers[name] = str(key)

    def note_change(self, found: Program, value: Any, kind: str, content: Any) -> None:
        """Record which buffer or input an output is the new value of."""
        if kind == "buffer_mutation":
            target = content["buffer_name"]
            names = [name for name, one in found.buffers.items() if one == target]
        elif kind == "user_input_mutation":
            names = [content["user_input_name"]]
        else:
            return
        if isinstance(value, Ref):
            found.changed |= dict.fromkeys(names, value.name)

    def payload(self, kind: str) -> dict[str, Any]:
        """The table of weights in the archive, by their names."""
        name = f"{self.root}data/{kind}/{self.name}_{kind}_config.json"
        if name not in self.archive:
            return {}
        return {
            key: one | {"member": f"{self.root}data/{kind}/{one['path_name']}"}
            for key, one in self.json(name)["config"].items()
        }

    def array(self, key: str, config: Any) -> np.ndarray:
        """A tensor stored as a part of an archive member."""
        if config.get("use_pickle"):
            raise self.source.error(
                f"weights '{key}' are of a tensor subclass, stored as a pickle, which is not read; "
                "call torchao.utils.unwrap_tensor_subclass(model) before torch.export.export"
            )
        meta = config["tensor_meta"]
        shape = [_count(size) for size in meta["sizes"]]
        strides = [_count(stride) for stride in meta["strides"]]
        first = _count(meta["storage_offset"])
        data = lambda: self.archive.read(config["member"])  # noqa: E731
        return self.strided(key, data, self.element(meta["dtype"]), first, shape, strides)

    def strided(
        self,
        key: str,
        read: Callable[[], np.ndarray],
        element: Type,
        first: int,
        sizes: Sequence[int],
        strides: Sequence[int],
    ) -> np.ndarray:
        """An array with these strides, from an archive member."""
        shape = tuple(sizes)
        fault = size_fault(TensorType(shape, element))
        if fault or len(shape) != len(strides):
            raise self.source.error(f"weights '{key}': {fault or 'strides do not fit the shape'}")
        dtype = type_to_numpy(element)
        if 0 in shape:
            return np.zeros(shape, dtype)
        data = read()
        last = first + sum((d - 1) * s for d, s in zip(shape, strides, strict=True))
        if (last + 1) * dtype.itemsize > data.size:
            raise self.source.error(f"weights '{key}' extend beyond their file in the archive")
        flat = data[first * dtype.itemsize : (last + 1) * dtype.itemsize].view(dtype)
        steps = [s * dtype.itemsize for s in strides]
        found = np.lib.stride_tricks.as_strided(flat, shape, steps, writeable=False)
        return found if found.flags.c_contiguous else np.ascontiguousarray(found)

    def element(self, code: Any) -> Type:
        name = _CODES.get(code, "-")
        if name not in ELEMENTS:
            raise self.source.error(f"element type {code} is not supported")
        return ELEMENTS[name]

    # -- graphs -----------------------------------------------------------------------------------

    def graph(self, graph: Any) -> Program:
        found = Program()
        for name, meta in graph["tensor_values"].items():
            shape = tuple(_hint(size) for size in meta["sizes"])
            strides = tuple(_hint(stride) for stride in meta["strides"])
            known = tuple(_extent(size) for size in meta["sizes"])
            found.layouts[name] = Layout(shape, strides, _CODES.get(meta["dtype"]), known)
            found.dims[name] = [_symbol(size) for size in meta["sizes"]]
        for arg in graph["inputs"]:
            kind, content = _one(arg)
            if kind == "as_tensor":
                name = content["name"]
                meta = graph["tensor_values"][name]
                shape = [_extent(size) for size in meta["sizes"]]
                element = self.element(meta["dtype"])
                found.inputs.append(tensor_input(name, shape, element, found.dims[name]))
            elif kind in _SYMBOLIC and "as_name" in content:
                found.inputs.append(tensor_input(content["as_name"], [], _SYMBOLIC[kind], ()))
        for i, one in enumerate(graph["nodes"]):
            made = self.node(one, i)
            found.nodes += without_token(made) if made.kind == WITH_EFFECTS else [made]
        found.outputs = [self.argument(arg, {}) for arg in graph["outputs"]]
        return found

    def node(self, one: Any, number: int) -> Any:
        kind = one["target"].removeprefix("torch.ops.").removeprefix("_")
        outputs = [name for arg in one["outputs"] for name in _names(arg)]
        graphs: dict[str, Graph] = {}
        arguments: dict[str, Any] = {}
        unnamed = []
        for given in one["inputs"]:
            if not isinstance(given["name"], str):
                raise TypeError(f"an argument is named {given['name']!r}")
            value = self.argument(given["arg"], graphs)
            if value is _WHERE:
                continue
            is_named = given["name"] and (given.get("kind") != 1 or not kind.startswith(_UNNAMED))
            if is_named:
                arguments[given["name"]] = value
            else:
                unnamed.append(value)
        if unnamed:
            arguments["arguments"] = unnamed
        name = one.get("name") or (outputs[0] if outputs else f"node_{number}")
        stack = one.get("metadata", {}).get("nn_module_stack", "").split(";")
        modules = [parts[1] for entry in stack if len(parts := entry.split(",")) > 1]
        if modules and modules[-1]:
            name = f"{modules[-1]}.{name}"
        return node(kind, name, outputs, arguments, graphs, modules)

    def argument(self, arg: Any, graphs: dict[str, Graph]) -> Any:
        """An argument's value; `_WHERE` for one that is a device, layout or the like."""
        kind, content = _one(arg)
        if kind in _SIMPLE_ARGUMENTS:
            return _SIMPLE_ARGUMENTS[kind](content)
        match kind:
            case "as_optional_tensor":
                return self.argument(content, graphs)
            case "as_optional_tensors":
                return [self.argument(one, graphs) for one in content]
            case "as_scalar_type":
                return self.element(content)
            case "as_graph":
                graphs[content["name"]] = self.graph(content["graph"]).graph()
                return GraphRef(content["name"])
            case "as_string_to_argument":
                return {key: self.argument(one, graphs) for key, one in content.items()}
            case "as_custom_obj":
                raise self.source.error(
                    f"an object of class '{content['class_fqn']}' is an argument"
                )
        return content


class _OlderReader(_Reader):
    """Reads an archive of PyTorch up to 2.7, whose weights are saved by torch.save."""

    def payload(self, kind: str) -> dict[str, Any]:
        name = "serialized_state_dict.pt" if kind == "weights" else "serialized_constants.pt"
        return dict(read_tensors(self.source, self.archive.read(name)))

    def array(self, key: str, config: Any) -> np.ndarray:
        if not isinstance(config, Tensor):
            raise self.source.error(f"weights '{key}' are not a tensor")
        sizes = (*config.shape, *config.strides, config.first)
        if not all(isinstance(size, int) and size >= 0 for size in sizes):
            raise self.source.error(f"weights '{key}' have an invalid offset, shape or strides")
        where = config.first, config.shape, config.strides
        return self.strided(key, lambda: config.data, config.element, *where)


_OLDER = "serialized_exported_program.json"
_UNNAMED = "higher_order."
"""Operators whose arguments have no names, though a file may give some."""

_WHERE = object()
_INPUT = "user_input"
_NAMES = {"parameter": "parameter", "buffer": "buffer", "tensor_constant": "tensor_constant"}
_SYMBOLIC: dict[str, Type] = {"as_sym_int": i64, "as_sym_bool": i1, "as_sym_float": f64}


def _one(union: Any) -> tuple[str, Any]:
    """The kind of a union's member, and its value."""
    ((kind, content),) = union.items()
    return kind, content


def _names(arg: Any) -> Sequence[str]:
    """The names of an output's values."""
    kind, content = _one(arg)
    if kind == "as_tensors":
        return [one["name"] for one in content]
    if kind == "as_optional_tensors":
        return [_one(one)[1]["name"] if "as_tensor" in one else "" for one in content]
    if kind == "as_none":
        return [""]
    if isinstance(content, dict):
        return [content.get("name") or content.get("as_name") or ""]
    return [""]


def _symbolic(content: Any) -> Any:
    kind, value = _one(content)
    return Ref(value) if kind == "as_name" else value


def _tensor(content: Any) -> Ref:
    return Ref(content["name"])


def _each(convert: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    return lambda contents: [convert(one) for one in contents]


_SIMPLE_ARGUMENTS: dict[str, Callable[[Any], Any]] = {
    "as_complex": lambda content: complex(content["real"], content["imag"]),
    "as_device": lambda content: _WHERE,
    "as_float": float,  # infinity is text
    "as_floats": _each(float),
    "as_layout": lambda content: _WHERE,
    "as_memory_format": lambda content: _WHERE,
    "as_nested_tensors": _each(_each(_tensor)),
    "as_none": lambda content: None,
    "as_sym_bool": _symbolic,
    "as_sym_bools": _each(_symbolic),
    "as_sym_float": _symbolic,
    "as_sym_floats": _each(_symbolic),
    "as_sym_int": _symbolic,
    "as_sym_ints": _each(_symbolic),
    "as_tensor": _tensor,
    "as_tensors": _each(_tensor),
}
"""By its kind in the file, the value of an argument that needs nothing but its own text."""


def _count(size: Any) -> int:
    """An extent that must be known. Raises NncError."""
    found = size["as_int"]
    if not isinstance(found, int) or found < 0:
        raise ValueError(f"an extent is {found!r}")
    return found


def _extent(size: Any) -> Dim:
    return _count(size) if "as_int" in size else None


def _hint(size: Any) -> int:
    if "as_int" in size:
        return _count(size)
    return int(((size["as_expr"].get("hint") or {}).get("as_int")) or 2)


def _sizes(graph: Any, name: str) -> list[tuple[str, Size]]:
    """The extents of an input, or the number that it is, by symbols; how guards read each."""
    shape = graph["tensor_values"].get(name, {}).get("sizes", ())
    own = {f".size()[{axis}]": size for axis, size in enumerate(shape)}
    if name in graph["sym_int_values"]:
        own[""] = graph["sym_int_values"][name]
    return [
        (reader, found)
        for reader, size in own.items()
        if "as_int" not in size and (found := polynomial(size["as_expr"]["expr_str"])) is not None
    ]


def _symbol(size: Any) -> str:
    """The name of a symbolic extent; "" for others."""
    found = None if "as_int" in size else _SYMBOL.match(size["as_expr"]["expr_str"])
    return found[1] if found else ""

"""A module in files: its text, and its resources in a safetensors file beside it.

`m.mlir` names its weights in a module attribute, `nn.weights_file`: one file name or an
array of them, relative to the text's folder; where two define a key, the later file wins.
Blobs that lie in a safetensors file of the folder already are referenced, not copied, so
that the files of all stages of a compilation share their weights.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from .attributes import ArrayAttr, Attribute, DenseResource, DictAttr, StringAttr
from .checked_files import Sums, mark, sums_of
from .core import Operation
from .diagnostics import NncError
from .dialect import registry
from .files import NewFile, is_special, publish, write_whole
from .lazy import np
from .resources import Blob, FileBlob, MissingBlob, SafetensorsFile
from .sealed_json import digest

# Names that the format has; other types are stored as bytes, their type is in the text.
_DTYPES = {
    "f64": "F64",
    "f32": "F32",
    "f16": "F16",
    "bf16": "BF16",
    "f8E5M2": "F8_E5M2",
    "f8E4M3FN": "F8_E4M3",
    "i1": "BOOL",
    **{f"i{width}": f"I{width}" for width in (8, 16, 32, 64)},
    **{f"ui{width}": f"U{width}" for width in (8, 16, 32, 64)},
}

Printer = Callable[[Operation], str]


def module_text(module: Operation, *, print: Printer = str) -> str:
    """The module's text, ended by a newline; resources are named in it, never written."""
    text = print(module)
    return text if text.endswith("\n") else text + "\n"


def write_module(module: Operation, path: Path | str, *, print: Printer = str) -> None:
    """Write the text to `path` and the resources beside it, both whole or neither.

    Raises:
        NncError: a file cannot be written, or two resources of one name differ.
    """
    path = Path(path)
    if is_special(path):
        write_whole(path, module_text(module, print=print))
        return
    resources = collect_resources(module)
    weights = path.with_suffix(".safetensors")
    shared, new = _divide(resources, weights)
    if weights == path:
        raise NncError(f"cannot write '{path}': IR text needs another suffix, such as .mlir")
    names = [file.path.name for file in shared] + ([weights.name] if new else [])
    if any(isinstance(r.blob.source(), MissingBlob) for r in resources.values()):
        old = weights_file_names(module.attributes.get(registry.weights_attribute))
        names = [name for name in old if name not in names] + names
    text = _text_naming(module, names, print)
    sums = None
    with ExitStack() as stack:
        writes = []
        if new:
            _check_own(weights)
            writes.append(stack.enter_context(NewFile(weights)))
            sums = write_safetensors(new, writes[0].file)
        writes.append(stack.enter_context(NewFile(path)))
        writes[-1].file.write(text.encode("utf-8"))
        publish(writes)
    if sums is not None:
        mark(weights, sums)
        _remember(new, weights)


def _check_own(weights: Path) -> None:
    """Raise NncError if `weights` is a safetensors file that nnc has not written.

    A checkpoint often lies beside the model that was made of it, under the same name.
    """
    if weights.is_file() and _is_foreign(weights):
        raise NncError(
            f"cannot write '{weights}': nnc has not written this safetensors file; give the "
            "IR another name, or another folder"
        )


def _is_foreign(weights: Path) -> bool:
    """Whether a file is in safetensors format but lacks the checksums that nnc writes."""
    try:
        with weights.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > weights.stat().st_size:
                return False
            header = json.loads(file.read(length))
    except (OSError, ValueError, RecursionError):
        return False
    about = header.get("__metadata__") if isinstance(header, dict) else None
    return isinstance(header, dict) and not (isinstance(about, dict) and "nnc.sums" in about)


def collect_resources(module: Operation) -> dict[str, DenseResource]:
    """All resources of the module by key. Raises NncError where two of one key differ."""
    found: dict[str, DenseResource] = {}
    for op in module.walk():
        for attribute in (*op.properties.values(), *op.attributes.values()):
            for resource in _resources_in(attribute):
                known = found.setdefault(resource.key, resource)
                if known.blob is not resource.blob and not _same(known.blob, resource.blob):
                    raise NncError(f"two resources named '{resource.key}' differ", op.loc)
    return found


def weights_file_names(attribute: Attribute | None) -> list[str]:
    """The file names in the weights attribute, a string or an array of strings."""
    match attribute:
        case None:
            return []
        case StringAttr(value):
            return [value]
        case ArrayAttr(elements) if all(isinstance(e, StringAttr) for e in elements):
            return [e.value for e in elements]  # type: ignore[attr-defined]
    raise NncError(f"'{registry.weights_attribute}' must be a string or an array of strings")


# -- what is written where ---------------------------------------------------------------------


def _resources_in(attribute: Attribute) -> Iterator[DenseResource]:
    match attribute:
        case DenseResource():
            yield attribute
        case ArrayAttr(elements):
            for element in elements:
                yield from _resources_in(element)
        case DictAttr(entries):
            for _, value in entries:
                yield from _resources_in(value)


def _same(a: Blob, b: Blob) -> bool:
    """Whether two blobs hold the same bytes; equal files and keys are not compared."""
    a, b = a.source(), b.source()
    if isinstance(a, MissingBlob) or isinstance(b, MissingBlob):
        return type(a) is type(b)
    if (
        isinstance(a, FileBlob)
        and isinstance(b, FileBlob)
        and a.key == b.key
        and a.file.path == b.file.path
    ):
        return True
    return bool(np.array_equal(a.bytes(), b.bytes()))


def _divide(
    resources: dict[str, DenseResource], weights: Path
) -> tuple[list[SafetensorsFile], dict[str, DenseResource]]:
    """The files of the folder that are referenced as they are, and the resources to write."""
    home = weights.parent.resolve()
    homes: dict[Path, SafetensorsFile] = {}
    placed: dict[str, SafetensorsFile] = {}
    new: dict[str, DenseResource] = {}
    for key, resource in resources.items():
        if resource.blob.text is not None:
            continue  # the text has the data
        blob = resource.blob.source()
        stored = _stored(blob)
        if isinstance(blob, MissingBlob):
            continue  # the text still names it
        if stored is None or stored.key != key or stored.file.path.resolve().parent != home:
            new[key] = resource
            continue
        file = homes.setdefault(stored.file.path.resolve(), stored.file)
        placed[key] = file
    # The later file wins: a key must not be in a file behind its own.
    order = list(homes.values())
    for key, file in placed.items():
        if any(key in other for other in order[order.index(file) + 1 :]):
            new[key] = resources[key]
    # A file that is about to be replaced cannot be referenced: it is written anew, whole.
    if new and weights.resolve() in homes:
        own = homes[weights.resolve()]
        new = {key: r for key, r in resources.items() if key in new or placed.get(key) is own}
    used = {id(file) for key, file in placed.items() if key not in new}
    return [file for file in order if id(file) in used], new


def _stored(blob: Blob) -> FileBlob | None:
    """The part of a file that holds the blob, if that file is unchanged; else None."""
    if isinstance(blob, FileBlob):
        return blob
    if blob.saved is not None:
        copy, signature = blob.saved
        if _signature(copy.file.path) == signature:
            return copy
    return None


def _remember(new: dict[str, DenseResource], weights: Path) -> None:
    """Tell blobs in memory where their copy was written, so that other texts can refer to it."""
    file, signature = SafetensorsFile(weights), _signature(weights)
    for key, resource in new.items():
        if not isinstance(resource.blob.source(), FileBlob):
            resource.blob.source().saved = FileBlob(file, key), signature


def _signature(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _text_naming(module: Operation, names: list[str], print: Printer) -> str:
    """The text with the weights attribute set to these names; the module stays as it was."""
    name = registry.weights_attribute
    before = module.attributes.pop(name, None)
    try:
        if names:
            files = tuple(StringAttr(file) for file in names)
            module.attributes[name] = files[0] if len(files) == 1 else ArrayAttr(files)
        return module_text(module, print=print)
    finally:
        module.attributes.pop(name, None)
        if before is not None:
            module.attributes[name] = before


# -- the safetensors format --------------------------------------------------------------------


def write_safetensors(resources: dict[str, DenseResource], file: BinaryIO) -> Sums:
    """Write the resources in safetensors format. Returns the sums of the data.

    The data is aligned to 64 bytes at its start. The widest elements come first, so that every
    tensor is aligned to its elements.
    Raises NncError where a resource has no data or data of a wrong length.
    """
    ordered = sorted(
        resources.items(), key=lambda entry: (-entry[1].type.element_type.byte_width, entry[0])
    )
    header: dict[str, dict] = {}
    offset = 0
    if "__metadata__" in resources:
        raise NncError("a resource cannot be named '__metadata__': safetensors uses the name")
    for key, resource in ordered:
        type, size = resource.type, int(resource.blob.bytes().nbytes)
        if size != type.num_bytes:
            raise NncError(f"resource '{key}' of {type} has {size} bytes, not {type.num_bytes}")
        dtype, shape = _DTYPES.get(str(type.element_type)), list(type.shape)
        if dtype is None:
            dtype, shape = "U8", [size]
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    start = file.tell()
    file.write(_header(header, Sums(0, 0)))

    def written() -> Iterator[np.ndarray]:
        for _, resource in ordered:
            data = resource.blob.bytes()
            file.write(data.data)
            yield data

    sums, end = sums_of(written()), file.tell()
    file.seek(start)
    file.write(_header(header, sums))
    file.seek(end)
    return sums


def _header(tensors: dict[str, dict], sums: Sums) -> bytes:
    """The header of a safetensors file; its length does not depend on the sums."""
    about = {"nnc.sums": str(sums), "nnc.header": digest(tensors)}
    text = json.dumps({"__metadata__": about, **tensors}, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return len(text).to_bytes(8, "little") + text

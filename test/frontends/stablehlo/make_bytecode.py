"""Writes modules of the stored cases as bytecode, and what `jax.export` makes of a function.

    python test/frontends/stablehlo/make_bytecode.py

needs JAX; `files/bytecode-VERSION.tar.xz` is what its version wrote. Every second case is there, in
one of three forms: NAME.bc (StableHLO's dialect, each version of the format in turn), NAME.vhlo and
NAME.old (VHLO as of now and as of 1.0.0), with NAME.txt, what JAX reads of it, where that differs
from the case's text.
"""

import io
import sys
import tarfile
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import export
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

FILES = Path(__file__).parent / "files"
NEWEST = 6
"""The newest version of MLIR's bytecode."""

VERSIONS = {"vhlo": stablehlo.get_current_version(), "old": "1.0.0"}


def encoded(text: str, form: str, version: int) -> tuple[bytes, str]:
    """The bytecode of a module, plain one of a version, and its text as JAX reads that."""
    with mlir.make_ir_context() as context:
        module = ir.Module.parse(text)
        if form == "bc":
            out = io.BytesIO()
            module.operation.write_bytecode(out, desired_version=version)
            return out.getvalue(), str(ir.Module.parse(out.getvalue()))
        data = stablehlo.serialize_portable_artifact(module, VERSIONS[form], True)
        return data, str(stablehlo.deserialize_portable_artifact(context, data))


def layer(params, x, unused):
    """What the exports compute."""
    return {"y": jnp.tanh(x @ params["w"] + params["b"]), "z": (x.sum(),)}


def exports() -> dict[str, bytes]:
    """The function exported with a fixed and an open shape, and for several platforms."""
    spec = jax.ShapeDtypeStruct
    params = {"w": spec((3, 4), "float32"), "b": spec((4,), "float32")}
    (rows,) = export.symbolic_shape("rows")
    fixed, unused = spec((2, 3), "float32"), spec((2,), "float32")
    function = jax.jit(layer)
    return {
        "fixed": export.export(function)(params, fixed, unused).serialize(vjp_order=1),
        "open": export.export(function)(params, spec((rows, 3), "float32"), unused).serialize(),
        "platforms": export.export(function, platforms=["tpu", "cpu"])(
            params, fixed, unused
        ).serialize(),
    }


def hostile() -> dict[str, bytes]:
    """Modules with a type that is a tuple of itself twice, again and again, and a deep attribute."""
    text = "module { func.func @main(%i: tensor<i32>) -> tensor<i32> { return %i : tensor<i32> } }"
    made = {}
    with mlir.make_ir_context():
        doubled = ir.Type.parse("i32")
        for _ in range(40):
            doubled = ir.TupleType.get_tuple([doubled, doubled])
        nested = ir.Attribute.parse("[" * 100 + "]" * 100)
        for name, attribute in {"doubled": ir.TypeAttr.get(doubled), "nested": nested}.items():
            module = ir.Module.parse(text)
            module.operation.attributes["a.b"] = attribute
            out = io.BytesIO()
            module.operation.write_bytecode(out)
            made[name] = out.getvalue()
    return made


def main() -> None:
    """Write the archive of this version."""
    with tarfile.open(FILES / "cases.tar.xz") as cases:
        members = ((m.name, cases.extractfile(m)) for m in cases.getmembers())
        stored = {name: file.read().decode() for name, file in members if name.endswith(".mlir")}
    target = FILES / f"bytecode-{jax.__version__}.tar.xz"
    shift = int(jax.__version__.rpartition(".")[2])
    with tarfile.open(target, "w:xz") as archive:

        def add(name: str, data: bytes) -> None:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))

        for i, (file, text) in enumerate(sorted(stored.items())[shift // 2 % 2 :: 2]):
            name, form = file.removesuffix(".mlir"), ("bc", "vhlo", "old")[i % 3]
            try:
                data, seen = encoded(text, form, i % (NEWEST + 1))
            except Exception as error:
                print(f"{name} is not in {form}: {error}", file=sys.stderr)
                continue
            add(f"{name}.{form}", data)
            if seen.rstrip("\n") != text.rstrip("\n"):
                add(f"{name}.txt", seen.encode())
        for name, data in exports().items():
            add(f"{name}.export", data)
        for name, data in hostile().items():
            add(f"{name}.hostile", data)


if __name__ == "__main__":
    main()

"""MLIR bytecode and exports as two versions of JAX wrote them, read without JAX."""

import contextlib
import re
import sys

import nnc
import numpy as np
import pytest
from nnc.frontends.stablehlo.bytecode import read_module
from nnc.test.frontends.mutate import mutated

from .cases import archive, text

VERSIONS = ("0.10.0", "0.10.2")
FORMS = ("bc", "vhlo", "old")
SHARDING = re.compile(r"#sdy\.op_sharding_rule<(?:->|[^<>-])*>|#sdy<\"\w*\">")
"""What stands for devices' marks, which stay as they are encoded."""

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def without_jax(monkeypatch):
    """Nothing here may import JAX."""
    for name in ("jax", "jaxlib"):
        monkeypatch.setitem(sys.modules, name, None)


def cases(version: str, form: str) -> list[str]:
    names = archive(f"bytecode-{version}")
    return sorted(name.removesuffix(f".{form}") for name in names if name.endswith(f".{form}"))


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("version", VERSIONS)
def test_bytecode_prints_as_jax_prints_it(version, form, part):
    stored = archive(f"bytecode-{version}")
    for name in cases(version, form)[part::4]:
        module = read_module(stored[f"{name}.{form}"], name)
        module.verify()
        wanted = stored.get(f"{name}.txt", text(name).encode()).decode()
        assert SHARDING.sub("", str(module)) == SHARDING.sub("", wanted).rstrip("\n"), name


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind, rows", [("fixed", 2), ("open", 2), ("open", 5), ("platforms", 2)])
def test_exports_compute_what_they_say(version, kind, rows, tmp_path):
    path = tmp_path / "model.jaxexport"
    path.write_bytes(archive(f"bytecode-{version}")[f"{kind}.export"])
    w, b, unused = (rng.standard_normal(s).astype("f") for s in ((3, 4), 4, 2))
    x = rng.standard_normal((rows, 3)).astype("f")
    model = nnc.compile(path, cache=False)
    given = {"params['b']": b, "params['w']": w, "x": x, "unused": unused}
    assert model.input_names == list(given)[: 4 if kind == "open" else 3]
    found = model.run({name: given[name] for name in model.input_names})
    assert list(found) == ["result['y']", "result['z'][0]"]
    np.testing.assert_allclose(found["result['y']"], np.tanh(x @ w + b), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found["result['z'][0]"], x.sum(), rtol=1e-5)


def test_places_are_those_of_the_source():
    module = nnc.load(archive("bytecode-0.10.2")["fixed.export"])
    (main,) = module.body_block.ops
    assert any("jit(layer)/tanh" in str(op.loc) for op in main.walk())


@pytest.mark.parametrize("cut", [4, 20, 200, 600, -1])
def test_what_is_cut_off_is_an_error_with_its_byte(cut):
    data = archive("bytecode-0.10.0")["add_at.bc"]
    with pytest.raises(nnc.NncError, match=r"byte \d+: "):
        nnc.load(data[:cut])


@pytest.mark.parametrize(
    "name, message", [("doubled", "holds more than 1048576 others"), ("nested", "64 deep")]
)
def test_what_grows_beyond_reason_is_an_error(name, message):
    with pytest.raises(nnc.NncError, match=message):
        nnc.load(archive("bytecode-0.10.0")[f"{name}.hostile"])


def test_what_is_newer_is_an_error():
    data = archive("bytecode-0.10.0")["add_at.bc"]
    with pytest.raises(nnc.NncError, match="byte 5: version 63 of the format, 6 is the newest"):
        nnc.load(data[:4] + b"\x7f" + data[5:])


@pytest.mark.parametrize("seed", range(4))
def test_mutated_bytecode_is_an_error_or_a_model(seed):
    for version in VERSIONS:
        stored = archive(f"bytecode-{version}")
        names = [name for name in stored if not name.endswith(".txt")]
        for name in names[seed::40]:
            for data in mutated(stored[name], 4, seed):
                with contextlib.suppress(nnc.NncError):
                    nnc.load(data)

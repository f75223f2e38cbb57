"""Engines of other formats than ONNX give what their framework gave when the files were written."""

import tarfile
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from nnc import compile
from nnc.delivery.engines.process import Job
from nnc.delivery.engines.table import engine
from nnc.delivery.engines.turns import outputs_of
from nnc.delivery.measuring import save_arrays

pytestmark = [pytest.mark.formats, pytest.mark.slow]

FILES = Path(__file__).parents[1] / "frontends"
BOOSTING, TFLITE, KERAS, NCNN, PADDLE, HLO, TENSORFLOW = (
    FILES / name / "files"
    for name in ("boosting", "tflite", "keras", "ncnn", "paddle", "stablehlo", "tensorflow")
)
MODULES = {"litert": "ai_edge_litert"}
TREES = (
    *("cat_square", "cat_two", "cat_three", "cat_poisson", "cat_lossguide"),
    *("xgb_logistic", "xgb_softprob", "xgb_linear", "xgb_linear_three", "xgb_vectors"),
)


def outputs(
    name: str, file: Path, inputs: dict[str, np.ndarray], folder: Path, **options: bool
) -> list[np.ndarray]:
    if not find_spec(MODULES.get(name, name)):
        pytest.skip(f"the engine {name} is not installed")
    save_arrays(folder / "inputs.npz", inputs)
    found = outputs_of(Job(engine(name), file, folder / "inputs.npz", 1, options), 120)
    assert not found.failure
    assert found.outputs is not None
    return found.outputs


@pytest.mark.parametrize("stem", TREES)
def test_trees(stem: str, tmp_path: Path) -> None:
    file = next(path for path in BOOSTING.glob(f"{stem}.*") if path.suffix in (".json", ".ubj"))
    kept = np.load(f"{file}.npz")
    name = "catboost" if stem.startswith("cat") else "xgboost"
    (found,) = outputs(name, file, {"x": kept["x"]}, tmp_path)
    np.testing.assert_allclose(found, kept["y"].reshape(found.shape), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("stem", ["arithmetic", "lstm"])  # without a signature, and with one
def test_litert(stem: str, tmp_path: Path) -> None:
    kept = np.load(TFLITE / f"{stem}.npz")
    inputs = {key: kept[key] for key in kept.files if key.startswith("in")}
    wanted = [kept[key][0] for key in kept.files if key.startswith("out")]
    found = outputs("litert", TFLITE / f"{stem}.tflite", inputs, tmp_path)
    assert len(found) == len(wanted)
    for want, got in zip(wanted, found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_keras_on_whatever_backend_there_is(tmp_path: Path) -> None:
    kept = np.load(KERAS / "convolutions.keras.npz")
    names = sorted(kept.files)
    wanted = [kept[key] for key in names if key.startswith("out:")]
    inputs = {key: kept[key] for key in names if key.startswith("in:")}
    found = outputs("keras", KERAS / "convolutions.keras", inputs, tmp_path)
    assert len(found) == len(wanted)
    for want, got in zip(wanted, found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * np.abs(want).max())


@pytest.mark.parametrize("name", ["networks", "networks_old"])  # .json and .pdmodel
def test_paddle(name: str, tmp_path: Path) -> None:
    with ZipFile(PADDLE / f"{name}.zip") as archive:
        archive.extractall(tmp_path)
    file = tmp_path / (name + (".pdmodel" if name.endswith("_old") else ".json"))
    kept = np.load(file.with_suffix(".npz"))
    inputs = {key: kept[key] for key in kept.files if not key.startswith("result")}
    found = outputs("paddle", file, inputs, tmp_path, plain=True)
    assert len(found) == len(kept.files) - len(inputs)
    for i, got in enumerate(found):
        np.testing.assert_allclose(got, kept[f"result{i}"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["convolution", "attention"])
def test_ncnn(name: str, tmp_path: Path) -> None:
    kept = np.load(NCNN / f"{name}.npz")
    inputs = {key: kept[key] for key in kept.files if key.startswith("in")}
    found = outputs("ncnn", NCNN / f"{name}.param", inputs, tmp_path, plain=True)
    wanted = [kept[key] for key in kept.files if key.startswith("out")]
    assert len(found) == len(wanted)
    for want, got in zip(wanted, found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * np.abs(want).max())


@pytest.mark.parametrize("name", ["fixed", "open"])
def test_jax(name: str, tmp_path: Path) -> None:
    (archive,) = HLO.glob("bytecode-0.10.2.tar.xz")
    with tarfile.open(archive) as files:
        (tmp_path / f"{name}.export").write_bytes(files.extractfile(f"{name}.export").read())
    rng = np.random.default_rng(0)
    b, w, x, unused = (
        rng.standard_normal(shape, np.float32) for shape in [(4,), (3, 4), (2, 3), (2,)]
    )
    inputs = {"b": b, "w": w, "x": x, "unused": unused}
    y, z = outputs("jax", tmp_path / f"{name}.export", inputs, tmp_path)
    np.testing.assert_allclose(y, np.tanh(x @ w + b), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(z, x.sum(), rtol=1e-5)


@pytest.mark.parametrize("name", ["branches_v1", "convolutions", "counter", "factors", "texts"])
def test_tensorflow(name: str, tmp_path: Path) -> None:
    """Frozen graphs, old control flow, a SavedModel, one that writes variables, and texts."""
    folder = TENSORFLOW / name
    file = folder if folder.is_dir() else TENSORFLOW / f"{name}.pb"
    if name == "counter":
        kept = np.load(TENSORFLOW / "counter_runs.npz")
        states = {"total": np.zeros(3, np.float32), "runs": np.array(1, np.int32)}
        inputs = {"x0": kept["in0"], **states}
        wanted = [kept["out0"], kept["total0"], np.array(2, np.int32)]
    else:
        kept = np.load(TENSORFLOW / f"{name}.npz")
        given = [kept[key] for key in kept.files if key.startswith("in")]
        inputs = dict(zip(sorted(compile(file).input_names), given, strict=True))
        wanted = [kept[key] for key in kept.files if key.startswith("out")]
    found = outputs("tensorflow", file, inputs, tmp_path)
    assert len(found) == len(wanted)
    for want, got in zip(wanted, found, strict=True):
        if want.dtype.kind == "S":
            assert got.tolist() == np.char.decode(want, "utf-8", "surrogateescape").tolist()
        else:
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * np.abs(want).max())

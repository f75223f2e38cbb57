"""A sample of the sweep's cases with their models and results, for tests without the frameworks.

A sample is one archive per framework: for each case a folder `NUMBER/` with `case.json`, the files
of the model, and for each run `run-I.npz` with its inputs `in:NAME` (or `in:0`, ..) and outputs
`out:0`, ..
"""

from __future__ import annotations

import io
import json
import random
import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .cases import Case, Made, UnmakableError
from .run import RESULTS, read
from .worker import subjects

SAMPLES = Path(__file__).parents[3] / "test" / "frontends" / "sweep"
LARGEST = 40_000
"""The most bytes of a stored case's files."""


def store(framework: str, count: int) -> None:
    """Store `count` cases whose verdict is "right" or "refused", spread over the subjects."""
    rows = [r for r in read(RESULTS / f"{framework}.jsonl") if r["verdict"] in ("right", "refused")]
    by_name = {subject.name: subject for subject in subjects(framework)}
    draw = random.Random(1)
    draw.shuffle(rows)
    seen: dict[str, int] = {}
    for row in rows:  # the first of each subject come first, then their second ones, ..
        row["turn"] = seen[row["subject"]] = seen.get(row["subject"], 0) + 1
    rows.sort(key=lambda row: row["turn"])
    SAMPLES.mkdir(parents=True, exist_ok=True)
    stored = 0
    with zipfile.ZipFile(SAMPLES / f"{framework}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for row in rows:
            if stored == count:
                break
            subject = by_name.get(row["subject"])
            if subject and row["config"].keys() == subject.choices.keys():  # else of another sweep
                case = Case(subject, row["config"])
                stored += _store(archive, stored, case, row["verdict"])
    print(f"{framework}: {stored} cases, {(SAMPLES / f'{framework}.zip').stat().st_size} bytes")


def _store(archive: zipfile.ZipFile, number: int, case: Case, verdict: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            made = case.make(Path(folder))
        except UnmakableError:  # since it was run
            return False
        model = _as_file(made.model, Path(folder))
        if model is None or made.alternatives:
            return False
        about = {"id": case.id, "verdict": verdict, "options": made.options}
        about |= {"model": str(model.relative_to(folder)), "tolerance": made.tolerance}
        files = {"case.json": json.dumps(about).encode()}
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                content = path.read_bytes()
                content = _stripped(content) if path.suffix == ".pt2" else content
                files[f"model/{path.relative_to(folder)}"] = content
        for i, (inputs, outputs) in enumerate(made.runs):
            pairs = inputs.items() if isinstance(inputs, dict) else enumerate(inputs)
            arrays = {f"in:{name}": np.asarray(value) for name, value in pairs}
            arrays |= {f"out:{j}": np.asarray(value) for j, value in enumerate(outputs)}
            if any(a.dtype.kind not in "biufcU" for a in arrays.values()):
                return False
            data = io.BytesIO()
            np.savez(data, **arrays)  # type: ignore[arg-type]
            files[f"run-{i}.npz"] = data.getvalue()
        if sum(map(len, files.values())) > LARGEST:
            return False
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(f"{number:04}/{name}"), content, zipfile.ZIP_DEFLATED)
    return True


def _stripped(program: bytes) -> bytes:
    """A PyTorch program without example inputs and stack traces."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(program)) as whole, zipfile.ZipFile(out, "w") as made:
        for name in whole.namelist():
            content = whole.read(name)
            if name.endswith("model.json"):
                content = re.sub(
                    rb'"stack_trace": "(?:[^"\\]|\\.)*"', b'"stack_trace": ""', content
                )
            if not name.endswith(("sample_inputs/model.pt", "serialization_id")):
                made.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def _as_file(model: Any, folder: Path) -> Path | None:
    """The path of the model; one in memory is written to the folder. None if it
    cannot be written.
    """
    if isinstance(model, str | Path):
        return Path(model)
    data = model if isinstance(model, bytes) else None
    if hasattr(model, "SerializeToString"):
        data = model.SerializeToString()
    if hasattr(model, "graph_signature"):  # a program of PyTorch
        return _as_program(model, folder / "model.pt2")
    if data is None:
        return None
    (folder / "model.onnx").write_bytes(data)
    return folder / "model.onnx"


def _as_program(model: Any, path: Path) -> Path:
    import torch

    torch.export.save(model, path)
    return path


def names(framework: Path) -> list[str]:
    """The names of the cases in an archive."""
    with zipfile.ZipFile(framework) as archive:
        return sorted({name.split("/")[0] for name in archive.namelist()})


def load(framework: Path, name: str, folder: Path) -> tuple[Made, dict[str, Any]]:
    """A case, with its files written to an empty folder, and its stored description."""
    with zipfile.ZipFile(framework) as archive:
        members = [one for one in archive.namelist() if one.startswith(f"{name}/")]
        archive.extractall(folder, members)
    at = folder / name
    about = json.loads((at / "case.json").read_text())
    runs = [_run(np.load(path)) for path in sorted(at.glob("run-*.npz"))]
    made = Made(at / "model" / about["model"], runs, about["options"], about["tolerance"])
    return made, about


def _run(arrays: Any) -> tuple[Any, list[np.ndarray]]:
    inputs = {key[3:]: arrays[key] for key in arrays.files if key.startswith("in:")}
    outputs = list(_outputs(arrays))
    if list(inputs) == [str(i) for i in range(len(inputs))]:
        return list(inputs.values()), outputs
    return inputs, outputs


def _outputs(arrays: Any) -> Iterator[np.ndarray]:
    i = 0
    while f"out:{i}" in arrays.files:
        yield arrays[f"out:{i}"]
        i += 1

"""What a linker makes of another system's C library: once for all jobs, none of which can change
it.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from nnc.delivery.carrying import parts
from nnc.delivery.carrying.carry import carry
from nnc.delivery.carrying.job import Job
from nnc.delivery.confined.limits import Limits
from nnc.delivery.confined.start import Confinement
from nnc.ir.diagnostics import NncError
from nnc.targets.base import asked

from .test_dispatch_commands import small

pytestmark = pytest.mark.service

TARGET = "cortex-a76"


@pytest.fixture(scope="module")
def confinement():
    try:
        with Confinement() as made:
            yield made
    except NncError as error:
        pytest.skip(error.message)


def digests(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def objects_of(cache: Path) -> int:
    """How many things a linker has made in a cache itself."""
    return sum(not one.is_symlink() for one in (cache / "zig" / "o").iterdir())


def link(folder: Path, cache: Path) -> None:
    """Link as jobs do, with a cache of their own."""
    folder.mkdir()
    code = f"from {parts.__name__} import link_nothing; from pathlib import Path; "
    code += f"link_nothing({triple()!r}, Path('.'))"
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, check=True)


def triple() -> str:
    found = asked(TARGET).foreign_triple()
    assert found is not None
    return found


def test_jobs_link_with_parts_that_are_there(tmp_path: Path, confinement: Confinement) -> None:
    made = parts.parts_for(TARGET, confinement.cache)
    assert made is not None and made.is_dir()
    before = digests(made)
    assert parts.parts_for("cortex-a72", confinement.cache) == made  # the same system
    assert parts.parts_for("host", confinement.cache) is None
    assert parts.parts_for("wasm32-simd", confinement.cache) is None
    for name in ("one", "two"):
        cache = tmp_path / f"cache-{name}"
        parts.seed_parts(made, cache)
        link(tmp_path / name, cache)
        assert objects_of(cache) <= 2  # what was compiled, not the C library
        (cache / "zig" / "o" / "mine").mkdir()
    assert digests(made) == before
    assert [path.name for path in made.parent.iterdir()] == [made.name]


def test_a_job_reads_them_and_cannot_write_them(tmp_path: Path, confinement: Confinement) -> None:
    """A package for another system, confined; afterwards its commands have changed nothing."""
    model = tmp_path / "m.onnx"
    model.write_bytes(small())
    options = {"target": TARGET, "engines": ["nnc"]}
    outcome = carry(Job("package", options, {"model": model}), tmp_path / "job", confinement)
    assert outcome.state == "done", outcome.message
    made = parts.parts_for(TARGET, confinement.cache)
    assert made is not None
    assert objects_of(tmp_path / "job" / "job" / ".cache") < len(list((made / "o").iterdir()))
    place = tmp_path / "other"
    place.mkdir()
    (place / "attack.py").write_text(
        f"import os\nfor path in ({str(made / 'h')!r}, {str(made / 'o')!r}):\n"
        "    try:\n        open(path + '/mine', 'w')\n        print('wrote')\n"
        "    except OSError:\n        print('refused')\n"
    )
    ended = confinement.run("attack", [], place, Limits(), environment={"PYTHONPATH": "."})
    assert ended.output.split() == [b"refused"] * 2


def test_what_cannot_be_made_is_not_tried_by_every_job(tmp_path: Path, monkeypatch) -> None:
    """A try may take minutes, for which all jobs of that system wait."""
    tries = []

    def fails(triple: str, folder: Path) -> None:
        tries.append((triple, folder))
        raise subprocess.CalledProcessError(1, "zig")

    monkeypatch.setattr(parts, "_make", fails)
    for _ in range(3):
        assert parts.parts_for(TARGET, tmp_path) is None
    assert len(tries) == 1
    assert parts.parts_for("riscv64", tmp_path) is None  # another system is tried for itself
    assert len(tries) == 2
    monkeypatch.setattr(parts, "_PAUSE", 0.0)
    parts._NEXT_TRY.clear()
    for _ in range(2):
        assert parts.parts_for(TARGET, tmp_path) is None
    assert len(tries) == 4

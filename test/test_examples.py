"""The examples run as they stand."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted(
    p for p in (Path(__file__).parent.parent / "examples").iterdir() if p.suffix in (".py", ".sh")
)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", EXAMPLES, ids=[p.name for p in EXAMPLES])
def test_example(path: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(path)] if path.suffix == ".py" else ["sh", str(path)]
    scripts = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()

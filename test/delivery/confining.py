"""Commands of tests: what they do is Python text, which runs confined as a module."""

from pathlib import Path

from nnc.delivery.confined.limits import Limits

LIMITS = Limits(seconds=60, processor_seconds=60, memory=1 << 30, disk=64 << 20, processes=64)


def run(confinement, folder: Path, code: str, limits=LIMITS, **choices):
    """How a command ends that runs this text."""
    folder.mkdir(exist_ok=True)
    (folder / "attack.py").write_text(code)
    return confinement.run("attack", [], folder, limits, environment={"PYTHONPATH": "."}, **choices)

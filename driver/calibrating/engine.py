"""Times experiments in a WebAssembly engine, by the engine's clock: pipes are not timed."""

from __future__ import annotations

import json
import subprocess
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from ...artifacts.options import ArtifactOptions
from ...ir.diagnostics import NncError
from ...ir.syntax.parser import parse_module
from ...targets.base import Target
from ..compile import load_module, run_stages
from ..program import make_program
from .measuring import WAITED, Experiment, Timing

TIMER = Path(__file__).parent / "timer.mjs"


class EngineBench:
    """Experiments as WebAssembly modules, all in one process of an engine."""

    def __init__(
        self,
        experiments: Iterable[Experiment],
        target: Target,
        progress: Callable[[str], None] = lambda text: None,
    ) -> None:
        """The target must have an engine. Raises NncError if it is missing or does not start."""
        self.experiments: Sequence[Experiment] = [
            one for one in experiments if not one.fresh and not (one.cold and one.threads > 1)
        ]
        self._number = {one.name: i for i, one in enumerate(self.experiments)}
        progress(f"compiling {len(self.experiments)} experiments")
        command = target.engine()
        assert command is not None
        folder = TemporaryDirectory(prefix="nnc-")
        rows = self._written(target, Path(folder.name))
        table = Path(folder.name) / "experiments.json"
        table.write_text(json.dumps(rows))
        self._said = Path(folder.name) / "stderr"
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                [*command, str(TIMER), str(table)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
            )
        self.close = weakref.finalize(self, _end, self._process, folder)
        if self._line() != "ready\n":
            raise self._failed()

    def times(self, names: Sequence[str]) -> list[Timing]:
        assert self._process.stdin is not None
        wanted = [self._number[name] for name in names]
        try:
            self._process.stdin.write(json.dumps(wanted) + "\n")
            self._process.stdin.flush()
            found = json.loads(self._line())
        except (OSError, ValueError):
            raise self._failed() from None
        return [Timing(seconds, had < (1 - WAITED) * seconds) for seconds, had in found]

    def _written(self, target: Target, folder: Path) -> list[dict[str, object]]:
        """Write the module of each experiment; returns descriptions of their inputs."""
        made: dict[str, Path] = {}
        rows: list[dict[str, object]] = []
        for one in self.experiments:
            text = one.loop.text()
            if text not in made:
                path = made[text] = folder / f"m{len(made)}.wasm"
                module = load_module(parse_module(text))
                run_stages(module, target=target.name)
                target.write(make_program(module), path, ArtifactOptions())
            loader = str(made[text].with_suffix(".mjs"))
            row = {"loader": loader, "bytes": one.loop.bytes, "threads": one.threads}
            # What reads another part of a memory each time does so by an instance for each.
            rows.append({**row, "instances": max(1, one.cold // one.loop.bytes)})
        return rows

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def _failed(self) -> NncError:
        """The error with which the engine ended."""
        said: list[str] = []
        with suppress(OSError):
            said = self._said.read_text(errors="replace").strip().splitlines()
        last = next((line for line in reversed(said) if "Error" in line), said[-1] if said else "")
        return NncError(f"the experiments do not run in the engine: {last or 'it ended'}")


def _end(process: subprocess.Popen[str], folder: TemporaryDirectory[str]) -> None:
    """End the engine, and wait for it."""
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            if stream is not None:
                stream.close()
    process.kill()
    process.wait()
    folder.cleanup()

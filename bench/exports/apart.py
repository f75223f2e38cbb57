"""Processes the files of a row, one after another, in a separate process, which may crash or hang.

The process is a fork of one that has loaded PyTorch, its exporters and nnc and has used each once:
their first use takes longer than to export and compile a small network.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import onnx.parser

from .check import Finding, check
from .results import NOT_MADE

FORKED = multiprocessing.get_context("fork")


def findings(files: Iterable[str], options: argparse.Namespace) -> Iterator[Finding]:
    """The finding for each file of a row; a file that ends the process costs only
    its own result.
    """
    left = list(files)
    while left:
        ours, theirs = FORKED.Pipe(duplex=False)
        process = FORKED.Process(target=_work, args=(theirs, tuple(left), options))
        process.start()
        theirs.close()
        try:
            while left and ours.poll(options.limit):
                yield ours.recv()
                left.pop(0)
            if left:
                yield Finding(left.pop(0), failure=f"took more than {options.limit:.0f} s")
        except EOFError:
            process.join()
            yield Finding(left.pop(0), failure=f"ended with exit code {process.exitcode}")
        finally:
            process.kill()
            process.join()


def _work(pipe: Connection, files: tuple[str, ...], options: argparse.Namespace) -> None:
    """In the new process: export the files as requested, check them, and send the findings."""
    for file, unwritten in _written(files, options):
        path = options.to / f"{file}.onnx"
        found = Finding(file, unwritten=unwritten)
        if not (unwritten or options.export):
            found = _checked(path, options.seconds)
        if options.drop:
            path.unlink(missing_ok=True)
        pipe.send(found)


def _written(files: tuple[str, ...], options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yields each file once it exists, with the exporter's error message if it could not be
    written.
    """
    if options.check:
        yield from ((file, "") for file in files)
        return
    from .export import export_row
    from .others import OTHERS, export_other
    from .rows import ROWS

    name = files[0].split(".")[0]
    try:
        if name in OTHERS:
            yield files[0], export_other(name, OTHERS[name], options.to, options.again)
        else:
            yield from export_row(ROWS.rows[name], options.to, files, options.again)
    except Exception as error:  # a library that is not there, a network that is not so
        yield from ((file, f"{NOT_MADE}{type(error).__name__}: {error}") for file in files)


def _checked(path: Path, seconds: float) -> Finding:
    values = path.with_name(f"{path.name.split('.')[0]}.npz")
    try:
        found = check(path, values, seconds)
        found.failure = found.failure.replace(str(path), path.name)
        return found
    except Exception as error:  # nnc must not, so this is one of its faults
        name = path.name.removesuffix(".onnx")
        return Finding(name, failure=f"{type(error).__name__}: {error}")


def warm_up(exporters: bool) -> None:
    """Use nnc once, and the exporters if they will be needed."""
    import nnc

    text = (
        '<ir_version: 10, opset_import: ["": 20]> g (float[N,4] x) => (float[N,4] y) {y = Exp(x)}'
    )
    nnc.compile(onnx.parser.parse_model(text), cache=False)
    if exporters:
        from torch import nn

        from .export import EXPORTERS, export
        from .rows import Row, floats

        row = Row("warm_up", lambda: nn.Linear(4, 4), {"x": floats("batch", 4)})
        with tempfile.TemporaryDirectory() as folder:
            for exporter in EXPORTERS:
                export(row, row.module(), Path(folder) / "warm_up.onnx", exporter, dynamic=True)

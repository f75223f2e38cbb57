"""Actions of `nnc tune` without a search: merging, pruning and exporting folders, measurements."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..driver.compile import run_stages
from ..driver.tuning.folders import export, merge, prune
from ..driver.tuning.measurements import Log, log_of_user, write_table
from ..ir.diagnostics import NncError
from ..kernels.tuned import TunedFolder

if TYPE_CHECKING:
    from .session import Session


def merged(source: Path, into: Path, say: Callable[[str], None]) -> Iterator[str]:
    """Merge a folder or an exported file into a folder."""
    schedules, measurements = merge(source, into, log_of_user(), say)
    yield f"{schedules} schedules and choices of {source} were taken into {into}"
    if measurements:
        yield f"{measurements} measurements were added to {_log().path}"


def exported(folder: Path, path: Path) -> Iterator[str]:
    """Write a folder and all measurements into one file."""
    found = export(folder, log_of_user(), path)
    what = f"{len(found.schedules)} schedules, {len(found.choices)} choices"
    yield f"{path}: {what}, {len(found.measurements)} measurements"


def pruned(args: argparse.Namespace, session: Session, folder: Path) -> Iterator[str]:
    """Remove useless schedules."""
    TunedFolder(folder).read()
    module = session.load()
    run_stages(module, target=args.target, last="bufferize", progress=session.progress)
    gone, left = prune(folder, module, args.drop, session.say), TunedFolder(folder)
    count = len(left.files()) + len(left.choice_files())
    yield f"{len(gone)} files removed, {count} left in {folder}"


def measurements(path: Path) -> Iterator[str]:
    """Write all measurements as a CSV table."""
    log = _log()
    found = log.read()
    if not found:
        raise NncError(f"nothing was measured yet: there is nothing in '{log.path}'")
    write_table(path, found)
    kernels = len({one.kernel for one in found})
    yield f"{path}: {len(found)} measurements of {kernels} kernels"


def _log() -> Log:
    log = log_of_user()
    if log is None:
        raise NncError("NNC_MEASUREMENTS is 'off': no measurements are kept")
    return log

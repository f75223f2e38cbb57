"""`nnc explore`: a page that shows a model's inside, in one self-contained file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..ir.diagnostics import NncError
from ..ir.files import write_whole

if TYPE_CHECKING:
    from .session import Session

MOST = 2
"""The most compilations that a page shows side by side, beside those that it times."""


def explore_model(args: argparse.Namespace, session: Session) -> int:
    """Write the page."""
    from ..driver.compile import load_module
    from ..explorer.explore import Source, explore

    targets = list(dict.fromkeys(args.target.split(","))) if args.target else [None]
    models = [session.model] + ([session.path(args.other)] if args.other else [])
    if len(models) * len(targets) > MOST:
        raise NncError(
            f"nnc: explore puts two side by side: {len(models)} models for {len(targets)} targets "
            f"are {len(models) * len(targets)} compilations"
        )

    path = session.streams.path(args.output)
    if path.is_dir():
        raise NncError(f"cannot write '{path}': it is a folder")

    def source(path: str, name: str) -> Source:
        def load():
            return load_module(
                path, fast_math=session.fast_math, progress=session.progress, **session.choices
            )

        return Source(name, load)

    text = explore(
        [source(model, name) for model, name in zip(models, _names(models), strict=True)],
        targets,
        measured=args.measure,
        on_gpu=args.gpu,
        tuned=session.tuned(args),
        progress=session.progress,
        warn=lambda message: print(f"nnc: warning: {message}", file=session.streams.stderr),
    )
    write_whole(path, text)
    session.say(f"{path}: {len(text) / 1e6:.1f} MB")
    return 0


def _names(models: list[str]) -> list[str]:
    """The names of models: their file names, with as many folders as distinguish them."""
    paths = [Path(model).parts for model in models]
    for length in range(1, max(map(len, paths)) + 1):
        names = ["/".join(parts[-length:]) for parts in paths]
        if len(set(names)) == len(names):
            return names
    return [f"{'/'.join(parts[-1:])} ({i})" for i, parts in enumerate(paths, 1)]

"""The options of `nnc tune` and of its companions: try, worker, fleet, calibrate."""

from __future__ import annotations

import argparse

from ..targets.base import HOST
from .shared_options import add_inputs, target_argument


def add_tune(sub: argparse.ArgumentParser) -> None:
    """Add the options of `nnc tune`."""
    add_inputs(sub)
    sub.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        help="the folder to write the schedules to; with --export, the file",
    )
    sub.add_argument("--seconds", type=float, default=60.0, help="how long to search (default: 60)")
    sub.add_argument("--trials", type=int, metavar="N", help="the most experiments")
    sub.add_argument(
        "--curve",
        metavar="FILE.csv",
        help="write the time saved so far as a table: a row for each experiment, and last the "
        "comparison in the whole model",
    )
    sub.add_argument(
        "--precision",
        action="store_true",
        help="also try other number formats in products: 16-bit floats or f32, integers or f32",
    )
    sub.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="how many experiments run at once (default: 1 on this machine, where several would "
        "disturb each other; all workers of --scheduler)",
    )
    _add_scheduler(sub, required=False)
    _add_what_is_kept(sub)


def _add_what_is_kept(sub: argparse.ArgumentParser) -> None:
    """Add the actions of `nnc tune` on stored results, instead of a search."""
    sub.add_argument(
        "--replay",
        metavar="FOLDER",
        help="no search: compile with the schedules of this folder, and print the digest of "
        "the code, which is the same each time",
    )
    sub.add_argument(
        "--explain",
        metavar="FOLDER",
        help="no search: report for each kernel what was found, whether it still holds, and how "
        "its schedule differs from the default",
    )
    sub.add_argument(
        "--prune",
        metavar="FOLDER",
        help="no search: remove schedules of the model's kernels that are no longer legal, or that "
        "are the default by now; --drop removes more",
    )
    sub.add_argument(
        "--drop",
        action="append",
        default=[],
        choices=("machines", "versions", "kernels"),
        help="with --prune: remove schedules of other machines, of other versions of nnc, or of "
        "kernels that the model does not have; may be given several times",
    )
    sub.add_argument(
        "--merge",
        metavar="FROM",
        help="no model: add the schedules of this folder, or of a file of --export, to the folder "
        "of -o; of two for one kernel and machine, the one that surely saves more is kept",
    )
    sub.add_argument(
        "--export",
        metavar="FOLDER",
        help="no model: write this folder's schedules, all measurements and this machine's numbers "
        "to the file of -o, for --merge elsewhere",
    )
    sub.add_argument(
        "--measurements",
        metavar="FILE.csv",
        help="no model: write all measurements so far as a table, with a column for each feature",
    )


def add_try(sub: argparse.ArgumentParser) -> None:
    """Add the options of `nnc try`."""
    add_inputs(sub)
    add = sub.add_argument
    add(
        "--schedule",
        metavar="FILE",
        help="the edited schedule; without it, the kernel's default schedule is printed, or "
        "without --kernel the names of the kernels that have one",
    )
    add(
        "--kernel",
        metavar="NAME",
        help="the kernel that the schedule is for (default: the one that it names)",
    )
    add(
        "--seconds",
        type=float,
        default=5.0,
        help="how long to run the two in turns (default: 5)",
    )
    add(
        "--json",
        action="store_true",
        help="print the result as JSON, with exit code 0 even if the schedule is illegal or wrong",
    )


def _add_scheduler(sub: argparse.ArgumentParser, *, required: bool) -> None:
    sub.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        required=required,
        help="the address of a fleet's scheduler, tls://HOST:PORT, whose workers run the "
        "experiments",
    )
    sub.add_argument(
        "--certificates",
        metavar="FOLDER",
        help="the folder with the fleet's key, made by `nnc fleet init FOLDER`; without it, only a "
        "scheduler of this machine at tcp://127.0.0.1 can be used",
    )


def add_worker(sub: argparse.ArgumentParser) -> None:
    """Add the options of `nnc worker`."""
    _add_scheduler(sub, required=True)
    sub.add_argument(
        "--target",
        metavar="NAME",
        type=target_argument,
        default=HOST,
        help="the target that this machine measures for (default: host, with its calibration)",
    )
    sub.add_argument(
        "--unconfined",
        action="store_true",
        help="run jobs of `nnc serve` even if this machine cannot confine them",
    )


def add_fleet(sub: argparse.ArgumentParser) -> None:
    """Add the options of `nnc fleet`."""
    sub.add_argument(
        "action",
        choices=("init", "scheduler"),
        help="init makes the key that the members of a fleet share; scheduler runs the process "
        "where workers and tuners meet, until Ctrl-C",
    )
    sub.add_argument("folder", metavar="FOLDER", help="the folder of the key and its certificate")
    sub.add_argument(
        "--host",
        default="0.0.0.0",
        help="the address that the scheduler listens at (default: all of this machine)",
    )
    sub.add_argument(
        "--port", type=int, default=8786, help="the port that it listens at (default: 8786)"
    )


def add_calibrate(sub: argparse.ArgumentParser) -> None:
    """Add the options of `nnc calibrate`."""
    add = sub.add_argument
    add(
        "--target",
        metavar="NAME",
        type=target_argument,
        default=HOST,
        help="the target to measure (default: host, which uses the numbers from then on; named "
        "targets keep their built-in numbers unless NNC_CALIBRATION is all)",
    )
    add(
        "--seconds",
        type=float,
        default=120.0,
        help="the longest to measure (default: 120; a quarter of that if nothing disturbs)",
    )
    add("--show", action="store_true", help="show the kept numbers beside the built-in ones")
    add("--forget", action="store_true", help="remove the kept numbers")
    add(
        "--force",
        action="store_true",
        help="also keep numbers whose fastest runs do not agree",
    )
    add("-q", "--quiet", action="store_true", help="no progress messages")

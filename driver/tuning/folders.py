"""Operations on folders of schedules and choices: merging, pruning, exporting to one file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...dialects import func, schedule
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.files import folders_of, write_together, write_whole
from ...ir.sealed_json import sealed, unsealed
from ...ir.version import VERSION as NNC
from ...kernels.choose_schedules import choose
from ...kernels.tuned import (
    TunedFolder,
    TunedSchedule,
    check_schedule,
    fingerprint,
    kernel_functions,
    schedule_digest,
)
from ...targets.attribute import detailed, machine_name, target_of
from ...targets.base import Target, find_host
from .choices import TunedChoice, read_choices
from .keeping import remove
from .measurements import Log, Measurement, line, parsed, unknown

Say = Callable[[str], None]

VERSION = 1
"""The version of the format of exported files."""


# -- one file --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Export:
    """Texts of schedules and choices by the names of their files, and measurements."""

    schedules: Mapping[str, str]
    choices: Mapping[str, str]
    measurements: Sequence[Measurement]


def export(folder: Path, log: Log | None, path: Path) -> Export:
    """Write a folder's files, all measurements and this machine's numbers into a file.

    Raises NncError.
    """
    tuned = TunedFolder(folder)
    tuned.read()
    read_choices(tuned)
    schedules, choices = (
        {one.name: one.read_text("utf-8") for one in files}
        for files in (tuned.files(), tuned.choice_files())
    )
    made = Export(schedules, choices, log.read() if log else [])
    here = find_host()
    about = {
        "version": VERSION,
        "nnc": NNC,
        "machine": detailed(here) if here is not None else "",
        "schedules": dict(made.schedules),
        "choices": dict(made.choices),
        "measurements": [json.loads(line(one)) for one in made.measurements],
    }
    write_whole(path, sealed(about, indent=1))
    return made


def imported(path: Path) -> Export:
    """The contents of an exported file. Raises NncError if it is damaged or of another version."""
    try:
        about = unsealed(path.read_bytes())
        if about.get("version") != VERSION:
            raise ValueError(f"it is of version {about.get('version')}, not of {VERSION}")
        schedules, choices = (
            {str(name): str(text) for name, text in about[key].items()}
            for key in ("schedules", "choices")
        )
        measurements, _ = parsed(json.dumps(one).encode() for one in about["measurements"])
    except OSError as error:
        raise NncError(f"cannot read '{path}': {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NncError(f"{path}: no file of nnc tune --export, or damaged ({error})") from None
    return Export(schedules, choices, measurements)


# -- merging ---------------------------------------------------------------------------------------


def merge(source: Path, into: Path, log: Log | None, say: Say) -> tuple[int, int]:
    """Add the files of a folder, or of an exported file with its measurements, to a folder.

    Returns the numbers of new files and measurements. If something cannot be written, nothing is.
    Raises NncError.
    """
    if source.is_dir():
        found = [(one, path.read_text("utf-8")) for one, path in _read_with_paths(source)]
        choices = read_choices(TunedFolder(source))
        measurements: Sequence[Measurement] = ()
    else:
        exported = imported(source)
        texts = exported.schedules.items()
        found = [(TunedSchedule.parse(text, f"{source}/{name}"), text) for name, text in texts]
        choices = [
            TunedChoice.parse(text, f"{source}/{name}") for name, text in exported.choices.items()
        ]
        measurements = exported.measurements
    there = TunedFolder(into).read() if into.exists() else {}
    writes: dict[Path, Sequence[str]] = {}
    for theirs, text in found:
        ours = there.get((theirs.kernel, theirs.machine))
        if ours is not None and not _takes_place(theirs, ours, say):
            continue
        path = ours.path if ours is not None and ours.path else into / theirs.file_name
        writes[path] = [text]
        there[theirs.kernel, theirs.machine] = replace(theirs, path=path)
    writes |= _merged_choices(choices, into, say)
    if writes:
        with folders_of(writes):
            write_together(writes)
    more = unknown(measurements, log.read()) if log is not None and measurements else []
    if log is not None:
        log.append(more)
    return len(writes), len(more)


def _merged_choices(
    choices: Sequence[TunedChoice], into: Path, say: Say
) -> dict[Path, Sequence[str]]:
    """The files of choices that are new, or gain more than ours beyond the uncertainty."""
    ours = read_choices(TunedFolder(into)) if into.exists() else []
    there = {(one.key, one.machine): one for one in ours}
    writes: dict[Path, Sequence[str]] = {}
    for theirs in choices:
        mine = there.get((theirs.key, theirs.machine))
        if mine is not None:
            if theirs.taken == mine.taken:
                continue
            is_better = theirs.gain - theirs.spread > mine.gain - mine.spread
            say(f"{mine} {'is replaced by' if is_better else 'stays, not'} '{theirs.taken}'")
            if not is_better:
                continue
        writes[into / theirs.file_name] = [theirs.content()]
    return writes


def _read_with_paths(folder: Path) -> Iterator[tuple[TunedSchedule, Path]]:
    for one in TunedFolder(folder).read().values():
        assert one.path is not None
        yield one, one.path


def _takes_place(theirs: TunedSchedule, ours: TunedSchedule, say: Say) -> bool:
    """Whether a schedule replaces another one of the same kernel and machine."""
    if schedule_digest(theirs.schedule) == schedule_digest(ours.schedule):
        return theirs.spread < ours.spread and not ours.edited and not theirs.edited
    kept, why = False, ""
    if ours.edited or theirs.edited:
        why = "one was edited by hand, and what it takes is not known"
    elif theirs.version != ours.version:
        kept, why = theirs.version == NNC, f"measured with nnc {NNC}"
    elif theirs.default != ours.default:
        why = "they were compared with different default schedules"
    else:
        # What each saves at least, as far as is known.
        kept = theirs.gain - theirs.spread > ours.gain - ours.spread
        why = "it saves more, as far as is sure"
    first, second = (theirs, ours) if kept else (ours, theirs)
    say(
        f"{ours.path} {'is replaced' if kept else 'stays'}: "
        f"{first.gain:.1%} (+- {first.spread:.1%}), not {second.gain:.1%} "
        f"(+- {second.spread:.1%}): {why}"
    )
    return kept


# -- pruning ---------------------------------------------------------------------------------------

KINDS = ("machines", "versions", "kernels")
"""What pruning can remove: schedules for other machines, of other versions of nnc, and for kernels
that the model does not have."""


def prune(folder: Path, module: Operation, drop: Sequence[str], say: Say) -> list[Path]:
    """Remove schedules of a bufferized model's kernels that are illegal, or are the default now.

    Those with decisions of the kinds in `drop` are removed too; those edited by hand stay. Raises
    NncError.
    """
    functions = {fingerprint(f): f for f in kernel_functions(module)}
    target = target_of(module)
    gone: list[Path] = []
    for one, path in _read_with_paths(folder):
        why = ""
        function = functions.get(one.kernel)
        if "machines" in drop and one.machine != machine_name(target):
            why = f"it is for {one.machine}"
        elif "versions" in drop and one.version != NNC:
            why = f"it was measured with nnc {one.version}"
        elif function is None:
            why = "the model has no such kernel" if "kernels" in drop else ""
        elif one.machine == machine_name(target):
            why = _useless(one, function, target)
        if not why:
            continue
        if one.edited:
            say(f"{path} was edited by hand and stays, though {why}")
            continue
        say(f"{path}: {why}")
        remove(path)
        gone.append(path)
    for path in TunedFolder(folder).choice_files():
        choice, why = TunedChoice.read(path), ""
        if "machines" in drop and choice.machine != machine_name(target):
            why = f"it is for {choice.machine}"
        elif "versions" in drop and choice.version != NNC:
            why = f"it was measured with nnc {choice.version}"
        if why:
            say(f"{path}: {why}")
            remove(path)
            gone.append(path)
    return gone


def _useless(one: TunedSchedule, function: func.FuncOp, target: Target) -> str:
    """Why a schedule of a kernel is useless; empty if it is not."""
    block = function.body.blocks[0]
    try:
        check_schedule(one.copy(), block)
    except NncError as error:
        return f"it is not legal any more ({error.message})"
    default: schedule.For = choose(function, target.policy, target.machine, False)[1].schedule
    same = schedule_digest(default) == schedule_digest(one.schedule)
    return "it is what the default is now" if same else ""

"""Runs cases of one framework in this process; writes a line of JSON before and after each.

If a model ends the process, the line before it tells which, see `run.py`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from .cases import Case, Subject, UnmakableError, id_of
from .judge import Verdict, judge


def subjects(framework: str) -> Sequence[Subject]:
    """The subjects of a framework."""
    return list(import_module(f"{__package__}.{framework}").subjects())


def cases(
    framework: str,
    pattern: str,
    strength: int,
    most: int,
    repeated: Iterable[tuple[str, dict[str, Any]]] = (),
) -> Iterator[Case]:
    """The repeated cases, then all cases of subjects that fit the pattern, at most `most` of each.

    Prints a line for each repeated case that no longer exists.
    """
    from fnmatch import fnmatchcase

    chosen = [
        subject
        for subject in subjects(framework)
        if any(fnmatchcase(subject.name, one) for one in pattern.split())
    ]
    by_name = {subject.name: subject for subject in chosen}
    for name, config in repeated:
        if any(fnmatchcase(name, one) for one in pattern.split()):
            if name in by_name and by_name[name].has(config):
                yield Case(by_name[name], config)
            else:
                say(gone=id_of(name, config))
    for subject in chosen:
        yield from (Case(subject, one) for one in subject.configurations(strength, most))


def verdict_of(
    case: Case, interpreted: bool = False, when_made: Callable[[], None] = lambda: None
) -> Verdict:
    """Make the case's model and judge it; `when_made` is called in between."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            made = case.make(Path(folder))
        except UnmakableError as reason:
            return Verdict("unmakable", str(reason))
        except Exception as error:
            return Verdict("unmakable", f"{type(error).__name__}: {error}")
        when_made()
        return judge(made, interpreted)


class Minimizer:
    """Finds the simplest configuration with the same verdict, and remembers those
    of each subject.
    """

    def __init__(self, interpreted: bool = False) -> None:
        self.interpreted = interpreted
        self.known: dict[str, list[dict[str, Any]]] = {}

    def minimal(self, case: Case, verdict: Verdict) -> dict[str, Any]:
        """The parameters whose values the fault depends on, with these values."""
        known = self.known.setdefault(case.subject.name, [])
        for one in known:
            if all(case.config[name] == value for name, value in one.items()):
                return one
        config = dict(case.config)
        plain = {name: values[0] for name, values in case.subject.choices.items()}
        for name, value in plain.items():
            if config[name] == value:
                continue
            tried = config | {name: value}
            if case.subject.allowed(tried):
                found = verdict_of(Case(case.subject, tried), self.interpreted)
                config = tried if found.kind == verdict.kind else config
        found = {name: value for name, value in config.items() if value != plain[name]}
        known.append(found)
        return found


def say(**row: Any) -> None:
    """Print a line of JSON."""
    sys.__stdout__.write(json.dumps(row) + "\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


def main(
    framework: str,
    pattern: str,
    strength: int,
    most: int,
    interpreted: bool,
    repeated: Iterable[tuple[str, dict[str, Any]]] = (),
    *,
    done: set[str],
) -> None:
    """Run all cases except those in `done`; see `cases`.

    The last line before the process ends is the case's verdict if the process ends by itself.
    """
    sys.stdout = sys.stderr
    minimizer = Minimizer(interpreted)
    for case in cases(framework, pattern, strength, most, repeated):
        if case.id in done:
            continue
        done.add(case.id)
        row: dict[str, Any] = {"subject": case.subject.name, "config": case.config}
        say(begin=case.id, verdict="unmakable", detail="the framework ended the process", **row)
        verdict = verdict_of(
            case, interpreted, lambda: say(verdict="died", detail="the process ended")
        )
        row |= {"verdict": verdict.kind, "detail": verdict.detail[:400]}
        if verdict.kind in ("wrong", "crash"):
            say(**row)
            row["minimal"] = minimizer.minimal(case, verdict)
        say(end=case.id, **row)
    say(all=True)


if __name__ == "__main__":
    # What frameworks print, be it from C, goes to where errors go.
    sys.__stdout__ = os.fdopen(os.dup(1), "w")  # type: ignore[misc]
    os.dup2(2, 1)
    given = json.loads(sys.stdin.readline())
    main(*given["arguments"], done=set(given["done"]))

"""Carries out one job of the service: a few commands of nnc, confined, on the job's files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...ir.diagnostics import NncError
from ...targets.base import asked
from ..confined.limits import Limits
from ..confined.start import Confinement
from ..unpacking import is_archive
from .job import Job, Outcome, Progress
from .kept import Kept
from .names import file_name
from .place import Place
from .results import MOST_JSON, read_json

PRELOAD = (
    "nnc.delivery.carrying.warm",
    "nnc.tools.nnc",
    "nnc.delivery.unpacking",
    "nnc.delivery.opening",
)
"""The modules that the fork server of a confinement imports for these jobs."""

LOOK_SECONDS, PAGE_SECONDS = 120.0, 300.0
"""The time limits of the check of an uploaded model, and of making its page. Units: seconds."""
_PLAIN = re.compile(r"[A-Za-z0-9_.+-]+", re.ASCII)
_POLITE = 10
"""The niceness of checks, and of packages without figures, beside measurements."""


def carry(
    job: Job,
    folder: Path,
    confinement: Confinement,
    limits: Limits | None = None,
    progress: Progress = lambda note: None,
    cancelled: Callable[[], bool] = lambda: False,
    kept: Kept | None = None,
) -> Outcome:
    """Run a job in a folder; its results are files there. The job's input files are moved there.

    `kept` holds what earlier experiments have compiled of models; only experiments use it.
    Raises LostError if the machine is at fault, CancelledError if the job was cancelled.
    """
    place = Place(job, folder, confinement, limits or Limits(), progress, cancelled)
    if job.kind != "experiment" or not job.model:
        kept = None
    try:
        if kept is not None:
            kept.give(job.model, place.home)
        model = _model(place)
        outcome = _KINDS[job.kind](job, place, model)
        if kept is not None and outcome.state == "done":
            kept.take(job.model, place.home)
    except NncError as error:
        outcome = Outcome("failed", error.message)
    files = {**outcome.files, "log": place.log()}
    return replace(outcome, files=files)


def _model(place: Place) -> str:
    """The path of the model, unpacked if it is an archive. Raises NncError."""
    name = place.files["model"]
    if not is_archive(Path(name)):
        return name
    folder = f"unpacked/{_stem(name)}"
    ended = place.run("nnc.delivery.unpacking", [name, folder], seconds=LOOK_SECONDS)
    if not ended.good:
        raise NncError(place.fault(ended))
    found = read_json(ended.output, "the archive")
    path = found.get("model") if isinstance(found, dict) else None
    if not isinstance(path, str) or not path.startswith("unpacked"):
        raise NncError("the archive: nothing was found in it")
    return path


def _stem(archive: str) -> str:
    """The name of an archive's content, if the whole folder is the model."""
    return file_name(Path(archive).stem.removesuffix(".tar"))


def _look(job: Job, place: Place, model: str) -> Outcome:
    """Check a model; its page is made by another job, as that may take minutes."""
    ended = place.run(
        "nnc.tools.nnc", ["check", "--json", model], seconds=LOOK_SECONDS, nice=_POLITE
    )
    if ended.cause or not ended.output:
        return Outcome("failed", place.fault(ended))
    found = read_json(ended.output, "the check")
    if not isinstance(found, dict):
        return Outcome("failed", "the check: no JSON that can be read")
    found["model"] = Path(model).name
    if found.get("unsupported"):
        found["no_page"] = "it needs the whole model, of which some is not supported"
        return Outcome("done", "", {}, found)
    return Outcome("done", "", {}, found, then="page")


def _page(job: Job, place: Place, model: str) -> Outcome:
    """Make the page that shows a model's inside; without a page, `no_page` says why."""
    place.tell("explore", 0.0, "makes the page that shows the model's inside")
    page = ["explore", model, "-o", "explore.html"]
    ended = place.run("nnc.tools.nnc", page, seconds=PAGE_SECONDS, nice=_POLITE)
    if not ended.good:
        return Outcome("done", "", {}, {"no_page": place.fault(ended)})
    return Outcome("done", "", {"explore": place.take("explore.html", "explore")}, {})


def _package(job: Job, place: Place, model: str) -> Outcome:
    """Measure a model on each engine, and make the package."""
    options = job.options
    words = ["package", model, "-o", "package.zip", "--progress-json"]
    words += [f"--target={_plain(job.target)}"]
    words += [f"--precision={_plain(options.get('precision') or 'f32')}"]
    words += ["--threads", *(str(int(one)) for one in options.get("threads") or [1])]
    words += [f"--tune={float(options.get('seconds') or 0):g}"]
    if engines := options.get("engines"):
        words += [f"--engines={','.join(map(_plain, engines))}"]
    if "inputs" in place.files:
        words += [f"--inputs={place.files['inputs']}"]
    measures = asked(job.target).not_timed() is None
    nice = 0 if measures else _POLITE
    ended = place.run("nnc.tools.nnc", words, fresh=measures, nice=nice)
    if not ended.good:
        return Outcome("failed", place.fault(ended))
    package = "package.zip"
    reports = ("package/report.json", "package/report.html")
    ended = place.run("nnc.delivery.opening", [package, "opened", *reports])
    if not ended.good:
        return Outcome("failed", place.fault(ended))
    report = place.take("opened/report.json", "report.json", MOST_JSON)
    files = {
        "package": place.take(package, "package"),
        "report": place.take("opened/report.html", "report"),
    }
    return Outcome("done", "", files, read_json(report.read_bytes(), "the report"))


def _experiment(job: Job, place: Place, model: str) -> Outcome:
    """Try a kernel's edited schedule: whether it is legal and correct, and its time."""
    words = ["try", model, "--json", f"--schedule={place.files['schedule']}"]
    words += [f"--target={_plain(job.target)}"]
    if kernel := job.options.get("kernel"):
        words += [f"--kernel={_plain(kernel)}"]
    ended = place.run("nnc.tools.nnc", words, fresh=True)
    if not ended.good:
        return Outcome("failed", place.fault(ended))
    return Outcome("done", "", {}, read_json(ended.output, "the experiment"))


def _plain(word: Any) -> str:
    """A word of the command line, checked to be a plain name. Raises NncError."""
    if not isinstance(word, str) or not _PLAIN.fullmatch(word):
        raise NncError(f"'{str(word)[:40]}' is not a name")
    return word


_KINDS: Mapping[str, Callable[[Job, Place, str], Outcome]] = {
    "look": _look,
    "page": _page,
    "package": _package,
    "experiment": _experiment,
}

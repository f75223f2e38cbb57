"""`Remote`: the Python interface to a server of models."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import httpx

from ...ir.diagnostics import NncError
from . import answers, routes
from .answers import Engine, InputsFile, Job, MadeToken, Me, Model, Order, Target, Token, Upload
from .downloads import fetch_file
from .events import watch_order
from .exchange import Exchange
from .failures import RemoteError, one_line
from .folders import as_file
from .patience import Patience
from .routes import Route
from .uploads import Told, digest_of, send_file

_SOON, _LATER = 0.2, 2.0
"""Seconds between polls for the check of a model: at first, and later."""


def _untold(done: int, total: int) -> None:
    """Ignore progress."""


class Remote:
    """A server of `nnc serve` at an address, and the user of a token.

    `timeout` is the number of seconds that may pass without a byte from the server. If a server
    that has answered before stops answering, requests are repeated with `patience`. `certificates`
    is a PEM file of the authority that signed the server's certificate, if that is not a public
    one. `plain` allows http:// to other machines than this one, where the token can be read on the
    network.

    All methods raise NncError (RemoteError if the server is the cause), with a message of one line.
    Instances are thread-safe.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 30.0,
        patience: Patience | None = None,
        certificates: str | PathLike[str] | None = None,
        plain: bool = False,
    ) -> None:
        self._exchange = Exchange(
            url,
            token,
            timeout=timeout,
            patience=patience or Patience(),
            certificates=None if certificates is None else Path(certificates),
            plain=plain,
        )

    def __enter__(self) -> Remote:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._exchange.close()

    @property
    def url(self) -> str:
        """The server's address."""
        return self._exchange.url

    # -- the user and its tokens -------------------------------------------------------------------

    def me(self) -> Me:
        """The token's user, with limits and use."""
        return self._exchange.ask(routes.ME, shape=answers.ME)

    def delete_me(self) -> None:
        """Delete the user with all data on the server."""
        self._exchange.read(routes.DELETE_ME)

    def tokens(self) -> list[Token]:
        """The user's tokens, without their texts."""
        return self._exchange.ask(routes.TOKENS, shape=answers.TOKENS)

    def new_token(self, name: str, days: int | None = None) -> MadeToken:
        """Make a token, whose text is only in this answer; it expires after `days` days."""
        asked = {"name": name, "days": days}
        return self._exchange.ask(routes.NEW_TOKEN, shape=answers.MADE_TOKEN, json=asked)

    def delete_token(self, token: str) -> None:
        """Revoke the token of this id."""
        self._exchange.read(routes.DELETE_TOKEN, token, about=f"token '{token}'")

    # -- lists and states --------------------------------------------------------------------------

    def targets(self) -> list[Target]:
        """The targets that the server compiles for, and whether it can measure there."""
        return self._exchange.ask(routes.TARGETS, shape=answers.TARGETS)

    def engines(self) -> list[Engine]:
        """The engines that the server can measure models on."""
        return self._exchange.ask(routes.ENGINES, shape=answers.ENGINES)

    def precisions(self) -> list[str]:
        """The precisions that models can be packaged in."""
        return self._exchange.ask(routes.PRECISIONS, shape=answers.PRECISIONS)

    def inputs(self) -> list[InputsFile]:
        """The user's input files."""
        return self._exchange.ask(routes.INPUTS, shape=answers.INPUTS)

    def models(self) -> list[Model]:
        """The user's models."""
        return self._exchange.ask(routes.MODELS, shape=answers.MODELS)

    def model(self, model: str) -> Model:
        """A model by its id, with the results of the look so far."""
        return self._exchange.ask(
            routes.MODEL, model, shape=answers.MODEL, about=f"model '{model}'"
        )

    def orders(self) -> list[Order]:
        """The user's orders."""
        return self._exchange.ask(routes.ORDERS, shape=answers.ORDERS)

    def get_order(self, order: str) -> Order:
        """An order by its id, with the current states of its jobs."""
        return self._exchange.ask(
            routes.ORDER, order, shape=answers.ORDER, about=f"order '{order}'"
        )

    def job(self, job: str) -> Job:
        """A job by its id, in its current state."""
        return self._exchange.ask(routes.JOB, job, shape=answers.JOB, about=f"job '{job}'")

    # -- uploads and orders ------------------------------------------------------------------------

    def upload(
        self, path: str | PathLike[str], *, name: str | None = None, progress: Told = _untold
    ) -> Model:
        """Send a model's file or folder, or its missing rest; returns the resulting model.

        A folder is sent as a ZIP archive. A model that the server already has under the same name
        is not sent again. `progress` gets the bytes that have arrived and their total.
        """
        given = Path(path)
        with as_file(given) as file:
            if name is None:
                name = given.resolve().name + (".zip" if given.is_dir() else "")
            digest = digest_of(file)
            for model in self.models():
                if (model.sha256, model.name) == (digest, name):
                    return model
            made = send_file(self._exchange, file, digest, name, "model", progress)
        return self.model(made)

    def uploads(self) -> list[Upload]:
        """The user's unfinished uploads."""
        return self._exchange.ask(routes.UPLOADS, shape=answers.UPLOADS)

    def delete_upload(self, upload: str) -> None:
        """Delete an unfinished upload."""
        self._exchange.read(routes.DELETE_UPLOAD, upload, about=f"upload '{upload}'")

    def look(self, model: str, *, seconds: float | None = None) -> Model:
        """Wait until the server has looked into a model, for at most so many seconds; returns it.

        Raises NncError if the server refuses the model, with its reason.
        """
        ends = None if seconds is None else time.monotonic() + seconds
        pause = _SOON
        while (found := self.model(model)).state == "looking":
            if ends is not None and time.monotonic() + pause > ends:
                raise NncError(
                    f"{self.url}: the server still analyzes model '{model}' after {seconds:g} s; "
                    "call `look` again"
                )
            time.sleep(pause)
            pause = min(2 * pause, _LATER)
        if found.state == "refused":
            reason = one_line(found.error or "no reason is given")
            raise NncError(f"{found.name}: the server refuses the model: {reason}")
        return found

    def order(
        self,
        model: str,
        *,
        targets: Sequence[str] = ("host",),
        precisions: Sequence[str] = ("f32",),
        threads: Sequence[int] = (1,),
        seconds: int = 0,
        engines: Sequence[str] = (),
        inputs: str | PathLike[str] | None = None,
    ) -> Order:
        """Order packages of a model: a job for each target and precision, measured on `engines`, or
        on all that the server has.

        `seconds` is the time for searching faster schedules, `inputs` a .npz file that the model is
        measured and compared on.
        """
        asked: dict[str, Any] = {
            "targets": list(targets),
            "precisions": list(precisions),
            "threads": list(threads),
            "seconds": seconds,
            "engines": list(engines),
        }
        if inputs is not None:
            file = Path(inputs)
            asked["inputs"] = send_file(
                self._exchange, file, digest_of(file), file.resolve().name, "inputs", _untold
            )
        return self._exchange.ask(
            routes.NEW_ORDER, model, shape=answers.ORDER, json=asked, about=f"model '{model}'"
        )

    def watch(self, order: str) -> Iterator[Job]:
        """Yield each job of an order now, and again whenever it changes, until all have ended.

        It continues over broken connections and restarts of the server.
        """
        return watch_order(self._exchange, order)

    def experiment(self, model: str, target: str, kernel: str, schedule: str) -> Job:
        """Have an edited schedule of one of the model's kernels checked and timed."""
        asked = {"target": target, "kernel": kernel, "schedule": schedule}
        return self._exchange.ask(
            routes.NEW_EXPERIMENT, model, shape=answers.JOB, json=asked, about=f"model '{model}'"
        )

    # -- results, and deletion ---------------------------------------------------------------------

    def download(self, job: str, path: str | PathLike[str], *, progress: Told = _untold) -> None:
        """Write a job's package into a file, completely and with the server's digest, or not at
        all.
        """
        self._fetch(routes.PACKAGE, job, path, f"package of job '{job}'", progress)

    def report(self, job: str, path: str | PathLike[str]) -> None:
        """Write a job's report, a page of HTML, into a file; as data it is `job(..).report`."""
        self._fetch(routes.REPORT, job, path, f"report of job '{job}'")

    def explore(self, model: str, path: str | PathLike[str]) -> None:
        """Write the page to look inside a model, as `nnc explore` makes it, into a file."""
        self._fetch(routes.EXPLORE, model, path, f"page of model '{model}'")

    def log(self, job: str) -> str:
        """The output of a job's command."""
        about = f"log of job '{job}'"
        body = self._exchange.read(routes.LOG, job, about=about, kind="text/plain")
        return body.decode("utf-8", "replace")

    def cancel(self, job: str) -> Job:
        """Cancel a job; one that has ended is unchanged."""
        about = f"job '{job}'"
        try:
            return self._exchange.ask(routes.CANCEL, job, shape=answers.JOB, about=about)
        except RemoteError as error:
            if error.status != httpx.codes.CONFLICT:
                raise
            return self.job(job)  # it has ended, perhaps by a try whose answer was lost

    def delete_model(self, model: str) -> None:
        """Delete a model, with its orders and packages."""
        self._exchange.read(routes.DELETE_MODEL, model, about=f"model '{model}'")

    def delete_order(self, order: str) -> None:
        """Delete an order with its packages; running jobs are ended."""
        self._exchange.read(routes.DELETE_ORDER, order, about=f"order '{order}'")

    def delete_inputs(self, inputs: str) -> None:
        """Delete an input file; waiting orders continue with random inputs."""
        self._exchange.read(routes.DELETE_INPUTS, inputs, about=f"file of inputs '{inputs}'")

    def _fetch(
        self,
        route: Route,
        identifier: str,
        path: str | PathLike[str],
        about: str,
        progress: Told = _untold,
    ) -> None:
        fetch_file(self._exchange, route, identifier, Path(path), about, progress)

"""`nnc remote`: uses a server of models from the command line."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from ..ir.diagnostics import NncError
from ..ir.files import check_folder
from .remote_progress import Following, Transfer, said_job

if TYPE_CHECKING:
    from ..service.remote import Remote
    from ..service.remote.answers import Model, Order
    from .command import Streams


def remote(args: argparse.Namespace, streams: Streams) -> int:
    """Run an action of `nnc remote`."""
    from ..service.remote import Remote
    from ..service.remote.logins import find_login

    if args.action in ("login", "logout"):
        return _SIGNING[args.action](args, streams)
    if output := getattr(args, "output", None):
        check_folder(streams.path(output))
    url, login = find_login(args.server)
    with Remote(url, login.token, certificates=login.certificates, plain=login.plain) as server:
        return _ACTIONS[args.action](args, server, streams)


def _login(args: argparse.Namespace, streams: Streams) -> int:
    from ..service.remote import Remote
    from ..service.remote.address import checked_url
    from ..service.remote.logins import Login, logins_file, remember

    url = checked_url(args.url, args.plain_http)
    certificates = str(streams.path(args.certificates)) if args.certificates else None
    token = _token(url, streams)
    with Remote(url, token, certificates=certificates, plain=args.plain_http) as server:
        me = server.me()
    remember(url, Login(token=token, certificates=certificates, plain=args.plain_http))
    _say(streams, f"signed in to {url} as {me.user}; the token is kept in {logins_file()}")
    return 0


def _token(url: str, streams: Streams) -> str:
    """The token from a prompt without echo, or from standard input."""
    if streams.stdin.isatty():
        from getpass import getpass

        return getpass(f"token for {url}: ").strip()
    return streams.stdin.readline().strip()


def _logout(args: argparse.Namespace, streams: Streams) -> int:
    from ..service.remote.logins import forget

    _say(streams, f"signed out of {forget(args.url)}")
    return 0


def _me(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    me = server.me()
    _say(streams, f"{me.user} at {server.url}")
    _say(streams, f"kept:  {_bytes(me.used.bytes)} of {_bytes(me.quota.bytes)}")
    _say(streams, f"jobs:  {me.used.jobs_queued} of {me.quota.jobs_queued} wait or run")
    _say(streams, f"time:  {me.quota.seconds_per_job} s for each job at most")
    return 0


def _upload(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    model = _sent(args, server, streams)
    _say(streams, f"{model.id}  {model.name}")
    return 0


def _sent(args: argparse.Namespace, server: Remote, streams: Streams) -> Model:
    """Upload a local file; returns the resulting model."""
    with Transfer(streams, args.path, args.quiet) as transfer:
        try:
            return server.upload(
                streams.path(args.path), name=getattr(args, "name", None), progress=transfer
            )
        except KeyboardInterrupt:
            _hint(streams, "the same command goes on where this upload was interrupted")
            raise


def _models(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    for model in server.models():
        error = f": {model.error}" if model.error else ""
        _say(streams, f"{model.id}  {_bytes(model.bytes):>10}  {model.name}  {model.state}{error}")
    for upload in server.uploads():
        there = f"{_bytes(upload.offset)} of {_bytes(upload.bytes)}"
        _say(streams, f"{upload.id}  {_bytes(upload.bytes):>10}  {upload.name}  {there} are there")
    return 0


def _show(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    model = server.look(_model(server, args.model).id)
    if args.json:
        _say(streams, json.dumps(model.model_dump(), indent=2))
        return 0
    _say(streams, f"{model.name}: {_bytes(model.bytes)}, SHA-256 {model.sha256}")
    for name, value in (model.look or {}).items():
        if isinstance(value, str | int | float | None):
            _say(streams, f"{name}: {value}")
    return 0


def _explore(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    server.explore(_model(server, args.model).id, streams.path(args.output))
    return 0


def _order(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    order = _ordered(args, server, _model(server, args.model).id, streams)
    _say(streams, f"order {order.id}")
    for job in order.jobs:
        _say(streams, said_job(job))
    return _followed(server, order.id, streams, args.quiet) if args.wait else 0


def _ordered(args: argparse.Namespace, server: Remote, model: str, streams: Streams) -> Order:
    """A new order by the options."""
    return server.order(
        model,
        targets=_listed(args.target),
        precisions=_listed(args.precision),
        threads=_numbers(args.thread_counts),
        seconds=args.seconds,
        engines=_listed(args.engines),
        inputs=streams.path(args.inputs) if args.inputs else None,
    )


def _followed(server: Remote, order: str, streams: Streams, quiet: bool = False) -> int:
    """Wait for the end of an order; returns 1 if a job has no result."""
    following = Following(streams, quiet)
    try:
        for job in server.watch(order):
            following(job)
    except KeyboardInterrupt:
        _hint(streams, f"the order goes on there: nnc remote watch {order}")
        raise
    return 0 if all(job.state == "done" for job in following.jobs.values()) else 1


def _orders(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    names = {model.id: model.name for model in server.models()}
    for order in server.orders():
        _say(streams, f"order {order.id}  {names.get(order.model, order.model)}")
        for job in order.jobs:
            _say(streams, f"  {said_job(job)}")
    return 0


def _watch(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    return _followed(server, args.order, streams)


def _download(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    _taken(server, _job(server, args.job), args, streams)
    return 0


def _taken(server: Remote, job: str, args: argparse.Namespace, streams: Streams) -> None:
    with Transfer(streams, args.output, args.quiet) as transfer:
        server.download(job, streams.path(args.output), progress=transfer)


def _report(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    server.report(_job(server, args.job), streams.path(args.output))
    return 0


def _log(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    streams.stdout.write(server.log(_job(server, args.job)))
    return 0


def _cancel(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    order = next((one for one in server.orders() if one.id == args.what), None)
    waiting = [job.id for job in order.jobs if not job.over] if order else [args.what]
    for job in waiting:
        server.cancel(job)
    return 0


def _delete(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    if any(order.id == args.what for order in server.orders()):
        server.delete_order(args.what)
    elif any(upload.id == args.what for upload in server.uploads()):
        server.delete_upload(args.what)
    else:
        server.delete_model(_model(server, args.what).id)
    return 0


def _tokens(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    if args.delete:
        server.delete_token(args.delete)
    if args.new:
        _say(streams, server.new_token(args.new, args.days).token)
    if not args.new and not args.delete:
        for token in server.tokens():
            _say(streams, f"{token.id}  {token.name}")
    return 0


def _targets(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    targets = server.targets()
    width = max((len(target.name) for target in targets), default=0)
    for target in targets:
        measured = (
            "measured" if target.measured else f"not measured: {target.why_not or 'no reason'}"
        )
        _say(streams, f"{target.name:{width}}  {target.about}  ({measured})")
    return 0


def _engines(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    engines = server.engines()
    width = max((len(engine.name) for engine in engines), default=0)
    for engine in engines:
        there = (
            "" if engine.available else f"  (not there: {engine.why_not or 'no reason is given'})"
        )
        _say(streams, f"{engine.name:{width}}  {engine.about}{there}")
    return 0


def _package(args: argparse.Namespace, server: Remote, streams: Streams) -> int:
    for option, value in (("target", args.target), ("precision", args.precision)):
        if "," in value:
            raise NncError(
                f"nnc: --{option} names one for a package, not '{value}'; `nnc remote order` "
                "takes several"
            )
    model = server.look(_sent(args, server, streams).id)
    order = _ordered(args, server, model.id, streams)
    if _followed(server, order.id, streams, args.quiet):
        reason = next((job.error for job in server.get_order(order.id).jobs if job.error), None)
        raise NncError(f"{model.name}: no package: {reason or 'it was cancelled'}")
    _taken(server, order.jobs[0].id, args, streams)
    return 0


# -- what is meant ---------------------------------------------------------------------------------


def _model(server: Remote, named: str) -> Model:
    """A model by id or name. Raises NncError if none or several match."""
    models = server.models()
    found = [model for model in models if model.id == named]
    found = found or [model for model in models if model.name == named]
    if not found:
        raise NncError(f"{server.url}: no model of yours is '{named}'; nnc remote models")
    if len(found) > 1:
        ids = ", ".join(model.id for model in found)
        raise NncError(f"{server.url}: {len(found)} models are called '{named}': {ids}")
    return found[0]


def _job(server: Remote, named: str) -> str:
    """The id of a job, or of the one job of an order. Raises NncError."""
    order = next((one for one in server.orders() if one.id == named), None)
    if order is None:
        return named
    if len(order.jobs) != 1:
        raise NncError(f"order {named} has {len(order.jobs)} jobs: name one of them")
    return order.jobs[0].id


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in _listed(text)]
    except ValueError:
        raise NncError(f"nnc: --threads takes numbers between commas, not '{text}'") from None


def _bytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"


def _say(streams: Streams, text: str) -> None:
    print(text, file=streams.stdout, flush=True)


def _hint(streams: Streams, text: str) -> None:
    print(f"nnc: {text}", file=streams.stderr, flush=True)


_SIGNING = {"login": _login, "logout": _logout}
_ACTIONS = {
    "me": _me,
    "upload": _upload,
    "models": _models,
    "show": _show,
    "explore": _explore,
    "order": _order,
    "orders": _orders,
    "watch": _watch,
    "download": _download,
    "report": _report,
    "log": _log,
    "cancel": _cancel,
    "delete": _delete,
    "tokens": _tokens,
    "targets": _targets,
    "engines": _engines,
    "package": _package,
}

"""`nnc serve`: the service with its pages, and the operator's commands."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..ir.diagnostics import NncError
from ..targets.base import HOST, all_targets, find_host

if TYPE_CHECKING:
    from ..service.accounts import User
    from ..service.catalogue import Catalogue
    from ..service.service import Service
    from ..service.web.settings import WebSettings
    from ..targets.base import Target
    from .command import Streams

FIRST_USER = "me"
"""The name of the first user of a new service on this machine."""

_LINK_SECONDS = 3600
"""How long an unused sign-in link is valid."""

_PORTS = range(1 << 16)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MOST = 1 << 31
"""The largest number that every database accepts."""


def serve(args: argparse.Namespace, streams: Streams) -> int:
    """Serve until Ctrl-C, or run the operator's command. Raises NncError."""
    match args.words:
        case ["user", "list", *folder]:
            return _list_users(_kept_service(args, streams, folder), streams)
        case ["user", "add", name, *folder]:
            return _add_user(_service(args, streams, folder), name, args, streams)
        case ["user", "remove", name, *folder]:
            return _remove_user(_kept_service(args, streams, folder), name, streams)
        case ["user", *_]:
            raise NncError("nnc: serve user: expected add NAME, remove NAME or list")
        case ["token", name, *folder]:
            return _add_token(_kept_service(args, streams, folder), name, streams)
        case ["token"]:
            raise NncError("nnc: serve token: expected the NAME of a user")
        case folder:
            return _serve(args, streams, folder)


def _serve(args: argparse.Namespace, streams: Streams, folder: list[str]) -> int:
    _check(args)
    certificate = _existing(args.certificate, streams)
    key = _existing(args.key, streams)
    jobs = _jobs(args, streams)
    service = _service(args, streams, folder, _catalogue)
    from ..service.web.server import Listening, bind
    from ..service.web.server import serve as serve_until_signal

    with service.alone(), bind(args.host, args.port) as listener:
        settings = _settings(args, listener.getsockname()[1])
        print(f"nnc serve: {settings.origins[0]} (Ctrl-C ends it)", file=streams.stdout)
        if args.url is None:
            link = f"{settings.origins[0]}/sign-in#{_first_token(service)}"
            print(f"sign in as '{FIRST_USER}', once: {link}", file=streams.stdout)
        streams.stdout.flush()
        serve_until_signal(service, settings, Listening(listener, certificate, key), (jobs,))
    return 0


def _jobs(
    args: argparse.Namespace, streams: Streams
) -> Callable[[Service], AbstractContextManager[object]]:
    """A context that runs jobs, by the options. Raises NncError for contradictory flags."""
    from ..service.dispatch.start import Dispatching, dispatching

    if args.looks is not None and args.looks < 1:
        raise NncError(f"nnc: --looks is at least 1, not {args.looks}")
    if args.certificates and not args.scheduler:
        raise NncError("nnc: --certificates needs --scheduler")
    how = Dispatching(
        unconfined=args.unconfined,
        scheduler=args.scheduler,
        certificates=streams.path(args.certificates) if args.certificates else None,
        **({} if args.looks is None else {"looks": args.looks}),
    )

    def say(line: str) -> None:
        print(line, file=streams.stdout, flush=True)

    return dispatching(how, say)


def _check(args: argparse.Namespace) -> None:
    """Raise NncError for contradictory flags, or if secrets would be sent without TLS."""
    if args.port not in _PORTS:
        raise NncError(f"nnc: --port is 0 to {_PORTS[-1]}, not {args.port}")
    if bool(args.certificate) != bool(args.key):
        raise NncError("nnc: --certificate and --key need each other")
    if args.certificate and args.behind_tls:
        raise NncError("nnc: --behind-tls is for a server without --certificate")
    has_tls = bool(args.certificate) or args.behind_tls
    if args.url is None:
        if has_tls:
            raise NncError("nnc: with TLS, --url has to say which address browsers use")
        if args.host not in _LOOPBACK:
            raise NncError(
                f"nnc: --host {args.host} is reached by others, who need TLS: --url https://NAME "
                "with --certificate and --key, or with --behind-tls"
            )
        return
    parts = urlsplit(args.url)
    if parts.scheme != "https" or not parts.hostname or parts.path.strip("/") or parts.query:
        raise NncError(f"nnc: --url '{args.url}': expected https://NAME or https://NAME:PORT")
    if not has_tls:
        raise NncError("nnc: --url needs --certificate and --key, or --behind-tls")


def _settings(args: argparse.Namespace, port: int) -> WebSettings:
    from ..service.web.settings import WebSettings, loopback_settings

    if args.url is None:
        return loopback_settings(port)
    return WebSettings((f"https://{urlsplit(args.url).netloc}",), proxied=args.behind_tls)


def _existing(name: str | None, streams: Streams) -> Path | None:
    if name is None:
        return None
    path = streams.path(name)
    if not path.is_file():
        raise NncError(f"nnc: there is no file '{path}'")
    return path


def _service(
    args: argparse.Namespace,
    streams: Streams,
    folder: list[str],
    catalogue: Callable[[], Catalogue] | None = None,
) -> Service:
    """The service of a folder; without a catalogue nothing can be ordered. Raises NncError."""
    if len(folder) > 1:
        raise NncError(f"nnc: serve: '{folder[1]}' is one word too many; nnc serve --help explains")
    try:
        from ..service.catalogue import Catalogue
        from ..service.service import Service
    except ImportError as error:
        raise NncError(
            f"nnc serve needs {error.name}, which is not installed: pip install 'nnc[serve]'"
        ) from None
    return Service(
        _folder(streams, folder),
        catalogue=catalogue() if catalogue else Catalogue((), ()),
        database=args.database or os.environ.get("NNC_DATABASE"),
        blobs=args.blobs,
    )


def _kept_service(args: argparse.Namespace, streams: Streams, folder: list[str]) -> Service:
    """The service of a folder that is there, or of a database. Raises NncError."""
    path = _folder(streams, folder)
    if not (args.database or os.environ.get("NNC_DATABASE") or path.is_dir()):
        raise NncError(f"no service was begun in '{path}'")
    return _service(args, streams, folder)


def _folder(streams: Streams, folder: list[str]) -> Path:
    """The folder that a command line names, or the user's own."""
    if folder:
        return streams.path(folder[0])
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "nnc" / "serve"


def _catalogue() -> Catalogue:
    from ..delivery.engines.table import ENGINES
    from ..delivery.precision import PRECISIONS
    from ..service.catalogue import Catalogue, EngineEntry, TargetEntry

    here = find_host()
    found = [one for row in all_targets() for one in (row, *row.variants)]
    entries = [TargetEntry(HOST, f"this machine: {_machine(here)}", True)] if here else []
    for one in found:
        obstacle = one.not_timed()
        entries.append(TargetEntry(one.name, one.summary, obstacle is None, obstacle))
    engines = [
        EngineEntry(one.name, one.title, not one.missing(), one.missing() or None, one.formats)
        for one in ENGINES
    ]
    return Catalogue(entries, engines, tuple(PRECISIONS))


def _machine(here: Target) -> str:
    """What this machine is, for people: `AMD EPYC 9R14, 2 cores (x86-64-v4)`."""
    from ..targets.calibration import model_name

    cores = here.machine.cores
    return f"{model_name()}, {cores} core{'s' * (cores != 1)} ({here.name})"


def _first_token(service: Service) -> str:
    """A one-time token for the user that a new service has."""
    users = {user.name: user for user in service.accounts.all()}
    user = users.get(FIRST_USER) or service.accounts.add(FIRST_USER, operator=True)
    return service.accounts.add_token(user, "link", _LINK_SECONDS, once=True)[1]


def _add_user(service: Service, name: str, args: argparse.Namespace, streams: Streams) -> int:
    from ..service.limits import Quota

    usual = service.limits.quota
    asked = {"bytes": args.bytes, "jobs": args.jobs, "seconds": args.seconds}
    for option, value in asked.items():
        if value is not None and not 1 <= value < _MOST:
            raise NncError(f"nnc: --{option} is at least 1, not {value}")
    quota = Quota(args.bytes or usual.bytes, args.jobs or usual.jobs, args.seconds or usual.seconds)
    user = service.accounts.add(name, quota, operator=args.operator)
    return _print_token(service, user, streams)


def _add_token(service: Service, name: str, streams: Streams) -> int:
    return _print_token(service, service.accounts.find(name), streams)


def _print_token(service: Service, user: User, streams: Streams) -> int:
    _, token = service.accounts.add_token(user, "of the operator")
    print(f"a token of '{user.name}', which is shown this once:", file=streams.stderr)
    print(token, file=streams.stdout)
    return 0


def _remove_user(service: Service, name: str, streams: Streams) -> int:
    service.accounts.remove(service.accounts.find(name))
    print(f"deleted '{name}' and all of theirs", file=streams.stdout)
    return 0


def _list_users(service: Service, streams: Streams) -> int:
    for user in service.accounts.all():
        used = service.accounts.shown(user)["used"]
        rights = ", operator" if user.operator else ""
        print(
            f"{user.name}: {used['bytes'] / 1e6:,.1f} MB of {user.quota.bytes / 1e6:,.0f} MB, "
            f"{used['jobs_queued']} jobs of {user.quota.jobs}, {user.quota.seconds} s each{rights}",
            file=streams.stdout,
        )
    return 0

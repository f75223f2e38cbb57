"""Membership in a fleet: a key and its certificate, and the addresses that may be used.

Dask executes what members send. So both ends of each connection prove that they hold the fleet's
key (TLS with certificates on both sides): the key is the fleet's secret.
"""

from __future__ import annotations

import logging
import os
import stat
from contextlib import suppress
from datetime import UTC, datetime
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...ir.diagnostics import NncError
from ...ir.files import write_together

if TYPE_CHECKING:
    from distributed import Security

CERTIFICATE, KEY = "certificate.pem", "key.pem"
_LOGGED = ("distributed", "tornado", "asyncio")
"""Libraries whose log messages would mix with nnc's output."""


def need_dask() -> None:
    """Raise NncError if a package that fleets need is not installed."""
    missing = [name for name in ("distributed", "cryptography") if find_spec(name) is None]
    if missing:
        raise NncError(f"a fleet needs {' and '.join(missing)}: pip install 'nnc[tune]'")


def quiet_logs() -> None:
    """Silence Dask's loggers, as nnc reports failures itself."""
    import distributed  # noqa: F401  # which gives its loggers levels of their own

    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _LOGGED:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def make_membership(folder: Path) -> datetime:
    """Write a new key and certificate into a folder; returns when it expires. Raises NncError."""
    need_dask()
    from distributed import Security

    if (folder / KEY).exists() or (folder / CERTIFICATE).exists():
        raise NncError(f"'{folder}' has a key already; its fleet would not know another one")
    made = Security.temporary()
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise NncError(f"cannot write '{folder}': {error.strerror or error}") from None
    before = os.umask(0o077)
    try:
        write_together(
            {folder / KEY: [made.tls_client_key], folder / CERTIFICATE: [made.tls_client_cert]}
        )
    finally:
        os.umask(before)
    return _ends(folder / CERTIFICATE)


def _ends(path: Path) -> datetime:
    """A certificate's end of validity. Raises NncError if the file is invalid."""
    from cryptography.x509 import load_pem_x509_certificate

    try:
        return load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc
    except OSError as error:
        raise _no_membership(path, error.strerror or str(error)) from None
    except ValueError:
        raise _no_membership(path, "it is not a certificate") from None


def _no_membership(path: Path, why: str) -> NncError:
    return NncError(f"'{path}': {why}; `nnc fleet init FOLDER` makes a folder for a fleet")


def membership(folder: Path) -> Security:
    """The TLS settings of a member of the fleet of this folder. Raises NncError."""
    need_dask()
    from distributed import Security

    ends = _ends(folder / CERTIFICATE)
    if ends < datetime.now(UTC):
        raise _no_membership(folder / CERTIFICATE, f"it was valid until {ends:%Y-%m-%d}")
    key = folder / KEY
    try:
        mode = stat.S_IMODE(key.stat().st_mode)
        key.read_bytes()
    except OSError as error:
        raise _no_membership(key, error.strerror or str(error)) from None
    if os.name == "posix" and mode & 0o077:
        raise NncError(f"'{key}' can be read by others (mode {mode:o}): chmod 600 '{key}'")
    roles = ("client", "scheduler", "worker")
    files = {f"tls_{role}_key": str(key) for role in roles}
    files |= {f"tls_{role}_cert": str(folder / CERTIFICATE) for role in roles}
    found = Security(require_encryption=True, tls_ca_file=str(folder / CERTIFICATE), **files)
    try:
        found.get_connection_args("client")
    except (OSError, ValueError) as error:
        text = getattr(error, "reason", None) or error
        raise _no_membership(key, f"it does not go with {CERTIFICATE} ({text})") from None
    return found


def connection(address: str, folder: Path | None) -> dict[str, Any]:
    """Dask's arguments for a connection to a scheduler's address. Raises NncError.

    Without encryption, only addresses of this machine are allowed.
    """
    need_dask()
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    else:
        if parts.path.strip("/") or parts.query or parts.username:
            host = None
    if not host or port is None or parts.scheme not in ("tls", "tcp"):
        raise NncError(f"a scheduler is tls://HOST:PORT, not '{address}'")
    if parts.scheme == "tls":
        if folder is None:
            raise NncError(
                f"{address} needs --certificates FOLDER, the fleet's own from `nnc fleet init`"
            )
        return {"security": membership(folder)}
    if folder is not None:
        raise NncError(f"{address} does not use --certificates: tls:// does")
    if not is_loopback(host):
        raise NncError(
            f"{address} would let anyone in its network run code on every member: tcp:// is for "
            "this machine itself; use tls:// with --certificates"
        )
    return {}


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"

"""Where the service is reached, which decides whom it believes."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Names that browsers have for this machine itself."""


@dataclass(frozen=True)
class WebSettings:
    """The addresses that browsers use, such as `https://nnc.example.org`.

    A request for another host is refused (a name that somebody made to point here), and so is a
    change that a page of another origin asks for.
    """

    origins: tuple[str, ...]
    proxied: bool = False
    """Whether a proxy stands before it: who asks then always seems to be this machine."""

    @property
    def secure(self) -> bool:
        """Whether browsers reach it by TLS alone."""
        return all(origin.startswith("https:") for origin in self.origins)

    @property
    def hosts(self) -> frozenset[str]:
        """What the header `Host` may say."""
        return frozenset(urlsplit(origin).netloc for origin in self.origins)

    @property
    def cookie(self) -> str:
        """The name of the session's cookie; browsers take `__Host-` from this very host alone."""
        return "__Host-nnc" if self.secure else "nnc"


def loopback_settings(port: int) -> WebSettings:
    """For a service that only this machine reaches."""
    return WebSettings(tuple(f"http://{host}:{port}" for host in LOOPBACK))

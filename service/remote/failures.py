"""Failures between a client and its server, in words."""

from __future__ import annotations

import json
import ssl
from enum import Enum, auto

import httpx

from ...ir.diagnostics import NncError
from ...ir.version import VERSION

MOST_TEXT = 400
"""The most characters of a server's message that are shown."""


class Retry(Enum):
    """Whether a failed request may be sent again."""

    NEVER = auto()
    IF_SAFE = auto()
    """The request may have been carried out: repeat it only if that is harmless."""
    ALWAYS = auto()
    """The request was not carried out: it can be repeated."""


class RemoteError(NncError):
    """A server that refuses, fails, cannot be reached, or gives an invalid answer.

    `status` is the HTTP status, None without an answer; `after` is the number of seconds that the
    server asks to wait.
    """

    def __init__(
        self,
        message: str,
        status: int | None = None,
        retry: Retry = Retry.NEVER,
        after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.retry, self.after = status, retry, after


def unexpected(url: str, what: str) -> RemoteError:
    """The error for an answer that no server of this version gives."""
    return RemoteError(
        f"{url}: {what}, which no `nnc serve` of this version answers (this is nnc {VERSION}, "
        "which speaks /api/v1)"
    )


def lost(url: str, error: Exception) -> RemoteError:
    """The error for a request without an answer, or with an incomplete one."""
    if (fault := _tls(error)) is not None:
        return RemoteError(f"{url}: {fault}")
    match error:
        case httpx.ConnectTimeout():
            return RemoteError(f"{url}: no server answers in time", None, Retry.ALWAYS)
        case httpx.ProxyError():
            return RemoteError(f"{url}: the proxy refuses ({_reason(error)})")
        case httpx.ConnectError():
            text = f"{url}: no server answers there ({_reason(error)})"
            return RemoteError(text, None, Retry.ALWAYS)
        case httpx.TimeoutException():
            return RemoteError(f"{url}: the server does not answer any more", None, Retry.IF_SAFE)
        case httpx.NetworkError():
            text = f"{url}: the connection broke ({_reason(error)})"
            return RemoteError(text, None, Retry.IF_SAFE)
        case httpx.RemoteProtocolError():
            # Half an answer, as of a server that was killed; or something that is not HTTP.
            text = f"{url}: an answer that is not HTTP, or not all of one ({_reason(error)})"
            return RemoteError(text, None, Retry.IF_SAFE)
    return RemoteError(f"{url}: {_reason(error)}")


def _reason(error: BaseException) -> str:
    """The innermost cause that has a message, such as `Connection refused`."""
    text = ""
    seen: BaseException | None = error
    while seen is not None:
        text = getattr(seen, "strerror", None) or str(seen) or text
        seen = seen.__cause__ or seen.__context__
    return one_line(text) or type(error).__name__


def _tls(error: BaseException) -> str | None:
    """The TLS fault behind an error; None if it is another kind of error."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            return (
                f"the server's certificate is not to be trusted ({seen.verify_message}); "
                "--certificates FILE (certificates=) names those of a private authority"
            )
        if isinstance(seen, ssl.SSLError):
            return f"TLS failed ({seen.reason or seen}); is it a server of http://?"
        seen = seen.__cause__ or seen.__context__
    return None


def one_line(text: str) -> str:
    """The beginning of a foreign text as one line, for use in a message."""
    text = " ".join(text.split())
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}.."


def refusal(url: str, response: httpx.Response, body: bytes, about: str) -> RemoteError:
    """The error for a failed request; `about` is what was requested: `model 'x1'`."""
    status = response.status_code
    said = _error_line(body)
    if 300 <= status < 400:
        to = one_line(response.headers.get("location", "")) or "elsewhere"
        return RemoteError(f"{url}: the server sends on to {to}: use that address", status)
    if said is None and status not in (502, 503, 504):
        return RemoteError(unexpected(url, f"status {status} without a reason").message, status)
    said = said or f"the server is not ready (status {status})"
    match status:
        case 401:
            text = "the token is not valid; `nnc remote login` takes another one"
            return RemoteError(f"{url}: {text}", status)
        case 404 | 410:
            text = f"there is no {about}, or no longer" if about else said
            return RemoteError(f"{url}: {text}", status)
        case 429:
            after = _seconds(response.headers.get("retry-after"))
            retry = Retry.NEVER if after is None else Retry.ALWAYS
            return RemoteError(f"{url}: {said}", status, retry, after)
        case 503:
            after = _seconds(response.headers.get("retry-after"))
            return RemoteError(f"{url}: {said}", status, Retry.ALWAYS, after)
        case 408 | 502 | 504:
            return RemoteError(f"{url}: {said}", status, Retry.IF_SAFE)
    text = f"the server failed: {said}" if status >= 500 else said
    return RemoteError(f"{url}: {text}", status)


def _error_line(body: bytes) -> str | None:
    """The message in `{"error": ..}`; None if the body is something else."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    said = found.get("error") if isinstance(found, dict) else None
    return one_line(said) or None if isinstance(said, str) else None


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdecimal() and len(text) < 6 else None

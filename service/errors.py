"""What the service refuses, each with the status of HTTP that says so."""

from __future__ import annotations

from ..ir.diagnostics import NncError


class ServiceError(NncError):
    """A request that cannot be met; `status` is the status of HTTP for it."""

    status = 400


class UnauthorizedError(ServiceError):
    """Who asks is not known: no token, or one that is wrong, expired or deleted."""

    status = 401


class ForbiddenError(ServiceError):
    """Who asks is known, and may not."""

    status = 403


class NotFoundError(ServiceError):
    """There is nothing of this name, or it is another user's, which looks the same."""

    status = 404


class ConflictError(ServiceError):
    """Not in the state that things are in, such as a wrong offset of an upload."""

    status = 409


class TooLargeError(ServiceError):
    """More bytes than may be sent at once."""

    status = 413


class InvalidError(ServiceError):
    """A field of the request has a value that it cannot have."""

    status = 422


class QuotaError(ServiceError):
    """More than this user may have or do; deleting something helps."""

    status = 429


class StoreFullError(ServiceError):
    """The disk of the service is full, or its store refuses to take more."""

    status = 507

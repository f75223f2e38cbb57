"""The errors of the service, each with its HTTP status."""

from __future__ import annotations

from ..ir.diagnostics import NncError


class ServiceError(NncError):
    """A request that cannot be fulfilled; `status` is the HTTP status for it."""

    status = 400


class UnauthorizedError(ServiceError):
    """The request is not authenticated: no token, or one that is wrong, expired or deleted."""

    status = 401


class ForbiddenError(ServiceError):
    """The user is known, but not allowed to do this."""

    status = 403


class NotFoundError(ServiceError):
    """Nothing has this name, or it is another user's, which looks the same."""

    status = 404


class ConflictError(ServiceError):
    """The request does not fit the current state, such as a wrong offset of an upload."""

    status = 409


class TooLargeError(ServiceError):
    """More bytes than may be sent at once."""

    status = 413


class InvalidError(ServiceError):
    """A field of the request has an invalid value."""

    status = 422


class QuotaError(ServiceError):
    """The user's quota is exceeded; deleting something helps."""

    status = 429


class StoreFullError(ServiceError):
    """The disk of the service is full, or its store refuses to take more."""

    status = 507

"""The service's web interface: REST under /api/v1, events, metrics."""

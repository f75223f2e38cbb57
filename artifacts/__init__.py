"""The caller's view of a compiled model: options, interface, header and bindings."""

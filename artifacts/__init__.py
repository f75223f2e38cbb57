"""What a compiled model is to those who call it: options, interface, header and bindings."""

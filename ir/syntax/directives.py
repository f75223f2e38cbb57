"""Custom directives of functions and control flow."""

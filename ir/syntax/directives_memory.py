"""Custom directives of memory: subscripts, subviews, globals."""

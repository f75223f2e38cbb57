"""Custom directives of structured ops: linalg, vector."""

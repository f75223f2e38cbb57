"""Kernels: from linalg operations and a schedule to loops."""

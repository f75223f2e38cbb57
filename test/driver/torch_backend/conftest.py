"""PyTorch, and nnc as its compiler."""

import pytest


@pytest.fixture(scope="module")
def torch():
    import torch

    return torch


@pytest.fixture
def compiled(torch):
    """Compile by nnc, without what was compiled before."""
    from nnc.driver.torch_backend import backend

    torch.compiler.reset()

    def compile(model, **options):
        return torch.compile(model, backend=backend, options=options)

    compile.backend = backend
    return compile

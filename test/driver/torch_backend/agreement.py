"""A network, and the check that nnc and eager PyTorch agree."""


def network(torch):
    """A small network with what weights, buffers and a write in place need."""
    nn = torch.nn

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)
            self.last = nn.Linear(8, 4)
            self.register_buffer("scale", torch.rand(8, 1, 1) + 0.5)

        def forward(self, x):
            y = torch.relu(self.norm(self.conv(x)) * self.scale).clone()
            y += 1
            return self.last(y.mean((2, 3))), x.shape[0] * 2, y.transpose(2, 3)

    torch.manual_seed(0)
    return Network().eval()


def agree(torch, found, wanted):
    torch.testing.assert_close(found[0], wanted[0], rtol=1e-4, atol=1e-5)
    assert found[1] == wanted[1]
    torch.testing.assert_close(found[2], wanted[2], rtol=1e-4, atol=1e-5)
    assert found[2].stride() == wanted[2].stride()

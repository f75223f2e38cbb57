"""nnc fleet, nnc worker and nnc tune's options of a fleet: what is refused at once, in one line."""

import io
import stat

import pytest

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

from nnc.tools.command import Streams
from nnc.tools.nnc import main

from ..driver.test_tuning import PRODUCT


def run(place, *arguments):
    """(exit code, standard output, standard error)"""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO(), place)
    return main(arguments, streams), streams.stdout.getvalue(), streams.stderr.getvalue()


TUNE = ["tune", "m.mlir", "-o", "tuned"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([*TUNE, "--workers", "0"], "--workers is at least 1, not 0"),
        ([*TUNE, "--certificates", "key"], "--certificates needs --scheduler"),
        ([*TUNE, "--scheduler", "tls://192.0.2.1:8786"], "needs --certificates FOLDER"),
        ([*TUNE, "--scheduler", "tcp://192.0.2.1:8786"], "use tls:// with --certificates"),
        ([*TUNE, "--scheduler", "192.0.2.1"], "a scheduler is tls://HOST:PORT"),
        ([*TUNE, "--scheduler", "tls://h:1", "--certificates", "no"], "No such file"),
        (["worker", "--scheduler", "tcp://192.0.2.1:8786"], "use tls:// with --certificates"),
        (["worker", "--scheduler", "tls://192.0.2.1:8786"], "needs --certificates FOLDER"),
        (["worker", "--scheduler", "tls://h:1", "--target", "vax"], "no target is named 'vax'"),
        (
            ["worker", "--scheduler", "tcp://127.0.0.1:1", "--target", "power8"],
            "cannot be: this machine is",
        ),
        (["worker"], "--scheduler"),
        (["fleet", "scheduler", "no"], "No such file"),
        (["fleet", "scheduler", "key", "--port", "99999"], "--port is 0 to 65535, not 99999"),
        (["fleet", "init", "no/where"], "cannot write"),
        (["fleet", "join", "key"], "join"),
    ],
)
def test_what_cannot_be_is_said_at_once(tmp_path, arguments, message):
    (tmp_path / "m.mlir").write_text(PRODUCT)
    status, _, said = run(tmp_path, *arguments)
    assert status == 1 and message in said and len(said.strip().splitlines()) == 1
    assert not (tmp_path / "tuned").exists()


def test_init_makes_a_key_once(tmp_path):
    status, said, _ = run(tmp_path, "fleet", "init", "key")
    assert status == 0 and "valid until" in said and len(said.splitlines()) == 1
    key = tmp_path / "key" / "key.pem"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    before = key.read_bytes()
    status, _, said = run(tmp_path, "fleet", "init", "key")
    assert status == 1 and "has a key already" in said and key.read_bytes() == before

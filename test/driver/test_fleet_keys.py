"""Who belongs to a fleet: keys, addresses and memberships."""

import ssl
from datetime import UTC, datetime, timedelta

import pytest

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

from nnc.driver.tuning.fleet_membership import connection, make_membership, membership
from nnc.ir.diagnostics import NncError


def test_a_key_is_for_its_owner_alone_and_is_never_replaced(key):
    assert {path.name for path in key.iterdir()} == {"certificate.pem", "key.pem"}
    assert not any(path.stat().st_mode & 0o077 for path in (key, *key.iterdir()))
    with pytest.raises(NncError, match="has a key already"):
        make_membership(key)
    security = membership(key)
    assert security.require_encryption
    for role in ("client", "scheduler", "worker"):
        context = security.get_connection_args(role)["ssl_context"]
        assert context.verify_mode == ssl.CERT_REQUIRED
        assert security.get_listen_args(role)["ssl_context"].verify_mode == ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    "address, with_key, message",
    [
        ("tls://host:1", False, "needs --certificates FOLDER"),
        ("tcp://192.0.2.1:8786", False, "would let anyone in its network run code"),
        ("tcp://board.example:8786", False, "would let anyone in its network run code"),
        ("tcp://127.0.0.1.example:1", False, "would let anyone in its network run code"),
        ("tcp://0.0.0.0:8786", False, "would let anyone in its network run code"),
        ("tcp://127.0.0.1:8786", True, "does not use --certificates"),
        ("host:8786", False, "a scheduler is tls://HOST:PORT"),
        ("tls://host", True, "a scheduler is tls://HOST:PORT"),
        ("tls://host:99999", True, "a scheduler is tls://HOST:PORT"),
        ("ucx://host:1", True, "a scheduler is tls://HOST:PORT"),
        ("tcp://127.0.0.1:1@192.0.2.1:2", False, "a scheduler is tls://HOST:PORT"),
        ("inproc://127.0.0.1/1/2", False, "a scheduler is tls://HOST:PORT"),
        ("tls://[::1", True, "a scheduler is tls://HOST:PORT"),
        ("", True, "a scheduler is tls://HOST:PORT"),
    ],
)
def test_addresses_that_are_refused(key, address, with_key, message):
    with pytest.raises(NncError, match=message) as error:
        connection(address, key if with_key else None)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "tcp://[::1]:1", "tcp://localhost:1"])
def test_this_machine_itself_needs_no_key(address):
    assert connection(address, None) == {}


def damaged(folder, key, how):
    folder.mkdir(mode=0o700)
    for path in key.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
        (folder / path.name).chmod(0o600)
    if how == "mode":
        (folder / "key.pem").chmod(0o644)
    elif how == "other":
        other = folder / "other"
        make_membership(other)
        (folder / "key.pem").write_bytes((other / "key.pem").read_bytes())
    elif how == "old":
        (folder / "certificate.pem").write_bytes(expired(folder / "key.pem"))
    elif how.startswith("no "):
        (folder / how[3:]).unlink()
    else:
        (folder / how).write_bytes(b"\xff damaged")


def expired(path):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization

    key = serialization.load_pem_private_key(path.read_bytes(), None)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "old")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(9)).not_valid_after(now - timedelta(1))
    return made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


@pytest.mark.parametrize(
    "how, message",
    [
        ("mode", "can be read by others"),
        ("other", "does not go with certificate.pem"),
        ("old", "it was valid until"),
        ("no key.pem", "No such file"),
        ("no certificate.pem", "No such file"),
        ("key.pem", "does not go with certificate.pem"),
        ("certificate.pem", "it is not a certificate"),
    ],
)
def test_a_damaged_membership_is_one_clear_error(tmp_path, key, how, message):
    damaged(tmp_path / "f", key, how)
    with pytest.raises(NncError, match=message) as error:
        membership(tmp_path / "f")
    assert len(str(error.value).splitlines()) == 1

"""Commands that try what they may not, in each way of confinement that works on this machine."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from nnc.delivery.confined import landlock, seccomp, start, tree
from nnc.delivery.confined.start import Confinement
from nnc.ir.diagnostics import NncError

from .confining import LIMITS, run

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not seccomp.supported(),
    reason="confinement is of Linux",
)


@pytest.fixture(scope="module", params=["namespaces", "landlock"])
def confinement(request):
    try:
        made = Confinement(modes=[request.param])
    except NncError as error:
        pytest.skip(error.message)
    with made:
        yield made


@pytest.fixture(scope="module")
def unconfined():
    with Confinement(unconfined=True) as made:
        yield made


def alive(mark: str) -> list[str]:
    """Processes of this machine with a word in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def test_output_status_and_own_folder(confinement, tmp_path):
    code = "import sys; open('made', 'w').write('x'); print('out'); sys.exit('err')"
    ended = run(confinement, tmp_path / "job", code)
    assert (ended.status, ended.cause) == (1, "")
    assert ended.output == b"out\n" and ended.error == b"err\n"
    assert (tmp_path / "job" / "made").read_text() == "x"


@pytest.mark.parametrize("first", ["pass", "import os; os.mkdir('/tmp/x')", "raise SystemExit(1)"])
def test_several_commands_share_a_folder(confinement, tmp_path, first):
    """nnc itself may lie in /tmp, whose content is the folder's: an earlier command leaves places."""
    run(confinement, tmp_path / "job", first)
    for fresh in (False, True):
        found = confinement.run("nnc.ir.visible", [], tmp_path / "job", LIMITS, fresh=fresh)
        assert found.good, found.error
        lost = confinement.run("nnc.ir.nothing", [], tmp_path / "job", LIMITS, fresh=fresh)
        assert not lost.good and b"nnc.ir.nothing" in lost.error


@pytest.mark.parametrize("fresh", [True, False])
def test_copies_of_the_server_and_interpreters_of_their_own_behave_alike(
    confinement, tmp_path, fresh
):
    code = (
        "import os, sys, tempfile\nprint(sys.argv[1:], __name__, sorted(os.environ))\n"
        "open(os.path.join(tempfile.gettempdir(), 'x'), 'w').close()\nprint(os.listdir('.'))\n"
        "import subprocess; subprocess.run([sys.executable, '-c', 'print(1)'])\n"
    )
    if not fresh:
        code = "raise SystemExit(7)"
    ended = run(confinement, tmp_path / "job", code, fresh=fresh)
    if fresh:
        assert ended.good, ended
        assert b"[] __main__" in ended.output and b"1\n" in ended.output
    else:  # `attack` is looked for where the server looks, which is not the folder
        assert ended.status == 1 and b"attack" in ended.error


NETWORK = """
import errno, socket, ctypes, os, sys
made = []
families = range(0, 50)
for family in families:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind).close()
            made.append((family, kind))
        except OSError as error:
            if error.errno != errno.EPERM:
                made.append((family, error.errno))
try:
    socket.create_connection(("127.0.0.1", int(open("port").read())), 2)
    made.append("connected")
except OSError:
    pass
a, b = socket.socketpair()
a.send(b"x"); assert b.recv(1) == b"x"
libc = ctypes.CDLL(None, use_errno=True)
for number in (425, 319):  # io_uring_setup, memfd_create on x86-64
    if os.uname().machine == "x86_64" and libc.syscall(number, 8, 0) >= 0:
        made.append(number)
handles = sorted(int(one) for one in os.listdir("/proc/self/fd"))
links = [os.readlink(f"/proc/self/fd/{one}") for one in handles if os.path.exists(f"/proc/self/fd/{one}")]
made += [one for one in links if "socket" in one and handles.index]
print(made, [one for one in links if one.startswith("socket")])
sys.exit(bool(made))
"""


def test_no_socket_of_any_family(confinement, tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.1)
    (folder / "port").write_text(str(listener.getsockname()[1]))
    code = NETWORK.replace(
        'made += [one for one in links if "socket" in one and handles.index]\n', ""
    )
    ended = run(confinement, folder, code)
    assert ended.good, (ended, ended.output, ended.error)
    with pytest.raises(TimeoutError):
        listener.accept()
    listener.close()


def test_the_same_is_possible_unconfined(unconfined, tmp_path):
    """The tries themselves are good: without confinement they succeed."""
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "port").write_text("1")
    ended = run(unconfined, folder, NETWORK.replace("and handles.index", ""))
    assert ended.status == 1 and b"(2, 1)" in ended.output.replace(b"(2, <", b"(2, 1)<")


def test_no_descriptor_comes_along(confinement, tmp_path):
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    code = "import os; print(*sorted(os.listdir('/proc/self/fd'), key=int))"
    ended = run(confinement, tmp_path / "job", code)
    os.close(reader), os.close(writer)
    assert ended.output.split() in ([b"0", b"1", b"2", b"3"],), ended  # 3 lists the folder


def test_other_files(confinement, tmp_path):
    """Neither reading nor listing nor changing nor making, by any spelling of the path."""
    secret = tmp_path / "secret"
    secret.write_text("not yours")
    os.chmod(secret, 0o666)
    code = f"""
import os, sys
bad = []
paths = [{str(secret)!r}, "../secret", "/proc/1/root{secret}", "/proc/self/root{secret}",
         "/proc/self/cwd/../secret", "/etc/passwd", "/etc/shadow", {str(Path.home() / ".bashrc")!r},
         "/root/.ssh/id_rsa", "/proc/kcore"]
os.symlink({str(secret)!r}, "link"); paths.append("link")
for path in paths:
    for how in (os.O_RDONLY, os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_TRUNC):
        try:
            handle = os.open(path, how)
            if how != os.O_RDONLY or os.read(handle, 9) :
                bad.append((path, how))
        except OSError:
            pass
for path in ({str(tmp_path)!r}, "/root", "/home", "/var", "/run"):
    try:
        if os.listdir(path):
            bad.append(path)
    except OSError:
        pass
for path in ({str(tmp_path / "made")!r}, "/usr/made", "/made", "/etc/made", "/dev/made", "/proc/sys/kernel/core_pattern"):
    try:
        open(path, "w").close()
        bad.append(path)
    except OSError:
        pass
for do in (os.unlink, lambda p: os.rename(p, "mine"), lambda p: os.link(p, "hard"),
           lambda p: os.chmod(p, 0), lambda p: os.utime(p, (0, 0)), lambda p: os.truncate(p, 0)):
    try:
        do({str(secret)!r})
    except OSError:
        pass
try:
    os.mknod("device", 0o600 | 0o020000, os.makedev(1, 1)); bad.append("device")
except OSError:
    pass
print(bad); sys.exit(bool(bad))
"""
    before = secret.stat()
    ended = run(confinement, tmp_path / "job", code)
    assert ended.good, (ended, ended.output, ended.error)
    after = secret.stat()
    assert secret.read_text() == "not yours" and not (tmp_path / "made").exists()
    kept = ("st_mode", "st_mtime_ns", "st_nlink", "st_uid", "st_size")
    assert [getattr(before, one) for one in kept] == [getattr(after, one) for one in kept]


def test_private_folders_are_not_where_commands_read():
    inside = Path(sys.prefix) / "a-service"
    with pytest.raises(NncError, match="use another folder"):
        Confinement([inside])


def test_no_secret_in_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("NNC_TEST_SECRET", "hunter2")
    code = """
import os
for path in ("/proc/self/environ", f"/proc/{os.getppid()}/environ", "/proc/1/environ"):
    try:
        print(open(path).read())
    except OSError:
        pass
print(os.environ)
"""
    with Confinement() as made:
        ended = run(made, tmp_path / "job", code)
    assert ended.good and b"XDG_CACHE_HOME" in ended.output
    assert b"hunter2" not in ended.output


def test_others_are_neither_traced_nor_ended(confinement, tmp_path):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as other:
        code = f"""
import ctypes, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
bad = []
for pid in ({other.pid}, {os.getpid()}, 1, os.getppid()):
    if libc.ptrace(16, pid, 0, 0) == 0:
        bad.append(("traced", pid))
    try:
        open(f"/proc/{{pid}}/mem", "r+b").close(); bad.append(("memory", pid))
    except OSError:
        pass
for pid in ({other.pid}, {os.getpid()}):
    try:
        os.kill(pid, signal.SIGKILL)
        bad.append(("ended", pid))
    except OSError:
        pass
for call in (lambda: libc.unshare(0x10000000), lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)):
    if call() == 0:
        bad.append("namespace")
print(bad); sys.exit(bool(bad))
"""
        ended = run(confinement, tmp_path / "job", code)
        assert ended.good, (ended, ended.output, ended.error)
        assert other.poll() is None
        other.kill()


LEFT = """
import os, signal, sys, time
mark = {mark!r}
def stay():
    for number in range(1, 32):
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
    os.execv(sys.executable, [sys.executable, "-c", "import time\\ntime.sleep(100)", mark])
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        stay()
    os._exit(0)
time.sleep(0.3)
{then}
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("then", ["", "stay()", "os.kill(os.getpid(), 9)"])
def test_nothing_outlives_the_command(confinement, tmp_path, then):
    mark = f"left-by-{os.getpid()}-{time.time_ns()}"
    limits = replace(LIMITS, seconds=2) if then == "stay()" else LIMITS
    ended = run(confinement, tmp_path / "job", LEFT.format(mark=mark, then=then), limits)
    assert ended.cause == ("time" if then == "stay()" else "")
    assert ended.seconds < 30
    assert not alive(mark)


@pytest.mark.thorough
def test_cancelling_ends_the_tree(confinement, tmp_path):
    mark = f"left-by-{os.getpid()}-{time.time_ns()}"
    asked = threading.Event()
    threading.Timer(1.0, asked.set).start()
    code = LEFT.format(mark=mark, then="stay()")
    ended = run(confinement, tmp_path / "job", code, cancelled=asked.is_set)
    assert (ended.cause, ended.good) == ("cancelled", False)
    assert not alive(mark)


@pytest.mark.thorough
def test_killing_the_program_that_asked_ends_the_tree(tmp_path):
    """With SIGKILL, which it cannot answer."""
    mark = f"left-by-{os.getpid()}-{time.time_ns()}"
    server = tmp_path / "server.py"
    server.write_text(
        "import sys\nfrom pathlib import Path\n"
        "from nnc.delivery.confined.start import Confinement\n"
        "from nnc.delivery.confined.limits import Limits\n"
        "made = Confinement()\nprint('+', flush=True)\n"
        f"made.run('attack', [], Path({str(tmp_path / 'job')!r}), Limits(), "
        "environment={'PYTHONPATH': '.'})\n"
    )
    (tmp_path / "job").mkdir()
    code = LEFT.format(mark=mark, then="open('ready', 'w').close(); stay()")
    (tmp_path / "job" / "attack.py").write_text(code)
    with subprocess.Popen([sys.executable, str(server)], stdout=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "job" / "ready").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        while len(alive(mark)) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert alive(mark)
        process.kill()
    while alive(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(mark)


# what the kernel refuses ends with cause ""; its steps are large, so that what a process holds before
# the refused one is far from the limit, which the supervisor would find passed by shared pages
BOMBS = {
    "memory": ("x = []\nwhile True: x.append(bytearray(120 << 20))", "memory=200 << 20", ""),
    "memory of several": (
        "import os, time\nfor i in range(7):\n if os.fork() == 0: break\n"
        "import mmap\nx = bytearray(150 << 20)\nx[::4096] = b'x' * len(x[::4096])\ntime.sleep(60)",
        "memory=400 << 20",
        "memory",
    ),
    "shared memory": (
        "import mmap, time\nx = [mmap.mmap(-1, 1 << 26) for i in range(8)]\n"
        "for m in x: m[::4096] = b'x' * (1 << 14)\ntime.sleep(60)",
        "memory=200 << 20",
        "memory",
    ),
    "file": ("open('f', 'wb').write(bytes(64 << 20))", "file=1 << 20", ""),
    "disk": (
        "import os, time\nfor i in range(200): open(f'f{i}', 'wb').write(bytes(1 << 20))\ntime.sleep(60)",
        "disk=32 << 20",
        "disk",
    ),
    "removed files": (
        "import os, time\nkept = []\nfor i in range(300):\n kept.append(open('f', 'w+b', 0)); kept[-1].write(bytes(1 << 20)); os.unlink('f')\ntime.sleep(60)",
        "disk=32 << 20",
        "disk",
    ),
    "deep folders": (
        "import os, time\nfor i in range(500): os.mkdir('d'); os.chdir('d')\ntime.sleep(60)",
        "disk=1 << 30",
        "disk",
    ),
    "processor": ("while True: pass", "processor_seconds=1", "processor time"),
    "processor of several": (
        "import os\nfor i in range(3): os.fork()\nwhile True: pass",
        "processor_seconds=2",
        "processor time",
    ),
    "time": ("import time; time.sleep(60)", "seconds=1", "time"),
    "processes": (
        "import os, time\ntry:\n while True: os.fork() or time.sleep(60)\nexcept OSError: print('no more')",
        "processes=40",
        "",
    ),
    "fork bomb": ("import os\nwhile True:\n try: os.fork()\n except OSError: pass", "processes=40, seconds=2", "any"),
}  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", BOMBS)
def test_limits(confinement, tmp_path, name):
    code, changed, cause = BOMBS[name]
    limits = replace(LIMITS, **eval(f"dict({changed})"))
    mark = f"limited-{os.getpid()}-{time.time_ns()}"
    folder = tmp_path / mark
    started = time.monotonic()
    ended = run(confinement, folder, code, limits)
    assert time.monotonic() - started < 50
    if cause == "any":
        assert ended.cause in ("time", "processes", "processor time")
    elif name == "processes":
        assert ended.cause in ("processes", "time", "")
    else:
        assert ended.cause == cause, ended
    assert not ended.good or name == "processes"


def test_too_many_files_are_not_counted_to_their_end(tmp_path, monkeypatch):
    for number in range(20):
        (tmp_path / str(number)).write_bytes(b"x")
    assert tree.size(str(tmp_path)) == (20 * 4096, False)
    os.link(tmp_path / "0", tmp_path / "again")
    assert tree.size(str(tmp_path)) == (20 * 4096, False)
    monkeypatch.setattr(tree, "MOST_ENTRIES", 10)
    assert tree.size(str(tmp_path))[1]


def test_output_is_kept_up_to_its_limit_and_lines_are_told(confinement, tmp_path):
    lines = []
    code = (
        "import sys\nfor i in range(2000): print('x' * 100, file=sys.stderr)\nprint('y' * 200000)"
    )
    ended = run(confinement, tmp_path / "job", code, replace(LIMITS, output=1000), say=lines.append)
    assert ended.good and len(ended.output) == len(ended.error) == 1000
    assert lines == ["x" * 100] * 2000


@pytest.mark.thorough
def test_many_at_once(confinement, tmp_path):
    """Each has the limit of processes for itself, also where all are one user."""
    found = {}

    def one(number):
        code = "import threading, time\nfor i in range(20): threading.Thread(target=time.sleep, args=(1,)).start()\nprint('ok')"
        found[number] = run(confinement, tmp_path / str(number), code)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(ended.good and ended.output == b"ok\n" for ended in found.values()), found


def test_a_fork_server_that_was_killed_is_started_again(confinement, tmp_path):
    before = confinement._server.pid
    os.kill(before, signal.SIGKILL)
    confinement._server.wait()
    ended = run(confinement, tmp_path / "job", "print(1)")
    assert ended.good and confinement._server.pid != before


def test_what_cannot_be_confined_is_refused(monkeypatch):
    monkeypatch.setattr(seccomp, "supported", lambda: False)
    with pytest.raises(NncError, match="--unconfined") as raised:
        Confinement()
    assert "\n" not in raised.value.message
    with Confinement(unconfined=True) as made:
        assert made.mode == "none"


@pytest.mark.parametrize(
    ("user", "version", "advice"),
    [
        (0, landlock.SCOPES, "another user than root"),
        (0, 1, "Allow namespaces"),
        (1000, 1, "Allow namespaces"),
    ],
)
def test_a_refusal_says_what_to_do(monkeypatch, user, version, advice):
    monkeypatch.setattr(landlock, "version", lambda: version)
    monkeypatch.setattr(start.os, "geteuid", lambda: user)
    with pytest.raises(NncError, match=advice) as raised:
        Confinement(modes=["landlock"])
    assert "\n" not in raised.value.message and "--unconfined" in raised.value.message

"""The process that starts commands: forked copies of it, or new interpreters.

    python -m nnc.delivery.confined.fork_server MODULE...

It imports the modules, then takes requests from the socket on descriptor 0. Each is a message with
four descriptors: a pipe that ends the command, its standard output, its standard error, and a pipe
for the result. The process holds nothing that a command may not know, and ends when the socket is
closed.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import socket
import sys
from contextlib import suppress

from .request import Request
from .supervisor import supervise

LARGEST = 1 << 20
"""The most bytes of a request."""


def serve(channel: socket.socket) -> None:
    """Handle requests, each in processes of its own, until the other end is closed."""
    while True:
        data, handles, _, _ = socket.recv_fds(channel, LARGEST, 4)
        if not data:
            return
        if os.fork() == 0:
            channel.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            supervise(Request.decoded(data), *handles)
        for one in handles:
            os.close(one)


def main() -> None:
    """Handle the requests from the socket on standard input."""
    channel = socket.socket(fileno=os.dup(0))
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program that asks
    for name in sys.argv[1:]:
        with suppress(ImportError):  # then the command says so
            importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # what is imported may have run programs
    gc.collect()
    gc.freeze()  # so that copies share memory
    channel.send(b"+")
    serve(channel)


if __name__ == "__main__":
    main()

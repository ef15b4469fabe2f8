"""A process that has loaded MLIR and runs a tool for others: the RUN lines of a lit suite so start at once.

Comes in: a listening socket, and requests of `pykern.tools.warm_client`. Goes out: what the tool prints, to the
standard streams of the client, and its exit status. Each request runs the tool's `main` in a fork of this process,
so that none sees what another has left. The process ends when its standard input does, which the process that started
it holds open. Read next: `pykern.tools.opt`.
"""

from __future__ import annotations

import importlib
import marshal
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from pykern.tools import warm_client
from pykern.tools.warm_client import CRASHED, FRESH_PROCESS, LENGTH, STANDARD_STREAMS

FIXED_AT_START = ("PYTHON", "LD_", "DYLD_")
"""Variables whose names begin so are read when a process starts: a client with others starts its own."""

servers: list[subprocess.Popen[bytes]] = []
"""Kept until this process ends: a server ends when nobody holds the other end of its standard input."""


def client_command(environment: Mapping[str, str], tool: str = "pykern.tools.opt", *loaded: str) -> list[str]:
    """Start a server with these variables, and give the command that stands for ``python -m tool``.

    The server imports the tool and the modules `loaded`, so that its forks have them. Empty where the system has
    neither forks nor sockets with names in the file system.
    """
    if not hasattr(os, "fork") or not hasattr(socket, "AF_UNIX"):
        return []
    folder = tempfile.mkdtemp(prefix="pykern-lit-")
    name = os.path.join(folder, "tool")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(name)
        listening.listen()  # clients may come before the server has loaded MLIR; they wait
        command = [sys.executable, "-m", __name__, str(listening.fileno()), folder, tool, *loaded]
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, env=dict(environment), pass_fds=[listening.fileno()]
        )
    servers.append(server)
    return [sys.executable, "-I", "-S", str(Path(warm_client.__file__)), name, tool]


def main() -> None:
    """Answer requests until standard input ends; then remove the folder of the socket."""
    number, folder, *modules = sys.argv[1:]
    tool, *_ = map(importlib.import_module, modules)  # what takes long, once
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for lit, whose end ends this process
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    with socket.socket(fileno=int(number)) as listening, selectors.DefaultSelector() as selector:
        selector.register(listening, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        while all(key.fileobj is listening for key, _ in selector.select()):
            client, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                os._exit(_serve(client, tool))
            client.close()
    shutil.rmtree(folder, ignore_errors=True)


def _serve(client: socket.socket, tool: ModuleType) -> int:
    """Answer one request, in a process of its own."""
    first, streams, _, _ = socket.recv_fds(client, LENGTH, len(STANDARD_STREAMS))
    request = client.recv(int.from_bytes(first, "little"), socket.MSG_WAITALL)
    folder, arguments, environment = marshal.loads(request)
    same = _same_start(environment)
    status = _run(tool, streams, folder, arguments, environment) if same else FRESH_PROCESS
    client.sendall(status.to_bytes(LENGTH, "little"))
    return 0


def _same_start(environment: Mapping[str, str]) -> bool:
    """Whether a process with these variables would start as this one did."""

    def fixed(variables: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in variables.items() if name.startswith(FIXED_AT_START)}

    return fixed(environment) == fixed(os.environ)


def _run(
    tool: ModuleType, streams: list[int], folder: str, arguments: list[str], environment: Mapping[str, str]
) -> int:
    """The exit status of the tool in the client's folder, with its streams and variables."""
    for stream, standard in zip(streams, STANDARD_STREAMS, strict=True):
        os.dup2(stream, standard)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0] = folder  # as ``python -m`` has it
    sys.argv = [str(tool.__file__), *arguments]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        status = tool.main()
    except SystemExit as ended:  # argparse, after --help or a wrong option
        status = ended.code if isinstance(ended.code, int) else CRASHED
    sys.stdout.flush()
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    main()

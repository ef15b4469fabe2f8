"""A tool such as pykern-opt, asked of a process that has loaded MLIR already; see `pykern.tools.warm_server`.

Comes in: the name of the server's socket, the tool's module, then the arguments of the tool. Goes out: what the tool
prints and its exit status. Where no server answers, or this process has other variables than the server, the tool
itself starts. Run as a file, ``python -I -S warm_client.py NAME TOOL ARGUMENTS``: it imports nothing of pykern, and
so starts at once.
"""

from __future__ import annotations

import marshal
import os
import socket
import sys

STANDARD_STREAMS = (0, 1, 2)
LENGTH = 4
"""Bytes of the numbers that the two sides exchange: the length of a request, an exit status."""
FRESH_PROCESS = 256
"""An answer that is no exit status: the tool is to start in a process of its own."""
CRASHED = 4


def main() -> int:
    """The exit status of the tool, run by the server whose socket the first argument names."""
    name, tool, *arguments = sys.argv[1:]
    request = marshal.dumps((os.getcwd(), arguments, dict(os.environ)))
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(name)
            socket.send_fds(server, [len(request).to_bytes(LENGTH, "little")], STANDARD_STREAMS)
            server.sendall(request)
            answer = server.recv(LENGTH, socket.MSG_WAITALL)
    except OSError:
        answer = FRESH_PROCESS.to_bytes(LENGTH, "little")
    if len(answer) < LENGTH:
        print(f"{tool}: error: the process that runs the tool for others ended", file=sys.stderr)
        return CRASHED
    status = int.from_bytes(answer, "little")
    if status == FRESH_PROCESS:
        os.execv(sys.executable, [sys.executable, "-m", tool, *arguments])
    return status


if __name__ == "__main__":
    raise SystemExit(main())

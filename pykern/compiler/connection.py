"""One compiler process and the pipes to it, seen from the user's process.

Comes in: a command. Goes out: `WorkerProcess`, which sends frames and queues what comes back, an end too.

A thread of its own starts the process and lives as long as it: starting then takes no time of the
caller's, and Linux kills the process when this very thread is gone (see `worker`).
"""

from __future__ import annotations

import collections
import os
import queue
import signal
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pykern.compiler import frames
from pykern.environment.bootstrap import PIPE, start

if TYPE_CHECKING:
    import subprocess

_GRACE = 2.0
"""Seconds that a process which is ending anyway is waited for."""


class WorkerProcess:
    """A compiler process. `receive` gives its messages, at last ``("ended", exit status, output)``.

    The exit status is `subprocess`'s (below 0: a signal), or None where the process did not start;
    `output` are the last lines of its standard error.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.ready = False
        """Set by the user of this class once it has seen the message."""
        self._process: subprocess.Popen[bytes] | None = None
        self._started = threading.Event()
        self._pipe = (
            threading.Lock()
        )  # around the use of the input pipe: its number may be taken anew once closed
        self._life = threading.Lock()  # around reaping and signals: a number that was reaped may be anybody's
        self._inbox: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self._ended = False
        self._output: collections.deque[str] = collections.deque(maxlen=400)
        self._thread = threading.Thread(
            target=self._run, args=(command,), daemon=True, name="pykern-compiler"
        )

    def begin(self) -> None:
        """Start the process. Apart from its making: where a Ctrl-C comes in between, there is something to `kill`."""
        try:
            self._thread.start()
        except RuntimeError as error:  # a limit of threads, or of memory for their stacks
            self._never(error)

    def _never(self, error: Exception) -> None:
        """There is no process: whoever waits is told why."""
        self._ended = True
        self._inbox.put(("ended", None, [str(error) or type(error).__name__]))
        self._started.set()

    @property
    def ended(self) -> bool:
        """True once the process is gone, which may be long before a message of that is taken."""
        return self._ended

    @property
    def pid(self) -> int | None:
        """The process, once it has been started."""
        self._started.wait()
        return None if self._process is None else self._process.pid

    def send(self, frame: bytes) -> None:
        """Send a frame. Raises OSError where the process is gone."""
        with self._pipe:
            if self._process is None or self._process.stdin is None or self._process.stdin.closed:
                raise BrokenPipeError("the compiler process has ended")
            frames.write(self._process.stdin.fileno(), frame)

    def receive(self, timeout: float) -> tuple[Any, ...] | None:
        """The next message, or None when `timeout` seconds have passed."""
        try:
            message = self._inbox.get(timeout=timeout)
        except queue.Empty:
            return None
        if message[0] == "ended":
            self._inbox.put(message)  # and nothing else from now on
        return message

    def take_output(self) -> str:
        """What the process printed since the last call, or the end of it."""
        lines = []
        while self._output:
            lines.append(self._output.popleft())
        return "".join(lines)

    def stop(self) -> None:
        """End a process that hangs, and let it tell where it was: see `receive`."""
        self._signal(getattr(signal, "SIGABRT", signal.SIGTERM))  # faulthandler prints the stack on it
        self._thread.join(_GRACE)
        self.kill()

    def kill(self) -> None:
        """End the process at once, with what it may have started, and wait until it is gone."""
        if hasattr(signal, "SIGKILL"):
            self._signal(signal.SIGKILL)
        elif self._process is not None:
            self._process.kill()
        if self._started.is_set() and self._thread.ident is not None:
            self._thread.join(_GRACE)

    def abandon(self) -> None:
        """After a fork, in the child: let go of the pipes of a process that is the parent's."""
        if self._process is None:
            return
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        self._process.returncode = 0  # not ours to wait for

    def _signal(self, number: int) -> None:
        self._started.wait(_GRACE)
        process = self._process
        with self._life:
            if process is None or process.returncode is not None:
                return
            if hasattr(os, "killpg"):
                _signal_group(process.pid, number)
            else:
                process.send_signal(number)

    def _run(self, command: Sequence[str]) -> None:
        try:
            process = start(command, PIPE, buffered=False)
        except (ImportError, MemoryError, OSError) as error:  # also of what starts processes
            self._never(error)
            return
        self._process = process
        self._started.set()
        assert process.stdin and process.stdout and process.stderr
        drain = threading.Thread(target=self._drain, args=(process.stderr.fileno(),), daemon=True)
        try:
            drain.start()
            while (message := frames.read(process.stdout.fileno())) is not None:
                self._inbox.put(message)
        except (MemoryError, RuntimeError) as error:  # no room for the answer, or for the second thread
            self._output.append(f"the program cannot listen to it: {str(error) or 'no memory'}\n")
        finally:  # also where a message makes no sense: whoever waits must hear of the end
            _end_group(process)
            with self._life:
                status = process.wait()
            if drain.ident is not None:
                drain.join(_GRACE)
            with self._pipe:
                process.stdin.close()
            process.stdout.close()
            if not drain.is_alive():  # else something that left its group still holds the other end
                process.stderr.close()
            self._ended = True
            self._inbox.put(("ended", status, list(self._output)))

    def _drain(self, handle: int) -> None:
        rest = b""
        while piece := os.read(handle, 1 << 16):
            *lines, rest = (rest + piece).split(b"\n")
            self._output.extend(line.decode("utf-8", "replace") + "\n" for line in lines)
        if rest:
            self._output.append(rest.decode("utf-8", "replace") + "\n")


def _signal_group(leader: int, number: int) -> None:
    """Signal a process that leads a session of its own, with all that it started."""
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):  # macOS denies it for a group of the dead
        pass


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """After the end of its output: see that the process ends, and with it what it may have started (an assembler)."""
    deadline = time.monotonic() + _GRACE
    if hasattr(os, "waitid"):
        # Looks without reaping: until then the number of the group cannot belong to anybody else.
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            while os.waitid(os.P_PID, process.pid, flags) is None and time.monotonic() < deadline:
                time.sleep(0.001)
        except ChildProcessError:  # the program ignores SIGCHLD, or waits for just any child
            return
        _signal_group(process.pid, signal.SIGKILL)
        return
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    process.kill()

"""Waits for devices: a signal ends them, and what the driver raises comes out."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable

import pytest

from pykern.runtime.drivers import waiting
from pykern.runtime.drivers.waiting import wait

MAIN = threading.main_thread()


class Stopped(Exception):
    """Raised by a signal handler."""


def test_a_signal_ends_a_wait() -> None:
    over = threading.Event()

    def stop(*_: object) -> None:
        raise Stopped

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    started = time.perf_counter()
    try:
        with pytest.raises(Stopped):
            wait(over.is_set, lambda: over.wait(20))
        assert time.perf_counter() - started < 10
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        over.set()  # the thread that waits goes on, and ends


def test_short_work_is_waited_for_in_this_thread() -> None:
    seen: list[threading.Thread] = []
    wait(lambda: True, lambda: seen.append(threading.current_thread()))
    assert seen == [MAIN]


def test_this_thread_asks_with_pauses_before_another_one_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "LONG", 1e9)
    seen: list[threading.Thread] = []
    asked = iter([False] * 30 + [True])
    wait(lambda: next(asked), lambda: seen.append(threading.current_thread()))
    assert seen == [MAIN] and not list(asked)
    monkeypatch.setattr(waiting, "LONG", -1.0)
    wait(lambda: False, lambda: seen.append(threading.current_thread()))
    assert len(seen) == 2 and seen[1] is not MAIN


@pytest.mark.parametrize("finished", [lambda: True, lambda: False])
def test_errors_of_the_driver_come_out(finished: Callable[[], bool]) -> None:
    def fails() -> None:
        raise RuntimeError("the device is lost")

    with pytest.raises(RuntimeError, match="is lost"):
        wait(finished, fails)


def test_other_threads_wait_in_the_driver() -> None:
    seen: list[threading.Thread] = []

    def ask() -> bool:
        raise AssertionError("nobody asks")

    other = threading.Thread(target=lambda: wait(ask, lambda: seen.append(threading.current_thread())))
    other.start()
    other.join()
    assert seen == [other]

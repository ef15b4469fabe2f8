"""Who gets the launches of a block: something that shares each between a part to run now and a part to run later.

Comes in: a function of a kernel or an array program, the arguments and the keywords of a call, which launches in the
caller's place. Goes out: the calls of this thread that are made inside of the block, all of them, because entries leave
calls to Python there. Inside of `paused` they run as anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pykern.runtime.devices import override

Interceptor = Callable[[Any, tuple, dict[str, Any]], Any]

INTERCEPTOR: ContextVar[Interceptor | None] = ContextVar("interceptor", default=None)


def begin(interceptor: Interceptor) -> Any:
    """Calls of this thread go to it from now on; what `end` takes comes back."""
    override("cpu", 1)
    return INTERCEPTOR.set(interceptor)


def end(token: Any) -> None:
    """Calls run again."""
    INTERCEPTOR.reset(token)
    override("cpu", -1)


@contextmanager
def paused() -> Iterator[None]:
    """Calls run inside of this block."""
    token = INTERCEPTOR.set(None)
    override("cpu", -1)
    try:
        yield
    finally:
        override("cpu", 1)
        INTERCEPTOR.reset(token)

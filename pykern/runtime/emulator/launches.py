"""What launches of all emulated GPUs share: their sizes, their lock, and the error for what one left in its words.

Comes in: the words of a launch. Goes out: a `KernelError`.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence

from pykern.errors import KernelError
from pykern.runtime.emulator.faults import RACE, WITHOUT_ADDRESS, Faulty, fault

launch_lock = threading.Lock()
"""One launch of the process runs at a time."""
GRID = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
"""A function of the launch's words and the kernel."""
Sizes = tuple[int, int, int]


def launch_error(
    kernel: str,
    instructions: Sequence[Faulty],
    words: dict[str, int],
    memory: Callable[[int, Faulty], str],
) -> KernelError:
    """`instructions` are those that sites count; `memory` tells where the access of a fault of some kind was."""
    kind, one = words["fault"], instructions[words["fault_site"]]
    thread, wide, high = words["fault_thread"], words["ntid.x"], words["ntid.y"]
    item = (thread % wide, thread // wide % high, thread // wide // high)
    block, across, down = words["fault_block"], words["nctaid.x"], words["nctaid.y"]
    group = (block % across, block // across % down, block // across // down)
    return fault(kind, kernel, one, group, item, _where(kind, one, words, memory))


def _where(kind: int, one: Faulty, words: dict[str, int], memory: Callable[[int, Faulty], str]) -> str:
    if kind in WITHOUT_ADDRESS:
        return ""
    if kind == RACE:
        other = words["fault_other"]
        return f"with {f'work-item number {other - 1}' if other < 1 << 15 else 'several others'} of the group"
    return memory(kind, one)

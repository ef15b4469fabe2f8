"""Which registers a thread needs again after it has waited: they are kept in its frame meanwhile.

Comes in: a `Function`. Goes out: for each waiting instruction, by its number, the registers that are live behind it.
"""

from __future__ import annotations

from pykern.runtime.emulator.ptx import Block, Function, Instruction


def live_after_waits(function: Function) -> dict[int, tuple[str, ...]]:
    """Registers that are read behind each waiting instruction, before they are written; its own result is none."""
    live_in: list[set[str]] = [set() for _ in function.blocks]
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(function.blocks))):
            live = _through(function.blocks[number], _behind(function.blocks[number], live_in), None)
            if live != live_in[number]:
                live_in[number], changed = live, True
    kept: dict[int, tuple[str, ...]] = {}
    for block in function.blocks:
        _through(block, _behind(block, live_in), kept)
    return kept


def _behind(block: Block, live_in: list[set[str]]) -> set[str]:
    return set().union(*(live_in[number] for number in block.after))


def _through(block: Block, live: set[str], kept: dict[int, tuple[str, ...]] | None) -> set[str]:
    """What is live before a block, given what is live behind it; `kept` gets what is live at its waits."""
    for one in reversed(block.instructions):
        live = _before(one, live)
        if one.waits and kept is not None:
            kept[one.number] = tuple(sorted(live))
    return live


def _before(one: Instruction, live: set[str]) -> set[str]:
    written = set() if one.guard else set(one.writes)  # a guarded one may leave the old value
    return (live - written) | set(one.reads)

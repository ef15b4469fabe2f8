"""Asking for an asynchronous operation from generated code: numbers in words, and a call of `async_unit`.

Goes out: `ask`, and the numbers of what can be asked for. A request is its site (the instruction's number, of a product
that of its wait) and some more words.
"""

from __future__ import annotations

from pykern.runtime.emulator.emit import Emitter

ARRIVE, EXPECT, INIT, INVALIDATE, SETTLE = range(5)
"""Of mbarriers: arrivals, bytes to come, a new one, none any more, and what copies it still waits for."""
LOAD, STORE, COMMIT_COPIES, WAIT_COPIES = range(5, 9)
"""Of copies: of a box of a tensor into shared memory and back, and the groups of those back."""
MULTIPLY, COMMIT_PRODUCTS, WAIT_PRODUCTS = range(9, 12)
"""Of products of a warpgroup."""
MOST = 12
"""Words of a request."""


def ask(e: Emitter, what: int, site: str, *words: str) -> None:
    """Call the unit; it reads `words` (i64) and leaves its answer in the first one."""
    request = e.pointer(e.slot("request"))
    for number, word in enumerate(words):
        e.store("i64", word, e.offset(request, 8 * number))
    if what in (LOAD, STORE):
        e.set_slot("last_request", site)
    unit = e.pointer(e.slot("unit"))
    e.do(f"call void {unit}(i64 {what}, i64 {site})")


def answer(e: Emitter) -> str:
    return e.load("i64", e.pointer(e.slot("request")))

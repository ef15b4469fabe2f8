"""What runs beside the threads of a block: copies of boxes (TMA), the phases of mbarriers, products of warpgroups.

Comes in: requests of generated code (`requests`), by a function of C. Goes out: changed memory, or a fault in the words
of the launch. Half of the copies are made when they are asked for, the others when somebody waits for them: who reads
before the wait, or lets a copy overwrite what is still read, gets wrong numbers, if the fault is not found.
Read next: `shared_accesses` (checks), `tensor_maps`, `warpgroup_matrices`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pykern.runtime.emulator.barrier_words import BarrierWord
from pykern.runtime.emulator.device_memory import DeviceMemory
from pykern.runtime.emulator.faults import BAD_BARRIER, BAD_MAP, BOUNDS, READ_ONLY
from pykern.runtime.emulator.memory_checks import ALLOCATED, ANY_STATE, READABLE
from pykern.runtime.emulator.ptx import Instruction
from pykern.runtime.emulator.requests import (
    ARRIVE,
    COMMIT_COPIES,
    COMMIT_PRODUCTS,
    EXPECT,
    INIT,
    INVALIDATE,
    LOAD,
    MOST,
    MULTIPLY,
    SETTLE,
    STORE,
    WAIT_COPIES,
    WAIT_PRODUCTS,
)
from pykern.runtime.emulator.shared_accesses import LaunchWords, SharedAccesses, Wrong
from pykern.runtime.emulator.tensor_maps import ALIGNMENT, NBYTES, NoMap, TensorMap
from pykern.runtime.emulator.wait_kinds import WARPS
from pykern.runtime.emulator.warpgroup_matrices import WarpgroupProduct, product_form

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)


@dataclass(eq=False)
class _Copy:
    """A copy under way; `make` makes it."""

    make: Callable[[], None]
    chunks: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    """What it reads of shared memory until it has been waited for."""
    made: bool = False

    def finish(self) -> None:
        if not self.made:
            self.made = True
            self.make()


@dataclass(eq=False)
class _Reads:
    """What products in flight read: by a warpgroup, each of whose warps had ended so many groups before."""

    group: int
    ended: tuple[int, ...]
    chunks: np.ndarray


@dataclass
class _Block:
    """What is under way in a block."""

    loads: dict[int, list[_Copy]] = field(default_factory=dict)
    asked: set[tuple[int, int]] = field(default_factory=set)
    """Mbarriers, and threads that have tested their phase once."""
    stores: dict[int, list[list[_Copy]]] = field(default_factory=dict)
    """Of each thread, by groups; the last one is still open."""
    products: list[_Reads] = field(default_factory=list)
    ended: dict[int, int] = field(default_factory=dict)
    """Groups of products of each warp."""


class AsyncUnit:
    """Of one launch. `waits` are those of the kernel; `products` has a row for what each thread brings to one."""

    def __init__(
        self,
        words: LaunchWords,
        shared: SharedAccesses,
        memory: DeviceMemory,
        waits: Sequence[Instruction],
        products: np.ndarray,
    ) -> None:
        self.words, self.shared, self.memory = words, shared, memory
        self.waits, self.products = waits, products
        self.request = np.zeros(MOST, np.int64)
        self.function = FUNCTION(self._run)
        self._number, self._block, self._copies = -1, _Block(), 0
        self._handlers = {
            INIT: self._init,
            ARRIVE: lambda: self._change(self._word(0), self._word(1), self._word(2)),
            EXPECT: lambda: self._change(self._word(0), 0, self._word(1)),
            INVALIDATE: lambda: self.shared.set_word(self._word(0), 0),
            SETTLE: lambda: self._settle(self._word(0)),
            LOAD: self._load,
            STORE: self._store,
            COMMIT_COPIES: lambda: self._stores().append([]),
            WAIT_COPIES: lambda: self._wait_stores(self._word(0)),
            COMMIT_PRODUCTS: self._commit_products,
            WAIT_PRODUCTS: lambda: self._wait_products(self._word(0)),
        }

    def _run(self, what: int, site: int) -> None:
        if self.words["fault"]:
            return
        if self.words["block"] != self._number:
            self._number, self._block = self.words["block"], _Block()
            self.shared.begin_block()
        try:
            if what == MULTIPLY:
                self._multiply(self.waits[site], self._word(0))
            else:
                self._handlers[what]()
        except Wrong as wrong:
            number = self.waits[site].number if what == MULTIPLY else site
            self.words.fault(wrong.kind, wrong.address, number, wrong.other)
        self.words["pending"] = self._under_way()

    def _word(self, number: int) -> int:
        return int(self.request[number])

    def _under_way(self) -> int:
        loads = sum(not copy.made for copies in self._block.loads.values() for copy in copies)
        return loads + sum(len(group) for groups in self._block.stores.values() for group in groups)

    # -- mbarriers ---------------------------------------------------------------------------------

    def _init(self) -> None:
        count = self._word(1)
        self.shared.set_word(self._word(0), BarrierWord(count, count).word)

    def _change(self, place: int, arrivals: int, more_bytes: int) -> None:
        """The answer is the word before."""
        word = self.shared.word(place)
        before = BarrierWord.of(word)
        after = before.changed(arrivals, more_bytes) if before is not None else None
        if before is None or after is None:
            raise Wrong(BAD_BARRIER, place)
        self.shared.set_word(place, after.word)
        self.request[0] = np.uint64(word).astype(np.int64)
        if after.phase != before.phase:
            self.words["epoch"] += 1
            self.shared.end_phase(place)
        self.words["progress"] = 1

    def _settle(self, place: int) -> None:
        """Make the copies whose bytes an mbarrier waits for, when a thread asks a second time: who asks once and
        goes on has not waited."""
        if all(copy.made for copy in self._block.loads.get(place, [])):
            return
        asked = place, self.words["thread"]
        if asked not in self._block.asked:
            self._block.asked.add(asked)
            self.words["progress"] = 1
            return
        self._block.asked -= {each for each in self._block.asked if each[0] == place}
        for copy in self._block.loads.pop(place, []):
            copy.finish()

    # -- copies ------------------------------------------------------------------------------------

    def _map(self, first: int) -> tuple[TensorMap, tuple[int, ...]]:
        """The tensor's map and the corner of the box, from a word of the request on."""
        address, rank = self._word(first), self._word(first + 1)
        begin, nbytes = self.words["parameters"], self.words["parameter_bytes"]
        inside = begin <= address <= begin + nbytes - NBYTES
        in_memory = 0 <= address - self.memory.address <= self.memory.nbytes - NBYTES
        if not inside and (not in_memory or address % ALIGNMENT):
            raise Wrong(BAD_MAP, address)
        try:
            found = TensorMap.decoded(ctypes.string_at(address, NBYTES))
        except NoMap:
            raise Wrong(BAD_MAP, address) from None
        if len(found.lengths) != rank:
            raise Wrong(BAD_MAP, address)
        return found, tuple(self._word(first + 2 + n) for n in range(rank))

    def _load(self) -> None:
        target, barrier = self._word(0), self._word(1)
        tensor, corner = self._map(2)
        thread, phase = self.words["thread"], self.shared.phase(barrier)

        def make() -> None:
            data = np.zeros(tensor.nbytes, np.uint8)
            numbers, addresses = tensor.inside(corner)
            data[numbers] = self.memory.bytes[self._global(addresses, ALLOCATED)]
            self.shared.write(tensor.places(target), data, thread, barrier, phase)
            self._change(barrier, 0, -tensor.nbytes)

        self.shared.check_begin(target, tensor.swizzle)
        copy = _Copy(make)
        self._block.loads.setdefault(barrier, []).append(copy)
        self._now_or_later(copy)

    def _store(self) -> None:
        source = self._word(0)
        tensor, corner = self._map(1)

        def make() -> None:
            data = self.shared.read(tensor.places(source)).ravel()
            numbers, addresses = tensor.inside(corner)
            self.memory.bytes[self._global(addresses, READABLE)] = data[numbers]

        self.shared.check_begin(source, tensor.swizzle)
        copy = _Copy(make, self._read_later(tensor.places(source)))
        self._stores()[-1].append(copy)
        self._now_or_later(copy)

    def _read_later(self, places: np.ndarray) -> np.ndarray:
        self.shared.hold(places, 1)
        return places

    def _now_or_later(self, copy: _Copy) -> None:
        """By the parity of the bits of its number, so that neither is always so."""
        self._copies += 1
        if self._copies.bit_count() % 2:
            copy.finish()

    def _global(self, addresses: np.ndarray, mask: int) -> np.ndarray:
        """Places of bytes in the device's memory, all of which may be read, or written."""
        places = addresses - self.memory.address
        inside = (places >= 0) & (places < self.memory.nbytes)
        if not inside.all():
            raise Wrong(BOUNDS, int(addresses[~inside][0]))
        states = self.memory.state_bytes[places]
        fits = states & ANY_STATE == ALLOCATED
        if not fits.all():
            raise Wrong(BOUNDS, int(addresses[~fits][0]))
        if (states & mask != ALLOCATED).any():
            raise Wrong(READ_ONLY, int(addresses[states & mask != ALLOCATED][0]))
        return places

    def _stores(self) -> list[list[_Copy]]:
        return self._block.stores.setdefault(self.words["thread"], [[]])

    def _wait_stores(self, groups: int) -> None:
        """Until all groups of the thread but the last few are done."""
        *ended, still_open = self._stores()
        done = len(ended) - min(groups, len(ended))
        for copy in (copy for group in ended[:done] for copy in group):
            copy.finish()
            self.shared.hold(copy.chunks, -1)
        self._block.stores[self.words["thread"]] = [*ended[done:], still_open]

    # -- products ----------------------------------------------------------------------------------

    def _multiply(self, one: Instruction, group: int) -> None:
        form = product_form(one)
        lanes = self.products[128 * group : 128 * (group + 1)]
        product = WarpgroupProduct(form, lanes)
        chunks = product.chunks()
        matrices = [None if places is None else self.shared.read(places) for places in chunks]
        product.store(matrices)
        places = np.unique(np.concatenate([c.ravel() for c in chunks if c is not None]))
        ended = tuple(self._block.ended.get(WARPS * group + n, 0) for n in range(WARPS))
        self._block.products.append(_Reads(group, ended, places))
        self.shared.hold(places, 1)

    def _commit_products(self) -> None:
        warp = self.words["thread"] // 32
        self._block.ended[warp] = self._block.ended.get(warp, 0) + 1

    def _wait_products(self, groups: int) -> None:
        """Until all groups but the last few of the warp's warpgroup are done: what they read is free."""
        group, own = divmod(self.words["thread"] // 32, WARPS)
        ended = self._block.ended.get(WARPS * group + own, 0)
        kept = []
        for reads in self._block.products:
            if reads.group == group and ended - reads.ended[own] > groups:
                self.shared.hold(reads.chunks, -1)
            else:
                kept.append(reads)
        self._block.products = kept

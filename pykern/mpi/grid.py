"""`pk.mpi.Grid`: a global index space that ranks share, and the arrays that each has of it.

Comes in: the global shape. Goes out: the local shape, arrays with halos, their exchange, whole arrays on rank 0,
reductions. Without MPI the one process has the whole grid, and the same program runs. Read next: `blocks` (who has
what), `exchange` (what travels), `overlap` (what runs meanwhile).
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from pykern.api.reach import widest
from pykern.arrays.array import Array
from pykern.arrays.foreign import as_numpy
from pykern.environment.machine import processors
from pykern.environment.settings import launched_rank, launched_size, settings
from pykern.errors import ARGUMENTS, LaunchError
from pykern.language import array_functions
from pykern.mpi.alone import Alone
from pykern.mpi.blocks import block_of, check_parts, partition
from pykern.mpi.exchange import HaloExchange
from pykern.mpi.faults import end_run_on_errors
from pykern.mpi.global_arrays import Whole
from pykern.mpi.overlap import Exchange
from pykern.mpi.transport import Message, Requests, Transport
from pykern.runtime.cpu_table import get_num_threads, set_num_threads

AXES = "xyz"
KEPT = 16
"""Exchanges that are kept with their buffers and arrays: those made last."""
LARGE_MESSAGES = 1 << 18
"""Bytes of halos from which launches overlap with messages between processes of one machine, which copy them."""


class Grid:
    """A global index space of one to three axes, shared by the ranks of a run.

    `shape` is the global one; the ranks' parts need not be equal. Arrays of a rank (`local` is their shape) hold the
    elements that it owns and, next to neighbours, a halo: `halo` elements wide, one number or one an axis. ``"auto"``
    takes the width that the kernels of the calling function and its module need. `periodic` axes have no end: True, or
    one for each axis. `comm` is a communicator of mpi4py or a process group of torch.distributed; without it, all of
    MPI's, where MPI's launcher started this process. `ranks` says how many ranks stand along each axis. `overlap` says
    whether launches in ``with grid.exchange(...)`` run while halos travel; ``"auto"``: where that is faster. A rank
    that waits for others longer than `timeout` seconds raises.

    All ranks make the same calls in the same order. Raises `LaunchError`, on all of them, where they disagree, or where
    there are more ranks than the grid has room for.
    """

    def __init__(
        self,
        shape: int | Sequence[int],
        halo: int | Sequence[int] | str = "auto",
        periodic: bool | Sequence[bool] = False,
        comm: Any = None,
        ranks: Sequence[int] | None = None,
        device: str | None = None,
        overlap: bool | str = "auto",
        timeout: float = 600.0,
    ) -> None:
        self.shape = _lengths(shape)
        axes = len(self.shape)
        self._transport = _transport(comm)
        self._process = os.getpid()
        self._timeout = timeout
        self._device = device
        self._known: set[str] = set()
        end_run_on_errors(self._transport)
        _share_processors(self._transport)
        if halo == "auto":
            frame = sys._getframe(1)
            halo = widest({**frame.f_globals, **frame.f_locals}, axes)
        self.halo = _one_each(halo, axes, "halo")
        self.periodic = tuple(bool(p) for p in _one_each(periodic, axes, "periodic"))
        self._agree(f"Grid({self.shape}, halo={self.halo}, periodic={self.periodic}, ranks={ranks})")
        self.ranks = partition(self.size, self.shape, self.halo) if ranks is None else tuple(ranks)
        check_parts(self.ranks, self.size, self.shape, self.halo)
        blocks = [block_of(r, self.shape, self.ranks, self.halo, self.periodic) for r in range(self.size)]
        self.block = blocks[self.rank]
        self.local = self.block.local
        self._whole = Whole(self.rank, blocks, self._message)
        self._overlap = overlap
        self._exchanges: OrderedDict[Any, HaloExchange] = OrderedDict()
        self._same: dict[tuple, HaloExchange] = {}
        self._sites: set[Any] = set()
        self.splits: dict[Any, Any] = {}
        """Launches that were told apart: see `pykern.mpi.overlap`."""

    # -- who and where -------------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """Which rank this process is, from 0 on."""
        return self._transport.rank

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return self._transport.size

    @property
    def local_rank(self) -> int:
        """Which of the ranks of this machine it is: the number of the GPU to take."""
        return self._transport.local_rank

    @property
    def nx_g(self) -> int:
        """Global length of the first axis."""
        return self.shape[0]

    @property
    def ny_g(self) -> int:
        """Global length of the second axis; 1 where there is none."""
        return self.shape[1] if len(self.shape) > 1 else 1

    @property
    def nz_g(self) -> int:
        """Global length of the third axis; 1 where there is none."""
        return self.shape[2] if len(self.shape) > 2 else 1

    def x_g(self, i: Any, dx: Any = 1, of: Any = None) -> Any:
        """The global coordinate of the local index `i` (a number or an array) along the first axis, in steps of `dx`.

        `of` is the array that is meant where it is longer or shorter than the grid: its elements stand between the
        others, half a step lower for each element more. Without `dx` it is the global index.
        """
        return self._coordinate(0, i, dx, of)

    def y_g(self, i: Any, dx: Any = 1, of: Any = None) -> Any:
        """The same along the second axis."""
        return self._coordinate(1, i, dx, of)

    def z_g(self, i: Any, dx: Any = 1, of: Any = None) -> Any:
        """The same along the third axis."""
        return self._coordinate(2, i, dx, of)

    def _coordinate(self, axis: int, i: Any, dx: Any, of: Any) -> Any:
        span = self.block.spans[axis]
        index = span.low + i
        if span.periodic:
            index = index % span.length
        extra = 0 if of is None else of.shape[axis] - self.local[axis]
        return index * dx if not extra else (index - extra / 2) * dx

    # -- arrays --------------------------------------------------------------------------------------

    def empty(self, dtype: Any = None, extra: int | Sequence[int] = 0) -> Any:
        """An array of this rank that is not set: of the local shape, longer by `extra` (one number, or one an axis) for
        fields that stand between the points of the grid. A NumPy array, or a `pk.Array` on the grid's device."""
        return self._made(array_functions.empty, dtype, extra)

    def zeros(self, dtype: Any = None, extra: int | Sequence[int] = 0) -> Any:
        """The same, of zeros."""
        return self._made(array_functions.zeros, dtype, extra)

    def ones(self, dtype: Any = None, extra: int | Sequence[int] = 0) -> Any:
        """The same, of ones."""
        return self._made(array_functions.ones, dtype, extra)

    def _made(self, make: Any, dtype: Any, extra: int | Sequence[int]) -> Any:
        more = _one_each(extra, len(self.shape), "extra")
        shape = tuple(n + e for n, e in zip(self.local, more, strict=True))
        given = {} if self._device is None else {"device": self._device}
        return make(shape, np.float64 if dtype is None else dtype, **given)

    def owned(self, array: Any) -> tuple[slice, ...]:
        """The part of an array that this rank owns: without its halo. Every element belongs to one rank."""
        return self.block.owned(self._extra(array))

    def _extra(self, array: Any) -> tuple[int, ...]:
        shape = tuple(array.shape)
        if len(shape) != len(self.local):
            raise LaunchError(
                f"an array of shape {shape} is none of a grid with the local shape {self.local}",
                hint="make it with grid.zeros(dtype)",
                code=ARGUMENTS,
            )
        extra = tuple(n - m for n, m in zip(shape, self.local, strict=True))
        owned = [s.end - s.begin for s in self.block.spans]
        if any(e < -h or h + e > n for e, h, n in zip(extra, self.halo, owned, strict=True)):
            raise LaunchError(
                f"an array of shape {shape} does not fit the local shape {self.local} with a halo of {self.halo}",
                hint="make it with grid.zeros(dtype), and extra=1 for a field between the points",
                code=ARGUMENTS,
            )
        return extra

    # -- halos -----------------------------------------------------------------------------------------

    def exchange(self, *arrays: Any) -> Exchange:
        """Fill the halos of these arrays from the neighbours; what stands at a physical edge stays as it is.

        In a ``with`` statement, launches inside of the block run meanwhile: first where they need no halo, and the rest
        when the block ends. Inside of it, halos are for kernels alone. Raises `LaunchError`.
        """
        exchange = self._exchange_of(arrays, transposed=False)
        frame = sys._getframe(1)
        site = (frame.f_code, frame.f_lasti)
        exchange.start()
        if site in self._sites and self._overlaps(exchange):
            return Exchange(self, arrays, site, exchange)
        self.finish(exchange)
        return Exchange(self, arrays, site, None)

    def exchange_transposed(self, *arrays: Any) -> None:
        """The transpose of `exchange`, for derivatives: what stands in halos is added to the elements of their owners,
        and is 0 afterwards."""
        exchange = self._exchange_of(arrays, transposed=True)
        exchange.start()
        self.finish(exchange)
        for array in arrays:
            extra = self._extra(array)
            for direction in self.block.neighbours:
                array[self.block.region(direction, extra, False)] = 0

    def finish(self, exchange: HaloExchange) -> None:
        """Wait for the messages of an exchange that was started, and unpack them."""
        self._wait(exchange.requests, "the halos of its neighbours")
        exchange.unpack()

    def entered(self, site: Any) -> bool:
        """A ``with`` statement stands there: the next call may return before halos have come. Whether this is new."""
        is_new = site not in self._sites
        self._sites.add(site)
        return is_new

    def _overlaps(self, exchange: HaloExchange) -> bool:
        if self._overlap != "auto":
            return bool(self._overlap)
        return self.size > 1 and (self._transport.machines > 1 or exchange.bytes >= LARGE_MESSAGES)

    def _exchange_of(self, arrays: Sequence[Any], transposed: bool) -> HaloExchange:
        """The exchange of arrays at these addresses; made where there is none."""
        self._check_process()
        given = (transposed, *map(id, arrays))
        if given in self._same:  # these very objects: an exchange keeps its own alive
            return self._same[given]
        objects, arrays = arrays, [_taken(array) for array in arrays]
        key = (transposed, *map(_place, arrays))
        found = self._exchanges.get(key)
        if found is None:
            extras = [self._extra(array) for array in arrays]
            kinds = [(str(a.dtype), e) for a, e in zip(arrays, extras, strict=True)]
            self._agree(f"exchange of {kinds}")
            found = HaloExchange(self.block, self._transport, arrays, extras, transposed)
            found.kept = objects
            self._exchanges[key] = self._same[given] = found
            if len(self._exchanges) > KEPT:
                _, oldest = self._exchanges.popitem(last=False)
                self._same = {ids: one for ids, one in self._same.items() if one is not oldest}
        return found

    # -- all ranks ---------------------------------------------------------------------------------------

    def gather(self, array: Any) -> np.ndarray | None:
        """The global array on rank 0, of what each rank owns; None on the others."""
        self._check_process()
        owned, extra = self._host(array)
        self._agree(f"gathering of {owned.dtype}, longer than the grid by {tuple(extra)}")
        return self._whole.gather(owned, extra, lambda: np.empty(self._whole.shape(extra), owned.dtype))

    def scatter(self, whole: Any, extra: int | Sequence[int] | None = None) -> Any:
        """This rank's part of rank 0's global array, with its halo; the others give None, or anything. `extra` is
        how much longer than the grid the field is; without it, as its lengths tell, which periodic axes do not."""
        self._check_process()
        given = None if extra is None else _one_each(extra, len(self.shape), "extra")
        part, more = self._whole.scatter(np.asanyarray(whole) if self.rank == 0 else None, given)
        made = self.empty(part.dtype, more)
        made[...] = part
        return made

    def allreduce(self, value: Any, operation: str = "sum") -> Any:
        """The ``"sum"``, ``"max"`` or ``"min"`` of a number or an array over all ranks, on all of them."""
        self._check_process()
        if operation not in ("sum", "max", "min"):
            raise LaunchError(
                f"allreduce: no operation {operation!r}", hint="sum, max or min", code=ARGUMENTS
            )
        values = np.array(value)
        flat = np.ascontiguousarray(values).reshape(-1)
        self._agree(f"{operation} of {values.dtype} of shape {values.shape}")
        self._wait(self._transport.allreduce(flat, operation), "the values of all ranks")
        return flat.reshape(values.shape) if values.shape else flat[0].item()

    def barrier(self) -> None:
        """Until all ranks are here."""
        self.allreduce(0)

    def save(self, path: str | os.PathLike, array: Any) -> None:
        """Write the global array to a file of NumPy's (``.npy``), through rank 0, a block at a time. A file of that
        name is there when it is complete, and can be loaded by any number of ranks."""
        self._check_process()
        owned, extra = self._host(array)
        self._agree(f"saving of {owned.dtype}, longer than the grid by {tuple(extra)}")
        self._whole.save(os.fspath(path), owned, extra)
        self.barrier()

    def load(self, path: str | os.PathLike) -> Any:
        """This rank's part of a global array in a file of NumPy's, which rank 0 reads."""
        return self.scatter(np.load(path, mmap_mode="r") if self.rank == 0 else None)

    def _host(self, array: Any) -> tuple[np.ndarray, tuple[int, ...]]:
        """What this rank owns, in the host's memory."""
        extra = self._extra(array)
        owned = _taken(array)[self.block.owned(extra)]
        return owned.numpy() if isinstance(owned, Array) else owned, extra

    # -- messages ----------------------------------------------------------------------------------------

    def _message(self, sent: list[Message], received: list[Message]) -> None:
        requests = self._transport.requests(sent, received)
        requests.start()
        self._wait(requests, "an array")

    def _wait(self, requests: Requests, what: str) -> None:
        if not requests.wait(self._timeout):
            raise LaunchError(
                f"rank {self.rank} of {self.size} waited in vain for {what} (at most {self._timeout:g} s): "
                "another rank has ended, or does something else",
                hint="all ranks make the same calls in the same order; pk.mpi.Grid(..., timeout=3600) waits longer",
            )

    def _agree(self, what: str) -> None:
        """Raises `LaunchError` on all ranks where not all say the same; once for what they have agreed upon."""
        if self.size == 1 or what in self._known:
            return
        digest = int.from_bytes(hashlib.sha256(what.encode()).digest()[:7], "little")
        found = np.array([digest, -digest], np.int64)
        self._wait(self._transport.allreduce(found, "max"), "all ranks to begin the same")
        if found[0] != -found[1]:
            raise LaunchError(
                f"the ranks disagree: rank {self.rank} of {self.size} begins the {what}",
                hint="give the same shapes, types and options on all ranks",
                code=ARGUMENTS,
            )
        self._known.add(what)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise LaunchError(
                "this grid is of another process: what a rank forks is no rank",
                hint="make calls of the grid in the process that the launcher of MPI started",
            )

    def __repr__(self) -> str:
        return f"<pk.mpi.Grid {self.shape}, rank {self.rank} of {self.size}: {self.local}>"


def _taken(array: Any) -> Any:
    """What the halos are of: the array, or a view of another library's memory on the CPU."""
    if isinstance(array, np.ndarray):
        return array
    if isinstance(array, Array):
        return array if array.host is None else array.host
    return as_numpy("array", array)


def _place(array: Any) -> tuple[Any, ...]:
    """What tells an array from others, however long they live."""
    if isinstance(array, np.ndarray):
        return array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str
    return id(array._allocation), array.offset, array.shape, array.strides, str(array.dtype), id(array)


def _transport(comm: Any) -> Transport:
    if comm is None and launched_rank() is None and "mpi4py.MPI" not in sys.modules:
        return Alone()
    kind = type(comm).__module__
    if kind.startswith("torch"):
        from pykern.mpi.torch_transport import TorchDistributed  # here: loads PyTorch

        return TorchDistributed(comm)
    if comm is not None and not kind.startswith("mpi4py"):
        raise LaunchError(
            f"comm={comm!r} is no communicator",
            hint="give mpi4py.MPI.COMM_WORLD or torch.distributed.group.WORLD, or leave it out",
            code=ARGUMENTS,
        )
    try:
        from pykern.mpi.mpi4py_transport import Mpi  # here: starts MPI
    except (ImportError, RuntimeError) as error:
        raise LaunchError(
            f"this process is one rank of several, and mpi4py does not load: {error}",
            hint="pip install mpi4py mpich (or use your system's MPI: pip install --no-binary mpi4py mpi4py)",
        ) from None
    found = Mpi(comm)
    if comm is None and found.size == 1 < (launched_size() or 1):
        raise LaunchError(
            f"the launcher started {launched_size()} ranks, and mpi4py's MPI knows one: they are of different MPIs",
            hint="start with the launcher beside mpi4py's MPI (`python -m mpi4py --mpi-library` names it): that of "
            "`pip install mpich` is in the folder of `python`",
        )
    return found


def _share_processors(transport: Transport) -> None:
    """Give each rank of this machine as many threads, where neither the user nor the launcher has shared them out."""
    everywhere = processors() == (os.cpu_count() or 1)
    if transport.local_size > 1 and everywhere and settings().num_threads is None:
        set_num_threads(min(get_num_threads(), max(1, processors() // transport.local_size)))


def _lengths(shape: int | Sequence[int]) -> tuple[int, ...]:
    lengths = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    if not 1 <= len(lengths) <= len(AXES) or any(
        not isinstance(n, int | np.integer) or n < 1 for n in lengths
    ):
        raise LaunchError(
            f"a grid of {shape!r}: it has one to three axes, each of at least one element",
            hint="write pk.mpi.Grid((nx, ny))",
            code=ARGUMENTS,
        )
    return tuple(int(n) for n in lengths)


def _one_each(given: Any, axes: int, name: str) -> tuple[int, ...]:
    """One number for each axis."""
    each = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else (given,) * axes
    least = -1 if name == "extra" else 0
    if len(each) != axes or any(not isinstance(n, int | np.integer) or n < least for n in each):
        raise LaunchError(
            f"{name}={given!r}: one number, or one for each of the {axes} axes",
            hint=f"write {name}=1",
            code=ARGUMENTS,
        )
    return tuple(int(n) for n in each)

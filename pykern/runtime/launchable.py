"""The type of kernel objects: a heap type whose instances hold the compiled entries.

Python has no way to write a C function into an instance; CPython's stable API has: a type made with
`PyType_FromSpecWithBases` whose instances end with the cells of `pykern.data.abi.KERNEL_CELLS`, the first of
which is the vectorcall of the instance. While it is 0 a call runs Python's ``__call__``.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from ctypes import c_char_p, c_int, c_ssize_t, c_uint, c_void_p, py_object
from typing import Any

from pykern.data.abi import ENTRIES, KERNEL_CELLS
from pykern.data.records import record

_MEMBERS_SLOT = 72  # Py_tp_members
_PYSSIZET, _READONLY = 19, 1
_DEFAULT, _HAVE_VECTORCALL, _BASETYPE = 1 << 18, 1 << 11, 1 << 10
SUPPORTED = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
"""Free-threaded builds have another object head: there every call goes through Python."""


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", c_char_p), ("type", c_int), ("offset", c_ssize_t), ("flags", c_int), ("doc", c_char_p),
    )  # fmt: skip


class _Slot(ctypes.Structure):
    _fields_ = (("slot", c_int), ("pfunc", c_void_p))


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", c_char_p), ("basicsize", c_int), ("itemsize", c_int), ("flags", c_uint), ("slots", c_void_p),
    )  # fmt: skip


_kept: list[Any] = []  # what CPython keeps pointers to
OFFSETS: dict[str, int] = {}
"""Of the types made here, by what they are called: bytes from an object's address to its cells."""
ABSENT = object()
"""As the value of a guard: the name means nothing."""
NAME, CELL, ATTRIBUTE = range(3)
"""Kinds of guards: an entry of a dict, the content of a closure's cell, an attribute of an object."""
Guarded = tuple[int, Any, str, object]
"""A guard: kind; dict, cell or object; name, interned; value."""


@record
class Otherwise:
    """Where calls go that no entry takes: `slow`, the same object for the kernel's life, and Python's way `python`.

    Where `slow` is `pk_adapt` it finds parameters by `names`, None for those of programs, and the defaults of those
    that are left out in `function`."""

    slow: object
    python: object
    names: tuple[str, ...] | None = None
    function: object = None


def make_launchable(base: type, called: str = "Kernel") -> Any:
    """A subclass of `base` with room for entries. `base` has ``__slots__``, among them ``_kept``."""
    if not SUPPORTED:
        return base
    size = base.__basicsize__
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", _PYSSIZET, size, _READONLY, None), _Member())
    slots = (_Slot * 2)(_Slot(_MEMBERS_SLOT, ctypes.cast(members, c_void_p)), _Slot(0, None))
    name = f"{base.__module__}.{called}".encode()
    flags = _DEFAULT | _HAVE_VECTORCALL | _BASETYPE
    spec = _Spec(name, size + 8 * len(KERNEL_CELLS), 0, flags, ctypes.cast(slots, c_void_p))
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.restype, make.argtypes = py_object, (c_void_p, py_object)
    _kept.append((members, slots, spec, name))
    made = make(ctypes.byref(spec), (base,))
    made.__doc__ = base.__doc__
    OFFSETS[called] = size
    return made


def offset(kernel: object) -> int:
    """Where the cells of a kernel object begin, in bytes from its address."""
    return type(kernel).__basicsize__ - 8 * len(KERNEL_CELLS)


def _cell(kernel: object, name: str) -> c_void_p:
    return c_void_p.from_address(id(kernel) + offset(kernel) + 8 * KERNEL_CELLS.index(name))


def install(
    kernel: Any,
    entries: list[tuple[int, int]],
    otherwise: Otherwise,
    guards: list[Guarded],
    kept: object = None,
) -> None:
    """Let calls go to `entries` in this order, their addresses and what they write, then to where others go.

    What the code points to is kept alive in ``kernel._kept`` with `kept`, also what it pointed to before: a call may be
    on its way. No call is for longer: none looks at any of it once it has let other threads run.
    """
    if not SUPPORTED:
        return
    tables = _tables_of(kernel)
    table = _guard_table(guards, tables)
    before = kernel._kept[2:] if kernel._kept else ()
    kernel._kept = (tables, before, otherwise, guards, table, kept)
    clear(kernel)  # no thread meets old entries behind new guards
    _publish_entries(kernel, otherwise, entries[:ENTRIES])
    _cell(kernel, "guards").value = ctypes.addressof(table) if guards else None
    _cell(kernel, "vectorcall").value = entries[0][0] if entries else None


def _publish_entries(
    kernel: Any, otherwise: Otherwise, entries: list[tuple[int, int]], program: bool = False
) -> None:
    """Fill the cells that tell what entries there are, and where other calls go."""
    _cell(kernel, "slow").value = id(otherwise.slow)
    _cell(kernel, "python").value = id(otherwise.python)
    _cell(kernel, "names").value = None if otherwise.names is None else id(otherwise.names)
    _cell(kernel, "function").value = None if otherwise.function is None else id(otherwise.function)
    _cell(kernel, "program").value = int(program)
    for number in range(ENTRIES + 1):
        entry, writes = entries[number] if number < len(entries) else (0, 0)
        _cell(kernel, f"entry{number}").value = entry
        if number < ENTRIES:
            _cell(kernel, f"writes{number}").value = writes


def install_plans(
    program: Any,
    entry: int,
    plans: list[tuple[tuple, int]],
    otherwise: Otherwise,
    guards: list[Guarded],
) -> None:
    """Let calls of an array program go to `entry`, which tries `plans` in this order, then to where others go. With
    each plan comes what it writes.

    The entry holds the plan that it runs; what it only looks at is kept until all cells are others.
    """
    tables = _tables_of(program)
    table = _guard_table(guards, tables)
    program._kept = (tables, program._kept, plans, otherwise, guards, table)
    clear(program)  # as above
    _publish_entries(
        program, otherwise, [(id(plan), writes) for plan, writes in plans[:ENTRIES]], program=True
    )
    _cell(program, "guards").value = ctypes.addressof(table)
    _cell(program, "vectorcall").value = entry if plans else None
    program._kept = (tables, plans, otherwise, guards, table)


def clear(kernel: Any) -> None:
    """Send every call through Python again."""
    if SUPPORTED:
        _cell(kernel, "vectorcall").value = None


def _tables_of(kernel: Any) -> dict[tuple[int, ...], Any]:
    """Tables that stay: reading an attribute runs the user's code where a property has come there since, and while it
    runs others may be put in place."""
    return kernel._kept[0] if kernel._kept else {}


def _guard_table(guards: list[Guarded], tables: dict[tuple[int, ...], Any]) -> ctypes.Array:
    """What entries read: how many; then the dict, 1 for a cell, or the object with an odd address; the name or the
    cell; the value."""
    cells = [len(guards)]
    for kind, owner, name, value in guards:
        key = owner if kind == CELL else name
        at = 1 if kind == CELL else id(owner) | (kind == ATTRIBUTE)
        cells += [at, id(key), 0 if value is ABSENT else id(value)]
    made = (ctypes.c_int64 * len(cells))(*cells)
    if all(kind != ATTRIBUTE for kind, *_ in guards):
        return made
    return tables.setdefault(tuple(cells), (made, guards))[0]

"""`assert_matches_python`: a kernel on a device against the same function run as plain Python.

Comes in: a kernel or an array program, and arguments of a call. Goes out: nothing, or an AssertionError that names
the worst entry. Both run on copies: the caller's arrays keep their values. Copies lie in memory as the arrays
do, so that strided and overlapping arguments stay so.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from pykern.interpreter.memory import bytes_at, extent
from pykern.runtime.event import Event

RTOL = {"float64": 1e-12, "float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}
FP8 = {"float8_e4m3fn": 0.13, "float8_e5m2": 0.26}
"""One unit in the last place: what two correct roundings may differ by."""
SPACING_OF_LARGEST = 4
"""The default `atol`: so many spacings of the largest entry, for entries that cancel."""


def assert_matches_python(
    kernel: Any,
    *args: Any,
    device: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    **launch: Any,
) -> None:
    """Run `kernel` on `device` and on the device ``python``, and compare every array it was given.

    ``assert_matches_python(heat, T2, T, c, 0.1, ndrange=T.shape)``. `args` are those of a call: arrays of NumPy
    or `pk.Array`s (also in tuples and dataclasses), scalars; `launch` the keywords of the launch (``ndrange``,
    ``workgroup``, ``shared_bytes``) and of the function. `device` defaults to where `pk.Array`s live, else
    ``cpu``. A `pk.jit` program is compared in its results, too; it runs on the CPU.

    Integers and truth values must be equal, NaNs and infinities in the same places. Floats may differ by
    ``atol + rtol * |reference|``; `rtol` defaults to 1e-12 for f64, 1e-5 for f32, 4e-3 for f16, 3e-2 for bf16, one
    unit in the last place for fp8; `atol` to 4 spacings (machine epsilon times magnitude) of the array's largest
    entry.

    Raises AssertionError with the worst entry (index, both values), `DeviceError` where the device is not there,
    and what the kernel itself raises on either device.
    """
    __tracebackhide__ = True
    device = device or home_of(args) or "cpu"
    names = names_of(kernel, args, launch)
    expected, expected_results = run_call(kernel, args, launch, "python")
    found, found_results = run_call(kernel, args, launch, device)
    pairs = [*zip(names, expected, found, strict=True)]
    pairs += [
        (f"result {n}" if len(expected_results) > 1 else "the result", one, other)
        for n, (one, other) in enumerate(zip(expected_results, found_results, strict=True))
    ]
    wrong = [text for pair in pairs if (text := difference(*pair, device, rtol, atol))]
    if wrong:
        name = getattr(kernel, "__name__", repr(kernel))
        raise AssertionError(f"`{name}` on {device} is not what plain Python gives\n" + "\n".join(wrong))


def run_call(
    kernel: Any, args: tuple, keywords: dict, device: str
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The arrays of the call after it, and the results of a program; all as NumPy's."""
    from pykern.runtime.devices import device as on

    copies = Copies()
    twins = [copies.of(value) for value in args]
    named = {name: copies.of(value) for name, value in keywords.items()}
    if getattr(kernel, "__pykern_program__", False):
        with on(device):
            returned = kernel(*twins, **named)
    else:
        returned = kernel(*twins, **named, device=device)
        if isinstance(returned, Event):
            returned.wait()
    results = [np.asarray(value) for value in _leaves(returned)]
    return arrays_in([*twins, *named.values()]), results


class Copies:
    """Copies of arguments. Arrays that share memory have copies that share memory, with the same strides."""

    def __init__(self) -> None:
        self._memories: dict[int, tuple[np.ndarray, int]] = {}
        self._hosts: dict[int, np.ndarray] = {}

    def of(self, value: Any) -> Any:
        if getattr(value, "__pykern_array__", False):
            return self._hosts.setdefault(id(value), np.array(value.numpy()))
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, tuple):
            parts = [self.of(one) for one in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            changed = {f.name: self.of(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
            return dataclasses.replace(value, **changed)
        return value

    def _array(self, array: np.ndarray) -> np.ndarray:
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        if id(root) not in self._memories:
            low, high = extent(root)
            self._memories[id(root)] = (bytes_at(low, high - low).copy(), low)
        memory, low = self._memories[id(root)]
        offset = array.__array_interface__["data"][0] - low if array.size else 0
        twin = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
        twin.flags.writeable = array.flags.writeable
        return twin


def home_of(args: tuple) -> str | None:
    """The device of the first `pk.Array` that lies on one."""
    homes = [value.device_name for value in _leaves(args) if getattr(value, "__pykern_array__", False)]
    return next((name for name in homes if name != "cpu"), None)


def _leaves(value: Any) -> list[Any]:
    """The values in tuples, lists, dicts and dataclasses, in order; events and None hold none."""
    if value is None or isinstance(value, Event):
        return []
    if isinstance(value, (tuple, list)):
        return [leaf for one in value for leaf in _leaves(one)]
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in _leaves(one)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [leaf for f in dataclasses.fields(value) for leaf in _leaves(getattr(value, f.name))]
    return [value]


def arrays_in(values: Any) -> list[np.ndarray]:
    return [leaf for leaf in _leaves(values) if isinstance(leaf, np.ndarray)]


def names_of(kernel: Any, args: tuple, keywords: dict) -> list[str]:
    """What messages call the arrays of the call, in the order of `run_call`."""
    signature = getattr(kernel, "signature", None)
    known = [*signature.parameters] if signature is not None else []
    positional = [known[n] if n < len(known) else f"argument {n}" for n in range(len(args))]
    named: list[str] = []
    for name, value in [*zip(positional, args, strict=True), *keywords.items()]:
        is_array = lambda leaf: isinstance(leaf, np.ndarray) or getattr(leaf, "__pykern_array__", False)  # noqa: E731
        count = sum(map(is_array, _leaves(value)))
        named += [name] if count == 1 else [f"{name}[{n}]" for n in range(count)]
    return named


def difference(
    name: str, expected: np.ndarray, found: np.ndarray, device: str, rtol: float | None, atol: float | None
) -> str | None:
    """In words, where two arrays differ by more than is allowed; None where they do not."""
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return f"  `{name}` is {found.dtype}{found.shape} on {device}, {expected.dtype}{expected.shape} in Python"
    if expected.size == 0:
        return None
    off, allowed, tolerance = _distances(expected, found, rtol, atol)
    excess = np.where(off <= allowed, -1.0, off - allowed)
    if (excess < 0).all():
        return None
    worst = np.unravel_index(np.argmax(excess), excess.shape)
    index = ", ".join(str(int(i)) for i in worst)
    count = int((excess >= 0).sum())
    place = f"`{name}[{index}]`" if worst else f"`{name}`"
    return (
        f"  {place} is {found[worst]} on {device}, {expected[worst]} in Python: the worst of "
        f"{count} entries that differ, of {expected.size}{tolerance}"
    )


def _distances(
    expected: np.ndarray, found: np.ndarray, rtol: float | None, atol: float | None
) -> tuple[np.ndarray, np.ndarray, str]:
    """How far entries are apart, how far they may be, and that in words. Unequal NaNs are infinitely far."""
    name = expected.dtype.name
    if name not in RTOL and name not in FP8:
        apart = np.where(expected == found, 0.0, np.inf)
        if expected.dtype.kind in "iu":  # in floats: a difference of integers may not fit its own type
            apart = np.abs(expected.astype(float) - found.astype(float)) + (expected != found)
        return apart, np.zeros(expected.shape), ""
    one, other = expected.astype(np.float64), found.astype(np.float64)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    finite = np.isfinite(one) & np.isfinite(other)
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.where(same, 0.0, np.where(finite, np.abs(one - other), np.inf))
        rtol = {**RTOL, **FP8}[name] if rtol is None else rtol
        if atol is None:
            magnitudes = np.abs(one[np.isfinite(one)])
            largest = float(magnitudes.max()) if magnitudes.size else 0.0
            atol = SPACING_OF_LARGEST * _epsilon(expected.dtype) * largest if name in RTOL else 0.0
        allowed = np.where(finite, atol + rtol * np.abs(one), 0.0)
    return off, allowed, f" (allowed: rtol {rtol:.3g}, atol {atol:.3g})"


def _epsilon(dtype: np.dtype) -> float:
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).eps)

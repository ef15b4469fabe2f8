"""Where PyTorch keeps what compiled code asks of a tensor, and the functions of its stable C interface.

Comes in: PyTorch, imported. Goes out: cells of the runtime's table ("torch."), once. Where something is not found, in
an older version for example, tensors go through Python. Nothing is taken on trust: places in memory are found by what
PyTorch's own functions say of tensors of several sorts, and are used where all of them agree.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any

from pykern.data.abi import TABLE_INDEX, TORCH_DTYPES
from pykern.runtime.cpu_table import keep, table
from pykern.types import BY_NAME

_OBJECT_WORDS, _HELD_WORDS = 4, (22, 23)
"""Words of a tensor's object, and of what it holds, that are looked at: no more than either has. Those up to 2.10
hold one word more, and the dispatch keys in it: more are looked at only where fewer do not have the keys."""
_FUNCTIONS = {
    "sizes": "sizes", "strides": "strides", "dim": "dim", "dtype": "dtype", "storage_size": "storage_size",
    "storage_offset": "storage_offset", "data": "data_ptr",
}  # fmt: skip
"""What they are called there; `data` is the last: from then on tensors are taken."""
_KINDS = {"b": "bool", "i": "int", "u": "uint", "f": "float"}
_SHORT = {"bool": "bool", "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}
_GETSET_AT = 40
"""Bytes from a getset descriptor to the address of its PyGetSetDef: name, get, set, doc, closure."""


def register_torch() -> bool:
    """Whether compiled code knows tensors now. Within a transformation of PyTorch it may not, and later it may."""
    try:
        return _register_torch()
    except (NotImplementedError, RuntimeError, TypeError):  # no sample could be made here
        return False


@functools.cache
def _register_torch() -> bool:
    torch = sys.modules["torch"]
    if not hasattr(torch._C, "_dispatch_keys") or not hasattr(torch._C.DispatchKeySet, "raw_repr"):
        return False
    found = _places(torch), _getter(torch), _shim(torch)
    if any(part is None for part in found):
        return False
    forward = sys.modules.get("torch.autograd.forward_ad")
    increment = getattr(torch._C, "_increment_version", None)
    if not isinstance(getattr(forward, "_current_level", None), int) or increment is None:
        return False
    assert forward is not None
    from pykern.arrays.torch_tensors import with_tensors  # here: it needs PyTorch

    cells = table()
    objects = {
        "forward": vars(forward),
        "level": sys.intern("_current_level"),
        "increment_version": increment,
        "given_tensors": with_tensors,
    }
    for name, value in objects.items():
        cells[TABLE_INDEX[f"torch.{name}"]] = id(keep(value))
    for part in found:
        for name, number in (part or {}).items():
            cells[TABLE_INDEX[f"torch.{name}"]] = _signed(number)
    return True


def _places(torch: Any) -> dict[str, int] | None:
    """Where an object holds its tensor, and that its dispatch keys; those of a tensor that is what its memory says."""
    samples = _samples(torch)
    payloads = [set(_equal(id(t), _OBJECT_WORDS, t._cdata)) for t in samples]
    payload, place, gradient = set.intersection(*payloads), _key_places(torch, samples), _gradient(torch)
    if len(payload) != 1 or len(place) != 1 or len(gradient) != 1:
        return None
    with torch.inference_mode():
        inference = torch.zeros(3, device="cpu")
    plain = _keys(torch, samples[0])
    if any(_keys(torch, t) == plain for t in samples[2:]):
        return None
    if not all(torch._C._dispatch_keys(t).has(torch._C.DispatchKey.CPU) for t in (samples[0], inference)):
        return None
    return {
        "payload": payload.pop(),
        "keys_at": place.pop(),
        "gradient_at": gradient.pop(),
        "keys": plain,
        "inference_keys": _keys(torch, inference),
    }


def _key_places(torch: Any, samples: list[Any]) -> set[int]:
    """Bytes to the words that are the dispatch keys of each tensor."""
    for words in _HELD_WORDS:
        found = set.intersection(*(set(_equal(t._cdata, words, _keys(torch, t))) for t in samples))
        if found:
            return found
    return set()


def _gradient(torch: Any) -> set[int]:
    """Bytes to words that are 0, and no more once a tensor requires a gradient."""
    words = _HELD_WORDS[0]
    found = set(range(0, 8 * words, 8))
    for made in (
        torch.zeros(3, device="cpu"),
        torch.zeros(2, 3, dtype=torch.float64, device="cpu"),
        torch.zeros((), device="cpu"),
    ):
        before = set(_equal(made._cdata, words, 0))
        made.requires_grad_()
        found &= before - set(_equal(made._cdata, words, 0))
    return found


def _samples(torch: Any) -> list[Any]:
    """Two that are plain, and then others."""
    plain = torch.zeros(3, device="cpu")
    numbers = torch.zeros(3, dtype=torch.complex64, device="cpu")
    return [
        plain,
        torch.zeros(2, 3, dtype=torch.int32, device="cpu")[:, 1],
        numbers.conj(),
        numbers.conj().imag,
        torch.zeros(3, device="meta"),
        plain.to_sparse(),
    ]


def _keys(torch: Any, tensor: Any) -> int:
    return torch._C._dispatch_keys(tensor).raw_repr()


def _equal(address: int, words: int, wanted: int) -> list[int]:
    """Bytes to the words of some memory that have a value."""
    found = (ctypes.c_uint64 * words).from_address(address)
    return [8 * n for n, word in enumerate(found) if word == wanted]


def _getter(torch: Any) -> dict[str, int] | None:
    """The function behind an attribute, which is called without looking the attribute up."""
    descriptor = torch.Tensor.requires_grad
    if type(descriptor).__name__ != "getset_descriptor":
        return None
    definition = ctypes.c_void_p.from_address(id(descriptor) + _GETSET_AT).value
    if not definition:
        return None
    name, get, _, _, closure = (ctypes.c_void_p * 5).from_address(definition)
    if not name or not get or ctypes.string_at(name) != b"requires_grad":
        return None
    return {"requires_grad": get, "requires_grad_closure": closure or 0}


def _shim(torch: Any) -> dict[str, int] | None:
    """The functions, where dtypes have the numbers that we know."""
    library = ctypes.PyDLL(torch._C.__file__)
    for ours, number in TORCH_DTYPES.items():
        dtype = BY_NAME[ours]
        theirs = _SHORT.get(ours, f"{_KINDS[dtype.kind]}{dtype.bits}")
        told = getattr(library, f"aoti_torch_dtype_{theirs}", None)
        if told is None or told() != number:
            return None
    found = {}
    for name, told in _FUNCTIONS.items():
        function = getattr(library, f"aoti_torch_get_{told}", None)
        if function is None:
            return None
        found[name] = ctypes.cast(function, ctypes.c_void_p).value or 0
    return found


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word

"""Tensor maps of arrays, which a driver encodes for kernels that copy boxes: made once for an address and a form.

Comes in: `TensorForm` and an address. Goes out: 128 bytes in memory of the host. Raises `DeviceError` where the driver
has no such function, or refuses.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from pykern.data.tensor_form import NBYTES, TensorForm
from pykern.errors import DeviceError

KEPT = 4096
"""Maps that are kept; then all go."""
_TYPES = {"f16": "FLOAT16", "bf16": "BFLOAT16", "s8": "UINT8", "u8": "UINT8"}
"""What CUDA calls the types of elements."""


class TensorMaps:
    """Those of one device; `encode` gives the address of a map that a driver has made, and what keeps it alive."""

    def __init__(self, encode: Callable[[int, TensorForm], tuple[int, Any]] | None, api: str) -> None:
        self._encode, self._api = encode, api
        self._made: dict[tuple[int, str], Any] = {}

    def map_of(self, address: int, form: TensorForm) -> Any:
        """A buffer that holds the map of the array at `address`."""
        key = address, form.text
        if key not in self._made:
            if self._encode is None:
                raise DeviceError(f"{self._api} has no tensor maps, which this code takes")
            if len(self._made) >= KEPT:
                self._made.clear()
            made, owner = self._encode(address, form)
            self._made[key] = ctypes.create_string_buffer(ctypes.string_at(made, NBYTES), NBYTES)
            del owner
        return self._made[key]


def encoder(cu: Any, do: Callable[..., Any]) -> Callable[[int, TensorForm], tuple[int, Any]]:
    """By CUDA's function; `do` makes a call and raises `DeviceError` where it fails."""

    def encode(address: int, form: TensorForm) -> tuple[int, Any]:
        cuuint32, cuuint64 = (getattr(cu, name, int) for name in ("cuuint32_t", "cuuint64_t"))
        made = do(
            "make a tensor map",
            cu.cuTensorMapEncodeTiled,
            getattr(cu.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{_TYPES[form.kind]}"),
            len(form.lengths),
            address,
            [cuuint64(n) for n in form.lengths],
            [cuuint64(n) for n in form.strides],
            [cuuint32(n) for n in form.box],
            [cuuint32(1)] * len(form.box),
            cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            cu.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
            cu.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
            cu.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
        return int(made.getPtr()), made

    return encode

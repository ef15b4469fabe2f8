"""What XLA hands to a handler: offsets of its C API for foreign functions, version 0.3, on machines of 64 bits.

The structs are those of `xla/ffi/api/c_api.h`, which comes with jaxlib. XLA takes handlers of an older minor version.
"""

from __future__ import annotations

MAJOR, MINOR = 0, 3
EXTENSION, API, CONTEXT, STAGE = 8, 16, 24, 32
ARGUMENTS, ARGUMENT_LIST, RESULTS, RESULT_LIST = 56, 72, 96, 112
"""Of `XLA_FFI_CallFrame`. The counts are 64 bits, the lists are pointers to pointers to buffers."""
EXTENSION_TYPE, METADATA, METADATA_TYPE = 8, 24, 1
"""Of `XLA_FFI_Extension_Base`: its type, and where the pointer is if it is `METADATA_TYPE`."""
VERSION_MAJOR, VERSION_MINOR, TRAITS = 24, 28, 32
"""Of `XLA_FFI_Metadata`, which a handler fills."""
EXECUTE = 3
"""The stage in which a call is computed."""
DTYPE, DATA, RANK, DIMS = 16, 24, 32, 40
"""Of `XLA_FFI_Buffer`."""
ERROR_CREATE, STREAM_GET, DEVICE_GET = 48, 80, 184
"""Of `XLA_FFI_Api`."""
ASKED_BYTES, ASKED_CONTEXT, ASKED = 32, 16, 24
"""Of `XLA_FFI_Stream_Get_Args` and `XLA_FFI_DeviceOrdinal_Get_Args`: their size, the context, and the answer."""
ERROR_BYTES, ERROR_MESSAGE, ERROR_CODE, INVALID_ARGUMENT, INTERNAL = 28, 16, 24, 3, 13
"""Of `XLA_FFI_Error_Create_Args`, and two codes."""

DTYPES = {
    "bool": 1, "i8": 2, "i16": 3, "i32": 4, "i64": 5, "u8": 6, "u16": 7, "u32": 8, "u64": 9, "f16": 10, "f32": 11,
    "f64": 12, "int": 5, "float": 12, "bf16": 16, "f8e5m2": 19, "f8e4m3": 20,
}  # fmt: skip
"""Numbers of XLA's types; numbers of Python have 64 bits."""

"""The names of `dtypes` for mypy: a variable of type Any may be subscripted in an annotation, by slices too."""

from __future__ import annotations

from typing import Any

bool_: Any
i8: Any
i16: Any
i32: Any
i64: Any
u8: Any
u16: Any
u32: Any
u64: Any
f16: Any
bf16: Any
f32: Any
f64: Any
f8e4m3: Any
f8e5m2: Any
In: Any
Out: Any
InOut: Any
static: Any

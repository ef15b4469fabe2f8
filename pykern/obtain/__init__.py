"""From a source to loaded code, for kernels and programs alike: cache, compiler, loader. Read first: `code`."""

from __future__ import annotations

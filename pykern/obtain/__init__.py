"""From a source to loaded code, for kernels and programs alike: cache, compiler, loader. Read first: `variants`."""

from __future__ import annotations

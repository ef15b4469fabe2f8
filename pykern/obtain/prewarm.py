"""Start the compiler before it is needed, where it probably will be."""

from __future__ import annotations

from pykern.capture.function_text import FunctionText
from pykern.compiler.cache import shared_cache
from pykern.data.digests import digest_of


def before_first_call(text: FunctionText) -> None:
    """Start the compiler process unless kernels of this very text lie in the cache already."""
    if not shared_cache().seen(digest(text)):
        from pykern.compiler.service import prewarm

        prewarm()


def remember(text: FunctionText) -> None:
    """Note that this text was compiled and kept."""
    shared_cache().mark_seen(digest(text))


def digest(text: FunctionText) -> str:
    return digest_of(f"{text.file}\n{text.text}")

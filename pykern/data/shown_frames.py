"""Whether a text is asked for by what prints a traceback, whose last frame shows the place already.

Comes in: the traceback of an error and its place. Goes out: true where Python itself (an uncaught error, a thread, the
module `traceback`, `logging`) prints the frames before it asks the error for its text. ``str(error)``, ``print(error)``
and the reports of others have no frames, or others: these get the place.
"""

from __future__ import annotations

import linecache
import os
import sys
import types

from pykern.data.locations import SourceSpan

_PRINTS_CARETS = sys.version_info >= (3, 11)


def shown_by_frames(traceback: types.TracebackType | None, span: SourceSpan) -> bool:
    """Asked by the text of an error: whether who wants it has printed frames that end at `span`."""
    return traceback is not None and _PRINTS_CARETS and _ends_at(traceback, span) and _asked_below_frames()


def _ends_at(traceback: types.TracebackType, span: SourceSpan) -> bool:
    """Whether the last frame is at the place, and Python finds the line there that was compiled."""
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    there = (traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
    if there != (span.file, span.line) or not os.path.isfile(
        span.file
    ):  # cells and `exec` have no file to read
        return False
    return linecache.getline(span.file, span.line).strip() == span.source_line().strip()


def _asked_below_frames() -> bool:
    """Whether the interpreter prints an error that nobody caught, or the module `traceback` one with its frames."""
    try:
        asking = sys._getframe(3)  # this, `shown_by_frames`, `__str__`, who wants the text
    except ValueError:
        return True  # no Python runs any more: the interpreter prints what ended the program
    name = asking.f_globals.get("__name__")
    if name == "traceback":
        made = asking.f_back  # `TracebackException.__init__`, which is given frames or None
        return made is not None and made.f_locals.get("exc_traceback") is not None
    return name == "threading"

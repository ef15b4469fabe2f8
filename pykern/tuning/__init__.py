"""`pk.tune`: other schedules are timed, the best is kept on disk. Read `tune.py` first."""

from __future__ import annotations

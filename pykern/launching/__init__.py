"""From a call to a launch: arguments, variants, entries, devices, graphs. Read `launch.py` first."""

from __future__ import annotations

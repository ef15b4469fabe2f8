"""`pk.Array`: making, placing, copying, exchange with other libraries. Read `array.py` first."""

from __future__ import annotations

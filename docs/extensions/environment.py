"""Every environment variable, from the one file that reads them."""

from __future__ import annotations

from pykern.environment import settings


def page() -> str:
    return settings.table()

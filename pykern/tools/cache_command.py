"""``pykern cache``: list, clear, path."""

from __future__ import annotations

import argparse
import dataclasses
import json
import time

from pykern.compiler.cache import open_cache

NEWEST = 20


def run(chosen: argparse.Namespace) -> int:
    cache = open_cache()
    if chosen.action == "path":
        print(cache.directory)
    elif chosen.action == "clear":
        removed = cache.clear()
        print(json.dumps({"removed": removed}) if chosen.json else f"removed {removed} compiled kernels")
    else:
        _list(cache, chosen.json, None if chosen.all else NEWEST)
    return 0


def _list(cache, as_json: bool, count: int | None) -> None:
    entries, totals = cache.entries(), cache.statistics()
    if as_json:
        listed = [dataclasses.asdict(e) for e in entries]
        print(json.dumps({"statistics": dataclasses.asdict(totals), "entries": listed}, indent=1))
        return
    for entry in entries[:count]:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
        print(
            f"{entry.key[:12]}  {entry.kernel:24} {entry.target:12} {entry.bytes / 1024:8.1f} kB  used {used}"
        )
    if len(entries) > len(entries[:count]):
        print(f"... and {len(entries) - len(entries[:count])} more (--all)")
    if totals.unusable:
        print(f"no cache: {totals.unusable}")
    print(
        f"{totals.entries} kernels, {totals.bytes / 1e6:.1f} of {totals.max_bytes / 1e6:.0f} MB in {totals.directory}"
    )

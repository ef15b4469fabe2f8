"""Two trees of pykern on every device, by turns: ``python benchmarks/devices_by_turns.py BEFORE [--turns 3]``.

Comes in: the folder of another tree, as ``git worktree add BEFORE 619b8196`` makes one. Goes out: for each row of
`devices` and each device the least time of either tree, and this tree's over the other's; the geometric means last.
Each tree runs its own `devices.py`, in a process and with a cache of its own; rows that only one has are named at the
end. Trees take turns, so that what else the machine does meets both; the tree that begins changes as well.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
Times = dict[tuple[str, str], float]
"""A row and a device -> seconds of a launch."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="the folder of the other tree")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small arrays: no figures to quote")
    parser.add_argument("--only", default="", help="rows whose name holds this")
    options = parser.parse_args()
    trees = {"before": options.before.resolve(), "now": HERE}
    if not (trees["before"] / "benchmarks" / "devices.py").is_file():
        parser.error(f"{trees['before']} holds no benchmarks/devices.py")
    asked = ["--only", options.only, *(["--quick"] if options.quick else [])]
    least: dict[str, Times] = {"before": {}, "now": {}}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.turns):
            for name in list(trees)[:: 1 if turn % 2 == 0 else -1]:
                found = measured(trees[name], Path(folder) / name, asked)
                known = least[name]
                least[name] = known | {key: min(found[key], known.get(key, found[key])) for key in found}
    print("\n".join(compared(least["before"], least["now"])))
    return 0


def measured(tree: Path, folder: Path, asked: list[str]) -> Times:
    """One run of a tree. Raises `CalledProcessError` where a row fails."""
    folder.mkdir(exist_ok=True)
    file = folder / "devices.json"
    environment = os.environ | {"PYTHONPATH": str(tree), "PYKERN_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, str(tree / "benchmarks" / "devices.py"), "--json", str(file), *asked]
    subprocess.run(command, cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL)
    rows = json.loads(file.read_text())["rows"]
    return {(row["name"], device): seconds for row in rows for device, seconds in row["times"].items()}


def compared(before: Times, now: Times) -> list[str]:
    """Lines of the table."""
    both = [key for key in now if key in before]
    lines = [f"{'milliseconds, the least':38}{'device':12}{'before':>10}{'now':>10}{'ratio':>8}"]
    for row, device in both:
        old, new = before[row, device] * 1e3, now[row, device] * 1e3
        lines.append(f"{row:38}{device:12}{old:10.3f}{new:10.3f}{new / old:8.2f}")
    for device in dict.fromkeys(device for _, device in both):
        ratios = [now[key] / before[key] for key in both if key[1] == device]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines.append(f"{'geometric mean':38}{device:12}{'':20}{mean:8.2f}")
    alone = sorted({key[0] for key in before.keys() ^ now.keys()})
    return lines + ([f"in one tree alone: {', '.join(alone)}"] if alone else [])


if __name__ == "__main__":
    raise SystemExit(main())

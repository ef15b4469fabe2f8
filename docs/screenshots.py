"""Pictures of the explorer for README and documentation: ``python docs/screenshots.py``.

Comes in: a kernel, Chromium on PATH, playwright and Pillow. Goes out: ``docs/_static/explorer-*.png``, light
and dark. Fonts are those of this machine; Inter and JetBrains Mono look best (Debian: fonts-inter,
fonts-jetbrains-mono).
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import pykern as pk

STATIC = Path(__file__).with_name("_static")
SIZE = {"width": 1280, "height": 800}
LARGEST = 200_000
"""Bytes of a picture."""


@pk.kernel
def heat(new, old, rate):
    i, j = pk.index()
    n, m = old.shape
    if 0 < i < n - 1 and 0 < j < m - 1:
        new[i, j] = old[i, j] + rate * (
            old[i - 1, j]
            + old[i + 1, j]
            + old[i, j - 1]
            + old[i, j + 1]
            - 4 * old[i, j]
        )  # fmt: skip


MATRIX = pk.spec(("n", "m"), pk.f32)
ARGUMENTS = (MATRIX, MATRIX, pk.f32)
SPACE = ("n", "m")


def line(text: str) -> int:
    """The line of this file with `text` in the kernel."""
    rows = heat.text.text.splitlines()
    return heat.text.first_line + next(n for n, row in enumerate(rows) if text in row)


def main() -> None:
    """Write the pages, take the pictures."""
    STATIC.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp())
    gpu = pk.explore(heat, *ARGUMENTS, ndrange=SPACE, target="nvvm:sm_90a", to=folder / "heat.html")
    both = pk.explore(
        heat, *ARGUMENTS, ndrange=SPACE, target=("llvm", "nvvm:sm_90a"), to=folder / "targets.html"
    )
    cpu = pk.explore(heat, *ARGUMENTS, ndrange=SPACE, target="llvm", to=folder / "cpu.html")
    stages = [s.name for s in cpu.data.subjects[0].stages]
    before, after = stages.index("kern-tighten-bounds") - 1, stages.index("kern-tighten-bounds")
    views = {
        "heat": (gpu.path, f"pin=p0.0.{line('old[i - 1, j]')}&second=p0.0.{line('+ old[i, j + 1]')}"),
        "roofline": (gpu.path, f"pin=p0.0.{line('old[i, j] + rate')}&drawer=roofline"),
        "diff": (cpu.path, f"a={before}&b={after}&diff=side&drawer=memory&quiet=1"),
        "targets": (both.path, f"pin=p0.0.{line('old[i - 1, j]')}&drawer=resources"),
    }
    path = shutil.which("chromium")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, (page, view) in views.items():
            for scheme in ("light", "dark"):
                context = browser.new_context(viewport=SIZE, color_scheme=scheme, device_scale_factor=1.5)
                tab = context.new_page()
                tab.goto(f"{page.resolve().as_uri()}#{view}")
                tab.wait_for_function("document.documentElement.dataset.ready === '1'")
                tab.evaluate("document.fonts.ready")
                tab.mouse.move(1279, 799)
                save(tab.screenshot(), STATIC / f"explorer-{name}-{scheme}.png")
                context.close()
        browser.close()
    shutil.rmtree(folder)


def save(picture: bytes, path: Path) -> None:
    """As a palette, with as many colours as fit into `LARGEST` bytes."""
    full = Image.open(io.BytesIO(picture)).convert("RGB")
    for colours in (255, 192, 128, 96, 64):
        held = io.BytesIO()
        quantised = full.quantize(colours, dither=Image.Dither.NONE)
        quantised.save(held, "PNG", optimize=True)
        if len(held.getvalue()) < LARGEST:
            break
    else:
        sys.exit(f"{path.name} does not fit into {LARGEST} bytes")
    path.write_bytes(held.getvalue())
    print(f"{path}  {len(held.getvalue()) // 1000} kB, {colours} colours")


if __name__ == "__main__":
    main()

"""A tab of a real browser on an explorer page: what tests see and do there, without waiting for times.

Run with ``PYKERN_TEST_BROWSER=1``, where Chromium is on PATH and playwright is installed.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from pykern.explorer.comparison import Comparison
from pykern.explorer.page import page

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
WEBGPU = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")
"""What makes a browser without a GPU run WebGPU, on the CPU."""


def launched(*flags: str):
    """A browser, until the generator is closed; skips where there is none or it was not asked for."""
    if not os.environ.get("PYKERN_TEST_BROWSER"):
        pytest.skip("PYKERN_TEST_BROWSER=1 runs the tests in a browser")
    sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.fail(
            f"PYKERN_TEST_BROWSER is set and no browser is there: none of {', '.join(NAMES)} is on PATH"
        )
    with sync_api.sync_playwright() as play:
        running = play.chromium.launch(executable_path=path, args=["--no-sandbox", *flags])
        yield running
        running.close()


def written(folder: Path, data: Comparison) -> Path:
    """The page as a file."""
    file = folder / "page.html"
    file.write_text(page(data), encoding="utf-8")
    return file


class Tab:
    """A page that is open, with what went wrong in it."""

    def __init__(self, browser: Any, file: Path, hash: str = "", **options: Any):
        size = options.pop("size", (1400, 850))
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        self.context.set_default_timeout(120_000)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)
        self.page.on("request", lambda asked: self.requests.append(asked.url))
        self.page.goto(file.as_uri() + hash)
        self.page.wait_for_function("document.documentElement.dataset.ready === '1'")

    def lit(self, pane: str, kind: str = "lit") -> list[int]:
        """Numbers of the lit rows of a pane that are in the document."""
        return self.page.eval_on_selector_all(
            f"#{pane} .row.{kind} .n", "rows => rows.map(r => +r.textContent)"
        )

    def present(self, pane: str) -> set[int]:
        return set(
            self.page.eval_on_selector_all(f"#{pane} .row .n", "rows => rows.map(r => +r.textContent)")
        )

    def all_lit(self) -> list[list[int]]:
        """The lines that are lit for the pin, in every stage of the page."""
        return self.page.evaluate("explorer.lit(explorer.state.pin)")

    def click_line(self, line: int, pane: str = "python", **how: Any) -> None:
        """Click a line of a pane with the mouse."""
        number = {"python": 0, "a": 1, "b": 2}[pane]
        n = self.page.evaluate(
            """([p, line]) => {
                const pane = explorer.panes[p], n = pane.rows.findIndex(r => r.line === line);
                pane.reveal(n);
                pane.draw();
                return n;
            }""",
            [number, line],
        )
        self.page.click(f'#{pane} .row[data-n="{n}"] .n', **how)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def state(self) -> dict[str, Any]:
        return self.page.evaluate(
            "(({a, b, pin, second, diff, follow, plumbing, theme, drawer, only}) => "
            "({a, b, pin, second, diff, follow, plumbing, theme, drawer, only}))(explorer.state)"
        )

    def done(self) -> None:
        assert self.wrong == []
        assert [url for url in self.requests if not url.startswith(("file:", "blob:"))] == []
        assert len([url for url in self.requests if url.startswith("file:")]) == 1
        self.context.close()

"""A browser for each file of tests, and pages of explorations in it."""

from __future__ import annotations

import pytest

from pykern.explorer.comparison import Comparison
from tests.explorer import browser as real
from tests.explorer.browser import Tab


@pytest.fixture(scope="module")
def browser():
    yield from real.launched()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page of explorations; all of them are checked and closed at the end."""
    tabs = []

    def open_(*subjects, hash="", **options):
        tabs.append(Tab(browser, real.written(tmp_path, Comparison(subjects)), hash, **options))
        return tabs[-1]

    yield open_
    for tab in tabs:
        tab.done()

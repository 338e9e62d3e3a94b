# SPDX-License-Identifier: BSD-3-Clause
"""A real browser, to see pages as a reader does."""

import shutil
from contextlib import contextmanager

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def open_browser():
    """A browser; the test is skipped where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is missing")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    with api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


def visit(browser, path, **options):
    """The page, and lists of what it complained of and what it asked for."""
    tab = browser.new_context(**options).new_page()
    told, asked = [], []
    tab.on("console", lambda message: told.append(message.text))
    tab.on("pageerror", lambda error: told.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(path.as_uri())
    return tab, told, asked

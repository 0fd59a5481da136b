"""A visitor of a new server in a real browser, who notes when pictures are drawn and what is received."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.chromium import ARGUMENTS, executable
from tests.browser.conftest import ROOT, Server

# Every drawing on a canvas begins with setTransform: remember when, and which picture.
WATCH = """
window.drawn = [];
const transform = CanvasRenderingContext2D.prototype.setTransform;
CanvasRenderingContext2D.prototype.setTransform = function (...matrix) {
  window.drawn.push([performance.now(), this.canvas.getAttribute("aria-label") || ""]);
  return transform.apply(this, matrix);
};
for (const event of ["pointerdown", "keydown"])
  document.addEventListener(event, () => { window.begun = performance.now(); window.drawn = []; }, true);
"""


@contextmanager
def visitor(script: str = "") -> Iterator[tuple[Page, str, list[int]]]:
    """A tab, the address of a server that has just been started, and the bytes of every message received so far.

    script: run in the tab before the page's own, beside WATCH.
    """
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(ROOT / "app.py", Path(folder) / "store")
        browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        try:
            tab = browser.new_page(viewport={"width": 1280, "height": 1000})
            tab.add_init_script(WATCH + script)
            received: list[int] = []
            tab.on("websocket", lambda socket: socket.on("framereceived", lambda data: received.append(len(data))))
            yield tab, server.address, received
        finally:
            browser.close()
            server.stop()

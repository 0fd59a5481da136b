"""What a visitor waits for: the first picture after a start, another head or layer after a click, and bytes sent.

Run ``python -m tests.bench.bench_app``. Times are of one machine in one run, printed and never asserted; run it on a
machine that does nothing else.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.chromium import ARGUMENTS, executable
from tests.browser.conftest import ROOT, Server

CLICKS = 10
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


def drawn_after(page, title: str) -> float:
    """Milliseconds from the last click or key to the drawing of the picture with that title; waits for it."""
    find = "title => window.drawn.findLast(([at, label]) => label.startsWith(title + ':'))"
    page.wait_for_function(find, arg=title, timeout=60_000)
    page.wait_for_timeout(300)  # whatever is still drawn for the same click counts
    return page.evaluate(f"title => ({find})(title)[0] - window.begun", title)


def clicks(page, received: list[int], layers: int, heads: int) -> tuple[list[float], list[int]]:
    """Click heads here and there; milliseconds until each is drawn, and bytes received for each."""
    grid = page.locator(".st-key-all-heads canvas[tabindex]").first
    box = grid.bounding_box()
    left, top = 32, 18  # the labels of rows and columns
    times, sizes = [], []
    for turn in range(1, CLICKS + 1):
        layer, head = (turn * 5 + 1) % layers, (turn * 7 + 2) % heads
        x = box["x"] + left + (box["width"] - left) * (head + 0.5) / heads
        y = box["y"] + top + (box["height"] - top) * (layer + 0.5) / layers
        received.clear()
        page.mouse.click(x, y)
        times.append(drawn_after(page, f"L{layer} H{head}"))
        sizes.append(sum(received))
    return times, sizes


def measure(folder: Path) -> None:
    """One start, one visitor."""
    started = time.perf_counter()
    server = Server(ROOT / "app.py", folder / "store")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
            page = browser.new_page(viewport={"width": 1280, "height": 1000})
            page.add_init_script(WATCH)
            received: list[int] = []
            page.on("websocket", lambda socket: socket.on("framereceived", lambda data: received.append(len(data))))
            page.goto(server.address)
            page.locator(".st-key-all-heads canvas[tabindex]").first.wait_for(timeout=120_000)
            say(f"cold: first picture {time.perf_counter() - started:.1f} s after `streamlit run`")
            page.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=60_000)
            say(f"first visit: {sum(received) / 1000:.0f} kB received")
            page.wait_for_timeout(2000)
            times, sizes = clicks(page, received, layers=6, heads=12)
            say(
                f"warm: another head drawn after {statistics.median(times):.0f} ms (median of {CLICKS}, "
                f"largest {max(times):.0f}), {statistics.median(sizes) / 1000:.0f} kB received per click"
            )
            browser.close()
    finally:
        server.stop()


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Measure in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder))


if __name__ == "__main__":
    main()

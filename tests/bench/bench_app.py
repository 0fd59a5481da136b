"""What a visitor waits for: the first picture after a start, another head or layer after a click, and bytes sent.

Run ``python -m tests.bench.bench_app``. Times are of one machine in one run, printed and never asserted; run it on a
machine that does nothing else.
"""

from __future__ import annotations

import statistics
import sys
import time

from tests.bench.visitor import visitor

CLICKS = 10


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


def main() -> None:
    """One start, one visitor."""
    started = time.perf_counter()
    with visitor() as (page, address, received):
        page.goto(address)
        page.locator(".st-key-all-heads canvas[tabindex]").first.wait_for(timeout=120_000)
        say(
            f"cold: first picture {time.perf_counter() - started:.1f} s, `streamlit run` and a browser's start included"
        )
        page.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=60_000)
        say(f"first visit: {sum(received) / 1000:.0f} kB received")
        page.wait_for_timeout(2000)
        times, sizes = clicks(page, received, layers=6, heads=12)
    say(
        f"warm: another head drawn after {statistics.median(times):.0f} ms (median of {CLICKS}, "
        f"largest {max(times):.0f}), {statistics.median(sizes) / 1000:.0f} kB received per click"
    )


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

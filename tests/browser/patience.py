"""What a visitor does when a redraw swallows a click: wait until the page is at rest, and try again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, TimeoutError

TRIES, TRY = 4, 30_000  # ms


def resting(tab: Page) -> None:
    """Wait until no script runs."""
    tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=TRIES * TRY)


def tried(tab: Page, work: Callable[[], Any]) -> Any:
    """The result of work that may time out; the last timeout is raised."""
    for left in reversed(range(TRIES)):
        resting(tab)
        try:
            return work()
        except TimeoutError:
            if not left:
                raise
    raise AssertionError("unreachable")


def box_drawn(tab: Page, middle: tuple[float, float], before: int, after: int = 60) -> None:
    """Draw a box with Shift held, from so many pixels before a point to so many after it, both ways."""
    tab.keyboard.down("Shift")
    tab.mouse.move(middle[0] - before, middle[1] - before)
    tab.mouse.down()
    tab.mouse.move(middle[0] + after, middle[1] + after, steps=8)
    tab.mouse.up()
    tab.keyboard.up("Shift")


def downloaded(tab: Page, button: Locator) -> Path:
    """The file behind a download button."""

    def work() -> Path:
        with tab.expect_download(timeout=TRY) as download:
            button.click(timeout=TRY)
        return download.value.path()

    return tried(tab, work)

"""Open the app in headless Chromium and wait for its main picture: ``python -m tests.browser.open_page URL``."""

import sys

from playwright.sync_api import sync_playwright

from tests.browser.chromium import ARGUMENTS, executable


def open_page(address: str) -> str:
    """The page's text once all heads are drawn; raises where they are not within two minutes, or on a console error."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        complaints = []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        page.locator(".st-key-all-heads canvas[tabindex]").first.wait_for(timeout=120_000)
        text = page.inner_text("body")
        browser.close()
    if complaints:
        raise RuntimeError("\n".join(complaints))
    return text


if __name__ == "__main__":
    sys.stdout.write(open_page(sys.argv[1])[:200] + "\n")

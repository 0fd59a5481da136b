"""Open an address in headless Chromium and wait for the first picture: ``python -m tests.browser.open_page URL``."""

import sys

from playwright.sync_api import sync_playwright

from tests.browser.chromium import ARGUMENTS, executable


def open_page(address: str) -> str:
    """The page's text once a canvas is drawn; raises where none appears within two minutes."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(address)
        page.locator("canvas").first.wait_for(timeout=120_000)
        text = page.inner_text("body")
        browser.close()
    return text


if __name__ == "__main__":
    sys.stdout.write(open_page(sys.argv[1])[:200] + "\n")

"""Where Chromium is, and how it is started without a network."""

import shutil

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def executable() -> str | None:
    """The installed browser, or None."""
    return next(
        (path for name in ("chromium", "google-chrome", "chromium-browser") if (path := shutil.which(name))),
        None,
    )

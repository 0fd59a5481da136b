"""What several rooms' tests share."""

import pytest


@pytest.fixture(scope="session")
def minilm():
    """The default model, or a skip where its package is not installed."""
    from lib.models import catalogue, load

    entry = next(entry for entry in catalogue() if entry.name == "all-MiniLM-L6-v2")
    if not entry.available:
        pytest.skip(entry.why_not)
    return load(entry.name)

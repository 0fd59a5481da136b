"""Every test of the pages has a store of its own, so that none reads what another (or a developer's app) wrote."""

import pytest

from lib.ui import cached


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setattr(cached, "STORE_FOLDER", tmp_path / "store")
    cached.store.clear()
    cached.patterns.clear()
    yield
    cached.store.clear()
    cached.patterns.clear()


@pytest.fixture
def fresh():
    """Nothing that another test measured is kept."""
    cached.shelves.clear()
    yield
    cached.shelves.clear()

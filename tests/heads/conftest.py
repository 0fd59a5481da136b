"""Real models, loaded once."""

import pytest

from lib import models
from lib.corpora import builtin


@pytest.fixture(scope="session")
def minilm():
    return models.load("all-MiniLM-L6-v2", device="cpu")


@pytest.fixture(scope="session")
def smollm2():
    return models.load("SmolLM2-135M-Instruct", device="cpu")


@pytest.fixture(scope="session")
def dinov2():
    return models.load("DINOv2-small", device="cpu")


@pytest.fixture(scope="session")
def articles():
    """Six short articles."""
    return sorted(builtin("encyclopedia"), key=lambda document: len(document.text))[:6]

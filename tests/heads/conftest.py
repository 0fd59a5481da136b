"""Real models, loaded once."""

import pytest

from lib import models
from lib.corpora import builtin
from lib.models.offline import NotInstalled


def _loaded(name):
    try:
        return models.load(name, device="cpu")
    except NotInstalled as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def minilm():
    return _loaded("all-MiniLM-L6-v2")


@pytest.fixture(scope="session")
def smollm2():
    return _loaded("SmolLM2-135M-Instruct")


@pytest.fixture(scope="session")
def dinov2():
    return _loaded("DINOv2-small")


@pytest.fixture(scope="session")
def articles():
    """Six short articles."""
    return sorted(builtin("encyclopedia"), key=lambda document: len(document.text))[:6]

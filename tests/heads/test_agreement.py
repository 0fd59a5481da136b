import numpy as np
import pytest

from lib.heads.agreement import head_correlations, projection_agreement
from lib.models import Engine
from tests.capture.families import tiny


def test_correlations_equal_numpys():
    a, b = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
    expected = [np.corrcoef(x.ravel(), y.ravel())[0, 1] for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(head_correlations(a, b), expected)
    np.testing.assert_allclose(head_correlations(a, 3 * a + 1), 1)
    assert np.isnan(head_correlations(a, np.ones_like(a))).all()


def test_a_planted_head_that_asks_as_it_answers():
    engine = Engine.from_parts(tiny("bert"))
    attention = engine.model.encoder.layer[1].attention.self
    attention.key.weight[8:16] = 2 * attention.query.weight[8:16]
    agreement = projection_agreement(engine, (0, 1))
    assert agreement.shape == (2, 3)
    assert agreement[1, 1] == pytest.approx(1, abs=1e-6)
    assert np.abs(np.delete(agreement.ravel(), 4)).max() < 0.3

import numpy as np
import pytest
import torch

from lib.capture import tapped
from lib.heads.visibility import attention_window, causal_stream, visible
from lib.models import Engine
from tests.capture.families import SEQUENCE, TEXT, inputs, tiny


@pytest.mark.parametrize("family", [*TEXT, *SEQUENCE])
def test_what_heads_attend_to_is_what_the_configuration_lets_them_see(family):
    engine = Engine.from_parts(tiny(family))
    given = inputs(family, length=40, batch=1)
    given["attention_mask"][:] = 1
    calls = []
    with torch.inference_mode(), tapped(engine.model, see=calls.append):
        engine.model(**given)
    for call in calls:
        attended = (call.pattern[0] > 0).any(0).numpy()
        window = attention_window(engine, call.layer)
        expected = visible(*attended.shape, causal_stream(engine, call.stream), window)
        np.testing.assert_array_equal(attended, expected, err_msg=f"{call.stream}, layer {call.layer}")


def test_windows_by_hand():
    np.testing.assert_array_equal(visible(3, 3, True, 2), [[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    np.testing.assert_array_equal(visible(3, 3, False, 1), [[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    assert visible(2, 5, False).all()

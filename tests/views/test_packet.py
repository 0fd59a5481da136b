import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lib.views.packet import MAX_BYTES, PayloadTooLarge, amend, pack, quantise, restore, unpack

UNIT = st.floats(0, 1, allow_nan=False)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32", "uint32", "float32"])
def test_arrays_and_text_come_back(dtype):
    array = np.arange(7, dtype=dtype).reshape(1, 7)
    meta, arrays = unpack(pack({"label": 'שלום </script> 💩 \ud800 "'}, {"a": array, "empty": array[:, :0]}))
    assert meta == {"label": 'שלום </script> 💩 \ud800 "'}
    assert arrays["a"].dtype == dtype and arrays["empty"].shape == (1, 0)
    np.testing.assert_array_equal(arrays["a"], array)


def test_every_array_starts_at_a_multiple_of_eight():
    packet = pack({"odd": "x"}, {"a": np.zeros(3, np.uint8), "b": np.ones(2, np.float32)})
    assert len(packet) % 8 == 0
    assert (4 + int.from_bytes(packet[:4], "little")) % 8 == 0
    np.testing.assert_array_equal(unpack(packet)[1]["b"], [1, 1])


def test_a_larger_packet_is_refused_with_a_way_out():
    with pytest.raises(PayloadTooLarge, match=r"1,500,000.*Show fewer"):
        pack({}, {"a": np.zeros(MAX_BYTES, np.uint8)})


def test_types_the_browser_cannot_read_are_refused():
    with pytest.raises(TypeError, match="float64"):
        pack({}, {"a": np.zeros(2)})


def test_amending_keeps_the_arrays():
    before = pack({"a": 1, "b": 2}, {"x": np.arange(5, dtype=np.int32)})
    meta, arrays = unpack(amend(before, b=3, c="é"))
    assert meta == {"a": 1, "b": 3, "c": "é"}
    np.testing.assert_array_equal(arrays["x"], np.arange(5))


@given(hnp.arrays(np.float64, 20, elements=UNIT), st.floats(-5, 5), st.floats(0.01, 100), st.sampled_from([8, 16]))
def test_sequential_values_come_back_within_the_stated_bound(unit, low, width, bits):
    values = low + unit * width
    back = restore(quantise(values, low, low + width, bits), low, low + width)
    steps = 2**bits - 2
    bound = width * (np.sqrt(unit) / steps + 1 / (4 * steps**2))
    assert (np.abs(back - values) <= bound + 1e-9 * (abs(low) + width)).all()


@given(hnp.arrays(np.float64, 20, elements=st.floats(-1, 1)), st.floats(0.01, 100), st.sampled_from([8, 16]))
def test_diverging_values_come_back_within_the_stated_bound_and_zero_exactly(unit, most, bits):
    values = np.append(unit, 0.0) * most
    back = restore(quantise(values, -most, most, bits, "diverging"), -most, most, "diverging")
    steps = 2**bits - 2
    bound = most * (2 * np.sqrt(np.abs(np.append(unit, 0))) / steps + 1 / steps**2)
    assert (np.abs(back - values) <= bound + 1e-9 * most).all()
    assert back[-1] == 0


def test_no_value_is_not_a_small_value():
    codes = quantise(np.array([0.0, np.nan, np.inf, 1e-9]), 0, 1)
    np.testing.assert_array_equal(codes == 0, [False, True, True, False])
    assert np.isnan(restore(codes, 0, 1)[1])


def test_values_beyond_the_range_are_clipped_and_order_is_kept():
    codes = quantise(np.array([-3.0, 0.0, 0.25, 1.0, 7.0]), 0, 1)
    np.testing.assert_array_equal(codes, [1, 1, 128, 255, 255])  # √0.25 = ½, half of 254 steps, plus one


def test_a_constant_matrix_comes_back_as_its_constant():
    assert restore(quantise(np.full(3, 0.5), 0.5, 0.5), 0.5, 0.5).tolist() == [0.5, 0.5, 0.5]

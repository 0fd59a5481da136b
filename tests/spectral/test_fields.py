import numpy as np
import pytest

from lib.capture import pattern
from lib.corpora import Document, encode
from lib.errors import HeadlightError
from lib.spectral import Field, dominant_scales, head_mean_field, lag_scalogram, snapshot_pod, windows
from lib.spectral.windows import kept_length
from tests.spectral.synthetic import noise_field, softmax_rows


def test_mean_and_fluctuation_add_up_to_the_pattern():
    field = noise_field(8, 32)
    np.testing.assert_allclose(field.mean + field.fluctuation, field.pattern, atol=1e-7)
    np.testing.assert_allclose(field.fluctuation.mean(axis=0), 0, atol=1e-7)
    assert (field.documents, field.length, field.cells) == (8, 32, 32 * 33 // 2)


def test_causality_is_read_from_the_pattern_and_checked_where_claimed():
    assert noise_field(3, 8).causal and not noise_field(3, 8, causal=False).causal
    assert Field(np.zeros((3, 8, 8)), causal=False).causal is False
    with pytest.raises(HeadlightError, match="later keys"):
        Field(noise_field(3, 8, causal=False).pattern, causal=True)


def test_a_field_cannot_be_changed():
    field = noise_field(3, 8)
    for array in (field.pattern, field.mean):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


def test_the_hash_tells_fields_apart():
    first, same = noise_field(3, 8), noise_field(3, 8)
    other = first.pattern.copy()
    other[1, 7, 7] += 1e-6
    assert first.hash == same.hash
    assert len({first.hash, Field(other).hash, Field(first.pattern, layer=1).hash}) == 3


@pytest.mark.parametrize("shape", [(3, 8, 9), (8, 8), (0, 8, 8), (3, 2, 2)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(HeadlightError):
        Field(np.zeros(shape))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_names_its_document(bad):
    broken = noise_field(3, 8).pattern.copy()
    broken[2, 3, 1] = bad
    with pytest.raises(HeadlightError, match="document 2"):
        Field(broken)


def test_fields_of_a_real_encoder_are_its_patterns_between_ordinary_tokens(minilm, documents):
    cut = windows(documents, minilm, 32, 5)
    fields = head_mean_field(minilm, cut, layers=[1, 4])
    assert [f.layer for f in fields] == [1, 4] and not fields[0].causal
    for index, window in enumerate(cut):
        whole = np.asarray(pattern(minilm, window, layers=[4]))[0].mean(axis=0)
        np.testing.assert_allclose(fields[1].pattern[index], whole[1:-1, 1:-1], atol=1e-6)
        taken = whole[1:-1, [0, -1]].sum(axis=1).mean()
        assert fields[1].excluded_mass[index] == pytest.approx(taken, abs=1e-5)
    rows = fields[1].pattern.sum(axis=-1)
    assert (rows < 1).all()  # not renormalised


def test_one_head_and_its_average(minilm, documents):
    cut = windows(documents, minilm, 32, 3)
    heads = [head_mean_field(minilm, cut, layers=[2], head=h)[0].pattern for h in range(12)]
    mean = head_mean_field(minilm, cut, layers=[2])[0]
    np.testing.assert_allclose(np.mean(heads, axis=0), mean.pattern, atol=1e-6)
    with pytest.raises(HeadlightError, match=r"0 … 11"):
        head_mean_field(minilm, cut, layers=[2], head=12)


def test_a_causal_model_gives_causal_fields_with_whole_rows(char_gpt, documents):
    cut = windows(documents, char_gpt, 48, 12)
    fields = head_mean_field(char_gpt, cut)
    assert [f.layer for f in fields] == [0, 1]
    for field in fields:
        assert field.causal and field.pattern.shape == (12, 48, 48)
        np.testing.assert_allclose(field.pattern.sum(axis=-1), 1, atol=1e-5)
        assert np.abs(field.excluded_mass).max() < 1e-5
        modes = snapshot_pod(field)
        assert modes.rank >= 8 and np.abs(modes.modes.sum(axis=-1)).max() < 1e-5
        scalogram = lag_scalogram(field)
        assert scalogram.lags[0] == 0 and (scalogram.energy > 0).all()
        assert isinstance(dominant_scales(scalogram), list)


def test_documents_of_different_lengths_are_cut_to_the_shortest(minilm):
    texts = ["the river runs to the sea", "a bank of sand and willows grows there", "perch and pike hide"]
    documents = [Document(t[:5], t) for t in texts]
    lengths = [kept_length(encode(d, minilm)) for d in documents]
    fields = head_mean_field(minilm, documents, layers=[0])
    assert len(set(lengths)) > 1 and fields[0].documents == 3
    assert fields[0].length == min(lengths)
    assert fields[0].dropped == sum(lengths) - 3 * min(lengths)


def test_too_few_or_too_short_windows_are_refused(minilm):
    with pytest.raises(HeadlightError, match="at least 3 windows"):
        head_mean_field(minilm, [Document("a", "the river runs to the sea")] * 2)
    with pytest.raises(HeadlightError, match="the shortest of 1"):
        head_mean_field(minilm, [Document("a", "river")] * 5)


def test_identical_documents_through_a_real_model_have_no_fluctuation(minilm, documents):
    cut = windows(documents, minilm, 32, 1)
    field = head_mean_field(minilm, list(cut) * 5, layers=[5])[0]
    assert snapshot_pod(field).rank == 0


def test_progress_is_reported(minilm, documents):
    seen = []
    cut = windows(documents, minilm, 32, 4)
    head_mean_field(minilm, cut, layers=[0], progress=lambda done, total, stage: seen.append((done, total)))
    assert seen[-1] == (4, 4)


def test_a_softmax_row_keeps_its_shape():
    assert softmax_rows(np.zeros((1, 4, 4)), causal=True)[0, 1].tolist() == [0.5, 0.5, 0, 0]


def test_an_encoder_decoder_has_fields_of_both_sides(t5, documents):
    cut = windows(documents, t5, 24, 6)
    encoder = head_mean_field(t5, cut, layers=[1])[0]
    decoder = head_mean_field(t5, cut, layers=[1], stream="decoder")[0]
    assert not encoder.causal and decoder.causal
    assert encoder.pattern.shape == decoder.pattern.shape == (6, 24, 24)
    for window in cut:  # the decoder reads the same words behind its start token
        source, target = window.table, window.target_table
        assert target.is_special[0] and target.token_id[1:25].tolist() == source.token_id[:24].tolist()
    with pytest.raises(HeadlightError, match="cross-attention"):
        head_mean_field(t5, cut, stream="cross")


def test_values_whose_squares_do_not_fit_are_refused():
    pattern = noise_field(5, 16).pattern
    with pytest.raises(HeadlightError, match="Divide the field by its largest value"):
        Field(pattern * np.float32(1e30))
    with pytest.raises(HeadlightError, match="Divide them by their largest value"):
        snapshot_pod(pattern.astype(np.float64) * 1e200)


def test_one_window_is_told_in_the_singular_and_in_plain_words(minilm, documents):
    with pytest.raises(HeadlightError, match="got 1 window, the shortest of") as told:
        head_mean_field(minilm, documents[:1])
    assert "lib." not in str(told.value)

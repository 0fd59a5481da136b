from dataclasses import replace

import numpy as np
import pytest
import transformers as hf

from lib.capture import Block
from lib.corpora import builtin, encode_ids, from_text, repeated_tokens
from lib.heads import score_heads
from lib.heads.census import _Census
from lib.heads.induction import induction_probe
from lib.models import Engine
from tests.capture.families import tiny


@pytest.fixture(scope="module")
def minilm_table(minilm, articles):
    return score_heads(minilm, articles)


def best(table, name):
    row = table.loc[table[name].idxmax()]
    return int(row["layer"]), int(row["head"])


def test_one_row_per_head_and_four_columns_per_score(minilm_table):
    assert len(minilm_table) == 72
    assert list(zip(minilm_table["layer"], minilm_table["head"], strict=True)) == [
        (layer, head) for layer in range(6) for head in range(12)
    ]
    for name in ("previous_token", "sep", "duplicate_token", "entropy", "mean_lag", "probe_induction"):
        low, high = minilm_table[f"{name}_low"], minilm_table[f"{name}_high"]
        assert (low <= minilm_table[name] + 1e-6).all() and (minilm_table[name] <= high + 1e-6).all()
        assert (minilm_table[f"{name}_chance"] > 0).all()
    assert minilm_table.attrs["documents"] == 6 and minilm_table.attrs["missing"].keys() == {"bos", "eos"}


def test_heads_of_minilm_that_anyone_can_see(minilm_table):
    assert best(minilm_table, "previous_token") == (0, 2)
    assert best(minilm_table, "next_token") == (1, 8)
    assert best(minilm_table, "duplicate_token") == (2, 9)
    roles = minilm_table.set_index(["layer", "head"]).role
    assert roles[0, 2] == "previous token" and roles[1, 8] == "next token" and roles[2, 9] == "duplicate token"
    assert roles[0, 11] == "broad" and (roles == "none clear").any() and not (roles == "induction").any()


def test_induction_heads_of_smollm2(smollm2):
    table = score_heads(smollm2, builtin("probes")[:3])
    induction = table[table.role.str.startswith("induction")]
    assert len(induction) >= 4 and best(table, "probe_induction") == (18, 6)
    assert (induction.probe_induction > 5 * induction.probe_induction_chance).all()
    assert (table.probe_induction_before < 0.1).all()  # a causal model that predicts goes the other way
    assert table.attrs["missing"]["next_token"] == "a causal row does not see the token after it"
    assert table.attrs["missing"]["cls"] == "no such token in these documents"


def test_both_directions_of_induction_in_a_bidirectional_model():
    engine = Engine.from_parts(tiny("bert"))
    encodings = repeated_tokens(engine, 10, count=4)
    census = _Census(engine, encodings, True, last=0)
    for document, encoding in enumerate(encodings):
        n = len(encoding.table)
        after, before = (np.full((n, n), 1 / n, np.float32) for _ in range(2))
        for i in range(n):
            for weights, j in ((after, i - 10 + 1), (before, i - 10 - 1)):
                if 0 <= j < n and i >= 10:
                    weights[i] = 0
                    weights[i, j] = 1
        vectors = np.ones((2, n, 4), np.float32)
        census.see(Block(0, "self", document, vectors, vectors, vectors, vectors, np.stack([after, before])))
    names = [score.name for score in census.scores]
    values = np.mean([found[0] for found in census.found[0]], axis=0)  # (head, score)
    np.testing.assert_allclose(values[0, names.index("induction")], 1)
    np.testing.assert_allclose(values[1, names.index("induction_before")], 1)
    assert values[1, names.index("induction")] < 0.1 > values[0, names.index("induction_before")]


def test_the_probe_fits_a_small_window():
    engine = Engine.from_parts(tiny("gpt2"))
    engine.anatomy = replace(engine.anatomy, max_length=20)
    assert induction_probe(engine, sequences=2).tokens == 2 * 16


def test_a_head_that_is_exactly_zero_has_no_signal():
    model = tiny("bert")
    value = model.encoder.layer[1].attention.self.value
    value.weight[:8] = 0  # head 0 of 3
    value.bias[:8] = 0
    model.encoder.layer[0].attention.output.dense.weight[:, 16:] = 0  # head 2 of layer 0 is not written
    ids = [np.arange(3, 20), np.arange(5, 30)]
    engine = Engine.from_parts(model)
    table = score_heads(engine, [encode_ids(i, engine) for i in ids]).set_index(["layer", "head"])
    assert table.role[1, 0] == "no signal" and table.z_norm[1, 0] == 0
    assert table.role[0, 2] == "no signal" and table.z_norm[0, 2] > 0
    assert (table.role.drop([(1, 0), (0, 2)]) != "no signal").all()


@pytest.mark.parametrize("layers, heads", [(1, 1), (24, 2)])
def test_one_layer_of_one_head_and_twenty_four_layers(layers, heads):
    config = hf.BertConfig(
        vocab_size=40, hidden_size=8, intermediate_size=8, num_hidden_layers=layers, num_attention_heads=heads,
        max_position_embeddings=64,
    )  # fmt: skip
    engine = Engine.from_parts(hf.BertModel(config))
    table = score_heads(engine, [encode_ids(np.arange(3, 12), engine), encode_ids(np.array([7]), engine)])
    assert len(table) == layers * heads and np.isfinite(table.entropy).all()


def test_bad_documents(minilm):
    only_special = encode_ids(np.array([101, 102]), minilm)
    table = score_heads(minilm, [*from_text("the the the the"), *from_text("a"), *from_text("…"), only_special])
    assert (table.excluded_rows == 0).all() and np.isfinite(table.duplicate_token).all()


def test_a_tokenizer_without_delimiters(smollm2):
    table = score_heads(smollm2, from_text("One text, no delimiter. It has two sentences."))
    assert table.special.isna().all() and np.isfinite(table.period).all()
    assert table.role.str.endswith("?").any()  # one document


def test_photographs(dinov2):
    table = score_heads(dinov2, builtin("photographs"))
    roles = table.set_index(["layer", "head"]).role
    assert [roles[place] for place in ((2, 3), (1, 1), (3, 4), (3, 1))] == [
        "patch to the left?", "patch to the right?", "patch above?", "patch below?",
    ]  # fmt: skip
    assert "vision" in table.attrs["missing"]["probe_induction"] and "mean_lag" not in table
    assert table.qk_agreement.max() > 0.9

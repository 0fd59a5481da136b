from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
import transformers as hf

from lib.capture.batching import encoded, model_inputs
from lib.corpora import Document, Encoding, encode, encode_ids, from_text, repeated_tokens
from lib.corpora.patches import patch_table
from lib.heads import ablate, ablation
from lib.heads.ablation import Switchboard
from lib.heads.effects import NothingMoved, all_heads, predictions, sweep
from lib.heads.targets import masked, predicted
from lib.models import Engine
from tests.capture.families import BERT, PIXELS, SEQUENCE, TEXT, tiny


def encodings_of(engine, family, count=3):
    rng = np.random.default_rng(0)
    if family not in PIXELS:
        return [encode_ids(rng.integers(3, 40, size), engine) for size in (12, 9, 12)[:count]]
    side = 32 // engine.patch_size
    pixels = rng.normal(size=(count, 3, 32, 32)).astype(np.float32)
    return [Encoding(table=patch_table((side, side), engine.n_prefix), pixels=one, grid=(side, side)) for one in pixels]


@pytest.mark.parametrize("family", [*TEXT, *SEQUENCE, *PIXELS])
@pytest.mark.parametrize("mode", ["zero", "mean"])
def test_reusing_the_prefix_changes_nothing(family, mode):
    engine = Engine.from_parts(tiny(family))
    documents = encodings_of(engine, family)
    sets = [frozenset([head]) for head in all_heads(engine)] + [frozenset(all_heads(engine)[-2:])]
    board = Switchboard.of(engine, documents, mode)
    reused = board.losses(sets)
    whole = Switchboard.of(engine, documents, mode)
    whole.exact[0] = False
    expected = whole.losses(sets)
    np.testing.assert_allclose(reused.loss, expected.loss, rtol=1e-4, atol=2e-6)
    np.testing.assert_allclose(reused.moved, expected.moved, rtol=1e-3, atol=1e-5)
    assert (expected.moved > 1e-3).all() and not expected.still.any()
    if family in ("bert", "gpt2", "llama", "distilbert", "modernbert", "vit", "dinov2"):
        assert board.exact[0]


def test_others_come_to_their_turn_between_forward_passes(monkeypatch):
    monkeypatch.setattr(ablation, "TOKENS", 12)  # one copy of one document at a time
    engine = Engine.from_parts(tiny("bert"))
    free, counted = [], []

    def acquired():
        taken = engine.lock.acquire(blocking=False)
        if taken:
            engine.lock.release()
        return taken

    with ThreadPoolExecutor(1) as other:

        def progress(done, total, stage):
            free.append(other.submit(acquired).result())
            counted.append((done, total))

        sets = [frozenset([head]) for head in all_heads(engine)]
        Switchboard.of(engine, encodings_of(engine, "bert", 2)).losses(sets, progress)
    assert all(free)
    assert [done for done, _ in counted] == sorted(done for done, _ in counted)
    assert counted[0] == (0, 12) and counted[-1] == (12, 12) and len(counted) >= 7  # 6 heads, 2 documents


def test_zero_ablation_equals_a_head_without_weights():
    torch.manual_seed(0)
    engine = Engine.from_parts(tiny("llama"))
    document = encode_ids(np.arange(3, 20), engine)
    got = ablate(engine, [document, document], heads=[(1, 4)])
    projection = engine.model.model.layers[1].self_attn.o_proj.weight
    kept = projection.clone()
    clean = engine.model(**model_inputs(engine, [document])).logits
    projection[:, 16:20] = 0  # head 4 of width 4
    logits = engine.model(**model_inputs(engine, [document])).logits
    projection.copy_(kept)
    target = torch.from_numpy(document.token_ids[1:].copy())
    loss = [float(torch.nn.functional.cross_entropy(one[0, :-1], target)) for one in (clean, logits)]
    assert got.loss[0] == pytest.approx(loss[0], rel=1e-5)
    assert got.loss_off[0] == pytest.approx(loss[1], rel=1e-5)
    assert got.change[0] == pytest.approx(loss[1] - loss[0], abs=1e-5)
    assert got.moved[0] == pytest.approx(float((logits - clean).abs().max() / clean.abs().max()), rel=1e-4)


def test_mean_ablation_of_a_constant_head_does_not_move_and_raises():
    engine = Engine.from_parts(tiny("bert"))
    attention = engine.model.encoder.layer[1].attention.self
    attention.value.weight[8:16] = 0  # the value of head 1 is its bias whatever it reads
    documents = [encode_ids(np.arange(3, 15), engine), encode_ids(np.arange(5, 12), engine)]
    with pytest.raises(NothingMoved, match="L1 H1"):
        ablate(engine, documents, heads=[(1, 1)], mode="mean")
    assert ablate(engine, documents, heads=[(1, 1)]).change[0] > 0


def test_an_ablation_that_does_not_move_the_output_raises():
    engine = Engine.from_parts(tiny("bert"))
    attention = engine.model.encoder.layer[0].attention
    attention.self.value.weight[:8], attention.self.value.bias[:8] = 0, 0
    documents = [encode_ids(np.arange(3, 15), engine)]
    with pytest.raises(NothingMoved, match="L0 H0"):
        ablate(engine, documents, heads=[(0, 0)])
    table = sweep(engine, documents).set_index(["layer", "head"])
    assert not table.moves[0, 0] and table.moves.drop((0, 0)).all()
    assert table.change[0, 0] == pytest.approx(0, abs=1e-9)


def test_an_edit_that_a_fused_path_ignores_raises(monkeypatch):
    engine = Engine.from_parts(tiny("gpt2"))
    monkeypatch.setattr(ablation._Editor, "__call__", lambda self, layer, stream, z: z)
    with pytest.raises(NothingMoved):
        ablate(engine, [encode_ids(np.arange(3, 15), engine)], heads=[(0, 0), (1, 1)])
    with pytest.raises(NothingMoved, match="none that does"):
        sweep(engine, [encode_ids(np.arange(3, 15), engine)])


def test_padding_and_company_do_not_change_a_documents_loss():
    engine = Engine.from_parts(tiny("gpt2"))
    documents = [encode_ids(np.arange(3, 3 + n), engine) for n in (20, 18, 2, 1)]
    together = Switchboard.of(engine, documents).losses([frozenset([(0, 1)])])
    for number, document in enumerate(documents[:3]):
        alone = Switchboard.of(engine, [document]).losses([frozenset([(0, 1)])])
        assert together.loss[0, number] == pytest.approx(alone.loss[0, 0], rel=1e-5)
    assert np.isnan(together.clean[3]) and together.weight.tolist() == [19, 17, 1, 0]


def test_masked_language_models_are_asked_about_fifteen_percent(minilm):
    torch.manual_seed(0)
    config = hf.BertConfig(**BERT | {"vocab_size": 30522})
    engine = Engine.from_parts(hf.BertForMaskedLM(config), minilm.tokenizer)
    documents = from_text("The river is long, and the sea is wide; both are blue, and neither is dry.")
    encoding = encode(documents[0], engine)
    asked = masked(engine, encoding, 0)
    places, targets = predicted("masked-lm", asked)
    assert len(places) == round(0.15 * (~encoding.table.is_special).sum())
    np.testing.assert_array_equal(asked.token_ids[places], engine.tokenizer.mask_token_id)
    np.testing.assert_array_equal(targets, encoding.token_ids[places])
    np.testing.assert_array_equal(asked.token_ids, masked(engine, encoding, 0).token_ids)
    table = ablate(engine, documents, heads=[(0, 0)])
    assert table.measure[0].startswith("masked-token") and table.predictions[0] == len(places)
    assert table.loss[0] == pytest.approx(np.log(30522), rel=0.1)  # untrained


def test_a_model_without_predictions_is_measured_by_distance(minilm, articles):
    table = ablate(minilm, articles[:3], heads=[(0, 2), (5, 11)], mode="mean")
    assert table.measure[0].startswith("cosine distance") and table.loss[0] == pytest.approx(0, abs=1e-9)
    assert 0 < table.change_low[0] < table.change[0] < table.change_high[0] < 1
    assert table.heads[0] == "L0 H2, L5 H11"


def test_induction_heads_matter_for_repeated_tokens(smollm2):
    documents = repeated_tokens(smollm2, 20, count=4)
    table = sweep(smollm2, documents, heads=[(18, 6), (18, 8), (17, 4), (0, 8)]).set_index(["layer", "head"])
    assert table.change_low[18, 6] > 0  # an induction head
    assert abs(table.change[18, 8]) < 0.1 * table.change[18, 6]  # rests on position 0 with all its weight


def test_predictions_side_by_side(smollm2):
    table = predictions(smollm2, Document("capital", "The capital of France is Paris."), heads=[(0, 3), (17, 2)], top=2)
    row = table[table.truth == "Paris"].iloc[0]
    assert row.token == "is" and row.on[0][0] == "Paris" and row.p_on == pytest.approx(row.on[0][1])
    assert row.p_off != row.p_on and (table.divergence > 0).all() and len(row.off) == 2
    assert len(table) == len(encoded(smollm2, from_text("The capital of France is Paris."))[0].token_ids) - 1


def test_positions_side_by_side_without_predictions(minilm):
    table = predictions(minilm, Document("a", "Cats sleep."), heads=[(2, 9)])
    assert table.token.tolist() == ["[CLS]", "Cats", "sleep", ".", "[SEP]"]
    assert (table.distance > 1e-5).all()


@pytest.mark.parametrize("heads", [[], [(6, 0)], [(0, 12)], [(-1, 0)]])
def test_heads_that_are_not_there(minilm, heads):
    with pytest.raises(ValueError, match="layers 0–5, heads 0–11"):
        ablate(minilm, from_text("Hi"), heads=heads)


def test_streams_of_an_encoder_decoder_are_switched_apart():
    engine = Engine.from_parts(tiny("bart"))
    documents = encodings_of(engine, "bart")
    changes = {
        stream: ablate(engine, documents, [(1, 0)], stream=stream).change[0]
        for stream in ("encoder", "decoder", "cross")
    }
    assert len(set(np.round(list(changes.values()), 6))) == 3
    assert [len(all_heads(engine, stream)) for stream in ("encoder", "decoder", "cross")] == [6, 9, 9]

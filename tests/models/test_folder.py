import json

import pytest
import torch
import transformers as hf

from lib.errors import HeadlightError
from lib.models import load
from lib.models.folder import BadWeights
from lib.models.loading import UnknownModel
from lib.models.permission import NotPermitted
from lib.models.preparation import BrokenFolder
from tests.models.conftest import SMALL

GROUPED = SMALL | {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2}


def decoder():
    return hf.LlamaForCausalLM(hf.LlamaConfig(**GROUPED))


def pair():
    config = hf.T5Config(
        d_model=24, d_kv=8, d_ff=32, num_layers=1, num_heads=3, vocab_size=40, decoder_start_token_id=0
    )
    return hf.T5ForConditionalGeneration(config)


def test_a_saved_model_comes_back_with_the_same_numbers(bert, save):
    engine = load(str(save(bert)))
    ids = torch.tensor([[2, 5, 6, 3]])
    with torch.inference_mode():
        assert torch.equal(engine.model(ids).logits, bert.eval()(ids).logits)
    assert (engine.name, engine.source, engine.family) == ("mine", "folder", "bert")
    assert not engine.model.training
    assert not any(weight.requires_grad for weight in engine.model.parameters())


def test_the_revision_of_a_folder_follows_its_weights(bert, save):
    folder = save(bert)
    first = load(str(folder)).revision
    assert load(str(folder)).revision == first
    with torch.no_grad():
        next(bert.parameters())[0, 0] += 1e-3
    assert load(str(save(bert))).revision != first


@pytest.mark.parametrize(
    ("make", "head", "kind"),
    [
        (lambda: hf.BertForMaskedLM(hf.BertConfig(**SMALL)), "masked-lm", "encoder"),
        (lambda: hf.BertForPreTraining(hf.BertConfig(**SMALL)), "masked-lm", "encoder"),
        (lambda: hf.BertModel(hf.BertConfig(**SMALL)), None, "encoder"),
        (lambda: hf.ElectraForPreTraining(hf.ElectraConfig(**SMALL, embedding_size=16)), None, "encoder"),
        (decoder, "causal-lm", "decoder"),
        (lambda: hf.LlamaModel(hf.LlamaConfig(**GROUPED)), None, "decoder"),
        (pair, "seq2seq-lm", "encoder-decoder"),
    ],
)
def test_the_language_model_head_is_kept_where_there_is_one(make, head, kind, save):
    engine = load(str(save(make())))
    assert (engine.head, engine.kind) == (head, kind)
    assert engine.causal == (kind == "decoder")


def test_a_checkpoint_without_architectures_still_finds_its_head(bert, save):
    assert load(str(save(bert, architectures=None))).head == "masked-lm"
    assert load(str(save(hf.BertModel(hf.BertConfig(**SMALL)), "base", architectures=None))).head is None


def test_an_encoder_decoder_saved_without_its_head_gets_its_tied_one(save):
    config = hf.BartConfig(
        vocab_size=40, d_model=24, encoder_layers=1, decoder_layers=2, encoder_attention_heads=3,
        decoder_attention_heads=3, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=32,
    )  # fmt: skip
    engine = load(str(save(hf.BartModel(config))))
    assert engine.head == "seq2seq-lm"
    assert torch.equal(engine.model.lm_head.weight, engine.model.get_input_embeddings().weight)
    assert (engine.n_layers, engine.n_decoder_layers) == (1, 2)


def test_a_classification_checkpoint_loads_as_its_base_model(save):
    classifier = hf.RobertaForSequenceClassification(hf.RobertaConfig(**SMALL, num_labels=3))
    engine = load(str(save(classifier)))
    assert engine.head is None
    assert any("classifier" in note for note in engine.notes)
    assert any("pooling" in note for note in engine.notes)
    assert engine.model.pooler is None, "a pooler the checkpoint lacks would be random"
    with torch.inference_mode():
        ids = torch.tensor([[2, 5, 6, 3]])
        assert torch.equal(engine.model(ids)[0], classifier.eval().roberta(ids)[0])


def test_shards_are_read_and_a_missing_one_is_named(bert, save):
    folder = save(bert)
    (folder / "model.safetensors").unlink()
    bert.save_pretrained(folder, max_shard_size="20KB")
    shards = sorted(folder.glob("model-*.safetensors"))
    assert len(shards) > 1
    assert load(str(folder)).head == "masked-lm"
    shards[1].unlink()
    with pytest.raises(BrokenFolder, match=shards[1].name):
        load(str(folder))


def test_numbers_too_large_for_half_precision_name_the_way_out(bert, save):
    with torch.no_grad():
        bert.bert.encoder.layer[0].output.dense.weight[0, 0] = 1e6
    folder = save(bert)
    assert load(str(folder)).dtype == "float32"
    with pytest.raises(BadWeights, match="float32"):
        load(str(folder), dtype="float16")


def test_a_missing_tokenizer_is_not_replaced_by_an_empty_one(bert, save):
    with pytest.raises(BrokenFolder, match=r"tokenizer.*vocab\.txt"):
        load(str(save(bert, with_tokenizer=False)))
    with pytest.raises(BrokenFolder, match="tokenizer"):
        load(str(save(decoder(), "other", with_tokenizer=False)))


def test_a_tokenizer_of_a_larger_model_is_refused(save):
    small = hf.BertModel(hf.BertConfig(**SMALL | {"vocab_size": 9}))
    with pytest.raises(BrokenFolder, match="at most the 9 tokens"):
        load(str(save(small)))


def test_an_image_model_needs_its_settings(save):
    vit = hf.ViTModel(hf.ViTConfig(**{k: SMALL[k] for k in list(SMALL)[1:5]}, image_size=32, patch_size=8))
    folder = save(vit, with_tokenizer=False)
    with pytest.raises(BrokenFolder, match=r"preprocessor_config\.json"):
        load(str(folder))
    settings = {"image_processor_type": "ViTImageProcessor", "size": {"height": 32, "width": 32}}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings), "utf-8")
    engine = load(str(folder))
    assert (engine.kind, engine.patch_size, engine.n_prefix, engine.tokenizer) == ("vision", 8, 1, None)
    assert engine.processor is not None


def test_a_length_fixed_in_the_tokenizer_file_does_not_cut_text(bert, save, tokenizer):
    tokenizer.backend_tokenizer.enable_truncation(4)
    tokenizer.backend_tokenizer.enable_padding(length=4)
    engine = load(str(save(bert)))
    assert len(engine.tokenizer("the cat sat on a mat", add_special_tokens=False).input_ids) == 6
    assert len(engine.tokenizer("the", add_special_tokens=False).input_ids) == 1


def test_names_that_are_nothing_are_explained(tmp_path):
    for name in (
        "",
        "  ",
        str(tmp_path / "gone"),
        "../gone",
        "a b/c",
        "three/part/name",
        "~nobody-here/m",
        "a\0b",
        "x" * 5000,
    ):
        with pytest.raises(UnknownModel, match="Hub id"):
            load(name)
    note = tmp_path / "notes.txt"
    note.write_text("hello", "utf-8")
    with pytest.raises(UnknownModel, match=r"notes\.txt"):
        load(str(note))


@pytest.mark.parametrize("changed", ["tokenizer.json", "tokenizer_config.json"])
def test_the_revision_of_a_folder_follows_its_tokenizer(changed, bert, save):
    folder = save(bert)
    first = load(str(folder)).revision
    text = (folder / changed).read_text("utf-8")
    (folder / changed).write_text(text + " ", "utf-8")
    assert load(str(folder)).revision != first


@pytest.mark.parametrize("setting", ["hub", "catalogue"])
def test_an_installation_for_visitors_reads_no_paths(setting, bert, save, monkeypatch):
    folder = save(bert)
    monkeypatch.setenv("HEADLIGHT_OWN", setting)
    for name in (str(folder), str(folder / "nothing"), "~"):
        with pytest.raises(NotPermitted, match=f"HEADLIGHT_OWN={setting}"):
            load(name)
    monkeypatch.setenv("HEADLIGHT_OWN", "all")
    assert load(str(folder)).name == "mine"


def test_a_relative_folder_that_looks_like_an_id_stays_unread(bert, save, monkeypatch):
    monkeypatch.chdir(save(bert).parent)
    monkeypatch.setattr("lib.models.hub.snapshot", lambda name, *_: pytest.fail(f"asked for {name}"))
    monkeypatch.setenv("HEADLIGHT_OWN", "catalogue")
    with pytest.raises(NotPermitted, match=r"a name of the catalogue; got 'mine'"):
        load("mine")
    monkeypatch.setenv("HEADLIGHT_OWN", "hub")
    with pytest.raises(pytest.fail.Exception, match="asked for mine"):
        load("mine")


def test_a_setting_that_says_nothing_is_refused(monkeypatch):
    monkeypatch.setenv("HEADLIGHT_OWN", "everything")
    with pytest.raises(HeadlightError, match="all, hub, catalogue"):
        load("anything")

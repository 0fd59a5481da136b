import pytest
import transformers as hf

from lib.models import families, load
from lib.models.families import UnsupportedFamily, candidates, follows_interface
from tests.models.conftest import SMALL

TINY = {key: value for key, value in SMALL.items() if not key.endswith("token_id")}
OUTSIDE = {
    "deberta-v2": lambda: hf.DebertaV2Config(**TINY),
    "mpnet": lambda: hf.MPNetConfig(**TINY),
    "bloom": lambda: hf.BloomConfig(vocab_size=40, hidden_size=24, n_layer=1, n_head=3),
    "falcon": lambda: hf.FalconConfig(vocab_size=40, hidden_size=24, num_hidden_layers=1, num_attention_heads=3),
    "longformer": lambda: hf.LongformerConfig(**TINY, attention_window=4),
    "big_bird": lambda: hf.BigBirdConfig(**TINY),
    "canine": lambda: hf.CanineConfig(**TINY),
    "xlnet": lambda: hf.XLNetConfig(vocab_size=40, d_model=24, n_layer=1, n_head=3, d_inner=32),
    "gpt_neo": lambda: hf.GPTNeoConfig(),
    "swinv2": lambda: hf.Swinv2Config(),
}
WITHOUT = {
    "mamba": lambda: hf.MambaConfig(vocab_size=40, hidden_size=24, num_hidden_layers=1),
    "rwkv": lambda: hf.RwkvConfig(vocab_size=40, hidden_size=24, num_hidden_layers=1),
    "fnet": lambda: hf.FNetConfig(),
    "resnet": lambda: hf.ResNetConfig(),
}
OTHER_INPUTS = {
    "whisper": lambda: hf.WhisperConfig(),
    "wav2vec2": lambda: hf.Wav2Vec2Config(),
    "videomae": lambda: hf.VideoMAEConfig(),
    "llava": lambda: hf.LlavaConfig(),
    "qwen2_vl": lambda: hf.Qwen2VLConfig(),
    "detr": lambda: hf.DetrConfig(use_timm_backbone=False, backbone_config=hf.ResNetConfig(), backbone=None),
    "segformer": lambda: hf.SegformerConfig(),
    "vit_mae": lambda: hf.ViTMAEConfig(),
}
WORKING = (
    hf.BertConfig, hf.RobertaConfig, hf.DistilBertConfig, hf.ElectraConfig, hf.AlbertConfig, hf.ModernBertConfig,
    hf.GPT2Config, hf.GPTNeoXConfig, hf.LlamaConfig, hf.Gemma2Config, hf.GptOssConfig, hf.Qwen3Config, hf.T5Config,
    hf.BartConfig, hf.CLIPTextConfig, hf.ViTConfig, hf.Dinov2Config, hf.SwinConfig, hf.DeiTConfig, hf.Qwen2Config,
    hf.MistralConfig, hf.PhiConfig, hf.OPTConfig, hf.XLMRobertaConfig, hf.MT5Config, hf.Dinov2WithRegistersConfig,
    hf.CLIPVisionConfig, hf.SiglipVisionConfig, hf.Gemma3TextConfig,
)  # fmt: skip


@pytest.mark.parametrize("family", OUTSIDE)
def test_a_family_outside_the_interface_is_named_with_what_works(family):
    with pytest.raises(UnsupportedFamily, match=rf"“{family}”.*cannot be seen.*What works instead: BERT"):
        candidates(OUTSIDE[family]())


@pytest.mark.parametrize("family", WITHOUT)
def test_a_family_without_attention_is_named(family):
    with pytest.raises(UnsupportedFamily, match=rf"“{family}”, which has no attention"):
        candidates(WITHOUT[family]())


@pytest.mark.parametrize("family", OTHER_INPUTS)
def test_a_family_of_other_inputs_is_named(family):
    with pytest.raises(UnsupportedFamily, match=f"“{family}”"):
        candidates(OTHER_INPUTS[family]())


@pytest.mark.parametrize("family", ["deberta-v2", "mpnet", "mamba", "canine"])
def test_a_folder_of_such_a_family_is_refused_before_its_weights_are_read(family, save):
    config = (OUTSIDE | WITHOUT)[family]()
    folder = save(hf.AutoModel.from_config(config), with_tokenizer=False)
    (folder / "model.safetensors").write_bytes(b"not read")
    with pytest.raises(UnsupportedFamily, match=family):
        load(str(folder))


@pytest.mark.parametrize("config", WORKING)
def test_families_that_work_are_let_through(config):
    assert candidates(config())


def test_of_an_image_and_text_pair_the_image_tower_is_shown(save):
    parts = {"hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = hf.CLIPConfig(
        text_config=parts | {"vocab_size": 40}, vision_config=parts | {"image_size": 32, "patch_size": 8}
    )
    folder = save(hf.CLIPModel(config), with_tokenizer=False)
    settings = '{"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 32}, "crop_size": 32}'
    (folder / "preprocessor_config.json").write_text(settings, "utf-8")
    engine = load(str(folder))
    assert (engine.family, engine.kind, engine.n_prefix) == ("clip_vision_model", "vision", 1)
    assert any("text_model" in note for note in engine.notes)


def test_the_interface_is_read_off_the_source():
    assert follows_interface(hf.BertModel)
    assert follows_interface(hf.T5Model), "although the class does not say so"
    assert not follows_interface(hf.MPNetModel)


def test_a_family_of_this_product_registers_itself():
    families.register("char_gpt")
    assert hf.AutoConfig.for_model("char_gpt").model_type == "char_gpt"
    families.register("bert")

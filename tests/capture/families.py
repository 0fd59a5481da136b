"""Tiny models with random weights, one or more per family: the smallest thing that still computes attention its way."""

from __future__ import annotations

import torch
import transformers as hf

WIDE = {"initializer_range": 0.4}  # patterns far from uniform, so that a wrong mask or bias shows
PLAIN = {"vocab_size": 40, "hidden_size": 24, "intermediate_size": 32, "num_hidden_layers": 2}
HEADS = {"num_attention_heads": 3, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
BERT = PLAIN | HEADS | WIDE | {"max_position_embeddings": 80}
GROUPED = BERT | {"num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 32}
VISION = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32} | WIDE
IMAGE = VISION | {"image_size": 32, "patch_size": 8}
BART = {
    "vocab_size": 40, "d_model": 24, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 3,
    "decoder_attention_heads": 3, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2, "init_std": 0.4,
}  # fmt: skip

TEXT = {
    "bert": lambda: hf.BertModel(hf.BertConfig(**BERT)),
    "roberta": lambda: hf.RobertaModel(hf.RobertaConfig(**BERT)),
    "distilbert": lambda: hf.DistilBertModel(
        hf.DistilBertConfig(
            vocab_size=40, dim=24, n_layers=2, n_heads=3, hidden_dim=32, max_position_embeddings=80, **WIDE
        )
    ),
    "electra": lambda: hf.ElectraModel(hf.ElectraConfig(**BERT, embedding_size=16)),
    "albert": lambda: hf.AlbertModel(hf.AlbertConfig(**BERT, embedding_size=16)),
    "modernbert": lambda: hf.ModernBertModel(
        hf.ModernBertConfig(
            **BERT | {"num_hidden_layers": 4}, cls_token_id=1, sep_token_id=2, local_attention=8,
            global_attn_every_n_layers=3,
        )
    ),
    "gpt2": lambda: hf.GPT2LMHeadModel(
        hf.GPT2Config(vocab_size=40, n_positions=80, n_embd=24, n_layer=2, n_head=3, **WIDE)
    ),
    "gpt_neox": lambda: hf.GPTNeoXModel(hf.GPTNeoXConfig(**BERT)),
    "llama": lambda: hf.LlamaForCausalLM(
        hf.LlamaConfig(**BERT | {"num_attention_heads": 9, "num_key_value_heads": 3, "hidden_size": 36})
    ),
    "gemma2": lambda: hf.Gemma2Model(
        hf.Gemma2Config(**GROUPED, head_dim=8, sliding_window=6, attn_logit_softcapping=2.0, query_pre_attn_scalar=8)
    ),
    "gpt_oss": lambda: hf.GptOssModel(
        hf.GptOssConfig(**GROUPED, head_dim=8, sliding_window=6, num_local_experts=2, num_experts_per_tok=1)
    ),
    "qwen3": lambda: hf.Qwen3Model(hf.Qwen3Config(**GROUPED, head_dim=8)),
    "clip text": lambda: hf.CLIPTextModel(
        hf.CLIPTextConfig(**BERT | {"initializer_factor": 4.0}, projection_dim=16)
    ),
}  # fmt: skip
SEQUENCE = {
    "t5": lambda: hf.T5ForConditionalGeneration(
        hf.T5Config(
            vocab_size=40, d_model=24, d_kv=8, d_ff=32, num_layers=2, num_decoder_layers=3, num_heads=3,
            relative_attention_num_buckets=8, relative_attention_max_distance=20, initializer_factor=2.0,
            decoder_start_token_id=0,
        )
    ),
    "bart": lambda: hf.BartForConditionalGeneration(hf.BartConfig(**BART, max_position_embeddings=80)),
}  # fmt: skip
AUDIO = {
    "whisper": lambda: hf.WhisperForConditionalGeneration(
        hf.WhisperConfig(**BART, num_mel_bins=8, max_source_positions=20, max_target_positions=80)
    ),
}
PIXELS = {
    "vit": lambda: hf.ViTModel(hf.ViTConfig(**IMAGE)),
    "dinov2": lambda: hf.Dinov2Model(hf.Dinov2Config(**IMAGE)),
    "swin": lambda: hf.SwinModel(
        hf.SwinConfig(
            image_size=32, patch_size=2, embed_dim=8, depths=[2, 2, 1], num_heads=[2, 4, 4], window_size=4, **WIDE
        )
    ),
}
FAMILIES = tuple(TEXT | SEQUENCE | AUDIO | PIXELS)


def tiny(family: str, seed: int = 0):
    """A model of the family in evaluation mode; the same weights for the same seed."""
    torch.manual_seed(seed)
    model = (TEXT | SEQUENCE | AUDIO | PIXELS)[family]().eval().requires_grad_(False)
    for name, parameter in model.named_parameters():
        if name.endswith(("sinks", "bias")):  # made as zeros: they would hide what ignores them
            parameter.copy_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(len(name))))
    return model


def inputs(family: str, length: int = 12, batch: int = 2, seed: int = 0) -> dict[str, torch.Tensor]:
    """Random inputs of a batch; the second document is padded (text) where there is more than one token."""
    draw = torch.Generator().manual_seed(seed)
    if family in PIXELS:
        return {"pixel_values": torch.randn(batch, 3, 32, 32, generator=draw)}
    given = {}
    if family in AUDIO:
        given["input_features"] = torch.randn(batch, 8, 40, generator=draw)
    else:
        given["input_ids"] = torch.randint(3, 40, (batch, length), generator=draw)
        given["attention_mask"] = torch.ones(batch, length, dtype=torch.long)
        given["attention_mask"][1:, max(1, length * 2 // 3) :] = 0
    if family in SEQUENCE | AUDIO:
        given["decoder_input_ids"] = torch.randint(3, 40, (batch, max(1, length - 3)), generator=draw)
    return given

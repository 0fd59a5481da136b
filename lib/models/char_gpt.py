"""A causal character GPT, with or without energy gating, as an ordinary transformers model.

Importing this module registers `model_type: char_gpt` with transformers' Auto classes, so that a folder with
`config.json`, `model.safetensors` and `tokenizer.json` loads with `AutoModelForCausalLM.from_pretrained`.
There is no key–value cache: with "window" gates an earlier token's key bias changes whenever a token is added.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.masking_utils import create_causal_mask
from transformers.modeling_layers import GradientCheckpointingLayer
from transformers.modeling_outputs import BaseModelOutput, CausalLMOutput
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.utils.generic import can_return_tuple, merge_with_config_defaults
from transformers.utils.output_capturing import capture_outputs

from lib.errors import HeadlightError
from lib.models.energy_gate import NORMS, EnergyGate


class CharGPTConfig(PreTrainedConfig):
    """Configuration of a character GPT.

    `n_gates` is the number of gates in each head's mixture, 0 for ordinary attention; `gate_norm` is "prefix" (causal)
    or "window" (as published: leaks the future); `gate_start` is the first position a prefix gate acts on.
    """

    model_type = "char_gpt"

    vocab_size: int = 66
    hidden_size: int = 256
    num_hidden_layers: int = 6
    num_attention_heads: int = 8
    intermediate_size: int | None = None
    max_position_embeddings: int = 256
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-5
    n_gates: int = 0
    gate_norm: str = "prefix"
    gate_start: int = 8
    tie_word_embeddings: bool = True
    use_cache: bool = False

    def __post_init__(self, **kwargs) -> None:
        """Fill in the MLP's width and validate what the blocks rely on."""
        self.intermediate_size = self.intermediate_size or 4 * self.hidden_size
        super().__post_init__(**kwargs)
        if self.hidden_size % self.num_attention_heads:
            raise HeadlightError(
                "a hidden_size that is a multiple of num_attention_heads",
                f"{self.hidden_size} and {self.num_attention_heads}",
                "Change either.",
            )
        if self.gate_norm not in NORMS:
            raise HeadlightError(f"gate_norm in {NORMS}", repr(self.gate_norm), "Use 'prefix' to stay causal.")


def eager_attention(module, query, key, value, attention_mask, scaling, dropout=0.0, **kwargs):
    """Softmax attention that also returns its pattern; arguments as in every transformers attention function."""
    scores = query @ key.transpose(2, 3) * scaling  # (batch, head, query_pos, key_pos)
    if attention_mask is not None:
        scores = scores + attention_mask
    pattern = scores.softmax(-1, dtype=torch.float32).to(query.dtype)
    pattern = functional.dropout(pattern, dropout, module.training)
    return (pattern @ value).transpose(1, 2).contiguous(), pattern


def biased_mask(mask: torch.Tensor | None, key_bias: torch.Tensor, dtype: torch.dtype, n_query: int) -> torch.Tensor:
    """Add a bias on the key axis to an attention mask.

    Args:
        mask: (batch | 1, head | 1, query_pos, key_pos); boolean (True = may attend), additive, or None (causal).
        key_bias: (batch, head, key_pos), finite.
        dtype: type of the additive mask returned, (batch, head, query_pos, key_pos).
        n_query: number of query positions.
    """
    key_bias = key_bias[:, :, None, :].to(dtype)
    if mask is None:
        mask = torch.ones(n_query, key_bias.shape[-1], dtype=torch.bool, device=key_bias.device).tril()
    if mask.dtype == torch.bool:
        return torch.where(mask, key_bias, torch.finfo(dtype).min)
    return (mask.to(dtype) + key_bias).clamp(min=torch.finfo(dtype).min)


class CharGPTAttention(nn.Module):
    """Multi-head causal self-attention through the attention interface, with an optional energy gate."""

    def __init__(self, config: CharGPTConfig, layer_idx: int) -> None:
        super().__init__()
        self.config, self.layer_idx = config, layer_idx
        self.head_dim = config.hidden_size // config.num_attention_heads
        self.num_key_value_groups = 1
        self.scaling = self.head_dim**-0.5
        self.attention_dropout = 0.0
        self.is_causal = True
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(config.hidden_size, config.hidden_size))
        self.gate = None
        if config.n_gates:
            self.gate = EnergyGate(
                config.hidden_size,
                config.num_attention_heads,
                config.n_gates,
                config.gate_norm,
                config.gate_start,
            )

    def forward(self, hidden_states, attention_mask=None, present=None, **kwargs):
        """Return the module's output (batch, pos, d_model) and the pattern, None unless the function gives it."""
        shape = (*hidden_states.shape[:-1], -1, self.head_dim)
        query, key, value = (
            project(hidden_states).view(shape).transpose(1, 2) for project in (self.q_proj, self.k_proj, self.v_proj)
        )
        if self.gate is not None:
            log_gate = self.gate(hidden_states, present)
            if self.config._attn_implementation == "blockwise":  # the training kernel makes no mask
                kwargs["key_bias"] = log_gate
            else:
                attention_mask = biased_mask(attention_mask, log_gate, query.dtype, query.shape[2])
        attend = ALL_ATTENTION_FUNCTIONS.get_interface(self.config._attn_implementation, eager_attention)
        z, pattern = attend(self, query, key, value, attention_mask, dropout=0.0, scaling=self.scaling, **kwargs)
        return self.o_proj(z.reshape(hidden_states.shape)), pattern


class CharGPTBlock(GradientCheckpointingLayer):
    """Pre-layer-norm block: attention, then a GELU MLP, each added to the residual stream."""

    def __init__(self, config: CharGPTConfig, layer_idx: int) -> None:
        super().__init__()
        self.attn_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.attn = CharGPTAttention(config, layer_idx)
        self.mlp_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, hidden_states, attention_mask=None, present=None, **kwargs):
        """Return the residual stream after this block, (batch, pos, d_model)."""
        attended, _ = self.attn(self.attn_norm(hidden_states), attention_mask, present, **kwargs)
        hidden_states = hidden_states + attended
        return hidden_states + self.down_proj(functional.gelu(self.up_proj(self.mlp_norm(hidden_states))))


class CharGPTPreTrainedModel(PreTrainedModel):
    """What the two character models share: configuration, initialisation, supported attention."""

    config_class = CharGPTConfig
    base_model_prefix = "model"
    supports_gradient_checkpointing = True
    _no_split_modules = ("CharGPTBlock",)
    _supports_sdpa = True
    _supports_attention_backend = True
    _can_record_outputs = {"hidden_states": CharGPTBlock, "attentions": CharGPTAttention}  # noqa: RUF012

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, EnergyGate):
            # outside the common stream: for one seed all variants then start from the same common weights
            with torch.random.fork_rng(devices=[]):
                nn.init.normal_(module.weight, std=self.config.initializer_range)
            nn.init.zeros_(module.bias)
            nn.init.zeros_(module.tau)
            nn.init.zeros_(module.mixture)
            nn.init.constant_(module.alpha, 2.0)
        else:
            super()._init_weights(module)


class CharGPTModel(CharGPTPreTrainedModel):
    """Embeddings and blocks of the character GPT."""

    def __init__(self, config: CharGPTConfig) -> None:
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.embed_positions = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layers = nn.ModuleList(CharGPTBlock(config, layer) for layer in range(config.num_hidden_layers))
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.gradient_checkpointing = False
        self.post_init()

    @merge_with_config_defaults
    @capture_outputs
    def forward(
        self, input_ids=None, attention_mask=None, position_ids=None, inputs_embeds=None, **kwargs
    ) -> BaseModelOutput:
        """Return hidden states, (batch, pos, d_model).

        Args:
            input_ids: (batch, pos), or `inputs_embeds` (batch, pos, d_model) in its place.
            attention_mask: (batch, pos), 1 for tokens and 0 for padding, which also stays out of the gates' statistics.
            position_ids: (batch, pos); 0, 1, … when None.

        Raises:
            HeadlightError: more tokens than the context holds.
        """
        embedded = self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds
        n_tokens, context = embedded.shape[1], self.config.max_position_embeddings
        if n_tokens > context:
            raise HeadlightError(f"at most {context} characters", f"{n_tokens}", "Cut the text into windows.")
        if position_ids is None:
            position_ids = torch.arange(n_tokens, device=embedded.device)[None]
        mask = create_causal_mask(config=self.config, inputs_embeds=embedded, attention_mask=attention_mask, cache=None)
        present = attention_mask if attention_mask is not None and attention_mask.dim() == 2 else None
        hidden_states = embedded + self.embed_positions(position_ids)
        for layer in self.layers:
            hidden_states = layer(hidden_states, mask, present, **kwargs)
        return BaseModelOutput(last_hidden_state=self.norm(hidden_states))


class CharGPTForCausalLM(CharGPTPreTrainedModel):
    """The character GPT with its next-character head, tied to the embedding."""

    _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}  # noqa: RUF012

    def __init__(self, config: CharGPTConfig) -> None:
        super().__init__(config)
        self.model = CharGPTModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    @can_return_tuple
    def forward(self, input_ids=None, attention_mask=None, labels=None, **kwargs) -> CausalLMOutput:
        """Return logits (batch, pos, vocab) and, given `labels`, the next-character cross-entropy in nats.

        Args:
            input_ids: (batch, pos).
            attention_mask: (batch, pos), 1 for tokens and 0 for padding.
            labels: (batch, pos), the ids of the same positions (they are shifted here); −100 is left out.
        """
        outputs = self.model(input_ids=input_ids, attention_mask=attention_mask, **kwargs)
        logits = self.lm_head(outputs.last_hidden_state)
        loss = None
        if labels is not None:
            loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten())
        return CausalLMOutput(
            loss=loss, logits=logits, hidden_states=outputs.hidden_states, attentions=outputs.attentions
        )


AutoConfig.register("char_gpt", CharGPTConfig)
AutoModel.register(CharGPTConfig, CharGPTModel)
AutoModelForCausalLM.register(CharGPTConfig, CharGPTForCausalLM)

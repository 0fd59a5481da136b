"""Energy gating of attention keys: a learned per-head weight g_j on every key, given as log g_j.

A ⊙ g_j renormalised over a row equals softmax(scores + log g_j), so the gate is a bias on the key axis of
the attention mask and needs no attention code of its own.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

NORMS = ("prefix", "window")


def standardise(
    energy: torch.Tensor, norm: str, start: int = 0, present: torch.Tensor | None = None, eps: float = 1e-5
) -> torch.Tensor:
    """Subtract the mean of `energy` over tokens and divide by its standard deviation.

    Args:
        energy: (..., pos), any floating type; statistics are taken in float32.
        norm: "prefix" uses tokens 0…j for token j, so the result depends on no later token and is still one
            number per key; "window" uses all tokens, so later tokens alter earlier ones (as published).
        start: with "prefix", the first position whose statistics count. Earlier positions get 0, the value
            of a token at the mean, because one token has no spread and two are always ±1.
        present: (batch, pos), 1 for tokens and 0 for padding; padding enters no statistic.
        eps: added to the variance.

    Source: energy-gated attention, arXiv 2605.21842; "prefix" and `start` are ours.
    """
    energy = energy.float()
    if present is None:
        weight = energy.new_ones(energy.shape[-1])  # (pos,)
    else:
        weight = present.to(energy.dtype).reshape(len(present), *[1] * (energy.dim() - 2), -1)
    first = (energy * (weight.cumsum(-1) == 1) * weight).sum(-1, keepdim=True)
    shifted = (energy - first) * weight  # a shift cancels; it keeps E[e²] − E[e]² well conditioned
    if norm == "window":
        count = weight.sum(-1, keepdim=True).clamp(min=1)
        mean, square = shifted.sum(-1, keepdim=True) / count, shifted.square().sum(-1, keepdim=True) / count
    else:
        count = weight.cumsum(-1).clamp(min=1)
        mean, square = shifted.cumsum(-1) / count, shifted.square().cumsum(-1) / count
    variance = (square - mean.square()).clamp(min=0)
    standardised = (shifted - mean) * torch.rsqrt(variance + eps)
    if norm == "prefix":
        standardised = standardised * (weight.cumsum(-1) > start)
    return standardised


class EnergyGate(nn.Module):
    """Log gate of every key for every head: a mixture of `n_gates` sigmoid gates of standardised energy.

    Args:
        d_model: width of the block's input.
        n_heads: number of heads; every parameter is per head and gate.
        n_gates: number of gates in the mixture (EGA-n).
        norm: "prefix" or "window", see `standardise`.
        start: first gated position with "prefix".

    Source: arXiv 2605.21842: e = w·x + b; ê = (e − mean)/std; g = σ(α(ê − τ)), α = 2 and τ = 0 at the start;
    EGA-n weighs n gates by a softmax. b cancels in ê and is kept because the published count has it.
    """

    def __init__(self, d_model: int, n_heads: int, n_gates: int, norm: str, start: int) -> None:
        super().__init__()
        self.norm, self.start = norm, start
        self.weight = nn.Parameter(torch.empty(n_heads, n_gates, d_model))
        self.bias = nn.Parameter(torch.zeros(n_heads, n_gates))
        self.alpha = nn.Parameter(torch.full((n_heads, n_gates), 2.0))
        self.tau = nn.Parameter(torch.zeros(n_heads, n_gates))
        self.mixture = nn.Parameter(torch.zeros(n_heads, n_gates))

    def forward(self, hidden_states: torch.Tensor, present: torch.Tensor | None = None) -> torch.Tensor:
        """Return log g, (batch, head, key_pos) in float32.

        Args:
            hidden_states: (batch, pos, d_model), the block's input after its layer norm.
            present: (batch, pos), 1 for tokens and 0 for padding; None for no padding.
        """
        n_heads, n_gates, d_model = self.weight.shape
        energy = functional.linear(hidden_states, self.weight.view(-1, d_model), self.bias.view(-1))
        energy = energy.transpose(1, 2).unflatten(1, (n_heads, n_gates))  # (batch, head, gate, pos)
        energy = standardise(energy, self.norm, self.start, present)
        log_gate = functional.logsigmoid(self.alpha[..., None] * (energy - self.tau[..., None]))
        return (self.mixture.log_softmax(-1)[..., None] + log_gate).logsumexp(2)

"""Models that mix attention with other layers, and share one attention module between layers: true layer numbers."""

import numpy as np
import pytest
import torch
import transformers as hf

from lib.capture import capture, self_check
from lib.corpora import encode_ids
from lib.models import Engine, WeightsUnknown

HYBRID = {
    "vocab_size": 40, "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "initializer_range": 0.3,
    "num_hidden_layers": 7, "mamba_d_state": 8,
}  # fmt: skip
MIXED = ["linear_attention", "linear_attention", "hybrid", "linear_attention", "hybrid", "linear_attention", "hybrid"]
HYBRIDS = {
    "zamba2": lambda: hf.Zamba2Model(
        hf.Zamba2Config(
            **HYBRID, num_key_value_heads=4, layers_block_type=MIXED, mamba_headdim=8, n_mamba_heads=8,
            mamba_ngroups=1, num_mem_blocks=2, chunk_size=8, adapter_rank=4, use_mem_rope=True,
        )
    ),
    "zamba": lambda: hf.ZambaModel(
        hf.ZambaConfig(
            **HYBRID, num_key_value_heads=4, layers_block_type=["hybrid" if k == "hybrid" else "mamba" for k in MIXED],
            n_mamba_heads=2, use_mamba_kernels=False,
        )
    ),
}  # fmt: skip


@pytest.mark.parametrize("family", HYBRIDS)
def test_hybrids_keep_true_layer_numbers_in_captures_and_weights(family):
    torch.manual_seed(0)
    engine = Engine.from_parts(HYBRIDS[family](), name=family)
    assert self_check(engine).passed
    kept = capture(engine, [encode_ids(np.arange(3, 14), engine)])
    assert kept.layers == (2, 4, 6)
    assert kept.z.shape[:3] == (3, 4, 11)
    assert not np.allclose(kept.query[0], kept.query[2], atol=1e-3)
    two, four, six = (engine.weights(layer).W_Q for layer in kept.layers)
    assert np.array_equal(two, six), "every second hybrid layer shares its block"
    assert np.array_equal(two, four) is (family == "zamba")
    with pytest.raises(WeightsUnknown, match="L0"):
        engine.weights(0)

"""The character GPT: everything about the model that Headlight trains itself, with or without energy gates.

``modelling`` is the model (importing this package registers it with transformers), ``energy_gate`` its gate and
``tokenizer`` its alphabet. ``settings``, ``text``, ``training``, ``blockwise_attention`` and ``checkpoint`` train it,
``card`` writes it down, ``sampling`` draws text from it, ``study`` compares seeds. The commands that a reader repeats
are ``python -m lib.models.train_char_gpt``, ``lib.models.seed_study`` and ``lib.models.sample_char_gpt``.
"""

from lib.models.char_gpt.modelling import CharGPTConfig, CharGPTForCausalLM, CharGPTModel

__all__ = ["CharGPTConfig", "CharGPTForCausalLM", "CharGPTModel"]

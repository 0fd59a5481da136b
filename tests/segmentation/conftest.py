import pytest

from lib.models import catalogue, load

NAME = "all-MiniLM-L6-v2"


@pytest.fixture(scope="session")
def engine():
    entry = next(entry for entry in catalogue() if entry.name == NAME)
    if not entry.available:
        pytest.skip(f"{NAME} is not installed: {entry.why_not}")
    return load(NAME, device="cpu")


@pytest.fixture(scope="session")
def decoder():
    """A small causal model with an ordinary tokenizer's vocabulary size, weights drawn at random."""
    entry = next(entry for entry in catalogue() if entry.name == NAME)
    if not entry.available:
        pytest.skip(f"the tokenizer of {NAME} is not installed: {entry.why_not}")
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    from lib.models import Engine

    characters = " abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,!?'-0123456789"
    vocabulary = {"<unk>": 0} | {c: i for i, c in enumerate(characters, 1)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=len(vocabulary), n_embd=32, n_layer=2, n_head=4, n_positions=128)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")
    return Engine.from_parts(GPT2LMHeadModel(config), fast, name="small decoder")

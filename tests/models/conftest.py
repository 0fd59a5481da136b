"""Folders as users bring them: tiny models with random weights, saved with a small tokenizer."""

import json

import pytest
import torch
import transformers as hf
from tokenizers import Tokenizer, models, pre_tokenizers

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*SPECIAL, "the", "cat", "sat", "on", "a", "mat", "and", "looked", "at", "dog", "who", "slept"]
SMALL = {
    "vocab_size": 40, "hidden_size": 24, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 3,
    "max_position_embeddings": 32, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3,
}  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def quiet():
    hf.utils.logging.set_verbosity_error()
    hf.utils.logging.disable_progress_bar()


@pytest.fixture
def tokenizer():
    rules = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    rules.pre_tokenizer = pre_tokenizers.Whitespace()
    named = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    return hf.PreTrainedTokenizerFast(tokenizer_object=rules, **named)


@pytest.fixture
def bert():
    torch.manual_seed(0)
    return hf.BertForMaskedLM(hf.BertConfig(**SMALL))


@pytest.fixture
def save(tmp_path, tokenizer):
    """save(model, **changes of config.json) -> folder."""

    def write(model, name="mine", with_tokenizer=True, **changes):
        folder = tmp_path / name
        model.save_pretrained(folder)
        if with_tokenizer:
            tokenizer.save_pretrained(folder)
        config = json.loads((folder / "config.json").read_text("utf-8")) | changes
        (folder / "config.json").write_text(json.dumps(config), "utf-8")
        return folder

    return write

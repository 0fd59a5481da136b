"""Real models and texts for the spectral tests: the offline MiniLM and a small untrained character GPT."""

import pytest
import torch
import transformers as hf
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from lib.corpora import Document
from lib.models import Engine, load
from lib.models.char_gpt import CharGPTConfig, CharGPTForCausalLM
from lib.models.char_gpt.tokenizer import character_tokenizer

SENTENCES = (
    "A river carries sand from the hills to the sea. ",
    "Where the water slows, the heavier grains settle first. ",
    "Over the years a bank grows, and willows take root on it. ",
    "In spring the flood may cut through the bank and leave a lake behind. ",
    "Fishermen know these lakes, because perch and pike hide among the reeds. ",
)


@pytest.fixture(scope="session")
def documents():
    """Four texts of some 380 tokens, in different order, and one of a single sentence."""
    texts = [
        "".join(SENTENCES[(start + step * k) % 5] for k in range(30))
        for start, step in ((0, 1), (2, 3), (1, 2), (3, 4))
    ]
    return [Document(f"text {i}", text) for i, text in enumerate(texts)] + [Document("short", SENTENCES[0])]


@pytest.fixture(scope="session")
def minilm():
    from lib.models.offline import NotInstalled

    try:
        return load("all-MiniLM-L6-v2")
    except NotInstalled as missing:
        pytest.skip(f"the offline model is not installed: {missing}")


@pytest.fixture(scope="session")
def char_gpt():
    """Two layers, three heads, context 48; weights drawn large enough for attention to differ from uniform."""
    torch.manual_seed(0)
    text = "".join(SENTENCES)
    tokenizer = character_tokenizer(text, 48)
    config = CharGPTConfig(
        vocab_size=len(tokenizer), hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
        max_position_embeddings=48, initializer_range=0.3,
    )  # fmt: skip
    return Engine.from_parts(CharGPTForCausalLM(config), tokenizer, name="small character GPT")


@pytest.fixture(scope="session")
def t5(documents):
    """An untrained encoder–decoder of two and two layers that reads whole words."""
    torch.manual_seed(0)
    words = sorted(set(documents[0].text.replace(".", " .").replace(",", " ,").split()))
    vocabulary = {word: i for i, word in enumerate(["<pad>", "</s>", "<unk>", *words])}
    rules = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    rules.pre_tokenizer = pre_tokenizers.Whitespace()
    rules.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer = hf.PreTrainedTokenizerFast(
        tokenizer_object=rules, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    config = hf.T5Config(
        vocab_size=len(vocabulary), d_model=24, d_kv=8, num_heads=3, d_ff=32, num_layers=2, num_decoder_layers=2,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=1, initializer_factor=3.0,
    )  # fmt: skip
    return Engine.from_parts(hf.T5ForConditionalGeneration(config), tokenizer, name="small T5")

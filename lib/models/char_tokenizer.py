"""The tokenizer of the character models: one token per character, offsets included.

The vocabulary is the sorted set of characters of the training text plus `<unk>`. Policy for anything else: each
character outside the vocabulary becomes one `<unk>` token of its own, so offsets still count characters; nothing is
normalised, lower-cased or dropped. `<unk>` does not occur in training: what the model does on it is not learned.
"""

from __future__ import annotations

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

UNKNOWN = "<unk>"


def character_tokenizer(text: str, context: int) -> PreTrainedTokenizerFast:
    """Build the tokenizer of the characters of `text`.

    Args:
        text: training text; TinyShakespeare has 65 different characters.
        context: the model's window in characters, stored as `model_max_length`.
    """
    symbols = [*sorted(set(text)), UNKNOWN]
    vocabulary = {symbol: index for index, symbol in enumerate(symbols)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token=UNKNOWN,
        model_max_length=context,
        clean_up_tokenization_spaces=False,
    )

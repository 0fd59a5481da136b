"""Parts of speech without a tagger: English closed-class words, numbers and punctuation; everything else is ""."""

from __future__ import annotations

import unicodedata

ENGLISH_SHARE = 0.2  # at least this share of the words must be closed-class before a text is taken for English

_CLASSES = {
    "DET": "a an the this that these those each every either neither some any no all both half such another",
    "ADP": "of in on at by for with about against between among into through during before after above below from up "
    "down over under around across along behind beside beyond near off onto out toward towards upon via within without "
    "despite except per than",
    "PRON": "i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its "
    "itself we us our ours ourselves they them their theirs themselves who whom whose which what someone somebody "
    "something anyone anybody anything everyone everybody everything nobody nothing none",
    "CCONJ": "and or but nor yet",
    "SCONJ": "because although though while whereas if unless until since whether once lest when where why how as",
    "AUX": "am is are was were be been being have has had having do does did will would shall should can could may "
    "might must ought isn't aren't wasn't weren't hasn't haven't hadn't don't doesn't didn't won't wouldn't shouldn't "
    "can't cannot couldn't mustn't",
    "PART": "not to",
    "NUM": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred "
    "thousand million billion",
    "INTJ": "oh ah hm hmm mm mhm uh um er hello hi hey yes yeah please thanks",
}
CLOSED_CLASS = {word: tag for tag, words in _CLASSES.items() for word in words.split()}


def closed_class_tags(words: list[str]) -> tuple[str, ...]:
    """One tag per word, with the names of Universal Dependencies; "" where a word list cannot tell.

    Open classes (nouns, verbs, adjectives, adverbs) are never guessed. Words are looked up only in a text that looks
    English (see ENGLISH_SHARE), so that German "die" or "was" stays untagged; numbers and punctuation need no language.

    **Source** tag set: Universal Dependencies v2, https://universaldependencies.org/u/pos. An ambiguous word has its
    most frequent class ("that" DET, "to" PART, "her" PRON), so this colours a map; it is no substitute for a tagger.
    """
    found = [CLOSED_CLASS.get(word.lower().replace("’", "'"), "") for word in words]
    english = sum(map(bool, found)) >= ENGLISH_SHARE * max(1, sum(word[:1].isalpha() for word in words))
    return tuple(_by_shape(word) or (tag if english else "") for word, tag in zip(words, found, strict=True))


def _by_shape(word: str) -> str:
    if word[:1].isnumeric():
        return "NUM" if not any(character.isalpha() for character in word) else ""
    kinds = {unicodedata.category(character)[0] for character in word}
    if kinds == {"P"}:
        return "PUNCT"
    return "SYM" if "S" in kinds and not kinds & {"L", "N"} else ""

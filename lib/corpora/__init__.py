"""Texts and images, and what models make of them."""

from .bundled import Corpus, builtin, builtin_names
from .document import Document
from .gold import choi, conllu, lines
from .outside import external, external_names, external_place
from .reading import Reading, from_file, from_text, read_file, read_text
from .sentences import sentence_spans
from .synthetic import repeated_tokens
from .tokens import USUAL_LENGTH, Encoding, TokenTable, encode, encode_ids, tokenise

__all__ = [
    "USUAL_LENGTH",
    "Corpus",
    "Document",
    "Encoding",
    "Reading",
    "TokenTable",
    "builtin",
    "builtin_names",
    "choi",
    "conllu",
    "encode",
    "encode_ids",
    "external",
    "external_names",
    "external_place",
    "from_file",
    "from_text",
    "lines",
    "read_file",
    "read_text",
    "repeated_tokens",
    "sentence_spans",
    "tokenise",
]

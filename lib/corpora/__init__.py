"""Texts and images, and what models make of them."""

from .document import Document
from .tokens import Encoding, TokenTable, encode, encode_ids

__all__ = ["Document", "Encoding", "TokenTable", "encode", "encode_ids"]

"""How a token is shown: as readable text, never as the private alphabet of a byte-level vocabulary."""

from __future__ import annotations

import re
import unicodedata

_BYTE_FALLBACK = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_WHITE = {" ": "␣", "\n": "⏎", "\r": "⏎", "\t": "⇥"}


def _byte_alphabet() -> dict[str, int]:
    """The printable stand-in of every byte in byte-level vocabularies.

    **Source** Radford et al. 2019 (GPT-2): printable Latin-1 characters stand for themselves, the others follow from
    U+0100 in ascending order.
    """
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in own]
    return {chr(byte): byte for byte in own} | {chr(256 + rank): byte for rank, byte in enumerate(rest)}


_ALPHABET = _byte_alphabet()


def vocabulary_kind(tokenizer: object) -> str:
    """ "bytes" for byte-level vocabularies, "raw" for UTF-8 bytes themselves, "wordpiece" where "##" continues a word.

    Everything else is "plain".
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        if type(tokenizer).__name__ == "ByT5Tokenizer":
            return "raw"
        return "wordpiece" if hasattr(tokenizer, "wordpiece_tokenizer") else "plain"
    described = f"{backend.decoder!r} {backend.pre_tokenizer!r}"
    if "ByteLevel" in described:
        return "bytes"
    return "wordpiece" if "WordPiece" in described or "WordPiece" in type(backend.model).__name__ else "plain"


def bare(piece: str, kind: str) -> str | bytes:
    """The characters, or for byte-level pieces the bytes, that a vocabulary entry stands for.

    >>> bare("##ing", "wordpiece"), bare("Ġworld", "bytes"), bare("▁on", "plain"), bare("<0xE6>", "plain")
    ('ing', b' world', ' on', b'\\xe6')
    """
    if kind == "bytes":
        if all(character in _ALPHABET for character in piece):
            return bytes(_ALPHABET[character] for character in piece)
        return piece
    if kind == "raw":
        return piece.encode("latin-1") if len(piece) == 1 else piece
    if match := _BYTE_FALLBACK.fullmatch(piece):
        return bytes([int(match[1], 16)])
    if kind == "wordpiece":
        return piece[2:] if piece.startswith("##") and len(piece) > 2 else piece
    return piece.replace("▁", " ")


def shown(content: str | bytes) -> str:
    """Content as a label: trimmed, white space made visible, incomplete UTF-8 as "‹e6 b8›".

    >>> shown(b" caf\\xc3\\xa9"), shown(b" \\xf0\\x9f"), shown("\\n"), shown("\\u200d")
    ('café', '‹f0 9f›', '⏎', '‹U+200D›')
    """
    text = content if isinstance(content, str) else _decoded(content)
    if not text.strip():
        return "".join(_WHITE.get(character, "␣") for character in text) or "∅"
    text = text.strip()
    if all(unicodedata.category(character)[0] in "CM" for character in text):
        return "".join(f"‹U+{ord(character):04X}›" for character in text)
    return text


def _decoded(data: bytes) -> str:
    parts, rest = [], data
    while rest:
        try:
            parts.append(rest.decode("utf-8"))
            break
        except UnicodeDecodeError as error:
            parts.append(rest[: error.start].decode("utf-8"))
            # an incomplete character takes its continuation bytes with it
            end = error.start + 1
            while end < len(rest) and 0x80 <= rest[end] < 0xC0:
                end += 1
            parts.append(f"‹{rest[error.start : end].hex(' ')}›")
            rest = rest[end:]
    return "".join(parts)

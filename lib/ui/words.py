"""Words of the page that depend on a number."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """A number with its noun: 1 document, 12 documents."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"

"""Words of the page that depend on a number."""

from lib.numerals import plural

__all__ = ["plural"]

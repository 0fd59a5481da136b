"""The one exception family of Headlight: what was expected, what came, what to do."""

from __future__ import annotations


class HeadlightError(ValueError):
    """A problem the user can act on; its text is shown on the page as it is.

    The message names what was expected, what came instead, and a way out.
    """

    def __init__(self, expected: str, got: str, remedy: str) -> None:
        self.expected, self.got, self.remedy = expected, got, remedy
        super().__init__(f"Expected {expected}; got {got}. {remedy}")


def first_line(error: BaseException, most: int = 200) -> str:
    """The first line of what an error says, at most so many characters; its class where it says nothing."""
    lines = str(error).strip().splitlines()
    return lines[0][:most] if lines else type(error).__name__

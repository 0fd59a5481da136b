"""What an installation lets its visitors load: anything, or nothing that reads its own files.

``HEADLIGHT_OWN`` = "all" (default): also folders and GGUF files of the machine that runs Headlight. "hub": any Hub id,
no paths. "catalogue": the catalogue alone. Other than "all", the Hub is asked without the installation's own token.
"""

from __future__ import annotations

import os

from lib.errors import HeadlightError

CHOICES = ("all", "hub", "catalogue")


class NotPermitted(HeadlightError):
    """A model that this installation does not load for its visitors."""


def own_models() -> str:
    """The setting; raises HeadlightError for a value that says nothing."""
    given = os.environ.get("HEADLIGHT_OWN", "").strip().lower() or "all"
    if given not in CHOICES:
        raise HeadlightError(f"HEADLIGHT_OWN as one of {', '.join(CHOICES)}", repr(given), "Correct or unset it.")
    return given


def paths_allowed() -> bool:
    """Whether folders and files of this machine may be read."""
    return own_models() == "all"


def hub_ids_allowed() -> bool:
    """Whether ids of the Hub may be given that the catalogue does not list."""
    return own_models() != "catalogue"


def require_permitted(name: str, is_id: bool, listed: bool) -> None:
    """Refuse what may not be loaded: paths, unless all is allowed, and ids that are not listed, for "catalogue".

    is_id: whether the name has the form of a Hub id; listed: whether it is one of the catalogue's.
    """
    setting = own_models()
    if setting == "all" or listed or (setting == "hub" and is_id):
        return
    works = "a name of the catalogue" + (" or a Hub id" if setting == "hub" else "")
    raise NotPermitted(
        works,
        repr(name[:200]),
        f"This installation loads nothing else (HEADLIGHT_OWN={setting}); run your own for other models.",
    )


def hub_token() -> bool | None:
    """The Hub client's ``token``: False where visitors must not use the installation's, None for its own rules."""
    return None if own_models() == "all" else False

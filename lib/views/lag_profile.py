"""A profile over a whole-number axis with bands that can be dragged along it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lib.errors import HeadlightError
from lib.views.component import Figure, show
from lib.views.packet import pack


def lag_profile_figure(
    lags: Sequence[int],
    profile: np.ndarray,
    bands: np.ndarray,
    centres: Sequence[float],
    *,
    low: np.ndarray | None = None,
    high: np.ndarray | None = None,
    chosen: int = 0,
    rules: Sequence[tuple[float, str]] = (),
    title: str = "",
    y_title: str = "",
    note: str = "",
    height: int = 150,
) -> Figure:
    """A curve with the weight of each band drawn beneath it and a handle at each band's centre.

    A drag shows the band's shape moved along; its true width comes with the next drawing.

    Args:
        lags: the axis, whole numbers in steps of one.
        profile: (lag,) the curve, ≥ 0.
        bands: (band, lag) weights between 0 and 1.
        centres: (band,) where the handles stand.
        low: (lag,) lower end of the curve's interval, with `high`.
        high: (lag,) its upper end.
        chosen: index of the chosen band.
        rules: (place, name) of fine lines.
        title: a line above.
        y_title: what the curve is.
        note: a line beneath.
        height: pixels.

    Raises:
        HeadlightError: axis, curve and bands do not fit one another.
    """
    lags, profile, bands = np.asarray(lags), np.asarray(profile, float), np.asarray(bands, float)
    fits = profile.shape == lags.shape and bands.shape == (len(centres), len(lags)) and len(lags) > 1 and len(centres)
    if not fits or (np.diff(lags) != 1).any():
        raise HeadlightError(
            "a curve over consecutive lags and one weight per band and lag",
            f"lags {lags.shape}, curve {profile.shape}, bands {bands.shape}, {len(centres)} centres",
            "Read all of them along the same lags.",
        )
    top = float(np.nanmax(profile if high is None else high, initial=0.0)) or 1.0
    arrays = {"profile": (profile / top).astype(np.float32), "bands": bands.astype(np.float32)}
    if low is not None and high is not None:
        arrays |= {"low": (low / top).astype(np.float32), "high": (high / top).astype(np.float32)}
    label = (
        f"{title or 'Profile'}: {len(lags)} lags, {len(centres)} bands about {', '.join(f'{c:g}' for c in centres)}."
    )
    meta = {
        "first": int(lags[0]),
        "centres": [float(centre) for centre in centres],
        "chosen": int(chosen),
        "rules": [[float(at), str(name)] for at, name in rules if np.isfinite(at)],
        "title": title,
        "y_title": y_title,
        "note": note,
        "top": top,
        "height": int(height),
        "label": f"{label} Left and right move the chosen band, up and down choose another.",
    }
    return Figure("lag_profile", pack(meta, arrays), (len(centres), len(lags)), label)


def lag_profile(*parts: object, key: str, on_move: Callable[[int, int], None] | None = None, **options: object) -> None:
    """Show a profile; a band that is dragged, moved by keys or clicked is told.

    Args:
        parts: see `lag_profile_figure`, as are `options`.
        key: unique on the page.
        on_move: called with the band's index and the index of the lag where it now stands.
    """
    show(lag_profile_figure(*parts, **options), key, on_move)

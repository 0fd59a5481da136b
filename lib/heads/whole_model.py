"""Views over all layers: what the special tokens and the first position take, and how long queries and keys are."""

from __future__ import annotations

import pandas as pd

from lib.heads.tally import Tally

LAYERWISE = ("special", "first_token", "cls", "sep", "period", "norm_gap", "mean_lag", "entropy_share", "same_sentence")


def layer_profile(tally: Tally, names: tuple[str, ...] = LAYERWISE) -> pd.DataFrame:
    """Scores by layer, each the mean over the layer's heads: one row per (score, layer).

    Columns: score, label, layer, value, chance, and low, high: the 95 % interval over documents, simultaneous over
    layers. Scores that the tally does not have are left out.
    """
    known = {score.name: score for score in tally.scores}
    parts = []
    for name in names:
        if name not in known:
            continue
        interval, chance = tally.by_layer(name)
        parts.append(
            pd.DataFrame(
                {
                    "score": name,
                    "label": known[name].label,
                    "layer": tally.layers,
                    "value": interval.estimate,
                    "chance": chance,
                    "low": interval.low,
                    "high": interval.high,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)

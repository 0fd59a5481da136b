import numpy as np
import pandas as pd

from lib.heads import claims_beside_effects, role_effects, score_heads, sweep
from lib.heads.roles import with_roles
from tests.heads.test_roles import heads


def test_roles_beside_effects_by_hand():
    catalogue = pd.concat([heads(self=(0.5, 0.1, 0.4, 0.6)), heads(), heads()], ignore_index=True)
    catalogue = with_roles(catalogue, documents=1)
    catalogue = catalogue.assign(layer=[0, 0, 1], head=[0, 1, 0], role=["itself?", "none clear", "no signal"])
    effects = pd.DataFrame(
        {"layer": [1, 0, 0], "head": [0, 0, 1], "change": [0.0, 0.3, -0.2], "change_low": [np.nan, 0.1, -0.3],
         "change_high": [np.nan, 0.5, -0.1]}
    )  # fmt: skip
    found = role_effects(catalogue, effects).set_index(["layer", "head"])
    assert found.effect.to_dict() == {(1, 0): "unknown", (0, 0): "missed", (0, 1): "better without"}
    assert found.score[0, 0] == "self" and found.lift[0, 0] == 5 and found["rank"][0, 0] == 1
    assert found.score[0, 1] == "" and np.isnan(found.value[1, 0])
    effects.loc[1, "change_low"] = -0.1
    assert role_effects(catalogue, effects).set_index(["layer", "head"]).effect[0, 0] == "no measurable effect"


def test_a_claim_is_weighed_against_heads_drawn_at_random():
    """40 heads: the two of one role are missed most, the eight of another are like any."""
    rng = np.random.default_rng(0)
    changes = rng.normal(0, 0.01, 40)
    changes[:2] = 0.5, 0.4
    beside = pd.DataFrame(
        {
            "layer": np.arange(40) // 8, "head": np.arange(40) % 8, "change": changes, "change_low": changes - 0.1,
            "change_high": changes + 0.1, "effect": ["missed"] * 2 + ["no measurable effect"] * 38,
            "role": ["itself?"] * 2 + ["broad?"] * 8 + ["none clear"] * 30, "strength": [0.3, 0.9, *[0.5] * 38],
        }
    )  # fmt: skip
    found = claims_beside_effects(beside).set_index("role")
    assert found.index.tolist() == ["broad", "itself", "none clear"]  # most heads first, heads without a role last
    claim = found.loc["itself"]
    assert (claim.heads, claim.missed, claim.found) == (2, 2, "missed more")
    assert claim.change == 0.45 > claim.drawn_high > claim.drawn_low
    assert (claim.layer, claim["head"], claim.head_change, claim.head_low) == (0, 1, 0.4, changes[1] - 0.1)
    assert found.loc["broad"].found == "like any heads"
    assert found.loc["broad"].drawn_low <= found.loc["broad"].change <= found.loc["broad"].drawn_high


def test_real_roles_beside_real_effects(minilm, articles):
    chosen = [(0, 2), (1, 8), (2, 9), (0, 11)]
    found = role_effects(score_heads(minilm, articles[:2]), sweep(minilm, articles[:2], heads=chosen))
    assert found.role.str.removesuffix("?").tolist() == ["previous token", "next token", "duplicate token", "broad"]
    assert found.score.tolist() == ["previous_token", "next_token", "duplicate_token", "entropy_share"]
    assert (found.change > 0).all() and sorted(found["rank"]) == [1, 2, 3, 4]

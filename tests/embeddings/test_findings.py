"""The paper's claims on planted evidence, both ways, and on a real model."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lib.embeddings import Evidence, Offsets, Orders, attentionviz, evidence, head_sentences
from lib.embeddings.induction import Induction
from lib.embeddings.offsets import REACH

DOCUMENTS, LAYERS, HEADS = 8, 3, 2


def noise(*shape, size=0.01, seed=0):
    return np.random.default_rng(seed).normal(scale=size, size=shape)


def planted(**change):
    """Evidence in which everything that V claims of a causal text model holds."""
    shape = (DOCUMENTS, LAYERS, HEADS)
    mass = np.abs(noise(*shape, 2 * REACH + 1, size=0.005))
    mass[:, 0, 0, REACH - 1] = 0.8 + noise(DOCUMENTS)  # L0 H0: the next token
    mass[:, 1, 0, [REACH + 2, REACH + 5]] = 0.4
    mass[:, 2, 1, REACH] = 0.9
    first = np.full(shape, 0.1) + noise(*shape)
    first[:, 2] += 0.6
    rows = [
        {"layer": layer, "head": head, "attribute": attribute, "score": score, "low": score - 0.02,
         "high": score + 0.02, "null": null, "null_low": null - 0.01, "null_high": null + 0.01,
         "strength": (score - null) / (1 - null), "ordered": score > null + 0.1}
        for layer in range(LAYERS) for head in range(HEADS)
        for attribute, null, score in (
            ("position", -0.2, 0.95 if (layer, head) == (0, 0) else 0.2),
            ("position_mod_5", 0.2, 0.9 if (layer, head) == (1, 0) else 0.25),
        )
    ]  # fmt: skip
    agreement = np.full((LAYERS, HEADS), 0.1)
    agreement[2, 1] = 0.94
    lift = np.full((DOCUMENTS, LAYERS, HEADS), 0.02) + np.abs(noise(*shape, size=0.001))
    after = lift.copy()
    after[:, 1, 1] = 0.5 + noise(DOCUMENTS)
    given = {
        "model": "planted", "causal": True, "image": False, "layers": tuple(range(LAYERS)),
        "distance": -0.9 + noise(*shape), "norm_gap": -4.5 + noise(*shape),
        "offsets": Offsets(mass, np.full((DOCUMENTS, 2 * REACH + 1), 0.02), first, np.full(DOCUMENTS, 0.02), (0, 1, 2)),
        "orders": Orders(pd.DataFrame(rows), ""), "agreement": agreement, "entries": 1000,
        "induction": Induction(after, lift, np.full(DOCUMENTS, 0.02), (0, 1, 2)),
    }  # fmt: skip
    return Evidence(**given | change)


def twin(**change):
    return planted(
        model="twin", distance=-0.5 + noise(DOCUMENTS, LAYERS, HEADS), agreement=noise(LAYERS, HEADS), **change
    )


def marks(trained, other=None):
    return {found.claim.split()[0]: found for found in attentionviz(trained, other, "planted")}


def test_what_holds_is_reproduced():
    found = marks(planted(), twin())
    for claim in ("Distance", "Early", "Causal", "Late", "Look-at-self"):
        assert found[claim].mark == "reproduced", found[claim]
    assert "Below the untrained twin's." in found["Distance"].reason
    assert "L0 H0 (+1)" in found["Early"].parts[0].note
    assert "1 head: L1 H0 (−2, −5)." in found["Early"].parts[1].note
    assert "L2 H1" in found["Look-at-self"].quantity
    assert "L2" in found["Late"].quantity
    assert found["Distance"].number == pytest.approx(-0.9, abs=0.01)
    assert found["Causal"].documents == DOCUMENTS


def test_an_untrained_twin_that_does_as_well_qualifies_the_distance():
    found = marks(planted(), planted(model="twin"))["Distance"]
    assert found.mark == "reproduced"
    assert "Holds, but not learned" in found.reason
    assert "Untrained twin: −0.899" in found.note


def test_what_does_not_hold_is_not():
    shape = (DOCUMENTS, LAYERS, HEADS)
    found = marks(
        planted(distance=0.3 + noise(*shape), norm_gap=0.4 + noise(*shape), agreement=np.full((LAYERS, HEADS), -0.3)),
        twin(),
    )
    assert found["Distance"].mark == "contradicted"
    assert found["Causal"].mark == "contradicted"
    assert found["Look-at-self"].mark == "contradicted"
    weak = marks(planted(distance=-0.4 + noise(*shape)), twin())["Distance"]
    assert weak.mark == "undecided"


def test_claims_about_other_models_are_left_open():
    causal, both = marks(planted()), marks(planted(causal=False))
    assert causal["Bidirectional"].mark == "undecided"
    assert "this one is causal" in causal["Bidirectional"].reason
    assert both["Bidirectional"].mark == "reproduced"
    assert "token after" in both["Bidirectional"].quantity
    assert both["Bidirectional"].number == pytest.approx(25, abs=2)
    assert both["Causal"].mark == "undecided"
    assert "reads both ways" in both["Causal"].reason
    assert causal["There"].mark == "undecided"
    assert "about images" in causal["There"].note
    without = marks(planted(agreement=None, induction=None, causal=False))
    assert without["Look-at-self"].mark == without["Bidirectional"].mark == "undecided"


def test_image_attributes_are_decided_head_by_head():
    rows = [
        {"layer": layer, "head": 0, "attribute": name, "score": score, "low": score - 0.02, "high": score + 0.02,
         "null": -0.2, "null_low": -0.22, "null_high": -0.18, "strength": (score + 0.2) / 1.2, "ordered": score > 0}
        for layer in range(LAYERS)
        for name, score in (("hue", 0.9 if layer == 1 else 0), ("brightness", 0.8), ("frequency", 0.7), ("angle", 0.6))
    ]  # fmt: skip
    found = marks(planted(image=True, causal=False, orders=Orders(pd.DataFrame(rows), "")))
    assert found["There"].mark == "reproduced"
    assert found["There"].parts[0].quantity == "hue: L1 H0"
    assert "about texts" in found["Early"].note
    missing = pd.DataFrame(rows)
    missing.loc[missing.attribute == "angle", "strength"] = np.nan
    found = marks(planted(image=True, orders=Orders(missing, "")))["There"]
    assert found.mark == "undecided"
    assert "no angle" in found.parts[3].note


def test_no_spiral_head_leaves_the_claim_open():
    flat = replace(planted().offsets, mass=np.abs(noise(DOCUMENTS, LAYERS, HEADS, 2 * REACH + 1, size=0.005)))
    found = marks(planted(offsets=flat))["Early"]
    assert found.mark == "undecided"
    assert "No such head" in found.parts[0].note


def test_the_command_prints_every_verdict_and_sentence(minilm, monkeypatch, capsys):
    from lib.embeddings.__main__ import main

    command = ["lib.embeddings", minilm.name, "conversation", "--documents", "2", "--length", "10", "--sentences"]
    monkeypatch.setattr("sys.argv", command)
    main()
    said = capsys.readouterr().out
    assert said.count("  →  ") == 7
    assert "Untrained twin: −0." in said
    assert "\nL5 H11: " in said


@pytest.fixture(scope="module")
def real(minilm, articles):
    return evidence(minilm, articles)


def test_evidence_of_a_real_model(minilm, articles, real):
    assert real.distance.shape == real.norm_gap.shape == (6, 6, 12)
    assert -1 <= real.distance.mean() < -0.8
    assert real.agreement.shape == (6, 12)
    assert real.entries == 32 * 384
    weights = minilm.weights(1)
    assert real.agreement[1, 3] == pytest.approx(
        np.corrcoef(weights.W_Q[3].ravel(), weights.W_K[3].ravel())[0, 1], abs=1e-5
    )
    found = marks(real)
    assert found["Distance"].mark == "reproduced"
    assert found["Distance"].model == minilm.name
    assert "L1 H9 (−1)" in found["Early"].parts[0].note
    assert all(one.reason for one in found.values())


def test_every_real_head_has_a_sentence(real):
    found = head_sentences(real.orders.table, real.offsets.table())
    assert len(found) == 72
    assert found[1, 9].startswith("L1 H9: ordered by position")
    assert "the previous token" in found[1, 9]
    assert all(sentence.endswith(".") for sentence in found.values())

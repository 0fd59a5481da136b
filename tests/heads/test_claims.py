from dataclasses import replace

import numpy as np
import pytest

from lib.corpora import builtin
from lib.heads.claims import attentionviz, evidence
from lib.models import untrained_twin


@pytest.fixture(scope="module")
def minilm_evidence(minilm, articles):
    return evidence(minilm, articles), evidence(untrained_twin(minilm), articles)


def marks(verdicts):
    return [verdict.mark for verdict in verdicts]


def test_the_four_claims_on_a_bidirectional_model(minilm_evidence):
    gap, first, own, induction = attentionviz(*minilm_evidence, corpus="six articles")
    assert gap.mark == "undecided" and "causal" in gap.note and gap.number < 0  # MiniLM's queries are shorter, too
    assert first.mark == "undecided" and 0.1 < first.number < 0.5 and first.null["uniform row"] < 0.01
    assert own.mark == "undecided" and own.number < 0.5 and "looks at itself most" in own.note
    assert induction.mark != "reproduced" and induction.number < 5 * induction.null["uniform row"]
    assert {v.model for v in (gap, first, own, induction)} == {"all-MiniLM-L6-v2"}


def test_without_a_twin_the_claim_that_needs_it_stays_open(minilm_evidence):
    own = attentionviz(minilm_evidence[0], None, corpus="six articles")[2]
    assert own.mark == "undecided" and np.isnan(own.null["untrained twin"])


def test_planted_evidence_reproduces_every_claim(minilm_evidence):
    trained, twin = minilm_evidence
    tally, probe = trained.tally, trained.probe
    values = tally.values.copy()
    jitter = np.random.default_rng(0).normal(0, 0.01, values.shape)
    values[..., tally.place("norm_gap")] = -4.6 + jitter[..., 0]
    values[..., tally.place("first_token")] = 0.8 + jitter[..., 1]
    values[..., tally.place("self")] = 0.1 + jitter[..., 2] * 0.1
    values[:, 2, 5, tally.place("self")] = 0.9
    agreement = np.zeros((6, 12))
    agreement[2, 5] = 0.94
    copied = probe.values.copy()
    copied[:, 3, 1, probe.place("induction_before")] = 0.7 + jitter[0, 0, :8, 3]
    planted = replace(
        trained, tally=replace(tally, values=values), agreement=agreement, probe=replace(probe, values=copied)
    )
    gap, first, own, induction = attentionviz(replace(planted, causal=True), twin, corpus="planted")
    assert marks([gap, first, own]) == ["reproduced"] * 3
    assert own.number == 0.94 and "L2 H5" in own.note
    assert induction.mark == "undecided"  # causal: not what the claim is about
    both_ways = attentionviz(planted, twin, corpus="planted")[3]
    assert both_ways.mark == "reproduced" and "L3 H1, the token before" in both_ways.note


def test_a_vision_model_has_no_probe(dinov2):
    found = evidence(dinov2, builtin("photographs"))
    gap, first, own, induction = attentionviz(found, None, corpus="photographs")
    assert induction.mark == "undecided" and "images" in induction.note
    assert np.isfinite([gap.number, first.number, own.number]).all()

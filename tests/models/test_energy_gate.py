import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.models.char_gpt.energy_gate import EnergyGate, standardise


def test_standardise_worked_by_hand():
    energy = torch.tensor([1.0, 3.0, 2.0, 6.0])  # prefix means 1, 2, 2, 3; variances 0, 1, 2/3, 7/2
    prefix = standardise(energy, "prefix", eps=0.0)[1:]
    torch.testing.assert_close(prefix, torch.tensor([1.0, 0.0, 3 / 3.5**0.5]))
    window = standardise(energy, "window", eps=0.0)
    torch.testing.assert_close(window, torch.tensor([-2.0, 0.0, -1.0, 3.0]) / 3.5**0.5)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 60), st.floats(-1000, 1000))
def test_standardise_agrees_with_numpy_wherever_the_energies_lie(seed, length, offset):
    energy = np.random.default_rng(seed).normal(offset, 1.0, size=(2, length))
    prefix = [
        (row[i] - row[: i + 1].mean()) / np.sqrt(row[: i + 1].var() + 1e-5) for row in energy for i in range(length)
    ]
    window = (energy - energy.mean(-1, keepdims=True)) / np.sqrt(energy.var(-1, keepdims=True) + 1e-5)
    given_energy = torch.tensor(energy)
    np.testing.assert_allclose(standardise(given_energy, "prefix").ravel(), prefix, atol=2e-2)
    np.testing.assert_allclose(standardise(given_energy, "window"), window, atol=2e-2)


def test_two_tokens_are_always_plus_and_minus_one_which_is_why_the_gate_starts_later():
    energy = 100 * torch.randn(5, 12, generator=torch.Generator().manual_seed(0))
    free, started = standardise(energy, "prefix"), standardise(energy, "prefix", start=8)
    torch.testing.assert_close(free[:, 1].abs(), torch.ones(5), atol=1e-2, rtol=0)
    assert (started[:, :8] == 0).all()
    assert torch.equal(started[:, 8:], free[:, 8:])


def test_prefix_statistics_do_not_know_the_future_and_window_statistics_do():
    energy = torch.randn(3, 20, generator=torch.Generator().manual_seed(0))
    edited = energy.clone()
    edited[:, -1] += 5
    assert torch.equal(standardise(energy, "prefix")[:, :-1], standardise(edited, "prefix")[:, :-1])
    assert not torch.allclose(standardise(energy, "window")[:, :-1], standardise(edited, "window")[:, :-1])


@pytest.mark.parametrize("norm", ["prefix", "window"])
def test_padding_enters_no_statistic(norm):
    energy = torch.randn(1, 4, 10, generator=torch.Generator().manual_seed(0))
    alone = standardise(energy, norm, start=2)
    pad = torch.full((1, 4, 3), 100.0)
    right, left = torch.cat((energy, pad), -1), torch.cat((pad, energy), -1)
    present = torch.tensor([[1] * 10 + [0] * 3])
    torch.testing.assert_close(standardise(right, norm, 2, present)[..., :10], alone, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(standardise(left, norm, 2, present.flip(-1))[..., 3:], alone, atol=1e-5, rtol=1e-4)


def random_gate(n_gates: int) -> EnergyGate:
    torch.manual_seed(3)
    gate = EnergyGate(d_model=6, n_heads=2, n_gates=n_gates, norm="prefix", start=0)
    with torch.no_grad():
        for parameter in gate.parameters():
            parameter.normal_()
    return gate


@torch.no_grad()
def test_gates_are_weighted_by_a_softmax_of_each_head():
    gate = random_gate(4)
    torch.testing.assert_close(gate.mixture.softmax(-1).sum(-1), torch.ones(2))
    hidden = torch.randn(1, 9, 6)
    energy = torch.einsum("bpd,hnd->bhnp", hidden, gate.weight) + gate.bias[..., None]
    parts = torch.sigmoid(gate.alpha[..., None] * (standardise(energy, "prefix") - gate.tau[..., None]))
    expected = (gate.mixture.softmax(-1)[..., None] * parts).sum(2)
    torch.testing.assert_close(gate(hidden).exp(), expected, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_a_mixture_of_equal_gates_is_one_gate():
    four, one = random_gate(4), random_gate(1)
    for name in ("weight", "bias", "alpha", "tau"):
        getattr(four, name).copy_(getattr(one, name).expand_as(getattr(four, name)))
    hidden = torch.randn(2, 9, 6)
    torch.testing.assert_close(four(hidden), one(hidden), atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_the_bias_cancels_and_the_gate_lies_between_zero_and_one():
    gate, hidden = random_gate(1), torch.randn(2, 30, 6)
    before = gate(hidden)
    gate.bias += 7
    torch.testing.assert_close(gate(hidden), before, atol=1e-3, rtol=1e-3)
    assert (before < 0).all()
    assert before.shape == (2, 2, 30)

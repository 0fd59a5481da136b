import numpy as np
import pandas as pd
import pytest

from lib.corpora import encode_ids
from lib.heads import all_heads, greedy_pruning, likeness_order, pruning_curves, random_orders, removable, sweep
from lib.heads.ablation import Switchboard
from lib.models import Engine
from tests.capture.families import tiny


@pytest.fixture(scope="module")
def engine():
    model = tiny("llama")
    for layer, head in ((0, 2), (1, 7), (1, 8)):  # three of 18 heads write nothing
        model.model.layers[layer].self_attn.o_proj.weight[:, 4 * head : 4 * head + 4] = 0
    return Engine.from_parts(model)


@pytest.fixture(scope="module")
def documents(engine):
    rng = np.random.default_rng(0)
    return [encode_ids(rng.integers(3, 40, 20), engine) for _ in range(4)]


def test_heads_that_write_nothing_go_for_nothing(engine, documents):
    curve = greedy_pruning(engine, documents, budget=np.inf, candidates=6)
    assert len(curve) == 19 and curve.removed.tolist() == list(range(19))
    gone = set(zip(curve["layer"][1:], curve["head"][1:], strict=True))
    assert gone == set(all_heads(engine))
    free = pruning_curves(engine, documents, {"empty first": [(0, 2), (1, 7), (1, 8), (0, 0)]})
    np.testing.assert_allclose(free.change[:4], 0, atol=1e-6)
    assert abs(free.change[4]) > 1e-4


def test_every_step_is_measured_with_all_that_are_gone(engine, documents):
    curve = greedy_pruning(engine, documents, budget=np.inf, most=4)
    heads = list(zip(curve["layer"][1:], curve["head"][1:], strict=True))
    for step in (1, 4):
        outcome = Switchboard.of(engine, documents).losses([frozenset(heads[:step])])
        assert curve.loss[step] == pytest.approx(outcome.loss.mean(), rel=1e-5)
    alone = Switchboard.of(engine, documents).losses([frozenset([head]) for head in all_heads(engine)])
    assert heads[0] == all_heads(engine)[int(alone.loss.mean(axis=1).argmin())]


def test_a_sweep_spares_the_first_step_and_changes_nothing(engine, documents):
    told = []
    alone = sweep(engine, documents)
    whole = greedy_pruning(engine, documents, budget=np.inf, most=5)
    spared = greedy_pruning(
        engine, documents, budget=np.inf, most=5, alone=alone, progress=lambda *now: told.append(now)
    )
    assert told[-1][0] == 5 * 8  # eight candidates at every step, the first one too
    assert spared[["layer", "head"]].equals(whole[["layer", "head"]])
    np.testing.assert_allclose(spared.change, whole.change, rtol=1e-5, atol=1e-6)


def test_greedy_is_not_worse_than_random(engine, documents):
    orders = random_orders(engine, count=3, seed=1)
    assert list(orders) == ["random 1", "random 2", "random 3"]
    assert all(sorted(order) == all_heads(engine) for order in orders.values())
    curves = pruning_curves(engine, documents, orders, steps=[3, 6, 9])
    greedy = greedy_pruning(engine, documents, budget=np.inf, most=9).set_index("removed")
    assert (curves[curves.removed > 0].groupby("removed").change.mean() > greedy.change[[3, 6, 9]]).all()
    assert (curves.low <= curves.change).all() and (curves.change <= curves.high).all()


def test_the_budget_stops_the_curve(engine, documents):
    curve = greedy_pruning(engine, documents, budget=-10)
    assert len(curve) == 1 and curve.change[0] == 0 and curve.loss[0] > 0
    table = pd.DataFrame({"order": ["a"] * 4, "removed": [0, 1, 2, 3], "change": [0, 0.1, 0.5, 0.05]})
    assert removable(table, 0.2) == {"a": 1}  # what comes back later does not count
    assert removable(table, 1.0) == {"a": 3}


def test_progress_is_told_from_the_first_step_on(engine, documents):
    told = []
    greedy_pruning(engine, documents, budget=np.inf, most=3, candidates=4, progress=lambda *now: told.append(now))
    done, totals, stages = zip(*told, strict=True)
    assert list(done) == sorted(done) and set(totals) == {18 + 4 + 4} and done[-1] == 26
    assert sum(stage.startswith("pruning, 0 heads gone") for stage in stages) > 3
    told.clear()
    orders = random_orders(engine, 2)
    pruning_curves(engine, documents, orders, steps=[2, 5], progress=lambda *now: told.append(now))
    assert told[-1][:2] == (4, 4) and "random 2" in told[-1][2]


def test_of_two_that_are_alike_one_goes_first():
    distances = np.array([[0, 0.9, 0.1, 0.8], [0.9, 0, 0.85, 0.3], [0.1, 0.85, 0, 0.5], [0.8, 0.3, 0.5, 0]])
    heads = [(0, 0), (0, 1), (1, 0), (1, 1)]
    order = likeness_order(heads, distances)
    assert order[0] == (1, 0)  # the nearest pair is 0 and 2; 2 has the nearer third
    assert sorted(order) == heads and order[1] in ((0, 1), (1, 1))

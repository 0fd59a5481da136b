"""Calibrations: saved and read back, shipped ones small and whole, and no reading judged on what it has seen."""

import json
from dataclasses import replace

import numpy as np
import pytest

from lib.corpora import builtin
from lib.segmentation.calibration import FOLDER, Calibration, calibration_for, head_weights, save
from lib.segmentation.conditions import CONDITIONS
from lib.segmentation.crossval import fit_heads, judge_heads, judge_trees, prepared
from lib.segmentation.errors import SegmentationError
from lib.segmentation.features import part_shapes
from lib.segmentation.gold import digests
from lib.segmentation.minimise import minimise_apart
from lib.segmentation.ridge import Linear
from lib.segmentation.signals import signal_names
from lib.segmentation.trees import Trees

SHIPPED = sorted(FOLDER.glob("*.json"))


@pytest.fixture(scope="module")
def data(engine):
    documents = builtin("encyclopedia")[:9]
    short = [replace(d, text=d.text[: d.sentences[5][1]], sentences=d.sentences[:6], topics=()) for d in documents]
    return prepared(short, engine, folds=3)


def test_labels_of_unseen_documents_change_nothing(engine, data):
    heads = fit_heads(engine, data, iterations=4)
    hidden = np.flatnonzero(data.fold == 1)
    target = tuple(np.roll(t, 3) if i in hidden else t for i, t in enumerate(data.target))
    changed = replace(data, target=target)
    again = fit_heads(engine, changed, iterations=4)
    for unseen in heads.scores:
        same = all(np.array_equal(a, b) for a, b in zip(heads.scores[unseen], again.scores[unseen], strict=True))
        assert same == (1 in unseen), unseen  # exactly equal where fold 1 is unseen, different where it was learnt from
    few = {"count": 5}
    for judge in (
        lambda d, h: judge_heads(d, h),
        lambda d, h: judge_trees(d, None, **few),
        lambda d, h: judge_trees(d, h, **few),
    ):
        before, after = judge(data, heads), judge(changed, again)
        assert all(np.array_equal(before.found[i], after.found[i]) for i in hidden)


def test_boundaries_are_found_at_candidate_gaps_only(engine, data):
    found = judge_trees(data, None, count=10).found
    assert sum(f.sum() for f in found) > 10
    assert all(not (f & ~allowed).any() for f, allowed in zip(found, data.allowed, strict=True))


def test_minimising_apart_is_minimising_each():
    from scipy.optimize import rosen, rosen_der

    def loss(points):
        return np.array([rosen(p) for p in points.T]), np.stack([rosen_der(p) for p in points.T], axis=1)

    start = np.random.default_rng(0).normal(size=(4, 3))
    together = minimise_apart(loss, start, 300)
    assert together == pytest.approx(np.ones((4, 3)), abs=1e-4)
    alone = minimise_apart(loss, start[:, :1], 40)
    assert np.array_equal(minimise_apart(loss, start, 40)[:, :1], alone)


def test_a_calibration_is_read_as_it_was_saved(tmp_path, engine):
    trees = Trees(
        -1.5,
        ({"feature": [0, -1, -1], "threshold": [1, 0, 0], "left": [1, 0, 0], "right": [2, 0, 0], "value": [0, 1, 2]},),
    )
    saved = Calibration("", "written", None, trees, 0.25, frozenset({"abc"}), {"f1": 0.5})
    save(saved, tmp_path)
    read = calibration_for(None, "written", tmp_path)
    assert (read.surface, read.surface_threshold, read.documents) == (trees, 0.25, {"abc"})
    assert calibration_for(engine, "written", tmp_path) is None


def test_a_reading_taken_apart_by_head_is_the_reading(tmp_path, engine):
    names = signal_names(1, 1, causal=False)
    shapes = part_shapes(engine, len(names))
    features = 6 * sum(heads * numbers for heads, numbers in shapes.values())
    random = np.random.default_rng(0)
    deviation = random.uniform(0.5, 2.0, features)
    fitted = Linear(random.normal(size=(3, features)).astype(np.float32), random.normal(size=features), 0.25)
    apart = head_weights(fitted, deviation, shapes, names, 1.5)
    flat = 4 * 12 * 146 + 12 * (18 + 32) + 7 * 32 + 5  # layer 4: after signals and z, number 5 of head 7's query
    assert apart.queries[4, 7, 5, 2] == pytest.approx(fitted.weights[2, flat] * deviation[flat])
    assert apart.linear.weights == pytest.approx(fitted.weights, rel=1e-5)
    save(Calibration(engine.name, "bare", apart, Trees(0.0, ()), 0.0, frozenset()), tmp_path)
    read = calibration_for(engine, "bare", tmp_path).heads
    assert (read.threshold, read.bias, read.names) == (1.5, 0.25, names)
    assert read.linear.weights == pytest.approx(fitted.weights, rel=0.01)
    assert read.linear.mean == pytest.approx(fitted.mean, rel=0.001)


@pytest.mark.parametrize("content", ["{", "[]", '{"version": 0}', '{"version": 1, "model": ""}'])
def test_a_damaged_file_is_told(tmp_path, content):
    (tmp_path / "surface-written.json").write_text(content)
    with pytest.raises(SegmentationError, match=r"surface-written\.json"):
        calibration_for(None, "written", tmp_path)


@pytest.mark.skipif(not SHIPPED, reason="data/calibration is empty")
def test_every_condition_is_shipped_small_and_knows_its_documents():
    for condition in CONDITIONS:
        for name in ("surface", "all-MiniLM-L6-v2"):
            path = FOLDER / f"{name}-{condition}.json"
            assert path.is_file(), path.name
            assert path.stat().st_size < 2_000_000
            data = json.loads(path.read_text())
            assert len(data["documents"]) > 100
            assert data["measured"]["folds"] == 5
    builtins = {d for corpus in ("encyclopedia", "conversation") for d in digests(builtin(corpus))}
    assert not builtins & set(data["documents"])  # so the built-in corpora may judge them


@pytest.mark.skipif(not SHIPPED, reason="data/calibration is empty")
def test_weights_have_the_shape_of_the_model(engine):
    heads = calibration_for(engine, "written").heads
    assert heads.signals.shape == (6, 12, 18, 3)
    assert heads.outputs.shape == (6, 12, 32, 3)
    assert heads.queries.shape == heads.keys.shape == heads.values.shape == (6, 12, 32, 3)
    assert heads.linear.weights.shape == (3, 6 * 12 * (18 + 4 * 32))
    i = heads.names.index("z_cosine_1")  # the second signal-feature of layer 2, head 3, by hand
    flat = 2 * 12 * 146 + 3 * 18 + i
    assert heads.linear.weights[1, flat] == pytest.approx(
        heads.signals[2, 3, i, 1] / heads.signal_deviation[2, 3, i], rel=1e-5
    )

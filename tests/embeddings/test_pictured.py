"""Orders seen in a picture: planted ones are found, random ones are not, and what the full space lacks is told."""

import numpy as np
import pandas as pd
import pytest

from lib.embeddings import Attribute, only_pictured, picture_strength
from lib.embeddings.pictured import across, within

DOC = np.repeat(np.arange(10), 30)
POSITION = np.tile(np.arange(30.0), 10)


def attribute(values, exchange="token"):
    return Attribute("position", "position", "number", values, np.ones(len(values), bool), exchange)


def test_a_spiral_is_ordered_by_position_and_noise_is_not():
    rng = np.random.default_rng(0)
    turn = POSITION / 30 * 4 * np.pi
    spiral = np.stack([turn * np.cos(turn), turn * np.sin(turn)], axis=1) + rng.normal(scale=0.1, size=(300, 2))
    noise = rng.normal(size=(300, 2))
    known = {"query": {"position": attribute(POSITION)}}
    assert picture_strength({"query": spiral}, known, DOC, np.arange(300))["position"] > 0.9
    assert abs(picture_strength({"query": noise}, known, DOC, np.arange(300))["position"]) < 0.4


def test_it_can_be_stopped_between_attributes():
    class Stop(Exception):
        pass

    def stop(done, total, stage):
        assert total == 2
        if done == 1:
            raise Stop

    xy = np.random.default_rng(2).normal(size=(300, 2))
    known = {"query": {name: attribute(POSITION) for name in ("position", "again")}}
    with pytest.raises(Stop):
        picture_strength({"query": xy}, known, DOC, np.arange(300), progress=stop)


@pytest.mark.parametrize("documents", [1, 10])
def test_neighbours_are_of_other_documents_where_there_are_several_and_never_the_point_itself(documents):
    xy = np.random.default_rng(1).normal(size=(300, 2))
    doc = DOC if documents > 1 else np.zeros(300, int)
    near = across(xy, doc, 5)
    assert (near >= 0).all() and (near != np.arange(300)[:, None]).all()
    assert documents == 1 or (doc[near] != doc[:, None]).all()
    distance = np.linalg.norm(xy[:, None] - xy, axis=2)
    distance[(doc[:, None] == doc) if documents > 1 else np.eye(300, dtype=bool)] = np.inf
    np.testing.assert_array_equal(np.sort(near, axis=1), np.sort(np.argsort(distance, axis=1)[:, :5], axis=1))


def test_neighbours_within_a_document_stay_in_it_and_a_lone_token_has_none():
    doc = np.array([0, 0, 0, 1])
    near = within(np.array([[0.0, 0], [1, 0], [5, 0], [1, 0]]), doc, 2)
    assert near.tolist() == [[1, 2], [0, 2], [1, 0], [-1, -1]]
    assert across(np.zeros((1, 2)), np.zeros(1, int), 2).tolist() == [[-1, -1]]


def test_what_only_the_picture_shows():
    full = pd.DataFrame({"attribute": ["position", "norm", "hue"], "strength": [0.9, 0.1, np.nan]})
    assert only_pictured(full, {"position": 0.95, "norm": 0.5, "hue": 0.6}) == ["hue", "norm"]
    assert only_pictured(full, {"position": 0.2, "norm": 0.15, "hue": 0.1}) == []

"""The joint embedding: queries and keys of one head moved into one space without changing its attention.

Softmax does not see a constant added to every key, nor queries multiplied by what keys are divided by. So keys are
first moved onto the queries' centroid and then both are scaled; scaling first would not matter, since cosine distance
does not see it. Queries must not be moved: that would change the attention.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lib.capture.value import Capture, read_only

from .errors import EmbeddingError
from .scale import Rule, ScaleCurve, chosen_scale
from .spans import both_offsets, indices, query_and_key, vectors

Array = np.ndarray
ROLES = ("query", "key", "value", "z")
QUERY, KEY, VALUE, Z = range(4)


@dataclass(frozen=True, eq=False)
class JointEmbedding:
    """Points of one head in one space.

    points  float64 (point, d_head), queries first, then keys, then values and outputs where asked for
    role    uint8 (point,), an index into ROLES
    shift   (d_head,), what is added to every key before scaling; softmax does not see it
    scale   c: queries are multiplied by it, keys divided
    curve   how distance follows score over c, where c was searched for; else None
    rule    what chose c: "variance", "norm", "search" or "by hand"
    note    what the reader must know of that choice, "" if nothing
    """

    points: Array
    role: Array
    shift: Array
    scale: float
    curve: ScaleCurve | None = None
    rule: str = "variance"
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("points", "role", "shift"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name))))

    def of(self, role: int) -> Array:
        """The points of one role (token, d_head)."""
        return self.points[self.role == role]


def joint_embedding(
    query: Array,
    key: Array,
    scale: Rule | float = "variance",
    doc_offsets: Array | None = None,
    key_doc_offsets: Array | None = None,
    causal: bool = False,
) -> JointEmbedding:
    """Queries and keys of one head in one space: q' = c·q and k' = (k − k̄)/c + c·q̄, in float64.

    query, key: (token, d_head), as scored (after rotation); their numbers of tokens may differ in cross-attention.
    scale: "variance" (equal spread), "norm" (equal mean length), "search" (distance follows score best), or c itself.
    doc_offsets, key_doc_offsets, causal: which pairs may meet, used by "search" alone; one document if None.

    Raises EmbeddingError for shapes, offsets or a scale that cannot be.

    **Source** Yeh et al., AttentionViz, arXiv 2305.03210, section on joint embedding. The paper searches c with a
    weighting that it does not publish; ours is in ``search_scale``, and the default needs no search.
    """
    query, key = query_and_key(query, key)
    bounds = both_offsets(len(query), len(key), doc_offsets, key_doc_offsets, causal)
    c, rule, curve, note = chosen_scale(query, key, scale, *bounds, causal)
    q_mean, k_mean = query.mean(axis=0), key.mean(axis=0)
    points = np.concatenate([c * query, (key - k_mean) / c + c * q_mean])
    role = np.repeat(np.array([QUERY, KEY], np.uint8), [len(query), len(key)])
    return JointEmbedding(points, role, c**2 * q_mean - k_mean, c, curve, rule, note)


def with_outputs(joint: JointEmbedding, value: Array | None = None, z: Array | None = None) -> JointEmbedding:
    """The same map with the head's values and outputs z added, moved together onto the queries' centroid.

    value, z: (token, d_head), either None. One translation and one factor serve both (the spread of the values, or of
    z alone, becomes that of the queries), so outputs stay among the values they are averages of.

    Raises EmbeddingError where their d_head is not that of queries and keys.
    """
    added = {VALUE: value, Z: z}
    added = {role: vectors(ROLES[role], array) for role, array in added.items() if array is not None}
    for role, array in added.items():
        if array.shape[1] != joint.points.shape[1]:
            raise EmbeddingError(
                f"{ROLES[role]} of d_head {joint.points.shape[1]}, like queries and keys",
                f"{array.shape}",
                "This model's values have another width: map them on their own with output_embedding.",
            )
    if not added:
        return joint
    reference, queries = next(iter(added.values())), joint.of(QUERY)
    spread = _spread(reference)
    factor = _spread(queries) / spread if spread > 0 else 1.0
    moved = [(array - reference.mean(axis=0)) * factor + queries.mean(axis=0) for array in added.values()]
    note = "Values and outputs share a space with each other, not with queries and keys: nearness between them means "
    note += "nothing to the model."
    return JointEmbedding(
        np.concatenate([joint.points, *moved]),
        np.concatenate([joint.role, *(np.full(len(array), role, np.uint8) for role, array in added.items())]),
        joint.shift, joint.scale, joint.curve, joint.rule, " ".join(filter(None, (joint.note, note))),
    )  # fmt: skip


def output_embedding(value: Array, z: Array) -> JointEmbedding:
    """Values and outputs of one head as they are: every output is an average of values, so they share a space.

    value, z: (token, d_value). Raises EmbeddingError for other shapes.
    """
    value, z = vectors("value", value), vectors("z", z)
    if value.shape[1] != z.shape[1]:
        raise EmbeddingError("value and z of one width", f"{value.shape} and {z.shape}", "Take both from one head.")
    role = np.repeat(np.array([VALUE, Z], np.uint8), [len(value), len(z)])
    return JointEmbedding(np.concatenate([value, z]), role, np.zeros(value.shape[1]), 1.0, rule="by hand")


def head_map(
    capture: Capture,
    layer: int,
    head: int,
    scale: Rule | float = "variance",
    roles: tuple[str, ...] = ("query", "key"),
    rows: Array | None = None,
    key_rows: Array | None = None,
) -> JointEmbedding:
    """The map of one head of a capture; c and the translation come from all its tokens, sampled or not.

    layer: true layer number. roles: of ROLES, in that order; "value" and "z" alone give ``output_embedding``. rows,
    key_rows: sorted token indices that are shown on each side; key_rows is rows if None where the sides are the same.

    Raises EmbeddingError for roles that are unknown or were not kept, and HeadlightError for layers not captured.
    """
    if unknown := [role for role in roles if role not in ROLES]:
        raise EmbeddingError(f"some of {ROLES}", f"{unknown}", "Name roles as they are written here.")
    roles = tuple(role for role in ROLES if role in roles)
    index = capture.layer_index(layer)
    arrays = {name: _kept(capture, name, index, head) for name in roles}
    if not roles:
        raise EmbeddingError(f"some of {ROLES}", "none", "Switch on queries and keys, or values and outputs.")
    key_rows = rows if key_rows is None and capture.stream != "cross" else key_rows
    if "query" in roles or "key" in roles:
        query, key = (_kept(capture, name, index, head) for name in ("query", "key"))
        joint = joint_embedding(query, key, scale, capture.doc_offsets, capture.key_doc_offsets, capture.causal)
        joint = with_outputs(joint, arrays.get("value"), arrays.get("z"))
    elif len(roles) == 2:
        joint = output_embedding(arrays["value"], arrays["z"])
    else:
        only = vectors(roles[0], arrays[roles[0]])
        role = np.full(len(only), ROLES.index(roles[0]), np.uint8)
        joint = JointEmbedding(only, role, np.zeros(only.shape[1]), 1.0, rule="by hand")
    return _chosen(joint, roles, rows, key_rows)


def _chosen(
    joint: JointEmbedding, roles: tuple[str, ...], rows: Array | None, key_rows: Array | None
) -> JointEmbedding:
    keep = []
    for role in map(ROLES.index, roles):
        where = np.flatnonzero(joint.role == role)
        shown = rows if role in (QUERY, Z) else key_rows
        keep.append(where if shown is None else where[indices("rows", shown, len(where))])
    keep = np.concatenate(keep)
    return JointEmbedding(
        joint.points[keep], joint.role[keep], joint.shift, joint.scale, joint.curve, joint.rule, joint.note
    )


def _kept(capture: Capture, name: str, index: int, head: int) -> Array:
    array = getattr(capture, name)
    if array is None:
        raise EmbeddingError(f"a capture that kept {name}", "one without", f"Capture with keep=(…, {name!r}).")
    if not 0 <= head < array.shape[1]:
        raise EmbeddingError(f"a head below {array.shape[1]}", f"head {head}", "Count heads from 0.")
    return array[index, head]


def _spread(points: Array) -> float:
    return float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()))

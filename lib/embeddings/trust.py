"""How far a picture can be trusted: what distance says about attention in it, and what it keeps of the full space."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from math import isnan
from operator import length_hint

import numpy as np
import pandas as pd

from lib.capture.value import Capture
from lib.numerals import written
from lib.stats import bootstrap_mean

from .correlation import agreement, distance_agreement, unit
from .errors import EmbeddingError
from .joint import KEY, QUERY, JointEmbedding, head_map
from .projection import NEIGHBOURS, Projection
from .sampling import Sample
from .spans import vectors, whole
from .tiles import MapSettings, Tile, all_heads, wanted_heads

Array = np.ndarray
SAMPLE = 1_000  # points on which trustworthiness and continuity are measured: they take n² of time and memory
LEAST_TRUST = 0.8  # of trustworthiness, below which a picture is marked
LEAST_FOLLOWING = -0.5  # Spearman of distance in the picture against score, above which it is marked
SAME = 1e-12  # of directions: what differs by less is equal
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Trust:
    """The trust numbers of one picture of one head; NaN where a number is not defined.

    distance_correlation  Spearman of the full space's cosine distance (c = 1) against q·k: −1 is perfect
    shown_correlation     the same at the map's own c
    picture_correlation   Spearman of the distance in the picture against q·k
    key_recall            share of each query's top ``k`` keys that are its ``k`` nearest in the picture; ``_full``: in
                          the full space, ``_chance``: in random order
    trustworthiness       1 where no point is drawn near that is not near; continuity: where no near one is torn away
    seeds                 1 − Procrustes disparity of two seeds' pictures; 1: the same up to turning and scaling
    points, sampled       points of the map, and those that trustworthiness and continuity were measured on
    neighbours            of trustworthiness and continuity
    """

    distance_correlation: float
    shown_correlation: float
    picture_correlation: float
    k: int
    key_recall: float
    key_recall_full: float
    key_recall_chance: float
    trustworthiness: float
    continuity: float
    seeds: float
    points: int
    sampled: int
    neighbours: int

    @property
    def doubtful(self) -> str:
        """Why the picture deserves a mark, in words; "" where it does not. What is not defined cannot be trusted."""
        reasons = []
        if isnan(self.picture_correlation):
            reasons.append("whether distance follows attention is not defined here")
        elif self.picture_correlation > LEAST_FOLLOWING:
            reasons.append(f"distance hardly follows attention (Spearman {written(self.picture_correlation, '.2f')})")
        if isnan(self.trustworthiness):
            reasons.append("no point is nearer than another, or there are too few")
        elif self.trustworthiness < LEAST_TRUST:
            reasons.append(f"points drawn near are often not near (trustworthiness {self.trustworthiness:.2f})")
        return "; ".join(reasons)


def trust(
    capture: Capture,
    layer: int,
    head: int,
    joint: JointEmbedding,
    projection: Projection,
    rows: Sample,
    key_rows: Sample | None = None,
    other_seed: Projection | None = None,
    k: int = 5,
    most: int = SAMPLE,
    seed: int = 0,
    progress: Progress | None = None,
) -> Trust:
    """The trust numbers of one picture.

    joint, projection: the map and its picture, of the tokens ``rows`` (and ``key_rows`` where the key side has its own
    tokens). other_seed: the same map drawn with another seed. Correlations and recall are over the tokens shown.
    ``progress(done, total, stage)`` may raise to cancel between the parts.

    Raises EmbeddingError where map, picture and tokens do not belong together, or queries or keys are not shown.
    """
    sides = _sides(joint, projection)
    key_rows = key_rows or rows
    if [len(side) for side in sides] != [len(rows), len(key_rows)]:
        raise EmbeddingError(
            f"a map of {len(rows)} queries and {len(key_rows)} keys",
            f"{len(sides[0])} and {len(sides[1])}",
            "Pass the sample that the map was made of.",
        )
    index = capture.layer_index(layer)
    query, key = (np.asarray(array[index, head], np.float64) for array in (capture.query, capture.key))
    moved = key - key.mean(axis=0) + query.mean(axis=0)
    query, key, moved = query[rows.rows], key[key_rows.rows], moved[key_rows.rows]
    bounds = (rows.doc_offsets, capture.causal, key_rows.doc_offsets, k)
    parts = (
        lambda: agreement(query, key, query, moved, *bounds),
        lambda: agreement(query, key, joint.of(QUERY), joint.of(KEY), *bounds),
        lambda: agreement(query, key, *sides, *bounds, "euclidean"),
        lambda: neighbourhoods(joint.points, projection.xy, most, seed),
    )
    found = []
    for done, part in enumerate(parts):
        if progress:
            progress(done, len(parts), "measuring trust")
        found.append(part())
    full, shown, drawn, (near, kept, sampled, count) = found
    return Trust(
        full.correlation, shown.correlation, drawn.correlation, k, drawn.recall, shown.recall, drawn.recall_chance,
        near, kept, float("nan") if other_seed is None else seed_agreement(projection.xy, other_seed.xy),
        len(joint.points), sampled, count,
    )  # fmt: skip


def neighbourhoods(points: Array, xy: Array, most: int = SAMPLE, seed: int = 0) -> tuple[float, float, int, int]:
    """Trustworthiness, continuity, the points they were measured on (a seeded sample), and the neighbours.

    Both are NaN where no point is nearer than another: a single one, all in one direction, or all in one place.

    **Source** Venna & Kaski, "Neighborhood preservation in nonlinear projection methods", ICANN 2001; by scikit-learn,
    continuity as the trustworthiness of the way back. The full space's distance is cosine.

    Raises EmbeddingError where the picture is not of these points, or fewer than one is to be looked at.
    """
    from sklearn.manifold import trustworthiness

    points, xy, most = vectors("points", points), vectors("xy", xy), whole("most, points looked at", most, 1)
    if len(points) != len(xy):
        raise EmbeddingError(f"a picture of these {len(points):,} points", f"{len(xy):,}", "Draw these points.")
    rows = np.arange(len(points))
    if len(rows) > most:
        rows = np.sort(np.random.default_rng(seed).choice(rows, size=most, replace=False))
    count = min(NEIGHBOURS, (len(rows) - 1) // 2)
    full, flat = unit(points[rows]), xy[rows]
    if count < 1 or not (np.ptp(full, axis=0).max() > SAME and np.ptp(flat, axis=0).any()):
        return float("nan"), float("nan"), len(rows), max(count, 0)
    return (
        float(trustworthiness(full, flat, n_neighbors=count)),
        float(trustworthiness(flat, full, n_neighbors=count)),
        len(rows),
        count,
    )


def seed_agreement(a: Array, b: Array) -> float:
    """1 − Procrustes disparity of two pictures of the same points; NaN where either is a single place.

    **Source** Gower, Psychometrika 40 (1975); scipy.spatial.procrustes.
    """
    from scipy.spatial import procrustes

    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape:
        raise EmbeddingError("two pictures of the same points", f"{a.shape} and {b.shape}", "Draw both alike.")
    if not (np.ptp(a, axis=0).any() and np.ptp(b, axis=0).any()):
        return float("nan")
    return 1 - float(procrustes(a, b)[2])


def distance_table(
    capture: Capture, heads: Iterable[tuple[int, int]] | None = None, progress: Progress | None = None
) -> pd.DataFrame:
    """``distance_score_correlation`` of every head over all its tokens, with what was left out.

    One row per (layer, head): correlation, low, high (95 %, simultaneous over the heads, by bootstrap over documents),
    rows, few, constant, norm_gap (mean ‖q‖ − mean ‖k‖).
    """
    wanted = wanted_heads(capture, heads)
    found, gaps = [], []
    for done, (layer, head) in enumerate(wanted):
        if progress:
            progress(done, len(wanted), "comparing distance with attention")
        index = capture.layer_index(layer)
        query, key = capture.query[index, head], capture.key[index, head]
        found.append(distance_agreement(query, key, capture.doc_offsets, capture.causal, capture.key_doc_offsets))
        gaps.append(np.linalg.norm(query, axis=1).mean() - np.linalg.norm(key, axis=1).mean())
    interval = bootstrap_mean(np.stack([one.per_document for one in found], axis=1), simultaneous=True)
    return pd.DataFrame(
        {
            "layer": [layer for layer, _ in wanted],
            "head": [head for _, head in wanted],
            "correlation": [one.correlation for one in found],
            "low": interval.low,
            "high": interval.high,
            "rows": [one.rows for one in found],
            "few": [one.few for one in found],
            "constant": [one.constant for one in found],
            "norm_gap": gaps,
        }
    )


def trust_table(
    capture: Capture,
    drawn: Iterable[Tile],
    settings: MapSettings,
    most: int = 300,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """The map of heads by trust: one row per tile with the numbers of ``Trust`` and why it is doubtful.

    drawn: tiles made with ``settings``, taken one at a time. most: points of each that trustworthiness and continuity
    are measured on.
    """
    own, theirs = settings.samples(capture)
    total, found = length_hint(drawn, len(all_heads(capture))), []
    for done, tile in enumerate(drawn):
        if progress:
            progress(done, total, "measuring trust")
        joint = head_map(capture, tile.layer, tile.head, settings.scale, settings.roles, own.rows, theirs.rows)
        one = trust(capture, tile.layer, tile.head, joint, tile.projection, own, theirs, most=most)
        found.append({"layer": tile.layer, "head": tile.head, **asdict(one), "doubtful": one.doubtful})
    return pd.DataFrame(found)


def _sides(joint: JointEmbedding, projection: Projection) -> tuple[Array, Array]:
    if len(projection.xy) != len(joint.points):
        raise EmbeddingError(
            f"a picture of this map's {len(joint.points)} points", f"{len(projection.xy)}", "Draw this map."
        )
    queries, keys = (projection.xy[joint.role == role] for role in (QUERY, KEY))
    if not (len(queries) and len(keys)):
        raise EmbeddingError("a map with queries and keys", "one without", "Switch both on to measure trust.")
    return queries, keys

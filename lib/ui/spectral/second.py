"""A second model, or the untrained twin, on the same windows: measured, compared, released."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from lib import models
from lib.errors import HeadlightError
from lib.models import Engine
from lib.spectral import (
    Field,
    HeadGrams,
    ScalogramDifference,
    Windows,
    compare_centroids,
    compare_complexity,
    compare_profiles,
    compare_scalograms,
    heads_by_document,
    lag_profile,
    lag_scalogram,
    snapshot_pod,
)
from lib.stats import Interval, bootstrap_mean
from lib.ui import cached
from lib.ui.progress import progress_line
from lib.ui.scene import Scene
from lib.ui.spectral.measures import EPSILON, Ask, Spectrum, cut_windows, field_key, fields, grams

TWIN = "untrained twin"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Second model less the first, layer by layer; energies normalised except in ``scalograms[…].total``.

    scalograms, profiles  one per layer; centroids: Interval over (layer,) in tokens
    numbers               T_spec, entropy rank, participation ratio, H*: Interval over (layer,)
    heads                 heads needed, Interval over (layer,); lags (lag,) of the profiles
    """

    scalograms: list[ScalogramDifference]
    profiles: list[Interval]
    centroids: list[Interval]
    numbers: dict[str, Interval]
    heads: Interval
    lags: np.ndarray


def compared(now: Scene, ask: Ask, name: str) -> Comparison:
    """Load a model (or draw the twin), run it over the same windows, compare, release it.

    Raises HeadlightError for models that read the texts in other tokens or have other layers.
    """
    ask = replace(ask, length=cut_windows(now, ask).length)

    def build() -> Comparison:
        one, first_heads = fields(now, ask), grams(now, ask)
        what = "Drawing the weights of the untrained twin" if name == TWIN else f"Loading {name}"
        with st.spinner(what, show_time=True):
            engine = second_engine(now, name)
        try:
            check_alike(now, ask, engine, cut_windows(now, ask))
            two, second_heads = fields(now, ask, engine), grams(now, ask, engine)
        finally:
            engine.release()
        return comparison(one, two, first_heads, second_heads)

    return cached.kept("spectral second", f"{name} {now.choice.device} {now.choice.dtype} {field_key(now, ask)}", build)


def second_engine(now: Scene, name: str) -> Engine:
    """The other model, on the device and in the precision of the first."""
    if name == TWIN:
        return models.untrained_twin(now.engine)
    return models.load(name, device=now.choice.device, dtype=now.choice.dtype)


def check_alike(now: Scene, ask: Ask, engine: Engine, taken: Windows) -> None:
    """Raise HeadlightError where a window by window, layer by layer comparison would compare different things."""
    if engine.kind != now.engine.kind or engine.n_layers != now.engine.n_layers:
        raise HeadlightError(
            f"a {now.engine.kind} model of {now.engine.n_layers} layers, like {now.engine.name}",
            f"{engine.name}: {engine.kind}, {engine.n_layers} layers",
            "Choose a checkpoint or a variant of the same architecture, or the untrained twin.",
        )
    other = cut_windows(now, ask, engine)
    same = len(other) == len(taken) and all(
        np.array_equal(a.token_ids, b.token_ids) for a, b in zip(taken, other, strict=True)
    )
    if not same:
        raise HeadlightError(
            f"a model that reads these texts in the tokens of {now.engine.name}",
            f"{engine.name}, which splits them in its own way",
            "Choose a checkpoint or a variant of the same model, or the untrained twin.",
        )


def comparison(one: list[Field], two: list[Field], first: HeadGrams, second: HeadGrams) -> Comparison:
    """Every difference of two models' fields and heads, with intervals over windows."""
    scalograms, profiles, centroids, spectra = [], [], [], ([], [])
    with progress_line() as progress:
        for done, (a, b) in enumerate(zip(one, two, strict=True)):
            progress(done, len(one), "comparing layers")
            scalograms.append(compare_scalograms(lag_scalogram(a), lag_scalogram(b)))
            both = lag_profile(a), lag_profile(b)
            profiles.append(compare_profiles(*both))
            centroids.append(compare_centroids(*both))
            for side, field in zip(spectra, (a, b), strict=True):
                modes = snapshot_pod(field)
                side.append(Spectrum(modes.eigenvalues, modes.gram, field.documents))
    needed = [
        np.stack([heads_by_document(side.of(layer), EPSILON) for layer in side.layers], axis=1)
        for side in (first, second)
    ]
    return Comparison(
        scalograms=scalograms,
        profiles=profiles,
        centroids=centroids,
        numbers=compare_complexity(*spectra, EPSILON),
        heads=bootstrap_mean(needed[1] - needed[0], simultaneous=True),
        lags=both[0].lags,
    )

"""What the page measures, each once: fields lie in the store, analyses are kept by model, texts and settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lib.spectral import (
    Ensemble,
    Field,
    LayerAnalysis,
    Windows,
    analyse,
    complexity,
    ensemble,
    head_mean_field,
    lag_bands,
    windows,
)
from lib.stats import Interval
from lib.ui import cached
from lib.ui.captured import corpus_key
from lib.ui.progress import progress_line
from lib.ui.scene import Scene

EPSILON = 0.1  # share of the energy that H* may leave out


@dataclass(frozen=True)
class Ask:
    """What the controls ask for: windows and their length in tokens, one head or None for the mean, the stream."""

    count: int
    length: int
    head: int | None
    stream: str | None


@dataclass(frozen=True, eq=False)
class Shown:
    """One layer as the page shows it, without the energies document by document, which are large.

    ratio: energy over its null (scale, lag), NaN in the cone, with its simultaneous interval.
    """

    analysis: LayerAnalysis
    ratio: Interval


@dataclass(frozen=True, eq=False)
class Spectrum:
    """What the numbers of complexity need of one layer: eigenvalues (mode,), gram (doc, doc), documents."""

    eigenvalues: np.ndarray
    gram: np.ndarray
    documents: int


def field_key(scene: Scene, ask: Ask) -> str:
    """Names the model with these texts and settings."""
    return f"{corpus_key(scene, scene.documents, scene.engine)} {ask}"


def cut_windows(scene: Scene, ask: Ask) -> Windows:
    """Windows of one length from the chosen texts. Raises HeadlightError where none fits."""
    key = f"{corpus_key(scene, scene.documents, scene.engine)} {ask.length} {ask.count}"
    return cached.kept("spectral windows", key, lambda: windows(scene.documents, scene.engine, ask.length, ask.count))


def fields(scene: Scene, ask: Ask) -> list[Field]:
    """One field per layer, from the store where they are known; a forward pass over all windows where not."""
    taken = cut_windows(scene, ask)

    def measured() -> dict[str, np.ndarray]:
        with progress_line() as progress:
            found = head_mean_field(scene.engine, taken, head=ask.head, stream=ask.stream, progress=progress)
        arrays = {f"pattern {field.layer}": field.pattern for field in found}
        return arrays | {f"excluded {field.layer}": field.excluded_mass for field in found}

    def build() -> list[Field]:
        arrays = cached.store().arrays(f"fields {field_key(scene, ask)}", measured)
        numbers = sorted(int(name.split()[1]) for name in arrays if name.startswith("pattern"))
        return [
            Field(
                arrays[f"pattern {n}"],
                layer=n,
                head=ask.head,
                excluded_mass=arrays[f"excluded {n}"],
                model=scene.engine.key,
            )
            for n in numbers
        ]

    return cached.kept("fields", field_key(scene, ask), build)


def analysed(scene: Scene, ask: Ask) -> list[Shown]:
    """Profile, scalogram, modes and spectra of every layer; no forward pass where the fields are known."""

    def build() -> list[Shown]:
        measured = fields(scene, ask)
        with progress_line() as progress:
            return [slim(layer) for layer in analyse(measured, epsilon=EPSILON, progress=progress)]

    return cached.kept("spectral", field_key(scene, ask), build)


def slim(analysis: LayerAnalysis) -> Shown:
    """An analysis without its energies by document, after the intervals have been drawn from them."""
    scalogram, none = analysis.scalogram, np.empty(0, np.float32)
    small = replace(scalogram, by_document=none, null_by_document=none)
    return Shown(replace(analysis, scalogram=small), scalogram.ratio)


def complexities(scene: Scene, ask: Ask, shown: list[Shown]) -> dict[str, Interval]:
    """T_spec, entropy rank, participation ratio and H* by layer (layer,), with intervals over windows."""

    def build() -> dict[str, Interval]:
        plain = [(layer.analysis.plain, layer.analysis.documents) for layer in shown]
        found = complexity([Spectrum(p.eigenvalues, p.gram, n) for p, n in plain], EPSILON)
        return {name: replicates.interval() for name, replicates in found.items()}

    return cached.kept("complexity", field_key(scene, ask), build)


def own_band(scene: Scene, ask: Ask, row: int, centre: float) -> Ensemble:
    """Modes of one layer in a band laid by hand; from the kept field, without a forward pass."""
    key = f"{field_key(scene, ask)} {row} {centre:g}"

    def build() -> Ensemble:
        field = fields(scene, ask)[row]
        return ensemble(field, lag_bands(field.length, [centre])[0], centre)

    return cached.kept("own band", key, build)

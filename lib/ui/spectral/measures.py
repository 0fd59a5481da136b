"""What the page measures, each once: fields lie in the store, analyses are kept by model, texts and settings."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lib.models import Engine
from lib.spectral import (
    Coherency,
    Ensemble,
    Field,
    HeadGrams,
    LayerAnalysis,
    Modes,
    Scalogram,
    Windows,
    analyse,
    coherency,
    comparison_scalogram,
    complexity,
    ensemble,
    head_grams,
    head_mean_field,
    lag_bands,
    lag_window,
    snapshot_pod,
    windows,
)
from lib.stats import Interval
from lib.ui import cached
from lib.ui.progress import progress_line
from lib.ui.scene import Scene

EPSILON = 0.1  # share of the energy that H* may leave out, unless another is chosen
CENTROID_DRAWS = 200


@dataclass(frozen=True)
class Ask:
    """What the controls ask for: windows, tokens each (None: what the texts allow), one head or None, the stream."""

    count: int
    length: int | None
    head: int | None
    stream: str | None


@dataclass(frozen=True)
class Band:
    """A lag window: its kind, its centre and those of all bands, in tokens."""

    kind: str
    centre: float
    centres: tuple[float, ...]

    def window(self, length: int) -> np.ndarray:
        """Weights (query_pos, key_pos). Raises HeadlightError for a centre outside the field."""
        if self.kind == "partition":
            return lag_bands(length, self.centres, partition=True)[self.centres.index(self.centre)]
        if self.kind == "lowpass":
            return lag_window(length, 0, max(abs(self.centre), 1.0), "lowpass")
        signed = self.kind == "signed"
        return lag_window(length, self.centre if signed else abs(self.centre), self.width, self.kind)

    @property
    def width(self) -> float:
        """Width σ of the window in tokens."""
        return max(abs(self.centre) / (1 if self.kind == "lowpass" else 4), 1.0)


@dataclass(frozen=True, eq=False)
class Shown:
    """One layer as the page shows it, without the energies document by document, which are large.

    ratio: energy over its null (scale, lag), NaN in the cone, with its simultaneous interval; centroid: of the profile
    """

    analysis: LayerAnalysis
    ratio: Interval
    centroid: Interval


@dataclass(frozen=True, eq=False)
class Spectrum:
    """What the numbers of complexity need of one layer: eigenvalues (mode,), gram (doc, doc), documents."""

    eigenvalues: np.ndarray
    gram: np.ndarray
    documents: int


def texts_key(scene: Scene, engine: Engine) -> str:
    """Names a model with the scene's texts, read whole."""
    digest = hashlib.sha256("".join(document.hash for document in scene.documents).encode()).hexdigest()[:24]
    return f"{engine.key} {digest}"


def cut_windows(scene: Scene, ask: Ask, engine: Engine | None = None) -> Windows:
    """Windows of one length from the chosen texts. Raises HeadlightError where none fits."""
    engine = engine or scene.engine
    key = f"{texts_key(scene, engine)} {ask.length} {ask.count}"
    return cached.kept("spectral windows", key, lambda: windows(scene.documents, engine, ask.length, ask.count))


def field_key(scene: Scene, ask: Ask, engine: Engine | None = None) -> str:
    """Names a model with these windows, head and stream."""
    length = cut_windows(scene, ask, engine).length
    return f"{texts_key(scene, engine or scene.engine)} {replace(ask, length=length)}"


def fields(scene: Scene, ask: Ask, engine: Engine | None = None) -> list[Field]:
    """One field per layer, from the store where they are known; a forward pass over all windows where not."""
    engine = engine or scene.engine
    taken, key = cut_windows(scene, ask, engine), field_key(scene, ask, engine)

    def measured() -> dict[str, np.ndarray]:
        with progress_line() as progress:
            found = head_mean_field(engine, taken, head=ask.head, stream=ask.stream, progress=progress)
        arrays = {f"pattern {field.layer}": field.pattern for field in found}
        return arrays | {f"excluded {field.layer}": field.excluded_mass for field in found}

    def build() -> list[Field]:
        arrays = cached.store().arrays(f"fields {key}", measured)
        numbers = sorted(int(name.split()[1]) for name in arrays if name.startswith("pattern"))
        return [
            Field(
                arrays[f"pattern {n}"],
                layer=n,
                head=ask.head,
                excluded_mass=arrays[f"excluded {n}"],
                model=engine.key,
            )
            for n in numbers
        ]

    return cached.kept("fields", key, build)


def grams(scene: Scene, ask: Ask, engine: Engine | None = None) -> HeadGrams:
    """Inner products between the heads of each layer, window by window; a forward pass where they are not known."""
    engine = engine or scene.engine

    def build() -> HeadGrams:
        with progress_line() as progress:
            return head_grams(engine, cut_windows(scene, ask, engine), stream=ask.stream, progress=progress)

    return cached.kept("head grams", field_key(scene, replace(ask, head=None), engine), build)


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
    centroid = analysis.profile.centroid_interval(draws=CENTROID_DRAWS)
    return Shown(replace(analysis, scalogram=small), scalogram.ratio, centroid)


def complexities(scene: Scene, ask: Ask, shown: Sequence[Shown]) -> dict[str, Interval]:
    """T_spec, entropy rank, participation ratio and H* by layer (layer,), with intervals over windows."""

    def build() -> dict[str, Interval]:
        plain = [(layer.analysis.plain, layer.analysis.documents) for layer in shown]
        found = complexity([Spectrum(p.eigenvalues, p.gram, n) for p, n in plain], EPSILON)
        return {name: replicates.interval() for name, replicates in found.items()}

    return cached.kept("complexity", field_key(scene, ask), build)


def band_modes(scene: Scene, ask: Ask, row: int, band: Band) -> Ensemble:
    """Modes of one layer through a lag window; from the kept field, without a forward pass."""

    def build() -> Ensemble:
        field = fields(scene, ask)[row]
        return ensemble(field, band.window(field.length), band.centre)

    return cached.kept("band", f"{field_key(scene, ask)} {row} {band}", build)


def all_modes(scene: Scene, ask: Ask, row: int, band: Band | None) -> Modes:
    """Every mode of one layer, plain or through a lag window, for the reconstruction of single documents."""

    def build() -> Modes:
        field = fields(scene, ask)[row]
        return snapshot_pod(field, None if band is None else band.window(field.length))

    return cached.kept("all modes", f"{field_key(scene, ask)} {row} {band}", build)


def coherent(scene: Scene, ask: Ask, row: int, scale: float, lag: int) -> Coherency:
    """Coherency between the rows of one layer at one scale and lag, with its shuffled null."""
    key = f"{field_key(scene, ask)} {row} {scale:.4g} {lag}"
    return cached.kept("coherency", key, lambda: coherency(fields(scene, ask)[row], scale, lag))


def other_scalogram(scene: Scene, ask: Ask, row: int, wavelet: str) -> tuple[Scalogram, Interval]:
    """Scalogram of one layer with a wavelet of PyWavelets, and its ratio to its own null."""

    def build() -> tuple[Scalogram, Interval]:
        found = comparison_scalogram(fields(scene, ask)[row], wavelet)
        ratio, none = found.ratio, np.empty(0, np.float32)
        return replace(found, by_document=none, null_by_document=none), ratio

    return cached.kept("other wavelet", f"{field_key(scene, ask)} {row} {wavelet}", build)

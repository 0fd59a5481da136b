"""Layout: which attention a model computes, in the order it computes it, and how large each part is."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lib.capture.tap import Call
from lib.errors import HeadlightError


class LayerUnknown(HeadlightError):
    """A layer or stream that the model does not compute."""


class WindowedAttention(HeadlightError):
    """Attention inside windows of the image, asked for as if it covered the whole."""


def layer_numbers(layers: Iterable[int]) -> tuple[int, ...]:
    """Layer numbers, ascending, each once; raises LayerUnknown for what is no collection of whole numbers."""
    try:
        return tuple(sorted({operator.index(layer) for layer in layers}))
    except TypeError as error:
        raise LayerUnknown(
            "layers as a list of whole numbers", repr(layers)[:200], "Put one layer in a list: [3]."
        ) from error


@dataclass(frozen=True)
class Place:
    """One attention computation: where it is, its heads, and the widths of query/key and of value/z vectors."""

    stream: str
    layer: int
    heads: int
    d_query: int
    d_value: int
    scaling: float
    windows: int

    def width(self, name: str) -> int:
        """d_head of an array, by its name."""
        return self.d_query if name in ("query", "key") else self.d_value


@dataclass(frozen=True)
class Layout:
    """All places in order of computation; ``pads`` where padding a batch leaves a document's numbers alone."""

    family: str
    places: tuple[Place, ...]
    pads: bool

    @classmethod
    def of(cls, family: str, calls: Iterable[Call], pads: bool) -> Layout:
        """The layout of a model whose tapped forward pass made these calls."""
        places = tuple(
            Place(
                call.stream,
                call.layer,
                heads=call.query.shape[1],
                d_query=call.query.shape[3],
                d_value=call.z.shape[3],
                scaling=call.scaling,
                windows=call.windows,
            )
            for call in calls
        )
        return cls(family, places, pads)

    @property
    def streams(self) -> dict[str, tuple[int, ...]]:
        """Layer numbers of each stream, ascending; the first stream is the model's main one."""
        names = dict.fromkeys(place.stream for place in self.places)
        return {name: tuple(sorted(p.layer for p in self.places if p.stream == name)) for name in names}

    @property
    def windowed(self) -> bool:
        """Whether attention is confined to windows of the image."""
        return any(place.windows > 1 for place in self.places)

    def stream(self, name: str | None) -> str:
        """The stream of that name; None and "self" mean the main one (the encoder of an encoder–decoder)."""
        main = next(iter(self.streams))
        name = main if name in (None, "self") else name
        if name not in self.streams:
            raise LayerUnknown(f"one of the streams {', '.join(self.streams)}", f"'{name}'", "Choose one of these.")
        return name

    def chosen(self, layers: Sequence[int] | None, streams: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """Layers of each stream, ascending; ``layers`` None means all."""
        if layers is None:
            return {stream: self.streams[stream] for stream in streams}
        wanted = layer_numbers(layers)
        for stream in streams:
            if not wanted or not set(wanted) <= set(self.streams[stream]):
                raise LayerUnknown(
                    f"attention layers of {self.family}, stream '{stream}', among {self.streams[stream]}",
                    f"{wanted}",
                    "Layers count from 0; choose at least one.",
                )
        return {stream: wanted for stream in streams}

    def last(self, wanted: Mapping[str, Sequence[int]]) -> tuple[str, int]:
        """The place after which a forward pass may stop."""
        order = [(p.stream, p.layer) for p in self.places if p.layer in wanted.get(p.stream, ())]
        return order[-1]

    def uniform(self, stream: str, layers: Sequence[int]) -> Place:
        """A place that stands for all these layers; raises where they differ in heads or widths."""
        self.refuse_windows()
        places = [p for p in self.places if p.stream == stream and p.layer in layers]
        sizes = {(p.heads, p.d_query, p.d_value) for p in places}
        if len(sizes) > 1:
            raise LayerUnknown(
                f"equally many heads of one width in layers {tuple(layers)}",
                f"(heads, d_query, d_value) of {sorted(sizes)}",
                "Ask for layers of one size at a time.",
            )
        same = len({p.scaling for p in places}) == 1
        return replace(places[0], scaling=places[0].scaling if same else math.nan)

    def refuse_windows(self) -> None:
        """Raise where attention is confined to windows."""
        if self.windowed:
            raise WindowedAttention(
                "attention over the whole image",
                f"{self.family}, which attends within windows whose number changes from layer to layer",
                "Use window_patterns, which gives every window its own pattern, or choose ViT or DINOv2.",
            )

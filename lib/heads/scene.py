"""Scene: what the scores have to know about one document, and where each score looks in it.

Masks say for every row which keys count. They hold for the keys that the row may see; tokens that are left out of the
averages are left out here, rows and columns alike, so a score and its chance level always look at the same cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lib.corpora.tokens import Encoding, TokenTable
from lib.heads.colours import patch_colours
from lib.heads.visibility import attention_window, causal_stream, visible

PUNCTUATION = {"period": (".", "。"), "comma": (",", "，", "、"), "semicolon": (";", "；")}
SIMILAR_HUE = 1 / 12  # of a turn: 30°
SIMILAR_BRIGHTNESS = 0.1  # of the range from black to white
MASK_CELLS = 1 << 20  # of one block of rows, per mask


@dataclass(frozen=True, eq=False)
class Scene:
    """One document in one stream.

    queries, keys  token tables of the two sides, one row per position
    seen           bool (query_pos, key_pos): keys that a row may see
    marks          kind of delimiter -> its token ids
    hue, brightness, coloured  (key,) of each patch: turns, 0–1, bool; None for text
    crossing       queries and keys are tokens of different texts
    special        whether special tokens take part, as queries and as keys
    """

    queries: TokenTable
    keys: TokenTable
    seen: np.ndarray
    marks: Mapping[str, frozenset[int]] = field(default_factory=dict)
    hue: np.ndarray | None = None
    brightness: np.ndarray | None = None
    coloured: np.ndarray | None = None
    crossing: bool = False
    special: bool = True

    @property
    def image(self) -> bool:
        """Whether the tokens are patches."""
        return bool((self.keys.row >= 0).any())

    @cached_property
    def allowed(self) -> np.ndarray:
        """Bool (query_pos, key_pos): cells that take part."""
        if self.special:
            return self.seen
        return self.seen & ~self.queries.is_special[:, None] & ~self.keys.is_special

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """Sets of keys that are the same for every row: name -> bool (key,)."""
        special = self.keys.is_special
        if self.image:
            first = self.keys.pos == 0
            return {"cls": special & first, "registers": special & ~first, "special": special}
        ids, texts = self.keys.token_id, np.array([text.strip() for text in self.keys.text])
        sets = {kind: special & np.isin(ids, list(self.marks.get(kind, ()))) for kind in ("cls", "sep", "bos", "eos")}
        sets["special"] = special
        return sets | {kind: ~special & np.isin(texts, forms) for kind, forms in PUNCTUATION.items()}

    @cached_property
    def targets(self) -> dict[str, np.ndarray]:
        """The one key of each row: name -> its index (query,), -1 where there is none."""
        if self.image:
            return {name: self._patch_beside(*step) for name, step in STEPS.items()}
        first = np.full(len(self.queries), int(np.argmin(self.keys.pos)))
        if self.crossing:
            return {"first_token": first}
        here = np.arange(len(self.queries))
        after = np.append(here[1:], -1)
        return {"previous_token": here - 1, "next_token": after, "self": here, "first_token": first}

    def _patch_beside(self, down: int, right: int) -> np.ndarray:
        where = {place: i for i, place in enumerate(zip(self.keys.row.tolist(), self.keys.col.tolist(), strict=True))}
        rows, cols = self.queries.row.tolist(), self.queries.col.tolist()
        if (down, right) == (0, 0):
            return np.arange(len(rows))
        return np.array(
            [where.get((r + down, c + right), -1) if r >= 0 else -1 for r, c in zip(rows, cols, strict=True)]
        )

    @property
    def mask_names(self) -> tuple[str, ...]:
        """Names on the mask axis of ``masks``; weights of a distance come last."""
        return tuple(self._builders)

    @property
    def _builders(self) -> dict[str, Callable[[Scene, slice], np.ndarray]]:
        """Functions, not methods of this scene: kept on it they would hold it, masks and all, past its last use."""
        if self.image:
            return {
                "same_row": Scene._same_row, "same_column": Scene._same_column, "same_hue": Scene._same_hue,
                "same_brightness": Scene._same_brightness, "patches": Scene._patches, "grid_distance": Scene._steps,
            }  # fmt: skip
        builders = {
            "duplicate_token": Scene._duplicates, "induction": Scene._after_earlier,
            "induction_before": Scene._before_earlier,
        }  # fmt: skip
        if self.crossing:
            return builders
        return builders | {"same_sentence": Scene._same_sentence, "mean_lag": Scene._lags}

    def masks(self, rows: slice) -> np.ndarray:
        """Float32 (row, mask, key): 1 where a key counts, or the weight it counts with, for a block of rows."""
        if rows == slice(0, len(self.queries)) and len(self.queries) * len(self.keys) <= MASK_CELLS:
            return self._all_masks
        return self._built(rows)

    @cached_property
    def _all_masks(self) -> np.ndarray:
        return self._built(slice(0, len(self.queries)))

    def _built(self, rows: slice) -> np.ndarray:
        builders = self._builders
        masks = np.empty((rows.stop - rows.start, len(builders), len(self.keys)), dtype=np.float32)
        for number, build in enumerate(builders.values()):
            masks[:, number] = build(self, rows)
        return masks

    def _itself(self, rows: slice) -> np.ndarray:
        """The cells in which a token meets itself."""
        if self.crossing:
            return np.zeros((rows.stop - rows.start, len(self.keys)), dtype=bool)
        return np.arange(rows.start, rows.stop)[:, None] == np.arange(len(self.keys))

    def _ordinary(self, rows: slice) -> np.ndarray:
        return ~self.queries.is_special[rows, None] & ~self.keys.is_special

    def _duplicates(self, rows: slice) -> np.ndarray:
        same = self.queries.token_id[rows, None] == self.keys.token_id
        return same & self._ordinary(rows) & ~self._itself(rows)

    def _occurrence(self, rows: slice, step: int) -> np.ndarray:
        """Keys whose neighbour ``step`` positions on is an earlier occurrence of the row's token."""
        ids = np.where(self.keys.is_special, -2, self.keys.token_id)
        place = np.arange(len(ids)) + step
        inside = (place >= 0) & (place < len(ids))
        neighbour = np.where(inside, ids[np.clip(place, 0, len(ids) - 1)], -2)
        same = self.queries.token_id[rows, None] == neighbour
        earlier = self.crossing | (np.arange(rows.start, rows.stop)[:, None] > place)
        return same & earlier & self._ordinary(rows) & ~self._itself(rows)

    def _after_earlier(self, rows: slice) -> np.ndarray:
        return self._occurrence(rows, -1)

    def _before_earlier(self, rows: slice) -> np.ndarray:
        return self._occurrence(rows, 1)

    def _same_sentence(self, rows: slice) -> np.ndarray:
        own = self.queries.sentence[rows, None]
        return (own == self.keys.sentence) & (own >= 0)

    def _lags(self, rows: slice) -> np.ndarray:
        return np.abs(self.queries.pos[rows, None] - self.keys.pos)

    def _patches(self, rows: slice) -> np.ndarray:
        return (self.queries.row[rows, None] >= 0) & (self.keys.row >= 0)

    def _others(self, rows: slice) -> np.ndarray:
        return self._patches(rows) & ~self._itself(rows)

    def _same_row(self, rows: slice) -> np.ndarray:
        return (self.queries.row[rows, None] == self.keys.row) & self._others(rows)

    def _same_column(self, rows: slice) -> np.ndarray:
        return (self.queries.col[rows, None] == self.keys.col) & self._others(rows)

    def _same_hue(self, rows: slice) -> np.ndarray:
        turn = np.abs(self.hue[rows, None] - self.hue)
        both = self.coloured[rows, None] & self.coloured
        return (np.minimum(turn, 1 - turn) <= SIMILAR_HUE) & both & self._others(rows)

    def _same_brightness(self, rows: slice) -> np.ndarray:
        near = np.abs(self.brightness[rows, None] - self.brightness) <= SIMILAR_BRIGHTNESS
        return near & self._others(rows)

    def _steps(self, rows: slice) -> np.ndarray:
        down = np.abs(self.queries.row[rows, None] - self.keys.row)
        return (down + np.abs(self.queries.col[rows, None] - self.keys.col)) * self._patches(rows)


STEPS = {"self": (0, 0), "left": (0, -1), "right": (0, 1), "above": (-1, 0), "below": (1, 0)}  # (down, right)


def scene(engine: Any, encoding: Encoding, stream: str = "self", layer: int = 0, special: bool = True) -> Scene:
    """The scene of one encoded document in one layer of a stream.

    special: whether special tokens take part, as rows and as columns.
    """
    queries = encoding.target_table if stream in ("decoder", "cross") else encoding.table
    keys = encoding.target_table if stream == "decoder" else encoding.table
    seen = visible(len(queries), len(keys), causal_stream(engine, stream), attention_window(engine, layer))
    crossing = stream == "cross"
    if encoding.grid is None:
        return Scene(queries, keys, seen, delimiters(engine), crossing=crossing, special=special)
    hue, brightness, coloured = patch_colours(encoding)
    return Scene(queries, keys, seen, {}, hue, brightness, coloured, special=special)


def delimiters(engine: Any) -> dict[str, frozenset[int]]:
    """Token ids of [CLS], [SEP], BOS and EOS; an id with two names keeps the first of them."""
    source = engine.require_loaded().config if engine.tokenizer is None else engine.tokenizer
    found: dict[str, frozenset[int]] = {}
    taken: set[int] = set()
    for kind in ("cls", "sep", "bos", "eos"):
        given = getattr(source, f"{kind}_token_id", None)
        ids = set(given if isinstance(given, list) else [] if given is None else [given]) - taken
        found[kind] = frozenset(ids)
        taken |= ids
    return found

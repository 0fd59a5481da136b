"""One head as it is read: by tokens or words, with or without special tokens, raw or renormalised."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lib.capture import Capture
from lib.capture.value import ARRAYS
from lib.corpora import TokenTable
from lib.errors import HeadlightError
from lib.heads import between, hide, merge_words, value_weighted
from lib.heads.words import entries
from lib.models import WeightsUnknown
from lib.ui.captured import captured
from lib.ui.pictures import chosen_place, layers, masked, sentence_starts, shown_tokens, tables
from lib.ui.scene import Scene
from lib.views import Figure, flow, head_view_figure, patch_attention_figure

RESTING = 0.5  # mean share of a row on special tokens and the first position from which the page says so
ARRIVES = "Contribution: length of the vector that arrives, ‖A · v W_O‖."
ARRIVES_INSIDE = "Contribution: ‖A · v‖, before the output projection, whose layout is not known for this family."


@dataclass(frozen=True)
class Ask:
    """How one head is shown.

    stream: of an encoder–decoder; words: merge the tokens of a word; renormalised: rows divided by what they kept;
    sink: whether position 0 is shown; pair: direction of a sentence pair.
    """

    stream: str = "self"
    words: bool = False
    renormalised: bool = False
    sink: bool = True
    pair: str = "all"


@dataclass(frozen=True)
class Reading:
    """One head, ready to be drawn.

    matrix, mask  (row, column) weights, and pairs that cannot attend
    rows, columns  what stands on the two axes: tables of tokens, or of the first token of each word
    row_labels, column_labels  their names
    row_of, column_of  (entry,) lists of token positions behind each entry
    note  what was left out, merged, renormalised
    """

    matrix: np.ndarray
    mask: np.ndarray
    rows: TokenTable
    columns: TokenTable
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    row_of: tuple[np.ndarray, ...]
    column_of: tuple[np.ndarray, ...]
    note: str

    def pair(self, weights: np.ndarray, row: int, column: int) -> tuple[int, int]:
        """The (query, key) behind a cell: the strongest pair of tokens where words were merged."""
        queries, keys = self.row_of[row], self.column_of[column]
        best = np.nan_to_num(weights[np.ix_(queries, keys)]).argmax()
        query, key = np.unravel_index(best, (len(queries), len(keys)))
        return int(queries[query]), int(keys[key])

    def cell(self, query: int, key: int) -> tuple[int, int] | None:
        """The cell that holds a pair of tokens, None where it is not shown."""
        found = [
            [i for i, tokens in enumerate(sides) if at in tokens]
            for sides, at in ((self.row_of, query), (self.column_of, key))
        ]
        return (found[0][0], found[1][0]) if all(found) else None


def vectors(scene: Scene, stream: str) -> Capture:
    """Queries, keys, values and outputs of all heads in the chosen document, from the store where they are known."""
    taken = captured(scene, (scene.document,), ARRAYS)
    return taken if stream == "self" else taken.streams[stream]


def weighted(scene: Scene, pattern: np.ndarray, stream: str) -> tuple[np.ndarray, str]:
    """‖A_ij · v_j W_O‖ of the chosen head (query_pos, key_pos), and one sentence on what it is."""
    row, head = chosen_place(scene, pattern, stream)
    value = vectors(scene, stream).value[row, head][None]
    try:
        out, name = scene.engine.weights(layers(scene, stream)[row], stream).W_O[head][None], ARRIVES
    except WeightsUnknown:
        out, name = None, ARRIVES_INSIDE
    return value_weighted(pattern[row, head][None], value, out)[0], name


def read(scene: Scene, weights: np.ndarray, ask: Ask) -> Reading:
    """Weights (query_pos, key_pos) of the chosen head as asked for; raises HeadlightError where nothing is left."""
    queries, keys = tables(scene, ask.stream)
    asking, answering = _sides(scene, queries, keys, ask)
    layer = min(layers(scene, ask.stream), key=lambda number: abs(number - scene.choice.layer))
    closed = masked(scene, ask.stream, layer)[np.ix_(asking, answering)]
    hidden = hide(weights[None], asking, answering)
    part = weights[np.ix_(asking, answering)]
    rows, columns = queries.at(hidden.queries), keys.at(hidden.keys)
    members = tuple(position[:, None] for position in (hidden.queries, hidden.keys))
    notes = [_left(queries, keys, asking, answering, hidden.hidden, ask), _resting(weights, keys, asking, answering)]
    found = Reading(part, closed, rows, columns, rows.text, columns.text, *map(tuple, members), "")
    if ask.words:
        found = _merged(scene, found, ask)
        notes.append(
            "Words: the sum over the tokens of the word looked at, the mean over those of the word that looks."
        )
    if ask.renormalised:
        every = (np.ones(size, dtype=bool) for size in found.matrix.shape)
        found = replace(found, matrix=hide(found.matrix[None], *every).pattern[0])
    return replace(found, note=" ".join(filter(None, notes)))


def _sides(scene: Scene, queries: TokenTable, keys: TokenTable, ask: Ask) -> tuple[np.ndarray, np.ndarray]:
    """Which queries and keys are shown, (query_pos,) and (key_pos,) bool."""
    sides = []
    for table, part in zip((queries, keys), (0, 1), strict=True):
        kept = np.isin(np.arange(len(table)), shown_tokens(table, scene.choice.special))
        if ask.pair != "all" and ask.stream != "cross":
            kept &= between(table, ask.pair)[part]
        if not ask.sink:
            kept &= table.pos != 0
        if not kept.any():
            raise HeadlightError("tokens to show", "none that is not hidden", "Show position 0, or both texts.")
        sides.append(kept)
    return sides[0], sides[1]


def _merged(scene: Scene, found: Reading, ask: Ask) -> Reading:
    """A reading by words, from one by tokens."""
    document = scene.document
    text, source = document.text, document.text
    if ask.stream in ("decoder", "cross"):
        text = document.target or document.text
        source = text if ask.stream == "decoder" else source
    words = merge_words(found.matrix[None], found.rows, found.columns, text, source)
    seen = merge_words((~found.mask)[None].astype(np.float32), found.rows, found.columns).pattern[0]
    sides = []
    for table, positions in ((found.rows, found.row_of), (found.columns, found.column_of)):
        entry, _ = entries(table)
        flat = np.concatenate(positions)
        members = tuple(flat[entry == number] for number in range(int(entry.max()) + 1))
        firsts = np.array([int(np.argmax(entry == number)) for number in range(len(members))])
        sides.append((table.at(firsts), members))
    (rows, row_of), (columns, column_of) = sides
    return Reading(words.pattern[0], seen == 0, rows, columns, words.queries, words.keys, row_of, column_of, "")


def _rests(keys: TokenTable) -> np.ndarray:
    """Keys on which a row rests when it looks for nothing: special tokens and the first position; (key_pos,) bool."""
    return keys.is_special | (keys.pos == 0)


def _rests_on(keys: TokenTable) -> str:
    """Their names, each once: "[CLS] and [SEP]"."""
    names = list(dict.fromkeys(text for text, rests in zip(keys.text, _rests(keys), strict=True) if rests))
    return " and ".join(names) if len(names) < 4 else "special tokens and the first"


def _resting(weights: np.ndarray, keys: TokenTable, asking: np.ndarray, answering: np.ndarray) -> str:
    """How much of a row rests there, where it is most of it and shown; and how to look past it."""
    shown = _rests(keys) & answering
    rows = weights[asking]
    whole = np.nansum(rows, axis=1)
    share = float((np.nansum(rows[:, shown], axis=1)[whole > 0] / whole[whole > 0]).mean()) if (whole > 0).any() else 0
    if share < RESTING:
        return ""
    special = (keys.is_special & shown).any()
    way = "“Special tokens” in the sidebar hides them" if special else "“First token” hides it"
    return f"On average {100 * share:.0f} % of a row rests on {_rests_on(keys.at(np.flatnonzero(shown)))}; {way}."


def _left(
    queries: TokenTable,
    keys: TokenTable,
    asking: np.ndarray,
    answering: np.ndarray,
    hidden: np.ndarray,
    ask: Ask,
) -> str:
    """What is not shown, and what became of the weight on it."""
    if answering.all() and asking.all():
        return ""
    rows = (
        "Rows are renormalised: divided by what they kept, so that each sums to 1 again."
        if ask.renormalised
        else "Weights are the model's own, not renormalised."
    )
    return (
        f"{int((~asking).sum())} of {len(queries)} queries and {int((~answering).sum())} of {len(keys)} keys are "
        f"hidden; on average {100 * np.nanmean(hidden):.0f} % of a row lay on hidden keys. {rows}"
    )


def figure(
    scene: Scene,
    reading: Reading,
    ask: Ask,
    chosen: tuple[int, int] | None,
    name: str = "attention",
    about: str = "",
) -> Figure:
    """The picture of a reading: lines, heatmap, text.

    chosen: the (query, key) tokens outlined; name: of the weights; about: one sentence on them.
    """
    title = f"L{scene.choice.layer} H{scene.choice.head}"
    same = ask.stream != "cross" and len(reading.rows) == len(reading.columns) and ask.pair in ("all", "A→A", "B→B")
    crossing = {} if same else {
        "key_flow": _flow(scene, reading.columns, reading.column_labels, ask, ask.stream == "decoder"),
        "key_special": reading.columns.is_special,
        "key_boundaries": sentence_starts(reading.columns),
    }  # fmt: skip
    return head_view_figure(
        reading.matrix,
        reading.row_labels,
        None if same else reading.column_labels,
        query_flow=_flow(scene, reading.rows, reading.row_labels, ask, ask.stream in ("decoder", "cross")),
        query_special=reading.rows.is_special,
        mask=reading.mask if reading.mask.any() else None,
        boundaries=sentence_starts(reading.rows),
        value_name=name,
        title=title if name == "attention" else f"{title} · {name}",
        note=f"{about} {reading.note}".strip(),
        chosen=None if chosen is None else reading.cell(*chosen),
        mode="text",
        key_rests=_rests(reading.columns),
        rests_on=_rests_on(reading.columns),
        **crossing,
    )


def _flow(scene: Scene, table: TokenTable, labels: tuple[str, ...], ask: Ask, target: bool) -> tuple | None:
    """How one side runs as text; by words, labels with spaces between them."""
    if ask.words:
        return None
    text = scene.document.target or scene.document.text if target else scene.document.text
    return flow(text, table.start, table.end, labels)


def image_figure(scene: Scene, weights: np.ndarray, name: str = "attention", about: str = "") -> Figure:
    """The chosen head over the image. weights: (query_pos, key_pos); name and about as in `figure`."""
    encoding, title = scene.encoding, f"L{scene.choice.layer} H{scene.choice.head}"
    prefix = [text for text, row in zip(encoding.table.text, encoding.table.row, strict=True) if row < 0]
    return patch_attention_figure(
        encoding.seen,
        encoding.grid,
        weights,
        prefix_labels=prefix,
        note=about,
        value_name=name,
        title=title if name == "attention" else f"{title} · {name}",
    )

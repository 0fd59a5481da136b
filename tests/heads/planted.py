"""Token tables and patterns built by hand, so that what a score should say is known beforehand."""

from __future__ import annotations

import numpy as np

from lib.corpora import TokenTable
from lib.heads.scene import Scene
from lib.heads.visibility import visible

CLS, SEP, PERIOD, COMMA = 101, 102, 103, 104
NAMES = {CLS: "[CLS]", SEP: "[SEP]", PERIOD: ".", COMMA: ","}
MARKS = {"cls": frozenset({CLS}), "sep": frozenset({SEP}), "bos": frozenset(), "eos": frozenset()}


def table(ids, sentence=None):
    """Token table of one text; ids CLS and SEP are special."""
    ids = np.asarray(ids)
    special = np.isin(ids, [CLS, SEP])
    sentence = np.zeros(len(ids), int) if sentence is None else np.asarray(sentence)
    blank = np.full(len(ids), -1)
    return TokenTable(
        doc=np.zeros(len(ids)), pos=np.arange(len(ids)), text=tuple(NAMES.get(int(i), f"w{i}") for i in ids),
        start=blank, end=blank, word=np.where(special, -1, np.arange(len(ids))),
        sentence=np.where(special, -1, sentence), is_special=special, token_id=ids,
        part_of_speech=("",) * len(ids), segment=np.zeros(len(ids)), row=blank, col=blank,
    )  # fmt: skip


def grid_table(rows, cols, prefix=1):
    """Token table of an image of patches behind a class token and registers."""
    n = prefix + rows * cols
    row, col = (np.r_[np.full(prefix, -1), index.ravel()] for index in np.indices((rows, cols)))
    blank, special = np.full(n, -1), np.arange(n) < prefix
    return TokenTable(
        doc=np.zeros(n), pos=np.arange(n), text=tuple(map(str, range(n))), start=blank, end=blank, word=blank,
        sentence=blank, is_special=special, token_id=blank, part_of_speech=("",) * n, segment=np.zeros(n), row=row,
        col=col,
    )  # fmt: skip


def text_scene(ids, causal=False, sentence=None, special=True, window=None):
    tokens = table(ids, sentence)
    return Scene(tokens, tokens, visible(len(ids), len(ids), causal, window), MARKS, special=special)


def grid_scene(rows, cols, hue=None, brightness=None, coloured=None, prefix=1):
    tokens = grid_table(rows, cols, prefix)
    n = len(tokens)
    full = np.ones((n, n), bool)
    hue = np.zeros(n) if hue is None else np.r_[np.zeros(prefix), hue]
    brightness = np.zeros(n) if brightness is None else np.r_[np.zeros(prefix), brightness]
    coloured = np.zeros(n, bool) if coloured is None else np.r_[np.zeros(prefix, bool), coloured]
    return Scene(tokens, tokens, full, {}, hue, brightness, coloured)


def random_pattern(rng, heads, seen, concentration=0.3):
    """Rows drawn from a Dirichlet distribution over the keys each may see: (head, query_pos, key_pos)."""
    weights = rng.gamma(concentration, size=(heads, *seen.shape)) * seen
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def onto(targets, seen):
    """A pattern that puts each row's mass evenly on its targets (bool), or uniformly where it has none."""
    targets = targets & seen
    rows = np.where(targets.any(1, keepdims=True), targets, seen)
    return (rows / rows.sum(1, keepdims=True)).astype(np.float32)

"""What a report tells: each room's own functions, asked once for the model and once for its untrained twin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from lib.capture import capture, self_check
from lib.corpora import USUAL_LENGTH, Document, Encoding, encode
from lib.embeddings import MapSettings, all_heads, attentionviz, distance_table, head_sentences, tiles, trust_table
from lib.embeddings import evidence as maps_of
from lib.errors import HeadlightError
from lib.heads import IMAGE_SCORES, TEXT_SCORES, score_heads
from lib.heads.roles import NONE_CLEAR, UNSURE, rule_of
from lib.models import Engine, untrained_twin
from lib.report.page import Raw, facts, head_map, interval, page, rows, side_by_side, text, trend, verdicts
from lib.similarity import Evidence, anchors, first_to_last, halevi, layer_trend
from lib.similarity import evidence as similar
from lib.spectral import evidence as measured_fields
from lib.spectral import head_mean_field, lag_profile, null_interval, windows, zeris

Progress = Callable[[int, int, str], None]
SHOWN = ("previous_token", "next_token", "self", "duplicate_token", "sep", "first_token", "same_row", "same_column")
LISTED = 40  # rows of a table at most
TRENDS = {
    "distance": "Mean distance of similar tokens (tokens)",
    "same_sentence": "Share of similar pairs within a sentence",
    "same_token": "Share of similar pairs of the same token",
}
NUMBERS = {
    "t_spec": "T_spec",
    "entropy_rank": "entropy rank",
    "participation_ratio": "participation ratio",
    "ensemble_rank": "ensemble rank H*",
}


@dataclass(frozen=True)
class Asked:
    """A model, its twin (None: not compared), the documents as both read them, and the corpus's name."""

    engine: Engine
    twin: Engine | None
    documents: Sequence[Document]
    read: Sequence[Encoding]
    corpus: str
    progress: Progress | None


def report(
    engine: Engine,
    documents: Sequence[Document],
    corpus: str,
    max_length: int = USUAL_LENGTH,
    twin: bool = True,
    progress: Progress | None = None,
) -> str:
    """One self-contained HTML page about a model on a corpus.

    corpus: its name, as shown. max_length: tokens of a document at most. twin: measure the untrained twin as well,
    which the verdicts on several claims need. ``progress(done, total, stage)`` may raise to cancel. A room that cannot
    measure this model says why in its section. Raises CheckFailed, or NotRunnable for no documents.
    """
    read = [encode(document, engine, max_length) for document in documents]
    other = untrained_twin(engine) if twin else None
    asked = Asked(engine, other, documents, read, corpus, progress)
    parts = [_origin(asked)]
    try:
        for name, section in SECTIONS.items():
            parts.append(text(name, "h2"))
            try:
                parts += section(asked)
            except HeadlightError as error:
                parts.append(text(f"Not measured. {error}"))
    finally:
        if other is not None:
            other.release()
    return page(f"{engine.name} on {corpus}", parts)


def _origin(asked: Asked) -> Raw:
    """Where the numbers come from, and the numbers of the trust badge."""
    engine, check = asked.engine, self_check(asked.engine)
    tokens = sum(len(one.table) for one in asked.read)
    lost = sum(one.lost for one in asked.read)
    told: dict[str, object] = {
        "model": f"{engine.name}, revision {engine.revision[:16]}, {engine.family}, {engine.kind}",
        "size": f"{engine.n_layers} layers × {engine.n_heads} heads, d_head {engine.d_head}",
        "computed": f"{engine.dtype} on {engine.device}, {datetime.now(UTC):%Y-%m-%d}",
        "corpus": f"{asked.corpus}: {len(asked.read)} documents, {tokens:,} tokens, {lost:,} more cut off",
        "attention against the model's own": check.pattern_deviation,
        "output against the model's own": check.output_deviation,
        "rows sum to 1, within": check.row_sum_deviation,
        "heads sum to the module's output, within": "layout unknown"
        if check.result_deviation is None
        else check.result_deviation,
        "tolerance": check.tolerance,
        "untrained twin": "measured beside the model" if asked.twin else "not measured: some claims stay undecided",
    }
    return facts(told | {"notes": " ".join(engine.notes)} if engine.notes else told)


def _heads(asked: Asked) -> list[Raw]:
    table = score_heads(asked.engine, asked.read, progress=asked.progress)
    layers = sorted(table["layer"].unique())
    scores = {score.name: score for score in (IMAGE_SCORES if asked.engine.kind == "vision" else TEXT_SCORES)}
    maps = []
    for name in (name for name in SHOWN if name in scores and table[name].notna().any()):
        note = f"{scores[name].says}; chance {table[f'{name}_chance'].mean():.3g}"
        maps.append(head_map(table[name].to_numpy().reshape(len(layers), -1), layers, scores[name].label, note))
    rules = {role: rule_of(role.removesuffix(UNSURE)) for role in table["role"].unique()}
    clear = table[[rules[role] is not None for role in table["role"]]].sort_values("role_strength", ascending=False)
    cells = []
    for _, row in clear.head(LISTED).iterrows():
        score = rules[row["role"]].score
        cells.append(
            (f"L{row['layer']} H{row['head']}", row["role"], row[score], row[f"{score}_chance"],
             interval(row[f"{score}_low"], row[f"{score}_high"]), row["also"] or "")
        )  # fmt: skip
    none = int((table["role"] == NONE_CLEAR).sum())
    said = f"{len(cells)} of {len(clear)} heads with a role, the clearest first; {none} heads have none that is clear. "
    said += "Intervals: 95 % over documents, simultaneous over heads. A role says what a head attends to, not its use."
    names = ("head", "role", "score", "chance", "95 %", "also")
    return [side_by_side(maps), text("Roles", "h3"), rows(names, cells), text(said, quiet=True)]


def _similarity(asked: Asked) -> list[Raw]:
    found = similar(asked.engine, asked.read, progress=asked.progress)
    other = similar(asked.twin, asked.read, progress=asked.progress) if asked.twin else None
    table = layer_trend(found.dot)
    curves = []
    for name, title in TRENDS.items():
        part = table[table["statistic"] == name]
        lines = {"measured": part["value"], "chance": part["chance"]}
        curves.append(trend(list(part["layer"]), lines, title, (part["low"], part["high"])))
    change, low, high = first_to_last(found.dot)
    said = f"Mean distance from the first to the last layer: {100 * change:+.1f} % {interval(100 * low, 100 * high)}."
    return [
        side_by_side(curves), text(said), text("Anchor tokens, the strongest heads", "h3"), _anchors(found),
        text("Claims of Halevi et al.", "h3"), verdicts(halevi(found, other, asked.corpus)),
    ]  # fmt: skip


def _anchors(found: Evidence) -> Raw:
    """The tokens that similar pairs end in most; images and short texts have none."""
    try:
        table = anchors(found.dot, found.cosine).sort_values("excess", ascending=False).head(LISTED // 2)
    except HeadlightError as error:
        return text(f"Not measured. {error}")
    cells = [
        (f"L{row.layer} H{row.head}", row.token, row.share, row.corpus_share, row.lift, row.stability,
         "only a long vector" if row.only_long else "")
        for row in table.itertuples()
    ]  # fmt: skip
    return rows(("head", "token", "share of pairs' ends", "share of the corpus", "lift", "stability", ""), cells)


def _embeddings(asked: Asked) -> list[Raw]:
    taken = capture(asked.engine, asked.read, ("query", "key"), progress=asked.progress)
    found = maps_of(asked.engine, asked.read, taken, progress=asked.progress)
    other = maps_of(asked.twin, asked.read, progress=asked.progress) if asked.twin else None
    settings = MapSettings(most=300)
    distance = distance_table(taken)
    trusted = trust_table(taken, tiles(taken, settings, all_heads(taken)), settings)
    doubtful = int((trusted["doubtful"] != "").sum())
    told = {
        "Spearman of distance and score, mean over heads (chance 0, perfect −1)": distance["correlation"].mean(),
        "top keys kept by the PCA pictures (share)": trusted["key_recall"].mean(),
        "the same by chance": trusted["key_recall_chance"].mean(),
        "trustworthiness of the PCA pictures, median": trusted["trustworthiness"].median(),
        "pictures not to trust": f"{doubtful} of {len(trusted)}",
    }
    values = distance["correlation"].to_numpy().reshape(len(taken.layers), -1)
    sentences = head_sentences(found.orders.table, found.offsets.table(), distance, trusted, found.image)
    listed = "".join(f"<li>{text(sentence, 'span').html}</li>" for sentence in sentences.values())
    return [
        facts(told),
        head_map(values, taken.layers, "Distance against attention", "Spearman; chance 0, perfect −1"),
        Raw(f"<details><summary>One sentence per head</summary><ul>{listed}</ul></details>"),
        text("Claims of AttentionViz", "h3"), verdicts(attentionviz(found, other, asked.corpus)),
    ]  # fmt: skip


def _spectral(asked: Asked) -> list[Raw]:
    cut = windows(asked.documents, asked.engine)
    fields = head_mean_field(asked.engine, cut, progress=asked.progress)
    found = measured_fields(fields, model=asked.engine.name, progress=asked.progress)
    spread = {name: found.numbers[name].interval(simultaneous=True) for name in NUMBERS}
    cells: list[tuple[object, ...]] = []
    for row, layer in enumerate(found.layers):
        numbers = [f"{one.estimate[row]:.3g} {interval(one.low[row], one.high[row])}" for one in spread.values()]
        cells.append((f"L{layer}", lag_profile(fields[row]).centroid, *numbers))
    nulls = [interval(*null_interval(found.white[:, place])) for place in range(len(NUMBERS))]
    cells.append(("white noise", "", *nulls))
    names = ("layer", "centroid of the lag energy (tokens)", *NUMBERS.values())
    return [
        text(f"{cut.summary} Head-mean attention, fluctuation over windows."), rows(names, cells),
        text("Intervals: 95 % over windows, simultaneous over layers. Last row: as many windows of white noise.",
             quiet=True),
        text("Claims of Zeris", "h3"), verdicts(zeris(found, asked.corpus)),
    ]  # fmt: skip


SECTIONS: dict[str, Callable[[Asked], list[Raw]]] = {
    "Heads": _heads,
    "Similarity": _similarity,
    "Embeddings": _embeddings,
    "Spectral": _spectral,
}

"""The seed study: rows on disk that outlive their models, paired differences, the loss without the future."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from scipy import stats
from transformers import AutoModelForCausalLM, AutoTokenizer

from lib.errors import HeadlightError
from lib.models.char_gpt.settings import Settings
from lib.models.char_gpt.text import read_text, split, validation_windows
from lib.models.char_gpt.training import batch_loss, train
from lib.models.shipped import PLACE

STRIDE = 16  # characters between those whose loss is measured with and without the future
KINDS = {
    "validation": "validation, as usual",
    "with_future": "the same places, with the rest of the window in view",
    "without_future": "the same places, with nothing after them in view",
}


@torch.no_grad()
def loss_without_future(model, windows: np.ndarray, lengths: range) -> float:
    """Mean loss in nats of characters whose model sees nothing after them.

    Args:
        model: a CharGPTForCausalLM in float32.
        windows: token ids (window, context + 1).
        lengths: how many characters the model sees; the next one is predicted.
    """
    losses = [
        batch_loss(model, windows[start : start + 32, : length + 1])[:, -1].numpy()
        for length in lengths
        for start in range(0, len(windows), 32)
    ]
    return float(np.concatenate(losses).mean())


@torch.no_grad()
def loss_at(model, windows: np.ndarray, lengths: range) -> float:
    """Mean loss of the same characters as `loss_without_future`, with the rest of the window in view."""
    losses = np.concatenate([batch_loss(model, windows[i : i + 32]).numpy() for i in range(0, len(windows), 32)])
    return float(losses[:, [length - 1 for length in lengths]].mean())


def paired_interval(difference: np.ndarray, level: float = 0.95) -> tuple[float, float, float]:
    """Mean of paired differences with Student's interval; one seed has no interval (NaN)."""
    mean = float(np.mean(difference))
    if len(difference) < 2:
        return mean, float("nan"), float("nan")
    half = stats.t.ppf((1 + level) / 2, len(difference) - 1) * stats.sem(difference)
    return mean, float(mean - half), float(mean + half)


def measure(folder: Path, text: str, n_windows: int) -> dict:
    """The row of one finished run: its losses, as usual and with and without the future, and all that decided them."""
    summary = json.loads((folder / "summary.json").read_text())
    model = AutoModelForCausalLM.from_pretrained(folder / "model", dtype=torch.float32).eval()
    ids = np.array(AutoTokenizer.from_pretrained(folder / "model")(text, verbose=False)["input_ids"])
    context = model.config.max_position_embeddings
    windows = validation_windows(split(ids)[1], context)[:n_windows]
    lengths = range(STRIDE, context + 1, STRIDE)
    return {
        "variant": summary["settings"]["variant"],
        "seed": summary["settings"]["seed"],
        "tokens": summary["tokens"],
        "validation": summary["validation_loss"],
        "with_future": loss_at(model, windows, lengths),
        "without_future": loss_without_future(model, windows, lengths),
        "seconds": summary["seconds"],
        "settings": summary["settings"],
        "text_sha256": summary["text_sha256"],
        "windows": n_windows,
    }


class Study:
    """The rows of one study on disk, each written as soon as it is measured.

    folder: of seed-study.json, and of runs (variant-seed) that still have their models.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        kept = folder / "seed-study.json"
        rows = json.loads(kept.read_text("utf-8"))["runs"] if kept.is_file() else []
        self.rows = {(row["variant"], row["seed"]): row for row in rows}

    def run(self, settings: Settings, text: str, n_windows: int) -> dict:
        """The row of one run: the one that stands there, else of its folder, else of a training that ends there.

        Raises HeadlightError where a row, a folder or a checkpoint of that name was made with other settings.
        """
        place, expected = (settings.variant, settings.seed), _facts(settings, text, n_windows)
        row = self.rows.get(place)
        folder = self.folder / f"{settings.variant}-{settings.seed}"
        if row is not None and _known(row) == expected:
            return row
        if not (folder / "summary.json").is_file():
            if row is not None:
                raise _other(f"the row of {folder.name} in seed-study.json", _known(row), expected)
            train(settings, text, folder, resume=True)
        summary = json.loads((folder / "summary.json").read_text())
        if (made := _known(summary | {"windows": n_windows})) != expected:
            raise _other(f"the run in {folder.name}", made, expected)
        return self.keep(measure(folder, text, n_windows))

    def keep(self, row: dict) -> dict:
        """Write a row beside the others, and the comparison of all; returns the row."""
        self.rows[row["variant"], row["seed"]] = row
        table = compare([*self.rows.values()])
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = json.dumps({"runs": [*self.rows.values()], "comparison": table}, indent=1)
        (self.folder / "seed-study.json").write_text(kept, "utf-8")
        (self.folder / "seed-study.md").write_text(markdown(table), "utf-8")
        return row


def _facts(settings: Settings, text: str, n_windows: int) -> dict:
    """What decides the numbers of a row."""
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return {"settings": asdict(settings), "text_sha256": sha256, "windows": n_windows}


def _known(row: dict) -> dict:
    """The same of a row or a summary; rows of earlier versions do not tell."""
    return {name: row.get(name) for name in ("settings", "text_sha256", "windows")}


def _other(what: str, got: dict, expected: dict) -> HeadlightError:
    ours, theirs = (facts | (facts["settings"] or {}) for facts in (expected, got))
    wanted = {name: value for name, value in ours.items() if name != "settings" and theirs.get(name) != value}
    told = {name: theirs.get(name, "untold") for name in wanted}
    return HeadlightError(f"{what} with {wanted}", f"{told}", "Choose another --out, or the settings of that study.")


def shipped_comparison(folder: Path = PLACE) -> list[dict]:
    """The comparison of the runs in a folder's seed-study.json; none where the study is not there."""
    return compare([*Study(folder).rows.values()])


def compare(rows: list[dict], baseline: str = "base") -> list[dict]:
    """Mean loss of each variant and its paired difference to `baseline`, by kind of loss.

    `seeds` counts a variant's runs, `pairs` those whose seed the baseline has too: the interval rests on these.
    """
    table = []
    for kind in KINDS:
        losses = {}
        for row in rows:
            losses.setdefault(row["variant"], {})[row["seed"]] = row[kind]
        for variant, by_seed in losses.items():
            seeds = sorted(set(by_seed) & set(losses.get(baseline, {})))
            entry = {
                "loss": kind,
                "variant": variant,
                "seeds": len(by_seed),
                "mean": float(np.mean([*by_seed.values()])),
            }
            if variant != baseline and seeds:
                difference = np.array([by_seed[seed] - losses[baseline][seed] for seed in seeds])
                entry["pairs"] = len(seeds)
                entry["difference"], entry["low"], entry["high"] = paired_interval(difference)
            table.append(entry)
    return table


def markdown(table: list[dict]) -> str:
    """The comparison as a table: one row per kind of loss, one column per variant, and what it rests on."""
    variants = list(dict.fromkeys(row["variant"] for row in table))
    cells = {(row["loss"], row["variant"]): _cell(row) for row in table}
    lines = [f"| loss, nats per character | {' | '.join(variants)} |", "|" + "---|" * (len(variants) + 1)]
    lines += [f"| {told} | {' | '.join(cells[kind, v] for v in variants)} |" for kind, told in KINDS.items() if table]
    seeds = ", ".join(f"{v} {next(row['seeds'] for row in table if row['variant'] == v)}" for v in variants)
    note = f"Mean over training seeds ({seeds}); in brackets minus base, paired by seed, 95 %."
    return "\n".join([*lines, "", note]) + "\n"


def _cell(row: dict) -> str:
    """Mean loss, and the difference with its interval: 1.528 (−0.015, −0.020 … −0.010)."""
    if "difference" not in row:
        return f"{row['mean']:.3f}"
    ends = "one seed: no interval" if row["pairs"] < 2 else f"{row['low']:+.3f} … {row['high']:+.3f}"
    return f"{row['mean']:.3f} ({row['difference']:+.3f}, {ends})".replace("-", "−")


def add_finished(study: Study, source: str | None, n_windows: int) -> None:
    """Rows of finished runs that have none yet; the text is needed for these alone. Refuses a mixture of settings."""
    for file in sorted(study.folder.glob("*/summary.json")):
        settings = json.loads(file.read_text())["settings"]
        row = study.rows.get((settings["variant"], settings["seed"]), {})
        if row.get("settings") != settings and (file.parent / "model").is_dir():
            study.keep(measure(file.parent, read_text(source), n_windows))
    alike = [{**_known(row), "settings": _common(row.get("settings"))} for row in study.rows.values()]
    for row, other in zip(study.rows, alike, strict=True):
        if other != alike[0]:
            raise _other(f"the row of {row[0]}-{row[1]} in seed-study.json", other, alike[0])


def _common(settings: dict | None) -> dict | None:
    """Settings that all runs of a study share."""
    return settings and {name: value for name, value in settings.items() if name not in ("variant", "seed")}

"""Does energy gating lower the loss? `python -m lib.models.seed_study --out FOLDER` trains and compares seeds.

Trains base, ega1 and ega1-window with each seed (runs already in FOLDER are kept, unfinished ones continue) and
writes FOLDER/seed-study.json and a Markdown table. Losses are compared within a seed, because runs of one seed share
text order and initial weights; the interval is Student's over seeds. Beside the usual validation loss stands the loss
*without the future*: each predicted character is the last one its model can see, so that window statistics have nothing
to leak. For base and prefix gates both are the same function of the text.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from pathlib import Path

import numpy as np
import torch
from scipy import stats
from transformers import AutoModelForCausalLM, AutoTokenizer

from lib.models.char_text import read_text, split, validation_windows
from lib.models.train_char_gpt import Settings, batch_loss, train

log = logging.getLogger(__name__)

VARIANTS = ("base", "ega1", "ega1-window")


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


def measure(folder: Path, text: str, n_windows: int, stride: int) -> dict:
    """Losses of one finished run: as usual, and at every `stride`-th character with and without the future."""
    summary = json.loads((folder / "summary.json").read_text())
    model = AutoModelForCausalLM.from_pretrained(folder / "model", dtype=torch.float32).eval()
    ids = np.array(AutoTokenizer.from_pretrained(folder / "model")(text, verbose=False)["input_ids"])
    context = model.config.max_position_embeddings
    windows = validation_windows(split(ids)[1], context)[:n_windows]
    lengths = range(stride, context + 1, stride)
    return {
        "variant": summary["settings"]["variant"],
        "seed": summary["settings"]["seed"],
        "tokens": summary["tokens"],
        "validation": summary["validation_loss"],
        "with_future": loss_at(model, windows, lengths),
        "without_future": loss_without_future(model, windows, lengths),
        "seconds": summary["seconds"],
    }


def compare(rows: list[dict], baseline: str = "base") -> list[dict]:
    """Mean loss of each variant and its paired difference to `baseline`, by kind of loss."""
    table = []
    for kind in ("validation", "with_future", "without_future"):
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
                entry["difference"], entry["low"], entry["high"] = paired_interval(difference)
            table.append(entry)
    return table


def markdown(table: list[dict]) -> str:
    """The comparison as a table."""
    lines = [
        "| loss, nats per character | variant | seeds | mean | minus base (95 % interval) |",
        "|---|---|---|---|---|",
    ]
    for row in table:
        gain = f"{row['difference']:+.4f} ({row['low']:+.4f} … {row['high']:+.4f})" if "difference" in row else "–"
        lines.append(
            f"| {row['loss'].replace('_', ' ')} | {row['variant']} | {row['seeds']} | {row['mean']:.4f} | {gain} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m lib.models.seed_study", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of all runs and of the result")
    parser.add_argument("--text", help="as in train_char_gpt")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--steps", type=int, default=3920, help="of 2,048 characters each")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--windows", type=int, default=128, help="validation windows of the loss without the future")
    parser.add_argument("--report", action="store_true", help="train nothing; compare the runs that are finished")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stdout)
    torch.set_num_threads(1)
    text, rows = read_text(options.text), []
    for seed in options.seeds:
        for variant in VARIANTS:
            folder = options.out / f"{variant}-{seed}"
            if not (folder / "summary.json").is_file() and not options.report:
                settings = Settings(variant=variant, width=options.width, steps=options.steps, seed=seed)
                train(settings, text, folder, resume=True)
            if (folder / "summary.json").is_file():
                rows.append(measure(folder, text, options.windows, stride=16))
                log.info("%s", rows[-1])
    table = compare(rows)
    (options.out / "seed-study.json").write_text(json.dumps({"runs": rows, "comparison": table}, indent=1))
    (options.out / "seed-study.md").write_text(markdown(table), encoding="utf-8")
    log.info("\n%s", markdown(table))


if __name__ == "__main__":
    main()

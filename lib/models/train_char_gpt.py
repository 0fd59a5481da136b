"""Train a character GPT: `python -m lib.models.train_char_gpt --variant base --out FOLDER [--text FILE] [--resume]`.

Writes FOLDER/model (float16 safetensors, configuration, tokenizer, card), FOLDER/early (the same at `--early-step`),
FOLDER/checkpoint (for `--resume`) and FOLDER/summary.json. Runs of one seed see the same text in the same order and
start from the same common weights, whatever the variant.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import math
import os
import sys
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

import lib.models.blockwise_attention  # noqa: F401 — registers "blockwise"
from lib.models.char_card import export
from lib.models.char_checkpoint import load_checkpoint, save_checkpoint
from lib.models.char_gpt import CharGPTConfig, CharGPTForCausalLM
from lib.models.char_text import read_text, split, training_windows, validation_windows
from lib.models.char_tokenizer import character_tokenizer

log = logging.getLogger(__name__)

VARIANTS = {
    "base": {"n_gates": 0},
    "ega1": {"n_gates": 1, "gate_norm": "prefix"},
    "ega1-window": {"n_gates": 1, "gate_norm": "window"},
    "ega4": {"n_gates": 4, "gate_norm": "prefix"},
}


@dataclass(frozen=True)
class Settings:
    """What decides a training run's result; `batch` windows of `context` characters per step."""

    variant: str = "base"
    width: int = 192
    layers: int = 6
    heads: int = 8
    context: int = 256
    batch: int = 8
    steps: int = 6000
    learning_rate: float = 2e-3
    warmup: int = 200
    weight_decay: float = 0.1
    beta2: float = 0.99
    clip: float = 1.0
    seed: int = 0
    bfloat16: bool = True

    @property
    def tokens(self) -> int:
        """Characters seen in training, repetitions included."""
        return self.steps * self.batch * self.context


def learning_rate(step: int, settings: Settings) -> float:
    """Linear warm-up, then a cosine from the peak to a hundredth of it at the last step."""
    if step < settings.warmup:
        return settings.learning_rate * (step + 1) / settings.warmup
    progress = (step - settings.warmup) / max(1, settings.steps - settings.warmup)
    return settings.learning_rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * progress)))


def build(settings: Settings, vocab_size: int) -> tuple[CharGPTForCausalLM, torch.optim.AdamW]:
    """Make the model with the run's seed, and AdamW with decay on matrices and embeddings only."""
    torch.manual_seed(settings.seed)
    config = CharGPTConfig(
        vocab_size=vocab_size,
        hidden_size=settings.width,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        max_position_embeddings=settings.context,
        **VARIANTS[settings.variant],
    )
    model = CharGPTForCausalLM(config)
    decayed, plain = [], []
    for name, parameter in model.named_parameters():
        (decayed if parameter.dim() >= 2 and ".gate." not in name else plain).append(parameter)
    groups = [{"params": decayed, "weight_decay": settings.weight_decay}, {"params": plain, "weight_decay": 0.0}]
    return model, torch.optim.AdamW(groups, lr=0.0, betas=(0.9, settings.beta2), fused=True)


def batch_loss(model: CharGPTForCausalLM, windows: np.ndarray) -> torch.Tensor:
    """Next-character cross-entropy in nats of every character of the windows, (window, pos)."""
    ids = torch.from_numpy(windows)
    logits = model(input_ids=ids[:, :-1]).logits
    return functional.cross_entropy(logits.float().transpose(1, 2), ids[:, 1:], reduction="none")


@torch.no_grad()
def validation_loss(model: CharGPTForCausalLM, windows: np.ndarray) -> np.ndarray:
    """Mean loss of each validation window in float32, (window,)."""
    implementation = model.config._attn_implementation
    model.set_attn_implementation("sdpa")
    losses = [batch_loss(model, windows[i : i + 8]).mean(-1).numpy() for i in range(0, len(windows), 8)]
    model.set_attn_implementation(implementation)
    return np.concatenate(losses)


def train(
    settings: Settings, text: str, out: Path, resume=False, early_step=0, save_every=250, validate_every=500
) -> dict:
    """Train one model and export it; returns the summary that is also written to `out`/summary.json.

    Args:
        settings: the run.
        text: the whole text; the first 90 % of its characters train, the rest validates.
        out: folder of the run.
        resume: continue from the checkpoint in `out`, if there is one.
        early_step: export the model also after so many steps; 0 for not.
        save_every: steps between checkpoints.
        validate_every: steps between validation losses on the first 64 windows (the last one is on all).
    """
    tokenizer = character_tokenizer(text, settings.context)
    training, validation = split(np.array(tokenizer(text, verbose=False)["input_ids"]))
    held_out = validation_windows(validation, settings.context)
    model, optimizer = build(settings, len(tokenizer))
    state = load_checkpoint(out / "checkpoint", model, optimizer, asdict(settings)) if resume else None
    state = state or {
        "step": 0,
        "seconds": 0.0,
        "cpu_seconds": 0.0,
        "history": [],
        "recent": [],
        "settings": asdict(settings),
    }
    model.set_attn_implementation("blockwise")
    clock = [time.perf_counter(), time.process_time()]
    while state["step"] < settings.steps:
        state["recent"].append(training_step(model, optimizer, training, state["step"], settings))
        step = state["step"] = state["step"] + 1
        last = step == settings.steps
        if step % validate_every == 0 or last:
            losses = {"train_loss": float(np.mean(state["recent"]))}
            losses["validation_loss"] = float(validation_loss(model, held_out[:64]).mean())
            account(state, clock)
            state["history"].append({"step": step, **losses, "seconds": round(state["seconds"], 1)})
            state["recent"] = []
            log.info("%s seed %d %s", settings.variant, settings.seed, state["history"][-1])
        if step == early_step:
            export(model, tokenizer, out / "early", summarise(model, held_out, state, text))
        if step % save_every == 0 or last:
            account(state, clock)
            save_checkpoint(out / "checkpoint", model, optimizer, state)
    summary = summarise(model, held_out, state, text)
    export(model, tokenizer, out / "model", summary)
    (out / "summary.json").write_text(json.dumps(summary, indent=1))
    return summary


def training_step(model, optimizer, ids: np.ndarray, step: int, settings: Settings) -> float:
    """Take one optimiser step on the windows that belong to `step` and return its loss in nats."""
    windows = training_windows(ids, step, settings.seed, settings.batch, settings.context)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(step, settings)
    with torch.autocast("cpu", torch.bfloat16, enabled=settings.bfloat16):
        loss = batch_loss(model, windows).mean()
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
    optimizer.step()
    return loss.item()


def account(state: dict, clock: list[float]) -> None:
    """Add the wall-clock and processor seconds since `clock` to `state`, and restart the clock."""
    now = [time.perf_counter(), time.process_time()]
    state["seconds"] += now[0] - clock[0]
    state["cpu_seconds"] += now[1] - clock[1]
    clock[:] = now


def summarise(model: CharGPTForCausalLM, held_out: np.ndarray, state: dict, text: str) -> dict:
    """What a run's card and the seed study need; losses are of the weights rounded to float16, on all windows."""
    rounded = CharGPTForCausalLM(model.config)
    rounded.load_state_dict({name: value.half().float() for name, value in model.state_dict().items()})
    losses = validation_loss(rounded.eval(), held_out)
    settings = state["settings"]
    return {
        "settings": settings,
        "step": state["step"],
        "tokens": state["step"] * settings["batch"] * settings["context"],
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "validation_loss": float(losses.mean()),
        "validation_windows": len(held_out),
        "window_losses": [round(float(loss), 5) for loss in losses],
        "train_loss": state["history"][-1]["train_loss"] if state["history"] else None,
        "history": state["history"],
        "seconds": round(state["seconds"], 1),
        "cpu_seconds": round(state["cpu_seconds"], 1),
        "threads": torch.get_num_threads(),
        "cores": os.cpu_count(),
        "characters": len(text),
        "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
    }


def main(arguments: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m lib.models.train_char_gpt", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the run")
    parser.add_argument("--text", help="FILE or hub:OWNER/NAME:FILE; default: tinyshakespeare.txt in HEADLIGHT_DATA")
    parser.add_argument("--resume", action="store_true", help="continue from the checkpoint in --out")
    parser.add_argument("--early-step", type=int, default=0, help="export the model after so many steps too")
    parser.add_argument("--threads", type=int, default=1, help="processor threads (default 1)")
    parser.add_argument("--float32", action="store_true", help="train in float32 instead of bfloat16")
    parser.add_argument("--variant", choices=VARIANTS, default="base")
    for field in fields(Settings):
        if field.name not in ("variant", "bfloat16"):
            kind = type(field.default)
            parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)
    options = vars(parser.parse_args(arguments))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stdout)
    torch.set_num_threads(options["threads"])
    chosen = {field.name: options[field.name] for field in fields(Settings) if field.name in options}
    settings = Settings(**chosen, bfloat16=not options["float32"])
    summary = train(settings, read_text(options["text"]), options["out"], options["resume"], options["early_step"])
    log.info("validation loss %.4f nats after %d characters", summary["validation_loss"], summary["tokens"])


if __name__ == "__main__":
    main()

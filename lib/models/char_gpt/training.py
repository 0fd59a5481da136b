"""Training: one optimiser step after another, resumable, with the losses that a card tells.

Runs of one seed see the same text in the same order and start from the same common weights, whatever the variant.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

import lib.models.char_gpt.blockwise_attention  # noqa: F401 — registers "blockwise"
from lib.models.char_gpt.card import export
from lib.models.char_gpt.checkpoint import load_checkpoint, save_checkpoint
from lib.models.char_gpt.modelling import CharGPTConfig, CharGPTForCausalLM
from lib.models.char_gpt.settings import VARIANTS, Settings
from lib.models.char_gpt.text import split, training_windows, validation_windows
from lib.models.char_gpt.tokenizer import character_tokenizer

log = logging.getLogger(__name__)


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
    settings: Settings,
    text: str,
    out: Path,
    resume: bool = False,
    early_step: int = 0,
    save_every: int = 250,
    validate_every: int = 500,
    text_name: str = "",
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
        text_name: what the card calls the text.
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
            export(model, tokenizer, out / "early", summarise(model, held_out, state, text, text_name))
        if step % save_every == 0 or last:
            account(state, clock)
            save_checkpoint(out / "checkpoint", model, optimizer, state)
    summary = summarise(model, held_out, state, text, text_name)
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


def summarise(model: CharGPTForCausalLM, held_out: np.ndarray, state: dict, text: str, text_name: str = "") -> dict:
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
        "text_name": text_name,
        "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
    }

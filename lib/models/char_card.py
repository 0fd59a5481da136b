"""Write a trained character model as a folder anyone can load: float16 weights, tokenizer, and a card."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerFast

from lib.models.char_gpt import CharGPTForCausalLM

TITLES = {
    "base": "ordinary causal attention",
    "ega1": "energy-gated attention, one gate per head, running (causal) statistics",
    "ega1-window": "energy-gated attention, one gate per head, statistics over the whole window as published — "
    "**leaks the future**: a later character alters earlier outputs, so its loss is not comparable with the others",
    "ega4": "energy-gated attention, a mixture of four gates per head, running (causal) statistics",
}


def export(model: CharGPTForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path, summary: dict) -> None:
    """Write `model` to `folder` as float16 safetensors with its tokenizer and a card made of `summary`."""
    shutil.rmtree(folder, ignore_errors=True)
    half = CharGPTForCausalLM(model.config).to(torch.float16)
    half.load_state_dict(model.state_dict())
    half.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "README.md").write_text(card(summary), encoding="utf-8")
    (folder / "training.json").write_text(json.dumps(summary, indent=1) + "\n")


def card(summary: dict) -> str:
    """The model card: what it is, how it was trained, what it reached."""
    run = summary["settings"]
    window = run["variant"] == "ega1-window"
    share = f"{summary['step']} of {run['steps']} steps"
    early = summary["step"] < run["steps"]
    train_loss = f"{summary['train_loss']:.4f}" if summary["train_loss"] is not None else "not measured yet"
    rows = {
        "variant": f"{run['variant']}: {TITLES[run['variant']]}",
        "layers × heads × width": f"{run['layers']} × {run['heads']} × {run['width']}",
        "context": f"{run['context']} characters",
        "parameters": f"{summary['parameters']:,}",
        "text": f"TinyShakespeare, {summary['characters']:,} characters, sha256 `{summary['text_sha256'][:16]}…`; "
        "first 90 % for training",
        "steps": f"{share}{' — an early stage of training, kept for comparison' if early else ''}",
        "characters seen": f"{summary['tokens']:,} ({run['batch']} windows of {run['context']} a step)",
        "optimiser": f"AdamW, peak learning rate {run['learning_rate']}, {run['warmup']} warm-up steps then cosine, "
        f"weight decay {run['weight_decay']}, β (0.9, {run['beta2']}), gradient norm ≤ {run['clip']}, no dropout",
        "number format": "bfloat16 autocast, float32 weights" if run["bfloat16"] else "float32",
        "seed": f"{run['seed']} (weights and order of the text; the same for every variant)",
        "training loss": f"{train_loss} nats per character (mean over the last stretch)",
        "validation loss": f"**{summary['validation_loss']:.4f}** nats per character on all "
        f"{summary['validation_windows']} adjacent windows, these float16 weights computed in float32"
        + (" (with the leak)" if window else ""),
        "time": f"{summary['seconds']:,.0f} s, of which {summary['cpu_seconds']:,.0f} s of processor time",
        "machine": f"{summary['cores']} CPU cores, {summary['threads']} thread",
    }
    table = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    command = (
        f"python -m lib.models.train_char_gpt --variant {run['variant']} --width {run['width']} "
        f"--steps {run['steps']} --learning-rate {run['learning_rate']} --seed {run['seed']} --out FOLDER"
    )
    return (
        f"# Character GPT, {run['variant']}\n\n"
        "A small causal language model of the characters of Shakespeare's plays, trained by Headlight for its own\n"
        "pages. Load with `lib.models.load(FOLDER)` or, after `import lib.models.char_gpt`, with transformers'\n"
        "`AutoModelForCausalLM.from_pretrained(FOLDER)`. Each character outside the training text's vocabulary\n"
        "becomes one `<unk>`, which was never trained.\n\n"
        f"| | |\n|---|---|\n{table}\n\n"
        f"Repeat with `{command}`; `training.json` holds the loss after every stretch and of every validation window.\n"
    )

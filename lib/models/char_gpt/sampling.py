"""Passages drawn from a trained model, and the label that says they are a model's."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from lib.models.char_gpt.text import SHAKESPEARE, text_title
from lib.models.shipped import PLACE


@torch.inference_mode()
def sample(model, prompt: torch.Tensor, length: int, temperature: float, seed: int) -> torch.Tensor:
    """Continue prompts by drawing one character after another, each from the last `context` characters.

    Args:
        model: a CharGPTForCausalLM.
        prompt: token ids (passage, pos), at least one position.
        length: characters to add.
        temperature: divides the logits; below 1 the likely becomes likelier.
        seed: of the draws.

    Returns:
        Token ids (passage, pos + length).
    """
    generator = torch.Generator().manual_seed(seed)
    ids, context = prompt, model.config.max_position_embeddings
    known = model.config.vocab_size - 1  # <unk> is the last symbol and is never drawn
    for _ in range(length):
        with torch.autocast("cpu", torch.bfloat16):
            hidden = model.model(input_ids=ids[:, -context:]).last_hidden_state[:, -1]
        odds = (model.lm_head(hidden.float())[:, :known] / temperature).softmax(-1)
        ids = torch.cat((ids, torch.multinomial(odds, 1, generator=generator)), 1)
    return ids


def passages(folder: Path, count: int, length: int, temperature: float, seed: int) -> list[str]:
    """Sample `count` passages of `length` characters that begin as a new speech would, after an empty line."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    prompt = torch.tensor(tokenizer(["\n\n"] * count)["input_ids"])
    ids = sample(model, prompt, length, temperature, seed)
    return [text.strip() for text in tokenizer.batch_decode(ids)]


def titled(texts: list[str]) -> str:
    """One file of all passages: a title in front of each, then its lines as they were drawn."""
    return "\n\n".join(f"# Passage {number} | sampled\n{text}" for number, text in enumerate(texts, 1)) + "\n"


def label(folder: Path, texts: list[str], options: dict) -> str:
    """What the reader of the passages has to know, as Markdown."""
    training = json.loads((folder / "training.json").read_text())
    title = text_title(training)
    place = f"data/models/{folder.name}" if folder.resolve().parent == PLACE else "FOLDER"
    whose = "Not by Shakespeare" if title == SHAKESPEARE else "Not written by anyone"
    return (
        "# Passages sampled from a character model\n\n"
        f"{whose}: {len(texts)} passages, {sum(map(len, texts)):,} characters, drawn once from Headlight's "
        f"own model `{folder.name}` (validation loss {training['validation_loss']:.4f} nats per character after "
        f"{training['tokens']:,} characters of {title}), temperature {options['temperature']}, "
        f"seed {options['seed']}, a title before each passage.\n\n"
        f"Repeat with `python -m lib.models.sample_char_gpt --model {place} --out FILE.txt "
        f"--passages {options['passages']} --length {options['length']} --temperature {options['temperature']} "
        f"--seed {options['seed']}`.\n"
    )

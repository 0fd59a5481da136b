"""Sample passages from a character model: `python -m lib.models.sample_char_gpt --model FOLDER --out FILE.txt`.

Writes the passages, an empty line between them, to FILE.txt and a label that says they are a model's to FILE.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import lib.models.char_gpt  # noqa: F401 — registers char_gpt


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


def label(folder: Path, texts: list[str], options: dict) -> str:
    """What the reader of the passages has to know, as Markdown."""
    training = json.loads((folder / "training.json").read_text())
    return (
        "# Passages sampled from a character model\n\n"
        f"Not by Shakespeare: {len(texts)} passages, {sum(map(len, texts)):,} characters, drawn once from Headlight's "
        f"own model `{folder.name}` (validation loss {training['validation_loss']:.4f} nats per character after "
        f"{training['tokens']:,} characters of TinyShakespeare), temperature {options['temperature']}, "
        f"seed {options['seed']}, an empty line between passages.\n\n"
        f"Repeat with `python -m lib.models.sample_char_gpt --model data/models/{folder.name} --out FILE.txt "
        f"--passages {options['passages']} --length {options['length']} --temperature {options['temperature']} "
        f"--seed {options['seed']}`.\n"
    )


def main(arguments: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m lib.models.sample_char_gpt", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a folder that train_char_gpt wrote")
    parser.add_argument("--out", type=Path, required=True, help="FILE.txt; the label goes to FILE.md")
    parser.add_argument("--passages", type=int, default=56)
    parser.add_argument("--length", type=int, default=520, help="characters per passage")
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--seed", type=int, default=0)
    options = vars(parser.parse_args(arguments))
    texts = passages(options["model"], options["passages"], options["length"], options["temperature"], options["seed"])
    options["out"].parent.mkdir(parents=True, exist_ok=True)
    options["out"].write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    options["out"].with_suffix(".md").write_text(label(options["model"], texts, options), encoding="utf-8")


if __name__ == "__main__":
    main()

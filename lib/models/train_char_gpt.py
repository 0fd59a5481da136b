"""Train a character GPT: `python -m lib.models.train_char_gpt --variant base --out FOLDER [--text FILE] [--resume]`.

Writes FOLDER/model (float16 safetensors, configuration, tokenizer, card), FOLDER/early (the same at `--early-step`),
FOLDER/checkpoint (for `--resume`) and FOLDER/summary.json.
"""

from __future__ import annotations

import argparse
import logging
import sys
from dataclasses import fields
from pathlib import Path

import torch

from lib.command import told
from lib.models.char_gpt.settings import VARIANTS, Settings
from lib.models.char_gpt.text import read_text, text_name
from lib.models.char_gpt.training import train

log = logging.getLogger(__name__)


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
    with told(parser):
        settings = Settings(**chosen, bfloat16=not options["float32"])
        summary = train(
            settings,
            read_text(options["text"]),
            options["out"],
            options["resume"],
            options["early_step"],
            text_name=text_name(options["text"]),
        )
    log.info("validation loss %.4f nats after %d characters", summary["validation_loss"], summary["tokens"])


if __name__ == "__main__":
    main()

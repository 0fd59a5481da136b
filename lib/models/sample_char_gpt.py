"""Sample passages from a character model: `python -m lib.models.sample_char_gpt --model FOLDER --out FILE.txt`.

Writes the passages, each under a title, to FILE.txt and a label that says they are a model's to FILE.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from lib.command import told
from lib.errors import HeadlightError
from lib.models.char_gpt.sampling import label, passages, titled


def main(arguments: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m lib.models.sample_char_gpt", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a folder that train_char_gpt wrote")
    parser.add_argument("--out", type=Path, required=True, help="FILE.txt; the label goes to FILE.md")
    parser.add_argument("--passages", type=int, default=14)
    parser.add_argument("--length", type=int, default=1200, help="characters per passage")
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--seed", type=int, default=0)
    options = vars(parser.parse_args(arguments))
    with told(parser):
        if not (options["model"] / "config.json").is_file():
            raise HeadlightError("a folder that train_char_gpt wrote", repr(str(options["model"])), "Train one first.")
        texts = passages(
            options["model"], options["passages"], options["length"], options["temperature"], options["seed"]
        )
        options["out"].parent.mkdir(parents=True, exist_ok=True)
        options["out"].write_text(titled(texts), encoding="utf-8")
        options["out"].with_suffix(".md").write_text(label(options["model"], texts, options), encoding="utf-8")


if __name__ == "__main__":
    main()

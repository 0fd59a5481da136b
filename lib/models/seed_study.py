"""Does energy gating lower the loss? `python -m lib.models.seed_study --out FOLDER` trains and compares seeds.

Trains base, ega1 and ega1-window with each seed. What each finished run measured goes into FOLDER/seed-study.json with
its settings, so that its model may be deleted: a run that stands there is not trained again, an unfinished one
continues, and one of other settings is refused. FOLDER/seed-study.md holds the comparison. Losses are compared within a
seed, because runs of one seed share text order and initial weights; the interval is Student's over seeds. Beside the
usual validation loss stands the loss *without the future*: each predicted character is the last one its model can see,
so that window statistics have nothing to leak. For base and prefix gates both are the same function of the text.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

import torch

from lib.command import told
from lib.models.char_gpt.settings import Settings
from lib.models.char_gpt.study import Study, add_finished, compare, markdown
from lib.models.char_gpt.text import read_text

log = logging.getLogger(__name__)

VARIANTS = ("base", "ega1", "ega1-window")


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
    with told(parser):
        study = Study(options.out)
        if options.report:
            add_finished(study, options.text, options.windows)
        else:
            text = read_text(options.text)
            for seed in options.seeds:
                for variant in VARIANTS:
                    settings = Settings(variant=variant, width=options.width, steps=options.steps, seed=seed)
                    log.info("%s", study.run(settings, text, options.windows))
    log.info("\n%s", markdown(compare([*study.rows.values()])))


if __name__ == "__main__":
    main()

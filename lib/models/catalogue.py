"""What can be loaded, in three groups: ready offline, from the Hub, your own.

Making the list imports neither torch nor a model's package and asks nothing of the network.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path

from lib.models import hub
from lib.models.offline import PACKAGES
from lib.models.permission import hub_ids_allowed, paths_allowed
from lib.models.shipped import described, shipped

READY, HUB, OWN = "ready offline", "from the Hub", "your own"


@dataclass(frozen=True)
class Entry:
    """One line of the catalogue.

    name: what ``load`` takes. family: the model type, "" where only the model itself tells. source: "offline" | "hub" |
    "folder" | "gguf". available: whether loading can be tried now; why_not: the reason where it cannot.
    size: parameters, 0 where unknown. group: READY | HUB | OWN. kind: as of an Engine, "" where unknown.
    install: the command that makes it available, "" where none does. about: one line for the reader.
    """

    name: str
    family: str
    source: str
    available: bool
    why_not: str
    size: int
    group: str
    kind: str
    install: str = ""
    about: str = ""


def catalogue() -> list[Entry]:
    """Every model that can be named, the default first."""
    return [*_packaged(), *_shipped(), *_from_hub(), *_own()]


def _packaged() -> list[Entry]:
    entries = []
    for package in PACKAGES:
        why_not = package.missing()
        entries.append(
            Entry(
                name=package.name,
                family=package.family,
                source="offline",
                available=not why_not,
                why_not=why_not,
                size=package.size,
                group=READY,
                kind=package.kind,
                install=package.install,
                about=package.about,
            )
        )
    return entries


def _shipped() -> list[Entry]:
    entries = []
    for name, folder in shipped().items():
        config = json.loads((folder / "config.json").read_text("utf-8"))
        entries.append(
            Entry(
                name=name,
                family=config.get("model_type", ""),
                source="offline",
                available=True,
                why_not="",
                size=_numbers(folder / "model.safetensors"),
                group=READY,
                kind="decoder",
                about=described(folder),
            )
        )
    return entries


def _numbers(file: Path) -> int:
    """Numbers in a safetensors file, from its header alone; 0 for a damaged file, which ``load`` then explains."""
    try:
        with file.open("rb") as opened:
            (length,) = struct.unpack("<Q", opened.read(8))
            header = json.loads(opened.read(length))
        return sum(prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__")
    except (OSError, ValueError, struct.error, MemoryError):
        return 0


def _from_hub() -> list[Entry]:
    offline = hub.switched_off()
    entries = []
    for name, family, kind, millions, about in HUB_MODELS:
        here = hub.cached(name) is not None
        why_not = "Not on this machine yet, and HF_HUB_OFFLINE is set." if offline and not here else ""
        entries.append(
            Entry(
                name=name,
                family=family,
                source="hub",
                available=not why_not,
                why_not=why_not,
                size=int(millions * 1e6),
                group=HUB,
                kind=kind,
                about=about,
            )
        )
    return entries


def _own() -> list[Entry]:
    return [
        Entry(name, "", source, False, f"Give {what} in place of this line.", 0, OWN, "", about=about)
        for name, source, what, about in OWN_KINDS
        if (hub_ids_allowed() if source == "hub" else paths_allowed())
    ]


OWN_KINDS = (
    ("a Hub id", "hub", "the id, such as google-bert/bert-base-cased,", "Any transformer with safetensors on the Hub"),
    ("a folder", "folder", "its path", "config.json, model.safetensors and tokenizer.json, as save_pretrained writes"),
    ("a GGUF file", "gguf", "its path", "Quantised weights of a Llama-like model"),
)
HUB_MODELS = (  # id, family, kind, millions of parameters, about
    ("google-bert/bert-base-uncased", "bert", "encoder", 109.5, "BERT base, 12 × 12, English"),
    ("google-bert/bert-base-cased", "bert", "encoder", 108.3, "BERT base, 12 × 12, English with capitals"),
    ("google-bert/bert-large-uncased", "bert", "encoder", 335.1, "BERT large, 24 × 16, English"),
    ("google-bert/bert-base-multilingual-cased", "bert", "encoder", 177.9, "BERT base, 104 languages"),
    ("FacebookAI/xlm-roberta-base", "xlm-roberta", "encoder", 278.0, "XLM-R base, 100 languages"),
    ("FacebookAI/roberta-base", "roberta", "encoder", 124.6, "RoBERTa base, English"),
    ("distilbert/distilbert-base-uncased", "distilbert", "encoder", 66.4, "DistilBERT, 6 × 12, English"),
    ("google/electra-base-discriminator", "electra", "encoder", 108.9, "ELECTRA base, English"),
    ("albert/albert-base-v2", "albert", "encoder", 11.7, "ALBERT base, one set of weights for 12 layers"),
    ("answerdotai/ModernBERT-base", "modernbert", "encoder", 149.0, "ModernBERT, local and global layers"),
    ("sentence-transformers/all-MiniLM-L12-v2", "bert", "encoder", 33.4, "MiniLM, 12 × 12, English sentences"),
    ("openai-community/gpt2", "gpt2", "decoder", 124.4, "GPT-2 small, 12 × 12"),
    ("openai-community/gpt2-medium", "gpt2", "decoder", 354.8, "GPT-2 medium, 24 × 16"),
    ("distilbert/distilgpt2", "gpt2", "decoder", 81.9, "Distilled GPT-2, 6 × 12"),
    ("EleutherAI/pythia-70m", "gpt_neox", "decoder", 70.4, "Pythia, 6 × 8, rotary"),
    ("EleutherAI/pythia-160m", "gpt_neox", "decoder", 162.3, "Pythia, 12 × 12, rotary"),
    ("EleutherAI/pythia-410m", "gpt_neox", "decoder", 405.3, "Pythia, 24 × 16, rotary"),
    ("HuggingFaceTB/SmolLM2-135M", "llama", "decoder", 134.5, "SmolLM2, 30 × 9 over 3 key/value heads"),
    ("HuggingFaceTB/SmolLM2-360M", "llama", "decoder", 361.8, "SmolLM2, 32 × 15 over 5 key/value heads"),
    ("Qwen/Qwen2.5-0.5B", "qwen2", "decoder", 494.0, "Qwen 2.5, 24 × 14 over 2 key/value heads"),
    ("Qwen/Qwen3-0.6B", "qwen3", "decoder", 596.0, "Qwen 3, 28 × 16 over 8 key/value heads"),
    ("google-t5/t5-small", "t5", "encoder-decoder", 60.5, "T5 small, relative positions"),
    ("google/flan-t5-small", "t5", "encoder-decoder", 77.0, "FLAN-T5 small"),
    ("facebook/bart-base", "bart", "encoder-decoder", 139.4, "BART base, 6 + 6 layers"),
    ("google/vit-base-patch16-224", "vit", "vision", 86.6, "ViT-B/16, 12 × 12, ImageNet"),
    ("google/vit-base-patch32-224-in21k", "vit", "vision", 87.5, "ViT-B/32, 12 × 12, ImageNet-21k"),
    ("facebook/dinov2-small", "dinov2", "vision", 22.1, "DINOv2 ViT-S/14"),
    ("facebook/dinov2-base", "dinov2", "vision", 86.6, "DINOv2 ViT-B/14"),
    ("facebook/dinov2-with-registers-small", "dinov2_with_registers", "vision", 22.1, "DINOv2 with four registers"),
    ("facebook/deit-small-patch16-224", "deit", "vision", 22.1, "DeiT-S/16"),
    ("openai/clip-vit-base-patch32", "clip_vision_model", "vision", 87.8, "CLIP's image tower, ViT-B/32"),
    ("microsoft/swin-tiny-patch4-window7-224", "swin", "vision", 28.3, "Swin-T, windows of 7 × 7 patches"),
)

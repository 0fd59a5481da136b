"""Which transformers class reads a checkpoint, and which families cannot be looked at: said by name, before reading.

The attention of a family can be seen when its code asks transformers' attention interface for the function that
computes it. That is read off the family's source, so that families which join or leave the interface are known.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import Any

from lib.errors import HeadlightError

WHAT_WORKS = (
    "What works instead: BERT, RoBERTa, DistilBERT, ELECTRA, ALBERT, ModernBERT, XLM-R, GPT-2, GPT-NeoX, Llama, "
    "Mistral, Qwen, Gemma, OPT, T5, BART, ViT, DINOv2, CLIP and some 300 more families."
)
NO_ATTENTION = frozenset(
    {"bit", "convnext", "convnextv2", "efficientnet", "falcon_mamba", "fnet", "mamba", "mamba2", "mobilenet_v1"}
    | {"mobilenet_v2", "poolformer", "regnet", "resnet", "rwkv", "xlstm"}
)
TWO_TOWERS = frozenset({"altclip", "chinese_clip", "clip", "metaclip_2", "siglip"})  # the image tower is shown
VISION = frozenset(
    {"aimv2_vision_model", "chinese_clip_vision_model", "clip_vision_model", "dinov3_vit"}
    | {"metaclip_2_vision_model", "mlcd_vision_model", "siglip_vision_model"}
)
SHORTENED_KEYS = frozenset({"segformer"})  # keys lie on a coarser grid than queries
OUR_OWN = {"char_gpt": "lib.models.char_gpt"}  # importing the module registers the family
LM_SUFFIXES = ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForPreTraining", "ForConditionalGeneration")


class UnsupportedFamily(HeadlightError):
    """A family whose attention cannot be seen, or an input that the pages cannot show."""


class BrokenConfig(HeadlightError):
    """A configuration that transformers cannot read."""


def register(model_type: str) -> None:
    """Make a family of this product known to transformers."""
    if model_type in OUR_OWN:
        importlib.import_module(OUR_OWN[model_type])


def candidates(config: Any) -> list[Any]:
    """Classes that can read a checkpoint, the one that keeps its language-model head first.

    config: a transformers configuration. Raises UnsupportedFamily with the family's name.
    """
    base = _base_class(config)
    _require_interface(base, config.model_type)
    _require_shown_input(base, config)
    with_head = _head_class(config)
    return [base] if with_head is None else [with_head, base]


def follows_interface(model_class: Any) -> bool:
    """Whether a family's code asks the attention interface for the function that computes its attention."""
    return "ALL_ATTENTION_FUNCTIONS" in inspect.getsource(sys.modules[model_class.__module__])


def image_tower(config: Any) -> Any:
    """The configuration that is shown: of the image tower where a checkpoint has an image and a text tower."""
    if config.model_type in TWO_TOWERS:
        tower = config.vision_config
        tower.architectures = None
        return tower
    return config


def _base_class(config: Any) -> Any:
    from transformers import MODEL_MAPPING

    if type(config) not in MODEL_MAPPING:
        raise UnsupportedFamily("a model with one base class", f"the family “{config.model_type}”", WHAT_WORKS)
    found = MODEL_MAPPING[type(config)]
    return found[0] if isinstance(found, list | tuple) else found


def _require_interface(base: Any, family: str) -> None:
    if family in NO_ATTENTION:
        raise UnsupportedFamily("a transformer", f"the family “{family}”, which has no attention", WHAT_WORKS)
    if not follows_interface(base):
        raise UnsupportedFamily(
            "a family on transformers' attention interface",
            f"“{family}”, whose own code computes attention where it cannot be seen",
            WHAT_WORKS,
        )


def _require_shown_input(base: Any, config: Any) -> None:
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES as IMAGES,
    )
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_VIDEO_CLASSIFICATION_MAPPING_NAMES as VIDEOS,
    )

    family = config.model_type
    takes, text = base.main_input_name, base.main_input_name == "input_ids"
    mixed = any(hasattr(config, f"{part}_config") for part in ("vision", "audio", "image"))
    vision = takes == "pixel_values" and family not in VIDEOS and (family in IMAGES or family in VISION)
    if family in SHORTENED_KEYS:
        said = f"“{family}”, whose keys lie on a coarser grid than its queries"
    elif mixed:
        said = f"“{family}”, which mixes text with images or sound in one sequence"
    elif not text and not vision:
        said = f"“{family}”, which takes {str(takes).replace('_', ' ')}"
    else:
        return
    raise UnsupportedFamily("a model of text or of single images", said, WHAT_WORKS)


def _head_class(config: Any) -> Any | None:
    """The class that keeps the language-model head a checkpoint has; None where it has none."""
    import transformers as t

    given = config.architectures or [""]
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise BrokenConfig("a list of class names as architectures", repr(given)[:200], "Correct config.json.")
    named = given[0]
    if named and not named.endswith(LM_SUFFIXES) and not _tied_pair(config, named):
        return None
    if getattr(config, "is_encoder_decoder", False):
        order = (t.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,)
    elif named.endswith(("ForCausalLM", "LMHeadModel")):
        order = (t.MODEL_FOR_CAUSAL_LM_MAPPING,)
    else:
        order = (t.MODEL_FOR_MASKED_LM_MAPPING, t.MODEL_FOR_CAUSAL_LM_MAPPING)
    found = next((mapping[type(config)] for mapping in order if type(config) in mapping), None)
    return found[0] if isinstance(found, list | tuple) else found


def _tied_pair(config: Any, named: str) -> bool:
    """An encoder–decoder saved without its head, which is its embedding matrix (bart-base)."""
    return bool(config.is_encoder_decoder and config.tie_word_embeddings and named.endswith("Model"))

import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
import torch
import transformers as hf

from lib.models import Engine, load, untrained_twin
from lib.models.engine import EngineReleased
from lib.models.offline import PACKAGES
from tests.capture.families import BERT, GROUPED, IMAGE, tiny

ROOT = Path(__file__).resolve().parents[2]


def test_a_model_in_memory_becomes_an_engine():
    model = tiny("bert").train().requires_grad_(True)
    engine = Engine.from_parts(model, name="mine")
    assert (engine.name, engine.source, engine.device, engine.dtype) == ("mine", "memory", "cpu", "float32")
    assert not engine.model.training
    assert not any(weight.requires_grad for weight in engine.model.parameters())
    assert isinstance(engine.lock, type(threading.RLock()))


def test_the_key_changes_with_everything_that_changes_the_numbers():
    model = tiny("bert")
    first = Engine.from_parts(model).key
    assert Engine.from_parts(tiny("bert")).key == first
    with torch.no_grad():
        model.encoder.layer[1].attention.self.key.bias[3] += 1e-3
    keys = {first, Engine.from_parts(model).key, Engine.from_parts(model, name="other").key}
    keys.add(Engine.from_parts(model.to(torch.float16)).key)
    model.set_attn_implementation("eager")
    keys.add(Engine.from_parts(model).key)
    assert len(keys) == 5


EXPECTED = {  # family: kind, causal, layers, decoder layers, heads, key heads, d_head, limit, head
    "bert": ("encoder", False, 2, 0, 3, 3, 8, 80, None),
    "roberta": ("encoder", False, 2, 0, 3, 3, 8, 79, None),
    "modernbert": ("encoder", False, 4, 0, 3, 3, 8, 80, None),
    "albert": ("encoder", False, 2, 0, 3, 3, 8, 80, None),
    "gpt2": ("decoder", True, 2, 0, 3, 3, 8, 80, "causal-lm"),
    "gpt_neox": ("decoder", True, 2, 0, 3, 3, 8, 80, None),
    "llama": ("decoder", True, 2, 0, 9, 3, 4, 80, "causal-lm"),
    "gemma2": ("decoder", True, 2, 0, 4, 2, 8, 80, None),
    "clip text": ("encoder", True, 2, 0, 3, 3, 8, 80, None),
    "t5": ("encoder-decoder", False, 2, 3, 3, 3, 8, None, "seq2seq-lm"),
    "bart": ("encoder-decoder", False, 2, 3, 3, 3, 8, 80, "seq2seq-lm"),
    "vit": ("vision", False, 2, 0, 3, 3, 8, None, None),
    "dinov2": ("vision", False, 2, 0, 3, 3, 8, None, None),
    "swin": ("vision", False, 5, 0, 4, 4, 8, None, None),  # stages differ: the last one
}


@pytest.mark.parametrize("family", EXPECTED)
def test_what_a_model_says_about_itself(family):
    e = Engine.from_parts(tiny(family))
    got = (e.kind, e.causal, e.n_layers, e.n_decoder_layers, e.n_heads, e.n_key_heads, e.d_head, e.max_length, e.head)
    assert got == EXPECTED[family]


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2", "albert", "clip text", "electra"])
def test_the_longest_input_is_exactly_what_the_model_takes(family):
    engine = Engine.from_parts(tiny(family))
    with torch.inference_mode():
        engine.model(input_ids=torch.full((1, engine.max_length), 7))
        with pytest.raises((IndexError, RuntimeError, ValueError)):
            engine.model(input_ids=torch.full((1, engine.max_length + 1), 7))


@pytest.mark.parametrize(
    ("model", "prefix"),
    [
        (lambda: hf.ViTModel(hf.ViTConfig(**IMAGE)), 1),
        (lambda: hf.DeiTModel(hf.DeiTConfig(**IMAGE)), 2),
        (lambda: hf.CLIPVisionModel(hf.CLIPVisionConfig(**IMAGE)), 1),
        (lambda: hf.Dinov2WithRegistersModel(hf.Dinov2WithRegistersConfig(**IMAGE, num_register_tokens=4)), 5),
        (lambda: hf.SiglipVisionModel(hf.SiglipVisionConfig(**IMAGE)), 0),
    ],
)
def test_prefix_tokens_and_patches_make_up_the_sequence(model, prefix):
    engine = Engine.from_parts(model())
    assert engine.n_prefix == prefix
    with torch.inference_mode():
        states = engine.model(pixel_values=torch.zeros(1, 3, 32, 32)).last_hidden_state
    assert states.shape[1] == prefix + (32 // engine.patch_size) ** 2


@pytest.mark.parametrize(("layers", "heads"), [(24, 2), (1, 1)])
def test_no_number_of_layers_or_heads_is_assumed(layers, heads):
    config = hf.BertConfig(**BERT | {"num_hidden_layers": layers, "num_attention_heads": heads})
    engine = Engine.from_parts(hf.BertModel(config))
    assert (engine.n_layers, engine.n_heads, engine.d_head) == (layers, heads, 24 // heads)
    assert engine.weights(layers - 1).W_Q.shape == (heads, 24 // heads, 24)


def test_a_decoder_made_bidirectional_is_no_decoder():
    config = hf.Gemma3TextConfig(**GROUPED, head_dim=8, use_bidirectional_attention=True)
    engine = Engine.from_parts(hf.Gemma3TextModel(config))
    assert (engine.kind, engine.causal) == ("encoder", False)


def test_a_released_engine_says_so():
    engine = Engine.from_parts(tiny("bert"), name="gone")
    engine.release()
    engine.release()
    assert engine.model is None
    assert engine.n_layers == 2, "what it was can still be said"
    with pytest.raises(EngineReleased, match="gone"):
        engine.weights(0)
    with pytest.raises(EngineReleased, match="gone"):
        untrained_twin(engine)


MEASURE = """
import psutil, torch
from lib.models import load, untrained_twin
used = lambda: psutil.Process().memory_info().rss / 2**20
load("all-MiniLM-L6-v2").release()
before = used()
engine = load("SmolLM2-135M-Instruct")
with torch.inference_mode():
    engine.model(torch.arange(20)[None])
mapped = used() - before
twin = untrained_twin(engine)
both = used() - before
engine.release()
twin.release()
print(mapped, both, used() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(PACKAGES[1].missing() != "", reason=PACKAGES[1].missing() or "installed")
def test_releasing_really_frees_the_memory():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEASURE)], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    one, both, after = map(float, done.stdout.split())
    assert one > 400, "135 million float32 numbers take 513 MiB"
    assert both > one + 400
    assert after < 0.2 * one


@pytest.mark.slow
def test_ten_switches_leave_the_memory_flat():
    program = """
    import psutil
    from lib.models import load, untrained_twin
    sizes = []
    for _ in range(10):
        for dtype in ("float32", "bfloat16"):
            load("all-MiniLM-L6-v2", dtype=dtype).release()
        sizes.append(psutil.Process().memory_info().rss / 2**20)
    kept = [untrained_twin(load("all-MiniLM-L6-v2")) for _ in range(3)]
    print(sizes[2], sizes[-1], psutil.Process().memory_info().rss / 2**20)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    early, late, kept = map(float, done.stdout.split())
    assert late < early + 150  # threads' own heaps settle late; one load kept in each round would be 600 MiB
    assert kept > late + 200, "models that are kept are seen"


def test_importing_the_models_imports_no_torch():
    program = "import sys, lib.models; lib.models.catalogue(); print('torch' in sys.modules, 'onnx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["False", "False"], done.stderr


def test_sessions_that_load_at_once_get_their_own_precision():
    """Transformers builds under a default precision of the whole process: unguarded threads would mix theirs."""
    base, found, errors = Engine.from_parts(tiny("bert")), [], []

    def work(dtype):
        try:
            engine = load("all-MiniLM-L6-v2", dtype=dtype) if dtype else untrained_twin(base)
            found.append((dtype or "float32", {str(weight.dtype) for weight in engine.model.parameters()}))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(dtype,)) for dtype in ["bfloat16", "float32", ""] * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(found) == 9
    assert all(got == {f"torch.{dtype}"} for dtype, got in found)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_each_precision_loads_or_says_why_not(dtype):
    engine = load("all-MiniLM-L6-v2", dtype=dtype)
    assert engine.dtype == dtype
    assert f"|{dtype}|" in engine.key
    with torch.inference_mode():
        states = engine.model(torch.tensor([[101, 2023, 102]]))[0]
    assert states.dtype == getattr(torch, dtype)
    assert torch.isfinite(states).all()


def test_the_key_follows_the_code_that_computes(bert, monkeypatch):
    engine = Engine.from_parts(bert)
    keys = {engine.key}
    monkeypatch.setattr("lib.models.engine.CAPTURE_VERSION", 10**6)
    keys.add(engine.key)
    monkeypatch.setattr("transformers.__version__", "0.0.1")
    keys.add(engine.key)
    assert len(keys) == 3

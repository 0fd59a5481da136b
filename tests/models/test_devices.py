from types import SimpleNamespace

import pytest
import torch

from lib.models import devices, load
from lib.models.devices import OutOfMemory, Unsupported, choose, out_of_memory, place, require_memory
from tests.capture.families import PIXELS, SEQUENCE, TEXT, tiny


class Faulty:
    """Stands for a model that computes wrongly, or not at all, once it is moved to an accelerator."""

    main_input_name = "input_ids"
    config = SimpleNamespace(vocab_size=40)

    def __init__(self, offset=0.0, dtype=torch.float32, error=None):
        self.offset, self.dtype, self.error, self.where = offset, dtype, error, "cpu"
        self.device = torch.device("cpu")

    def to(self, device):
        self.where = device
        return self

    def __call__(self, input_ids):
        if self.error is not None:
            raise self.error
        return (input_ids.float() + (self.offset if self.where != "cpu" else 0.0),)


def test_auto_takes_what_is_there():
    assert choose("auto") in ("cuda", "mps", "cpu")
    assert choose("cpu") == "cpu"


@pytest.mark.parametrize("device", ["tpu", "", "cuda0"])
def test_a_device_that_is_none_is_refused(device):
    with pytest.raises(Unsupported, match="auto, cuda, mps, cpu"):
        load("all-MiniLM-L6-v2", device=device)


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="this machine has MPS")
def test_a_device_that_is_not_here_is_refused():
    with pytest.raises(Unsupported, match=r"Found here: .*cpu"):
        load("all-MiniLM-L6-v2", device="mps")


@pytest.mark.parametrize("dtype", ["int8", "float64", ""])
def test_a_precision_that_is_not_offered_is_refused(dtype):
    with pytest.raises(Unsupported, match="float32, float16, bfloat16"):
        load("all-MiniLM-L6-v2", dtype=dtype)


def test_an_accelerator_that_agrees_with_the_cpu_is_used():
    model, notes = place(Faulty(offset=1e-5), "mps", auto=True)
    assert (model.where, notes) == ("mps", ())


@pytest.mark.parametrize("offset", [0.5, float("nan")])
def test_an_accelerator_that_computes_wrongly_is_left_for_the_cpu(offset):
    model, notes = place(Faulty(offset=offset), "mps", auto=True)
    assert model.where == "cpu"
    assert "spot check" in notes[0]
    with pytest.raises(Unsupported, match="Choose “cpu”"):
        place(Faulty(offset=offset), "mps", auto=False)


def test_a_precision_without_kernels_says_so():
    missing = RuntimeError("\"LayerNormKernelImpl\" not implemented for 'Half'")
    with pytest.raises(Unsupported, match=r"not implemented for 'Half'.*float32"):
        place(Faulty(dtype=torch.float16, error=missing), "cpu", auto=True)


@pytest.mark.parametrize("family", [*TEXT, *SEQUENCE, *PIXELS])
def test_the_probe_runs_every_family(family):
    model = tiny(family)
    assert torch.isfinite(devices._probe(model)).all()
    assert devices.relative_deviation(devices._probe(model), devices._probe(model)) == 0


def test_a_model_that_cannot_fit_is_refused_with_both_sizes(monkeypatch):
    monkeypatch.setattr(devices, "free_bytes", lambda device: 2_000_000_000)
    require_memory(499_000_000, "float32", "cpu", "fits")
    require_memory(999_000_000, "float16", "cpu", "fits in half precision")
    with pytest.raises(OutOfMemory, match=r"28.0 GB .*seven.*2.0 GB.*smaller model"):
        require_memory(7_000_000_000, "float32", "cpu", "seven")


def test_a_containers_limit_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(devices, "CGROUP", tmp_path)
    free = devices.free_bytes("cpu")
    assert free > 0
    for name, text in {"max": "1000000", "current": "700000", "stat": "anon 1\ninactive_file 50000\n"}.items():
        (tmp_path / f"memory.{name}").write_text(text, "utf-8")
    assert devices.free_bytes("cpu") == 350_000
    (tmp_path / "memory.max").write_text("max\n", "utf-8")
    assert devices.free_bytes("cpu") > 1_000_000


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory: you tried …"),
        RuntimeError("MPS backend out of memory"),
    ],
)
def test_memory_that_runs_out_is_one_clear_error(error):
    with pytest.raises(OutOfMemory, match="smaller model"), out_of_memory("a model"):
        raise error


def test_a_real_refusal_of_the_allocator_is_recognised():
    with pytest.raises(OutOfMemory), out_of_memory("an absurd tensor"):
        torch.empty(1 << 60)


def test_other_errors_pass_through():
    with pytest.raises(RuntimeError, match="shapes"), out_of_memory("a model"):
        raise RuntimeError("shapes do not match")

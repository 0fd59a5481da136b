"""The models of ``data/models`` are those whose digests are recorded."""

import json
import shutil

import pytest

from lib.models import load, shipped
from lib.models.offline import Tampered


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the model "base" that stands in for the one of the product."""
    shutil.copytree(shipped.PLACE / "base", tmp_path / "base")
    monkeypatch.setattr(shipped, "PLACE", tmp_path)
    return tmp_path / "base"


def test_every_file_that_is_shipped_is_recorded_and_as_recorded():
    assert set(shipped.recorded()) == set(shipped.shipped())
    for folder in shipped.shipped().values():
        assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(shipped.recorded()[folder.name])
        assert shipped.verified(folder) == folder


def test_a_whole_copy_is_loaded_and_its_card_may_change(copied):
    (copied / "README.md").write_text("Another card.")
    assert load("base", device="cpu").source == "offline"


def changed_weight(folder):
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (folder / "model.safetensors").write_bytes(weights)


def changed_configuration(folder):
    config = json.loads((folder / "config.json").read_text()) | {"initializer_range": 0.5}
    (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (changed_weight, r"model\.safetensors with SHA-256"),
        (changed_configuration, r"config\.json with SHA-256"),
        (lambda folder: (folder / "tokenizer.json").unlink(), r"the file tokenizer\.json.*none"),
        (lambda folder: (folder / "model.safetensors").unlink(), r"the file model\.safetensors.*none"),
        (shutil.rmtree, r"the file config\.json.*none"),
        (lambda folder: (folder / "generation_config.json").write_text("{}"), r"generation_config\.json"),
    ],
)
def test_what_is_not_as_recorded_is_refused_before_it_is_read(change, said, copied, monkeypatch):
    change(copied)
    monkeypatch.setattr("lib.models.folder.read_folder", lambda *_: pytest.fail("read before it was verified"))
    with pytest.raises(Tampered, match=said):
        load("base", device="cpu")


def test_a_model_without_record_is_refused(copied):
    copied.rename(copied.with_name("unknown"))
    with pytest.raises(Tampered, match="files of unknown whose SHA-256 is recorded"):
        load("unknown", device="cpu")

"""The seed study: rows that outlive their models, settings that must agree, numbers worked by hand."""

import json
import re
import shutil

import numpy as np
import pytest
import torch

from lib.models import seed_study
from lib.models.char_gpt import study
from lib.models.char_gpt.settings import Settings
from lib.models.char_gpt.study import Study, compare, loss_at, loss_without_future, markdown, paired_interval
from lib.models.char_gpt.training import build
from lib.models.seed_study import main

TEXT = "To be, or not to be: that is the question.\nWhether 'tis nobler in the mind to suffer\n" * 30
SIZES = {"width": 16, "layers": 1, "heads": 2, "context": 32, "batch": 4, "warmup": 2}


@pytest.fixture
def trained(monkeypatch):
    """Names of the folders that are trained from now on; models are of one layer."""
    names, real = [], study.train

    def counting(settings, text, folder, **more):
        names.append(folder.name)
        return real(settings, text, folder, **more)

    monkeypatch.setattr(study, "train", counting)
    monkeypatch.setattr(seed_study, "Settings", lambda **given: Settings(**SIZES | given))
    return names


@pytest.fixture
def command(tmp_path):
    (tmp_path / "text.txt").write_text(TEXT)
    given = ["--out", str(tmp_path / "study"), "--text", str(tmp_path / "text.txt"), "--windows", "4", "--width", "16"]
    return lambda *more: main([*given, *more])


def test_a_row_outlives_its_model_and_is_not_trained_again(trained, command, tmp_path):
    place = tmp_path / "study"
    command("--steps", "3", "--seeds", "1")
    assert trained == ["base-1", "ega1-1", "ega1-window-1"]
    first = json.loads((place / "seed-study.json").read_text())
    for name in trained:
        shutil.rmtree(place / name)
    command("--steps", "3", "--seeds", "1", "2")
    assert trained[3:] == ["base-2", "ega1-2", "ega1-window-2"]
    both = json.loads((place / "seed-study.json").read_text())
    assert both["runs"][:3] == first["runs"]
    assert {row["seeds"] for row in both["comparison"]} == {2}

    for name in trained[3:]:
        shutil.rmtree(place / name)
    (place / "seed-study.md").unlink()
    (tmp_path / "text.txt").unlink()  # a report of rows alone reads no text
    before = (place / "seed-study.json").read_text()
    command("--report")
    assert (place / "seed-study.json").read_text() == before
    assert len(trained) == 6


@pytest.fixture
def refused(command, capsys):
    """A command that ends with status 1, and the words in which it says why."""

    def run(*more):
        with pytest.raises(SystemExit, match="1"):
            command(*more)
        return capsys.readouterr().err

    return run


def test_other_settings_are_refused_and_named(trained, command, refused, tmp_path):
    command("--steps", "3", "--seeds", "1")
    assert re.search(r"'steps': 4.*'steps': 3", refused("--steps", "4", "--seeds", "1"))
    shutil.rmtree(tmp_path / "study" / "base-1")
    assert re.search(r"row of base-1 .*'steps': 4.*'steps': 3", refused("--steps", "4", "--seeds", "1"))
    assert re.search(r"'windows': 8.*'windows': 4", refused("--steps", "3", "--seeds", "1", "--windows", "8"))
    (tmp_path / "text.txt").write_text(TEXT + "More.")
    assert "text_sha256" in refused("--steps", "3", "--seeds", "1")
    assert len(trained) == 3


def test_runs_of_the_earlier_command_are_measured_without_training(trained, command, tmp_path):
    command("--steps", "3", "--seeds", "1")
    place = tmp_path / "study" / "seed-study.json"
    rows = json.loads(place.read_text())["runs"]
    bare = [{k: v for k, v in row.items() if k not in ("settings", "text_sha256", "windows")} for row in rows]
    place.write_text(json.dumps({"runs": bare, "comparison": []}))
    command("--steps", "3", "--seeds", "1")
    assert json.loads(place.read_text())["runs"] == rows
    place.unlink()
    command("--report")
    assert sorted(json.loads(place.read_text())["runs"], key=str) == sorted(rows, key=str)
    assert len(trained) == 3


def test_a_report_refuses_a_mixture(trained, command, refused, tmp_path):
    command("--steps", "3", "--seeds", "1")
    rows = Study(tmp_path / "study")
    other = rows.rows["base", 1]
    rows.keep(other | {"seed": 2, "settings": other["settings"] | {"seed": 2, "width": 99}})
    assert re.search(r"base-2.*'width': 16.*'width': 99", refused("--report"))


def test_paired_differences_worked_by_hand():
    mean, low, high = paired_interval(np.array([-0.1, -0.2, -0.3]))
    assert mean == pytest.approx(-0.2)
    assert high - mean == pytest.approx(4.3027 * 0.1 / np.sqrt(3), rel=1e-4)
    assert low == pytest.approx(2 * mean - high)
    rows = [
        {"variant": variant, "seed": seed, "validation": loss, "with_future": loss, "without_future": loss}
        for variant, losses in (("base", (1.0, 2.0)), ("ega1", (0.9, 1.9)))
        for seed, loss in enumerate(losses)
    ]
    gated = [row for row in compare(rows) if row["variant"] == "ega1"]
    assert len(gated) == 3
    assert all(row["difference"] == pytest.approx(-0.1) and row["high"] == pytest.approx(-0.1) for row in gated)


def test_the_table_tells_one_seed_from_an_interval():
    def rows(seeds):
        return [
            {"variant": variant, "seed": seed, "validation": loss, "with_future": loss, "without_future": loss}
            for variant, loss in (("base", 1.5), ("ega1", 1.4))
            for seed in range(seeds)
        ]

    one, three = (markdown(compare(rows(seeds))).splitlines() for seeds in (1, 3))
    assert one[0] == "| loss, nats per character | base | ega1 |" and len(one) == 7
    assert one[2] == "| validation, as usual | 1.500 | 1.400 (−0.100, one seed: no interval) |"
    assert three[2] == "| validation, as usual | 1.500 | 1.400 (−0.100, −0.100 … −0.100) |"
    assert "base 3, ega1 3" in three[-1]


@pytest.mark.parametrize("variant", ["base", "ega1", "ega1-window"])
def test_closing_the_window_changes_the_loss_of_window_statistics_alone(variant):
    model, _ = build(Settings(variant=variant, **SIZES), 30)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(5)
    windows = np.random.default_rng(0).integers(0, 29, size=(32, 33))
    closed, opened = (measure(model, windows, range(4, 33, 4)) for measure in (loss_without_future, loss_at))
    if variant == "ega1-window":
        assert abs(closed - opened) > 1e-3
    else:
        assert closed == pytest.approx(opened, abs=1e-4)

"""Filling the store: everything once, going on where it stopped, from the command line."""

import numpy as np
import pytest

from lib import precompute
from lib.capture import Store
from lib.embeddings import MapSettings, load_tile


def test_a_stopped_run_goes_on_where_it_was(minilm, articles, tmp_path):
    store, settings, two = Store(tmp_path), MapSettings(most=30), articles[:2]

    def stop(done, total, stage):
        if done == 5 and "heads" in stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        precompute.fill(minilm, two, settings, store, progress=stop)
    done = precompute.fill(minilm, two, settings, store)
    assert (done.found, done.made) == (5, 67)
    again = precompute.fill(minilm, two, settings, store)
    assert (again.found, again.made) == (72, 0)
    tile = load_tile(store, done.capture_hash, settings, 5, 11)
    assert tile.projection.xy.shape == (60, 2)
    assert np.isfinite(tile.projection.xy).all()


def test_the_command_says_what_it_did(minilm, tmp_path, capsys):
    command = [minilm.name, "conversation", "pca", "--length", "12", "--store", str(tmp_path), "--jobs", "1"]
    precompute.main(command)
    assert "72 maps made, 0 there already" in capsys.readouterr().out
    precompute.main([*command, "--device", "cpu"])
    assert "0 maps made, 72 there already" in capsys.readouterr().out


def test_an_unknown_projection_is_refused_before_a_model_is_loaded(capsys):
    with pytest.raises(SystemExit):
        precompute.main(["all-MiniLM-L6-v2", "encyclopedia", "mds"])
    assert "invalid choice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["encyclopedia", "pca", "--scale", "large"], "variance, norm, search or a number, not 'large'"),
        (["nonsense", "pca"], "the name of a built-in corpus"),
        (["encyclopedia", "pca", "--scale", "-1"], "Expected"),
        (["encyclopedia", "pca", "--store", "{file}/store"], "{file}/store"),
    ],
)
def test_the_command_says_in_a_line_what_is_wrong(options, said, tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("A text.")
    with pytest.raises(SystemExit) as ended:
        precompute.main(["base", *(option.format(file=file) for option in options), "--device", "cpu"])
    told = capsys.readouterr().err
    assert ended.value.code and said.format(file=file) in told and "Traceback" not in told


def test_the_command_reads_a_text_file_as_the_app_does(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("Now is the winter of our discontent. " * 8)
    precompute.main(["base", str(tmp_path / "mine.txt"), "pca", "--store", str(tmp_path / "s"), "--device", "cpu"])
    assert "48 maps made" in capsys.readouterr().out

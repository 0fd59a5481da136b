"""Every command that reads something ends in one line and status 1 where that cannot be read, never in a traceback."""

import importlib

import pytest

COMMANDS = (
    ("lib.similarity.__main__", "all-MiniLM-L6-v2", "BAD"),
    ("lib.spectral.__main__", "all-MiniLM-L6-v2", "BAD"),
    ("lib.embeddings.__main__", "all-MiniLM-L6-v2", "BAD"),
    ("lib.report.__main__", "all-MiniLM-L6-v2", "BAD", "--out", "OUT"),
    ("lib.precompute", "all-MiniLM-L6-v2", "BAD", "pca", "--store", "OUT"),
    ("lib.segmentation.benchmark", "BAD", "--granularity", "sentence"),
    ("lib.segmentation.benchmark", "BAD", "--granularity", "topic"),
    ("lib.segmentation.calibrate", "BAD", "--folder", "OUT"),
    ("lib.models.sample_char_gpt", "--model", "BAD", "--out", "OUT"),
)
FILES = {
    "missing.conllu": None,
    "malformed.conllu": b"1\tone\n\n",
    "empty.conllu": b"",
    "binary.conllu": bytes(range(256)) * 8,
    "binary.jsonl": b"\xff\xfe\x00\x01{",
    "missing": None,
}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("given", COMMANDS, ids=lambda given: f"{given[0]} {given[-1]}")
def test_what_cannot_be_read_is_one_line(tmp_path, capsys, given, file):
    if FILES[file] is not None:
        (tmp_path / file).write_bytes(FILES[file])
    module, *arguments = given
    places = {"BAD": str(tmp_path / file), "OUT": str(tmp_path / "out")}
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(module).main([places.get(argument, argument) for argument in arguments])
    told = capsys.readouterr().err.strip().splitlines()
    assert ended.value.code == 1
    assert told[-1].startswith("Expected ") and "Traceback" not in "".join(told)


@pytest.mark.parametrize("module", ["lib.models.train_char_gpt", "lib.models.seed_study"])
@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_training_text_that_is_none_is_one_line(tmp_path, capsys, module, content):
    text = tmp_path / "text"
    if content:
        text.write_bytes(content)
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(module).main(["--out", str(tmp_path / "run"), "--text", str(text)])
    assert ended.value.code == 1
    assert "Expected a text file" in capsys.readouterr().err

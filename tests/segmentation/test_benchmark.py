"""Baselines, judging and the command, on small inputs."""

import numpy as np
import pytest

from lib.corpora import builtin
from lib.segmentation.baselines import available, fixed_length, punctuation, random_cuts
from lib.segmentation.benchmark import main, printed, table
from lib.segmentation.judging import Answer, failures_at, judged
from lib.segmentation.topic_baselines import c99, evenly, text_tiling, tf_idf, topic_methods, word_counts

TEXT = 'He left. "Why?" Mr. Oh asked. Nobody knew'


def test_the_rule_by_hand():
    assert [TEXT[:end] for end in punctuation(TEXT)] == [
        "He left.",
        'He left. "Why?"',
        'He left. "Why?" Mr.',
        TEXT[:29],
    ]


def test_every_sentence_baseline_returns_offsets_inside_the_text():
    for name, cut in available(1 / 5).items():
        for text in (TEXT, "", "word", "no marks at all here " * 10):
            ends = cut(text)
            assert all(0 < end < len(text) for end in ends), name
            assert (np.diff(ends) > 0).all(), name


def test_length_and_chance():
    assert fixed_length(2)("a b c d e").tolist() == [3, 7]
    text = "word " * 4000
    assert len(random_cuts(0.1)(text)) == pytest.approx(400, abs=80)
    assert random_cuts(0.1)(text).tolist() == random_cuts(0.1)(text).tolist()


def test_topic_baselines_find_two_plain_topics():
    sentences = ["the lake froze and the lake thawed", "ice on the lake", "fish under the ice of the lake"] * 3
    sentences += ["the printer jams with paper", "paper in the printer", "toner for the printer and paper"] * 3
    assert tf_idf(sentences, 2).tolist() == [9]
    assert c99(sentences, 2).tolist() == [9]
    assert 9 in c99(sentences, None)
    assert evenly(sentences, 3).tolist() == [6, 12]
    for name, cut in topic_methods().items():
        found = cut(sentences, None)
        assert all(0 < c < 18 for c in found), name


def test_text_tiling_finds_its_way_back_to_sentences():
    documents = builtin("topics")[:1]
    sentences = [documents[0].text[a:b] for a, b in documents[0].sentences]
    cuts = text_tiling(sentences, None)
    assert 0 < len(cuts) < len(sentences)


def test_words_are_counted_without_function_words():
    assert word_counts(["The boats and the boat", "a boat"]).tolist() == [[2], [1]]


def test_scores_are_pooled_over_documents_and_have_intervals():
    answers = [Answer(np.array([2, 4]), np.array([2]), 8), Answer(np.array([3]), np.array([3, 5, 6]), 8)]
    result = judged("c", "sentence", "as written", "m", answers, 0.5)
    assert float(result.precision.estimate) == pytest.approx(2 / 4)
    assert float(result.recall.estimate) == pytest.approx(2 / 3)
    assert float(result.f1.estimate) == pytest.approx(4 / 7)
    assert float(result.f1.low) <= 4 / 7 <= float(result.f1.high)
    row = table([result]).iloc[0]
    assert row["f1"] == pytest.approx(4 / 7)
    assert "0.571" in printed([result])


def test_surroundings_of_a_failure_are_whole_words():
    text = "The circumstances were unforeseeable. Nobody had foreseen the circumstances of it"
    (missed,) = failures_at("d", text, np.array([37]), np.array([1]), np.zeros(0, dtype=int))
    assert (missed.before, missed.after) == (text[:37], "Nobody had foreseen the circumstances")
    (missed,) = failures_at("d", "字" * 100, np.array([50]), np.array([1]), np.zeros(0, dtype=int))
    assert (missed.before, missed.after) == ("字" * 40, "字" * 40)


def test_failures_are_shown_in_their_surroundings():
    ends = np.array([2, 7, 8, 11])
    missed, false = failures_at("d", "He left. Why?", ends, np.array([3]), np.array([2]))
    assert (missed.kind, missed.before, missed.after) == ("missed", "He left.", "Why?")
    assert (false.kind, false.before) == ("false", "He left")


def test_the_command_prints_and_writes_a_table(engine, tmp_path, capsys):
    path = tmp_path / "table.csv"
    main(["topics", "--granularity", "topic", "--documents", "2", "--examples", "1", "--csv", str(path)])
    shown = capsys.readouterr().out
    assert "z + hidden change points" in shown
    assert "number of topics known" in shown
    assert path.read_text().startswith("corpus,granularity,condition,method")


def test_the_command_says_what_is_wrong(engine, tmp_path, capsys):
    empty = tmp_path / "one.txt"
    empty.write_text("One sentence only.")
    with pytest.raises(SystemExit) as ended:
        main([str(empty), "--granularity", "sentence"])
    assert ended.value.code == 1 and "at least one sentence boundary" in capsys.readouterr().err


def test_the_command_judges_what_a_source_has_and_nothing_else(engine, tmp_path, capsys):
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"sentences": ["It rained here.", "...", "We left early."]}\n{"sentences": ["?!", "…"]}\n')
    main([str(gold), "--conditions", "bare"])  # no topics; of the second document nothing is left
    shown = capsys.readouterr().out
    assert f"{gold}, lower-cased, all punctuation removed: 2 documents, 1 boundary, positions" in shown
    assert "topics" not in shown
    gold.write_text('{"sentences": ["One sentence only."]}')
    with pytest.raises(SystemExit):
        main([str(gold)])
    assert "at least one topic boundary" in capsys.readouterr().err


def refused(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert ended.value.code == 1
    told = capsys.readouterr()
    assert not told.out
    return told.err


def test_nothing_is_perfect_where_a_condition_leaves_no_boundary(engine, tmp_path, capsys):
    gold = tmp_path / "gold.txt"
    gold.write_text("...\n!!!\n")
    told = refused([gold, "--granularity", "sentence", "--conditions", "written", "bare"], capsys)
    assert f"at least one sentence boundary, lower-cased, all punctuation removed; got {str(gold)!r}" in told


@pytest.mark.parametrize("documents", [1, 2, 3])
def test_too_few_documents_to_cross_validate_are_told(engine, tmp_path, capsys, documents):
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"sentences": ["It rained here.", "We left early."]}\n' * documents)
    arguments = [gold, "--cross-validate", "--conditions", "written"]
    if documents < 3:
        assert f"boundaries in {documents} of the folds" in refused(arguments, capsys)
        return
    main([str(argument) for argument in arguments])
    assert "3 documents, 3 boundaries" in capsys.readouterr().out


def test_a_bad_source_or_folder_is_told_before_anything_is_judged(engine, tmp_path, capsys):
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"sentences": ["It rained here.", "We left early."]}\n')
    for granularity in ([], ["--granularity", "sentence"]):
        assert "none.txt" in refused([gold, tmp_path / "none.txt", *granularity], capsys)
    assert "Create it first." in refused([gold, "--csv", tmp_path / "none" / "table.csv"], capsys)
    assert "Add a file name." in refused([gold, "--csv", tmp_path], capsys)


def test_what_is_not_known_is_printed_as_a_dash():
    only = judged("c", "sentence", "as written", "m", [Answer(np.array([3]), np.array([3]), 9)])
    assert "nan" not in printed([only])
    assert "1.000 [– –]" in printed([only])


@pytest.mark.parametrize(
    ("name", "count", "least"),
    [
        ("documents", "0", 1),
        ("documents", "-3", 1),
        ("documents", "x", 1),
        ("examples", "-1", 0),
        ("examples", "2.5", 0),
    ],
)
def test_a_count_that_is_none_is_refused(name, count, least, capsys):
    with pytest.raises(SystemExit):
        main(["topics", f"--{name}", count])
    told = capsys.readouterr().err
    assert f"--{name}: expected a whole number of {least} or more; got {count}" in told


def test_one_document_is_told_as_one_and_what_is_named_twice_is_judged_once(engine, tmp_path, capsys):
    gold = tmp_path / "gold.txt"
    gold.write_text("It rained here.\nWe left early.\n")
    main([str(gold), str(gold), "--granularity", "sentence", "--conditions", "written", "written", "--examples", "0"])
    told = capsys.readouterr()
    assert "1 document, 1 boundary, positions" in told.out
    assert told.out.count("1 document,") == 1
    assert told.out.count("\npysbd") <= 1 and told.out.count("\nevery 15 words") == 1
    assert "¦" not in told.out
    assert "every 15 words, as written: " in told.err  # progress


def test_files_of_the_same_name_are_kept_apart(engine, tmp_path, capsys):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "gold.txt").write_text("It rained here.\nWe left early.\n")
    sources = [str(tmp_path / folder / "gold.txt") for folder in ("a", "b")]
    main([*sources, "--granularity", "sentence", "--conditions", "written"])
    shown = capsys.readouterr().out
    assert all(f"\n{source}, as written: 1 document" in shown for source in sources)

"""segment on a real model: what it returns, the worst it can be given, and that windows invent and lose nothing."""

import resource

import numpy as np
import pytest

from lib.corpora import builtin
from lib.models import load
from lib.segmentation import SegmentationError, averaged_signals, read_tokens, segment, segment_by_signal, under
from lib.segmentation.calibration import FOLDER, calibration_for
from lib.segmentation.metrics import boundary_scores
from lib.segmentation.positions import boundaries_of, candidate_gaps, gaps_at
from lib.segmentation.scoring import gap_scores

TALK = "so yeah we met at the station and then um it started raining we ran to the cafe it was closed of course"
calibrated = pytest.mark.skipif(
    not (FOLDER / "all-MiniLM-L6-v2-written.json").is_file(), reason="data/calibration has no all-MiniLM-L6-v2 yet"
)


@pytest.fixture(scope="module")
def article():
    return builtin("encyclopedia")[0]


@calibrated
def test_sentences_of_an_article_are_found(engine, article):
    cut = segment(article.text, engine)
    gold = boundaries_of(article.sentences)
    assert boundary_scores(gold, cut.boundaries).f1 > 0.9
    assert cut.boundaries.dtype == np.int64
    assert len(cut.confidence) == len(cut.boundaries) == len(cut.segments) - 1
    assert (cut.confidence >= 0.5).all()
    assert cut.score.shape == cut.gaps.shape == (len(read_tokens(article.text, engine)) - 1,)
    assert article.text[slice(*cut.segments[0])].endswith((".", "?"))


@calibrated
@pytest.mark.parametrize("condition", ["lowered-unstopped", "bare"])
def test_text_without_punctuation_is_cut_far_better_than_by_chance(engine, condition):
    documents = [under(document, condition) for document in builtin("encyclopedia")[:4]]
    matched = found = gold = 0
    for document in documents:
        cut = segment(document.text, engine)
        assert condition in ("bare", "lowered-unstopped") and "removed" in cut.notes[0]
        scores = boundary_scores(boundaries_of(document.sentences), cut.boundaries)
        matched, found, gold = matched + scores.matched, found + scores.hypothesis, gold + scores.reference
    assert 2 * matched / (found + gold) > 0.5  # one gap in twenty is a boundary


@calibrated
def test_a_known_number_of_sentences_is_kept(engine, article):
    for segments in (1, 2, 7):
        cut = segment(article.text, engine, segments=segments)
        assert len(cut.segments) == segments
    with pytest.raises(SegmentationError, match="segments of a text that can be cut at"):
        segment("one two", engine, segments=9)


@calibrated
def test_windows_that_lie_elsewhere_give_the_same_boundaries(engine):
    text = " ".join(document.text for document in builtin("encyclopedia")[:4])
    tokens = read_tokens(text, engine)
    reading = calibration_for(engine, "written").heads
    usual, other = (gap_scores(engine, tokens, reading.linear, stride=stride) for stride in (52, 41))
    assert np.corrcoef(usual, other)[0, 1] > 0.97
    allowed = candidate_gaps(text, tokens.start, tokens.end)
    first, second = (np.flatnonzero(allowed & (s >= reading.threshold)) + 1 for s in (usual, other))
    assert boundary_scores(first, second).f1 > 0.95


@calibrated
def test_scores_are_those_of_features_written_out(engine, article):
    from lib.segmentation.features import gather
    from lib.segmentation.ridge import linear_scores

    tokens = read_tokens(article.text[:200], engine)
    reading = calibration_for(engine, "written").heads.linear
    rows = gather(engine, [tokens])
    assert rows.values.shape[0] == len(tokens) < 62
    expected = linear_scores(reading, rows.values, rows.window)[:-1]
    assert gap_scores(engine, tokens, reading) == pytest.approx(expected, abs=0.05)  # features are kept in 16 bits


@pytest.mark.parametrize("granularity", ["sentence", "topic"])
def test_progress_is_told_before_anything_is_read_and_then_from_nought_to_all(engine, article, granularity):
    reports = []
    segment(article.text, engine, granularity, progress=lambda *report: reports.append(report))
    first, *reading = reports
    assert first[:2] == (0, 1)
    assert first[2].startswith("finding")
    done = [report[0] for report in reading]
    assert done == sorted(done)
    assert done[0] == 0
    assert reading[-1][0] == reading[-1][1] > 0


@pytest.mark.parametrize("text", ["", "   \n ", "word", "?!… -- ,,", "🦊", "🦊🦊 🙂 👩‍👩‍👧", "[SEP] [CLS]"])
@pytest.mark.parametrize("granularity", ["sentence", "topic"])
@pytest.mark.parametrize("surface", [True, False])
def test_texts_with_nothing_to_find(engine, text, granularity, surface):
    cut = segment(text, engine, granularity, surface=surface)
    assert "".join("".join(text[a:b].split()) for a, b in cut.segments) == "".join(text.split())
    assert len(cut.segments) <= 4
    assert np.isfinite(cut.score).all()


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
        "def f(x):\n    return x + 1\n\nprint(f(2))",
        "Seán 東京 한국어 💩 <script>alert(1)</script> " * 5,
        "a" * 5000,
        "\x00\x01 \u200b\u200d \ufeff text",
    ],
)
def test_tables_code_scripts_and_noise_are_cut_without_losing_a_character(engine, text):
    for granularity in ("sentence", "topic"):
        cut = segment(text, engine, granularity)
        assert "".join("".join(text[a:b].split()) for a, b in cut.segments) == "".join(text.split())
        assert (np.diff(cut.boundaries) > 0).all()


def test_another_language_is_told(engine):
    korean = builtin("encyclopedia-ko")[0].text
    assert any("does not look like English" in note for note in segment(korean, engine).notes)
    assert not any("English" in note for note in segment(builtin("encyclopedia")[0].text, engine).notes)


@pytest.mark.parametrize("text", ["今天天气很好。我们去公园。", "도시에 비가 내렸다.", "Дождь идёт."])
def test_another_script_is_told_also_of_a_short_text(engine, text):
    assert any("does not look like English" in note for note in segment(text, engine).notes)


@pytest.mark.parametrize("text", ["... !!! ???", "😀😀 🎉🎉", "—"])
@pytest.mark.parametrize("granularity", ["sentence", "topic"])
def test_a_text_without_words_is_told(engine, text, granularity):
    assert any("no words in this text" in note for note in segment(text, engine, granularity).notes)


@pytest.mark.parametrize("text", [None, 5, b"One. Two."])
def test_what_is_no_text_is_told(engine, text):
    with pytest.raises(SegmentationError, match=f"a text; got {type(text).__name__}"):
        segment(text, engine)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_outside_the_scores_is_told(engine, threshold):
    with pytest.raises(SegmentationError, match="a threshold of 0 … 1"):
        segment("One is here. Two is there.", engine).at(threshold)


def test_topics_of_a_mosaic_are_found_and_named(engine):
    document = builtin("topics")[0]
    cut = segment(document.text, engine, "topic", sentences=document.sentences)
    gold = boundaries_of(document.topics)
    assert boundary_scores(gold, cut.boundaries).f1 > 0.6
    assert len(cut.names) == len(cut.segments)
    known = segment(document.text, engine, "topic", segments=len(document.topics), sentences=document.sentences)
    assert len(known.segments) == len(document.topics)
    assert ((cut.score >= 0) & (cut.score <= 1)).all()


def test_the_papers_method_is_one_choice(engine, article):
    cut = segment_by_signal(article.text, engine, segments=5)
    assert len(cut.segments) == 5
    assert cut.method == "to_last of L5, mean over heads, untrained"
    signals = averaged_signals(engine, read_tokens(article.text, engine))
    strongest = np.sort(np.argsort(-np.where(cut.score > 0, signals.of("to_last")[5].mean(axis=0), -np.inf))[:4])
    assert gaps_at(cut.boundaries, [*cut.gaps.tolist(), len(article.text)]).tolist() == strongest.tolist()
    with pytest.raises(SegmentationError, match="layer 9"):
        segment_by_signal(article.text, engine, layer=9)


def test_a_decoder_works_and_says_which_signals_it_lacks(decoder):
    cut = segment(TALK, decoder)
    assert any("No calibration for small decoder" in note for note in cut.notes)
    untrained = segment(TALK, decoder, surface=False)
    assert "untrained" in untrained.method
    assert len(segment(TALK, decoder, "topic").segments) >= 1
    with pytest.raises(SegmentationError, match="looks back only"):
        segment_by_signal(TALK, decoder, "to_last")
    assert len(segment_by_signal(TALK, decoder, "back_near", segments=3).segments) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"granularity": "word"}, "'word'"),
        ({"segments": 0}, "at least one segment"),
        ({"segments": "3"}, "whole number of segments"),
        ({"segments": 2.5}, "whole number of segments"),
        ({"condition": ["bare"]}, "a condition among"),
        ({"granularity": "topic", "sentences": 5}, "pairs of whole numbers"),
        ({"granularity": "topic", "sentences": ["a"]}, "pairs of whole numbers"),
        ({"granularity": "topic", "sentences": [(0.5, 3)]}, "pairs of whole numbers"),
        ({"granularity": "topic", "features": "words"}, "'words'"),
        ({"granularity": "topic", "segments": 50}, "1 … 2 topics"),
        ({"granularity": "topic", "sentences": [(0, 900)]}, "inside a text of 26 characters"),
        ({"granularity": "topic", "sentences": [(0, 9), (3, 12)]}, "ascending, disjoint"),
        ({"granularity": "topic", "sentences": [(0, 9), (12, 12)]}, "non-empty"),
    ],
)
def test_arguments_that_do_not_fit_are_told(engine, arguments, message):
    with pytest.raises(SegmentationError, match=message):
        segment("One is here. Two is there.", engine, **arguments)


def test_topics_need_a_model():
    with pytest.raises(SegmentationError, match="a model that reads"):
        segment("One. Two.", None, "topic")


@calibrated
def test_memory_does_not_grow_with_a_long_text(engine):
    """2,000 and 8,000 words: the peak may grow by what offsets and scores take, not by features."""
    words = (" ".join(document.text for document in builtin("encyclopedia"))).split()
    reports = []
    segment(" ".join(words[:2000]), engine, surface=False)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    segment(" ".join(words[:8000]), engine, surface=False, progress=lambda *report: reports.append(report))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert reports and reports[-1][0] == reports[-1][1]
    assert [r[0] for r in reports] == sorted(r[0] for r in reports)
    assert grown < 60_000  # kilobytes; the features of 6,000 words in float32 would be 110,000


def test_progress_may_cancel(engine):
    def stop(done, total, stage):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        segment(TALK, engine, surface=False, progress=stop)


def test_halves_of_characters_are_read_as_unknown_ones(engine):
    text = "We left \ud800 early. It rained \udc00 all day."
    for cut in (segment(text, engine), segment(text, engine, "topic"), segment_by_signal(text, engine)):
        assert cut.text == text.replace("\ud800", "\ufffd").replace("\udc00", "\ufffd")
    assert np.array_equal(segment(text, engine).score, segment(cut.text, engine).score)


def test_a_model_of_characters_cuts_between_words(article):
    """Its white space is a token of its own: gaps lie where they do for words, and every way but [SEP] works."""
    characters = load("base", device="cpu")
    text = article.text[:600].strip()
    ends = {i for i in range(1, len(text)) if text[i].isspace() and not text[i - 1].isspace()}
    ways = [
        segment(text, characters),
        segment(text, characters, surface=False),
        segment_by_signal(text, characters, "back_near", layer=-1),
    ]
    for cut in ways:
        assert set(cut.gaps[cut.score > 0].tolist()) == ends
        assert 0 < len(cut.boundaries) < len(ends) and set(cut.boundaries.tolist()) <= ends
        assert (cut.confidence >= 0.5).all()
    assert np.array_equal(ways[0].boundaries, segment(text, None).boundaries)  # surface cues see the same words
    assert any("No calibration for base" in note for note in ways[0].notes)


@calibrated
def test_confidence_is_that_of_the_place_where_tokens_share_a_character(engine):
    """Korean syllables are several tokens, which all end at one offset."""
    cut = segment(builtin("encyclopedia-ko")[0].text, engine)
    assert (np.diff(cut.gaps) > 0).all()
    assert (cut.confidence >= 0.5).all() and len(cut.boundaries) > 5


def test_nothing_to_cut_is_told(engine):
    assert "no two words" in segment("word", engine).notes[0]

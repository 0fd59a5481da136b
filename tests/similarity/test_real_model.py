"""What the default model says; the shapes are those of independent computations, not tuned here."""

import dataclasses

import numpy as np
import pytest

from lib.capture import pattern
from lib.corpora import Document
from lib.models import untrained_twin
from lib.similarity import (
    anchors,
    column_mass,
    evidence,
    halevi,
    layer_trend,
    layers_to_freeze,
    mass_by_layer,
    measure,
    similarity_matrix,
)
from lib.similarity.units import token_classes
from lib.verdicts import MARKS, table

pytestmark = pytest.mark.slow


def test_distance_dips_in_the_middle_layers(minilm_measured):
    trend = layer_trend(minilm_measured)
    lift = trend[trend["statistic"] == "distance"]["lift"].to_numpy()
    assert (lift < 1).all()
    assert lift.argmin() in (2, 3)
    assert lift[0] > 0.75
    assert lift[5] > 0.75
    sentence = trend[trend["statistic"] == "same_sentence"]["lift_low"]
    assert (sentence > 1).all()


def test_similarity_is_of_attention_times_values(minilm, encyclopedia, minilm_capture):
    from lib.capture import capture

    value = capture(minilm, encyclopedia[:1], keep=("value",)).value  # (layer, head, token, d_head)
    weights = pattern(minilm, encyclopedia[0])
    for layer, head in ((0, 0), (3, 7), (5, 11)):
        z = weights[layer, head] @ value[layer, head]
        own = similarity_matrix(minilm_capture.of(0).z[layer, head])
        np.testing.assert_allclose(similarity_matrix(z), own, atol=1e-4 * np.abs(own).max())


def test_whole_words_and_special_tokens_are_switches(minilm_capture, minilm_measured):
    words = measure(minilm_capture, words=True)
    assert sum(d.units for d in words.documents) < sum(d.units for d in minilm_measured.documents)
    assert words.unit == "words"
    kept = measure(minilm_capture, special=True)
    assert sum(d.units for d in kept.documents) == len(minilm_capture.tokens)
    assert {"[CLS]", "[SEP]"} <= set(kept.names)
    assert not {"[CLS]", "[SEP]"} & set(minilm_measured.names)


def test_full_stops_are_anchors_of_the_first_layer(minilm_measured):
    found = anchors(minilm_measured)
    assert found[(found["layer"] == 0) & (found["head"] == 9)]["token"].item() == "."
    assert (found["lift"] >= 1).all()


def test_column_mass_is_the_mean_of_the_pattern(minilm, encyclopedia):
    found = column_mass(minilm, encyclopedia[:2])
    assert found.mass.shape == (2, 6, 12, 4)
    np.testing.assert_allclose(found.mass.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(found.chance.sum(axis=-1), 1, atol=1e-6)
    weights = pattern(minilm, encyclopedia[1])
    from lib.corpora import encode

    classes = token_classes(encode(encyclopedia[1], minilm).table)
    expected = weights[:, :, 1:-1][..., classes == 2].sum(axis=-1).mean(axis=-1)  # rows of [CLS] and [SEP] left out
    np.testing.assert_allclose(found.mass[1, :, :, 2], expected, atol=1e-6)
    np.testing.assert_allclose(found.chance[1, 0, 0, 2], 1 / len(classes))
    frame = mass_by_layer(found)
    assert list(frame["on"].unique()) == ["other", "[CLS]", "[SEP]", "'.'"]
    assert frame[frame["on"] == "[SEP]"]["mass"].max() < 0.02  # separators do not attract this model


def test_a_checkpoint_has_frozen_nothing_but_itself(minilm, minilm_capture, encyclopedia):
    assert layers_to_freeze(minilm_capture, minilm_capture, draws=50).frozen == (0, 1, 2, 3, 4, 5)
    from lib.capture import capture

    other = capture(untrained_twin(minilm), encyclopedia, keep=("z",))
    assert layers_to_freeze(minilm_capture, other, draws=50).frozen == ()


@pytest.fixture(scope="module")
def verdicts(minilm, encyclopedia):
    trained = evidence(minilm, encyclopedia)
    return trained, halevi(trained, evidence(untrained_twin(minilm), encyclopedia), "twelve articles")


def test_the_five_claims_are_decided(verdicts):
    _, found = verdicts
    assert [v.paper for v in found] == ["H"] * 5
    assert all(v.mark in MARKS and v.documents == 12 for v in found)
    assert all(v.interval[0] <= v.number <= v.interval[1] for v in found)
    separators, specialise, _, thirty, _ = found
    assert separators.mark != "reproduced"
    assert [part.mark for part in separators.parts if "[CLS]" in part.quantity] == ["reproduced"]
    assert all(part.interval[0] > part.null["chance"] for part in specialise.parts)
    assert len({part.quantity.rsplit(", ", 1)[1] for part in specialise.parts}) == 3  # three different heads
    assert thirty.mark != "reproduced"
    assert table(found)["model"].eq("all-MiniLM-L6-v2").all()


def test_without_a_twin_its_claims_stay_open(verdicts):
    trained, _ = verdicts
    found = halevi(trained, None, "twelve articles")
    assert [found[i].mark for i in (0, 1, 4)] == ["undecided"] * 3
    assert "untrained twin" in found[4].reason


@pytest.mark.parametrize(
    ("sentences", "reason"),
    [(None, "One document has no halves"), (1, "a token that occurs 5 times, in one document")],
)
def test_one_document_leaves_every_claim_undecided(minilm, encyclopedia, sentences, reason):
    document = encyclopedia[0]
    if sentences:
        document = Document("short", document.text[: document.sentences[sentences - 1][1]])
    found = halevi(evidence(minilm, [document]), None, "one text")
    assert {one.mark for one in found} == {"undecided"}
    assert reason in found[4].note


def test_a_model_that_were_its_own_twin_would_prove_nothing(verdicts):
    trained, _ = verdicts
    found = halevi(trained, trained, "twelve articles")
    assert "reproduced" not in {found[i].mark for i in (0, 1, 4)}


def test_a_model_built_to_the_claim_is_marked_reproduced(verdicts):
    trained, _ = verdicts
    mass = trained.mass.mass.copy()
    mass[:, -2:, :, 2] = 0.6
    falling = {**trained.dot.values, "distance": trained.dot.values["distance"].copy()}
    falling["distance"][:] = trained.dot.chance["distance"] * np.linspace(1, 0.7, 6)[:, None]
    made = dataclasses.replace(
        trained,
        mass=dataclasses.replace(trained.mass, mass=mass),
        dot=dataclasses.replace(trained.dot, values=falling),
    )
    found = halevi(made, trained, "planted")
    assert found[0].mark == "reproduced"
    assert found[3].mark == "reproduced"
    assert found[2].parts[0].mark == "reproduced"


def test_the_command_writes_every_verdict_with_its_numbers(minilm, tmp_path, monkeypatch, capsys):
    from lib.claims import CLAIMS
    from lib.similarity import __main__ as command

    words = [
        "the",
        "cat",
        "saw",
        "a",
        "dog",
        ".",
        "the",
        "dog",
        "saw",
        "the",
        "cat",
        ".",
        "a",
        "cat",
        "and",
        "a",
        "dog",
        "slept",
        ".",
    ]
    row = "{}\t{}\t_\tNOUN\t_\t_\t_\t_\t_\t_"
    lines = []
    for document in range(6):
        lines.append(f"# newdoc id = d{document}")
        for sentence in range(3):
            own = words[sentence * 6 : sentence * 6 + 6 + document % 2]
            lines += [f"# sent_id = {document}-{sentence}", f"# text = {' '.join(own)}"]
            lines += [row.format(place + 1, word) for place, word in enumerate(own)] + [""]
    path = tmp_path / "small.conllu"
    path.write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["similarity", minilm.name, str(path)])
    command.main()
    said = capsys.readouterr().out
    for claim in CLAIMS:
        assert (claim.claim in said) == (claim.paper == "H")
    assert "untrained twin" in said
    assert "column mass on [SEP] ÷ chance, layers L4, L5: " in said

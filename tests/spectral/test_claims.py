import json

import numpy as np
import pytest

from lib.claims import CLAIMS
from lib.errors import HeadlightError
from lib.models.char_gpt.study import shipped_comparison
from lib.spectral import Field, HeadGrams, Pruned, compare_centroids, evidence, lag_profile, paper_rows, zeris
from tests.spectral.synthetic import noise_field, planted

KEYS = [claim.claim for claim in CLAIMS if claim.paper == "P"]


def wave(period, seed, documents=24, length=128):
    return planted(
        lambda lag, phase: np.cos(2 * np.pi * lag / period + phase),
        documents=documents, length=length, noise=0.4, phases=True, seed=seed,
    )  # fmt: skip


def grams(needed, documents=24, heads=8):
    """Layers in which so many heads are different and the others are copies."""
    rng = np.random.default_rng(0)
    layers = []
    for distinct in needed:
        flat = rng.standard_normal((documents, distinct, 400))[:, np.arange(heads) % distinct]
        layers.append(flat @ flat.transpose(0, 2, 1))
    return HeadGrams(tuple(range(len(needed))), np.array(layers), np.array(layers))


@pytest.fixture(scope="module")
def found():
    """Three layers: fine oscillations, then noise, then coarse ones; fewer heads needed with depth."""
    middle = Field(np.tril(np.random.default_rng(3).standard_normal((24, 128, 128))))
    fields = [wave(5, 0), middle, wave(24, 1)]
    return evidence(fields, grams([6, 4, 2]), "made up")


def by_claim(verdicts, words):
    return next(verdict for verdict in verdicts if words in verdict.claim)


def test_every_claim_of_the_paper_gets_a_verdict_in_the_order_of_the_table(found):
    assert [verdict.claim for verdict in zeris(found, "made up")] == KEYS


def test_scales_that_grow_with_depth_reproduce_the_claim_and_the_reverse_contradicts_it(found):
    verdict = by_claim(zeris(found, "x"), "scales ≤ 7")
    assert verdict.mark == "reproduced" and "L0" in verdict.note
    turned = evidence([wave(24, 1), wave(12, 2), wave(5, 0)], None, "made up")
    assert by_claim(zeris(turned, "x"), "scales ≤ 7").mark == "contradicted"


def test_short_windows_leave_the_scales_undecided_and_say_what_they_need():
    short = evidence([noise_field(8, 48), noise_field(8, 48, seed=1)])
    verdict = by_claim(zeris(short, "x"), "scales ≤ 7")
    assert verdict.mark == "undecided" and "114 tokens" in verdict.note


def test_both_readings_of_t_spec_stand_side_by_side_with_opposite_sides(found):
    verdict = by_claim(zeris(found, "x"), "T_spec")
    large, small, *ranks = verdict.parts
    assert "used here" in large.quantity and "other reading" in small.quantity
    assert large.number == small.number == verdict.number
    assert {large.mark, small.mark} != {"reproduced"}
    assert len(ranks) == 2 and "both ways" in verdict.note


def test_a_hundred_and_fifty_modes_of_as_many_windows_are_impossible(found):
    verdict = by_claim(zeris(found, "x"), "150 modes")
    assert verdict.mark == "contradicted" and "mpossible" in verdict.reason
    assert "24 windows" in verdict.quantity
    late = by_claim(zeris(found, "x"), "about 91")
    assert late.mark == "undecided" and "take as many" in late.note


def test_fewer_heads_late_need_their_check_to_reproduce(found):
    verdict = by_claim(zeris(found, "x"), "eight heads")
    assert [part.mark for part in verdict.parts] == ["reproduced", "undecided"]
    good = Pruned(0.01, 0.0, 0.02, (0.3, 0.5), 10, 0.05, "nats")
    assert by_claim(zeris(found, "x", good), "eight heads").mark == "reproduced"
    costly = Pruned(0.2, 0.15, 0.25, (0.3, 0.5), 10, 0.05, "nats")
    assert by_claim(zeris(found, "x", costly), "eight heads").mark == "undecided"
    harmful = Pruned(0.9, 0.8, 1.0, (0.3, 0.5), 10, 0.05, "nats")
    assert by_claim(zeris(found, "x", harmful), "eight heads").mark == "contradicted"


def study(folder, **losses):
    """The comparison of a made-up seed study on disk; losses: variant -> validation loss by seed."""
    rows = [
        {
            "variant": name.replace("_", "-"),
            "seed": seed,
            "validation": loss,
            "with_future": loss,
            "without_future": 2.0,
        }
        for name, by_seed in losses.items()
        for seed, loss in enumerate(by_seed)
    ]
    (folder / "seed-study.json").write_text(json.dumps({"runs": rows}), "utf-8")
    return shipped_comparison(folder)


def test_three_seeds_decide_the_gain_by_a_paired_interval(found, tmp_path):
    base = (1.50, 1.60, 1.55)  # seeds differ more than the gain: only pairing by seed shows it
    gain = study(tmp_path, base=base, ega1=(1.40, 1.51, 1.45), ega1_window=(1.44, 1.545, 1.49))
    verdict = by_claim(zeris(found, "x", None, gain), "0.103")
    assert verdict.mark == "reproduced" and len(verdict.parts) == 2
    part = verdict.parts[0]
    assert part.number == pytest.approx(-0.29 / 3)
    assert part.interval == pytest.approx((-0.29 / 3 - 4.3027 / 300, -0.29 / 3 + 4.3027 / 300), rel=1e-4)
    assert (part.documents, part.unit) == (3, "training seeds")
    assert "0.000 [+0.000, +0.000]" in part.note  # the same with the leak closed
    turned = study(tmp_path, base=base, ega1=(1.49, 1.62, 1.54), ega1_window=(1.40, 1.51, 1.45))
    verdict = by_claim(zeris(found, "x", None, turned), "0.103")
    assert [part.mark for part in verdict.parts] == ["undecided", "reproduced"] and verdict.mark == "undecided"
    worse = study(tmp_path, base=base, ega1=(1.60, 1.71, 1.65), ega1_window=(1.40, 1.51, 1.45))
    assert by_claim(zeris(found, "x", None, worse), "0.103").mark == "contradicted"


def test_one_seed_is_no_interval_and_a_seed_without_its_base_does_not_count(found, tmp_path):
    gain = study(tmp_path, base=(1.5,), ega1=(1.4, 1.3, 1.2))
    verdict = by_claim(zeris(found, "x", None, gain), "0.103")
    assert verdict.mark == "undecided" and verdict.documents == 1
    assert "One training seed: no interval." in verdict.reason and "At least 3 training seeds" in verdict.note
    two = by_claim(zeris(found, "x", None, study(tmp_path, base=(1.5, 1.6), ega1=(1.4, 1.5))), "0.103")
    assert two.mark == "undecided" and "2 training seeds are too few" in two.reason
    assert by_claim(zeris(found, "x", None, study(tmp_path)), "0.103").reason == "The number is not defined here."


def test_the_shipped_study_decides_where_no_other_is_given(found):
    given, own = (by_claim(zeris(found, "x", None, gain), "0.103") for gain in (shipped_comparison(), None))
    assert (given.mark, given.number, given.documents) == (own.mark, own.number, own.documents)
    assert own.documents >= 1


def test_windows_separate_bands_and_pod_is_optimal_by_theorem(found):
    verdicts = zeris(found, "x")
    assert by_claim(verdicts, "blurs").mark == "reproduced"
    optimal = by_claim(verdicts, "optimal")
    assert optimal.mark == "reproduced" and "Theorem, not evidence" in optimal.reason


def test_the_papers_layers_are_mapped_by_depth():
    assert [paper_rows([paper], 6)[0] for paper in range(1, 7)] == [0, 1, 2, 3, 4, 5]
    assert paper_rows((1, 2), 12) == [0, 2] and paper_rows((5, 6), 12) == [9, 11]
    assert paper_rows((1, 2), 1) == [0]


def test_two_windows_are_too_few():
    with pytest.raises(HeadlightError, match="at least 3"):
        evidence([noise_field(2, 48)])


def test_centroids_of_two_profiles_differ_by_what_was_planted():
    near = planted(lambda lag, _: np.exp(-0.5 * ((lag - 5) / 2) ** 2), noise=0.01)
    far = planted(lambda lag, _: np.exp(-0.5 * ((lag - 20) / 2) ** 2), noise=0.01)
    difference = compare_centroids(lag_profile(near), lag_profile(far))
    assert 14 < difference.low <= difference.estimate <= difference.high < 16
    same = compare_centroids(lag_profile(near), lag_profile(near))
    assert same.estimate == same.low == same.high == 0
    with pytest.raises(HeadlightError, match="same windows"):
        compare_centroids(lag_profile(near), lag_profile(noise_field(5, 64)))


def test_windows_that_do_not_differ_leave_the_claims_undefined_and_say_so():
    still = Field(np.repeat(noise_field(1, 48).pattern, 6, axis=0))
    verdicts = zeris(evidence([still, still, still], grams([6, 4, 2], documents=6)), "x")
    assert [verdict.claim for verdict in verdicts] == KEYS
    assert {verdict.mark for verdict in verdicts if "150 modes" not in verdict.claim} == {"undecided"}
    for words in ("scales ≤ 7", "Leading modes", "T_spec", "about 91", "eight heads", "blurs", "optimal"):
        verdict = by_claim(verdicts, words)
        assert np.isnan(verdict.number), words
        assert verdict.reason == "No fluctuation: the windows do not differ in L0, L1, L2.", words
        assert "nan" not in verdict.note, words


def test_one_layer_without_fluctuation_leaves_the_others_defined():
    still = Field(np.repeat(noise_field(1, 48).pattern, 24, axis=0))
    verdicts = zeris(evidence([still, noise_field(24, 48), noise_field(24, 48, seed=1)]), "x")
    assert "do not differ in L0." in by_claim(verdicts, "T_spec").reason
    assert np.isfinite(by_claim(verdicts, "about 91").number) and np.isfinite(by_claim(verdicts, "optimal").number)

import numpy as np
import pytest

from lib.heads import scores
from lib.heads.scores import WrongPattern, chance_rows, row_scores, scores_of
from tests.heads.planted import CLS, COMMA, PERIOD, SEP, grid_scene, onto, random_pattern, text_scene

IDS = [CLS, 5, 6, PERIOD, 7, 5, COMMA, 6, 5, 5, PERIOD, SEP]
SENTENCE = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]


def named(values, scene):
    return dict(zip([score.name for score in scores_of(scene)], values, strict=True))


def by_hand(weights, scene, name, i):
    """One score of one row of one head by plain loops; None where no key of the row counts."""
    ids, special = scene.keys.token_id, scene.keys.is_special
    keys = [j for j in range(len(ids)) if scene.allowed[i, j]]
    counts = {
        "previous_token": lambda j: j == i - 1,
        "next_token": lambda j: j == i + 1,
        "self": lambda j: j == i,
        "first_token": lambda j: j == 0,
        "cls": lambda j: ids[j] == CLS,
        "sep": lambda j: ids[j] == SEP,
        "bos": lambda j: False,
        "eos": lambda j: False,
        "special": lambda j: special[j],
        "period": lambda j: ids[j] == PERIOD,
        "comma": lambda j: ids[j] == COMMA,
        "semicolon": lambda j: False,
        "duplicate_token": lambda j: j != i and ids[j] == ids[i] and not special[j],
        "induction": lambda j: j != i and 0 < j <= i and ids[j - 1] == ids[i] and not (special[j] or special[j - 1]),
        "induction_before": lambda j: j + 1 < i and ids[j + 1] == ids[i] and not (special[j] or special[i]),
        "same_sentence": lambda j: not (special[i] or special[j]) and SENTENCE[i] == SENTENCE[j],
    }  # fmt: skip
    total = sum(weights[i, j] for j in keys)
    if not total > 0:
        return None
    share = {j: weights[i, j] / (1 if scene.special else total) for j in keys}
    if name in counts:
        hits = [j for j in keys if counts[name](j)]
        return sum(share[j] for j in hits) if hits else None
    probability = np.array([share[j] for j in keys]) / sum(share.values())
    if name == "mean_lag":
        return float(probability @ [abs(i - j) for j in keys])
    entropy = -sum(p * np.log(p) for p in probability if p > 0)
    if name == "entropy":
        return entropy
    if name == "entropy_share":
        return entropy / np.log(len(keys)) if len(keys) > 1 else None
    return max(share.values())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("special", [True, False])
def test_every_score_and_its_chance_equal_plain_loops(causal, special):
    scene = text_scene(IDS, causal, SENTENCE, special)
    pattern = random_pattern(np.random.default_rng(0), 2, scene.seen)
    uniform = (scene.seen / scene.seen.sum(1, keepdims=True))[None]
    values, chance = row_scores(pattern, scene), chance_rows(scene)
    for place, score in enumerate(scores_of(scene)):
        for i in range(len(IDS)):
            got = [*values[place, :, i], chance[place, i]]
            want = [by_hand(w, scene, score.name, i) for w in (*pattern, *uniform)]
            want = [np.nan if w is None else w for w in want]
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6, err_msg=f"{score.name}, row {i}")


def test_worked_example():
    # "[CLS] a b a [SEP]", row 3 (the second a) puts 0.5 on b, which follows the first a, 0.3 on that a, 0.2 on [SEP]
    scene = text_scene([CLS, 1, 2, 1, SEP])
    pattern = np.full((1, 5, 5), 0.2, np.float32)
    pattern[0, 3] = [0, 0.3, 0.5, 0, 0.2]
    row = named(row_scores(pattern, scene)[:, 0, 3], scene)
    assert row["previous_token"] == pytest.approx(0.5)
    assert row["next_token"] == pytest.approx(0.2)
    assert row["duplicate_token"] == pytest.approx(0.3)
    assert row["induction"] == pytest.approx(0.5)
    assert row["sep"] == pytest.approx(0.2)
    assert row["mean_lag"] == pytest.approx(0.3 * 2 + 0.5 * 1 + 0.2 * 1)
    assert row["entropy"] == pytest.approx(-(0.3 * np.log(0.3) + 0.5 * np.log(0.5) + 0.2 * np.log(0.2)))
    assert np.isnan(row["comma"])
    assert named(chance_rows(scene)[:, 3], scene)["induction"] == pytest.approx(1 / 5)


def test_random_patterns_score_their_chance_within_a_simultaneous_bound():
    rng = np.random.default_rng(1)
    ids = np.r_[CLS, rng.integers(1, 20, 60), PERIOD, rng.integers(1, 20, 60), COMMA, SEP]
    scene = text_scene(ids, causal=True, sentence=np.arange(len(ids)) // 20)
    heads = 200
    values = row_scores(random_pattern(rng, heads, scene.seen), scene)
    chance = chance_rows(scene)
    tested = 0
    for place, score in enumerate(scores_of(scene)):
        defined = ~np.isnan(chance[place])
        if score.unit not in ("mass", "tokens") or not defined.any():
            continue
        means = values[place][:, defined].mean(1)  # (head,), each an independent draw
        deviation = abs(means.mean() - chance[place, defined].mean()) / (means.std(ddof=1) / np.sqrt(heads) + 1e-9)
        assert deviation < 3.2, score.name  # two-sided 5 % over 13 statistics: 2.9, and a margin for the t distribution
        tested += 1
    assert tested == 13


@pytest.mark.parametrize(
    "name, targets",
    [
        ("previous_token", lambda i, j, ids: j == i - 1),
        ("next_token", lambda i, j, ids: j == i + 1),
        ("self", lambda i, j, ids: j == i),
        ("first_token", lambda i, j, ids: j == 0),
        ("sep", lambda i, j, ids: ids[j] == SEP),
        ("period", lambda i, j, ids: ids[j] == PERIOD),
        ("duplicate_token", lambda i, j, ids: (ids[i] == ids[j]) & (i != j)),
        ("same_sentence", lambda i, j, ids: (np.array(SENTENCE)[i] == np.array(SENTENCE)[j]) & (ids[j] < CLS)),
    ],
)
def test_a_planted_head_has_the_top_score_and_no_other_has(name, targets):
    scene = text_scene(IDS, sentence=SENTENCE)
    i, j = np.indices(scene.seen.shape)
    planted = onto(targets(i, j, np.array(IDS)), scene.seen)
    others = random_pattern(np.random.default_rng(3), 20, scene.seen, concentration=1)
    rows = named(row_scores(np.concatenate([others, planted[None]]), scene), scene)[name]
    found = np.nanmean(rows, axis=1)  # (head,)
    assert found.argmax() == 20
    assert found[20] > 0.9 > found[:20].max()


def test_left_out_tokens_are_as_good_as_deleted():
    whole, cut = text_scene(IDS, sentence=SENTENCE, special=False), text_scene(IDS[1:-1], sentence=SENTENCE[1:-1])
    pattern = random_pattern(np.random.default_rng(4), 3, whole.seen)
    inner = pattern[:, 1:-1, 1:-1]
    hidden = row_scores(pattern, whole)[:, :, 1:-1]
    deleted = row_scores(inner / inner.sum(-1, keepdims=True), cut)
    same = [k for k, score in enumerate(scores_of(whole)) if score.name != "first_token"]  # position 0 was [CLS]
    np.testing.assert_allclose(hidden[same], deleted[same], rtol=1e-5)
    assert np.isnan(row_scores(pattern, whole)[:, :, [0, -1]]).all()


def test_blocks_of_rows_change_nothing(monkeypatch):
    scene, blocks = (text_scene(IDS, True, SENTENCE) for _ in range(2))
    pattern = random_pattern(np.random.default_rng(5), 2, scene.seen)
    whole = row_scores(pattern, scene)
    for module in (scores, __import__("lib.heads.scene", fromlist=["scene"])):
        monkeypatch.setattr(module, "MASK_CELLS", 30)
    np.testing.assert_array_equal(row_scores(pattern, blocks), whole)


def test_rows_of_nan_or_nothing_are_undefined_and_leave_the_others_alone():
    scene = text_scene(IDS)
    pattern = random_pattern(np.random.default_rng(6), 2, scene.seen)
    clean = row_scores(pattern, scene)
    pattern[0, 4], pattern[1, 7] = np.nan, 0
    broken = row_scores(pattern, scene)
    assert np.isnan(broken[:, 0, 4]).all() and np.isnan(broken[:, 1, 7]).all()
    broken[:, 0, 4], broken[:, 1, 7] = clean[:, 0, 4], clean[:, 1, 7]
    np.testing.assert_array_equal(broken, clean)


def test_degenerate_documents():
    one = text_scene([5])
    row = named(row_scores(np.ones((1, 1, 1), np.float32), one)[:, 0, 0], one)
    assert row["self"] == 1 and row["entropy"] == 0 and row["mean_lag"] == 0
    assert np.isnan(row["previous_token"]) and np.isnan(row["entropy_share"])
    alike = text_scene([5] * 6, causal=True)
    rows = named(row_scores(alike.seen[None] / alike.seen.sum(1, keepdims=True), alike)[:, 0], alike)
    np.testing.assert_allclose(rows["duplicate_token"][1:], [i / (i + 1) for i in range(1, 6)], rtol=1e-6)
    only_special = text_scene([CLS, SEP])
    rows = named(row_scores(np.full((1, 2, 2), 0.5, np.float32), only_special)[:, 0], only_special)
    assert np.isnan(rows["duplicate_token"]).all() and np.isnan(rows["same_sentence"]).all()
    np.testing.assert_allclose(rows["special"], 1)
    none_left = text_scene([CLS, SEP], special=False)
    assert np.isnan(row_scores(np.full((1, 2, 2), 0.5, np.float32), none_left)).all()


def test_chance_counts_only_the_keys_of_a_window():
    scene = text_scene(list(range(1, 21)), causal=True, window=4)
    chance = named(chance_rows(scene), scene)
    np.testing.assert_allclose(chance["previous_token"][3:], 1 / 4)
    assert np.isnan(chance["first_token"][4:]).all()


def test_patches():
    # 2 × 3 patches behind [CLS]: hues red red blue / blue grey red; brightness 0 .05 .5 / .5 .5 0
    hue = np.array([0, 0.98, 2 / 3, 2 / 3, 0, 0.02])
    scene = grid_scene(2, 3, hue, np.array([0, 0.05, 0.5, 0.5, 0.5, 0]), np.array([1, 1, 1, 1, 0, 1], bool))
    pattern = np.zeros((1, 7, 7), np.float32)
    pattern[0, :, 0] = 1
    pattern[0, 1] = [0.1, 0, 0.2, 0.1, 0.3, 0.1, 0.2]  # of the first patch: right, two right, below, …
    row = named(row_scores(pattern, scene)[:, 0, 1], scene)
    assert row["cls"] == pytest.approx(0.1)
    assert row["right"] == pytest.approx(0.2) and row["below"] == pytest.approx(0.3)
    assert np.isnan(row["left"]) and np.isnan(row["above"]) and np.isnan(row["registers"])
    assert row["same_row"] == pytest.approx(0.3) and row["same_column"] == pytest.approx(0.3)
    assert row["same_hue"] == pytest.approx(0.2 + 0.2)
    assert row["same_brightness"] == pytest.approx(0.2 + 0.2)
    assert row["grid_distance"] == pytest.approx((0.2 * 1 + 0.1 * 2 + 0.3 * 1 + 0.1 * 2 + 0.2 * 3) / 0.9)
    chance = named(chance_rows(scene)[:, 1], scene)
    assert chance["same_row"] == pytest.approx(2 / 7) and chance["grid_distance"] == pytest.approx(9 / 6)
    assert np.isnan(row_scores(pattern, scene)[:, 0, 2][[s.name for s in scores_of(scene)].index("grid_distance")])


def test_a_pattern_of_another_document_is_refused():
    with pytest.raises(WrongPattern, match=r"\(…, 12, 12\).*\(2, 5, 5\)"):
        row_scores(np.ones((2, 5, 5), np.float32), text_scene(IDS))

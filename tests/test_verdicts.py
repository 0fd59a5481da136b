import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from lib import verdicts
from lib.claims import CLAIMS, UnknownClaim
from lib.stats import bootstrap_mean
from lib.ui.verdicts import measured_html
from lib.verdicts import all_of, decide, table, verdict

WHERE = {"model": "a model", "corpus": "a corpus", "documents": 40}


@pytest.mark.parametrize(
    ("interval", "side", "met", "mark"),
    [
        ((0.2, 0.4), "above", True, "reproduced"),
        ((0.2, 0.4), "above", False, "undecided"),
        ((-0.1, 0.7), "above", True, "undecided"),
        ((0.2, 0.4), "below", True, "contradicted"),
        ((0.2, 0.4), "below", False, "contradicted"),
        ((0.2, 0.4), "either", True, "reproduced"),
        ((-0.4, 0.8), "either", True, "undecided"),
    ],
)
def test_the_three_marks(interval, side, met, mark):
    assert decide(sum(interval) / 2, interval, 0.0, side, met).mark == mark


def test_mirrored_numbers_get_mirrored_marks():
    for low, high in [(0.1, 0.5), (-0.2, 0.5), (-0.5, -0.1)]:
        above = decide((low + high) / 2, (low, high), 0.0, "above")
        below = decide(-(low + high) / 2, (-high, -low), 0.0, "below")
        assert above.mark == below.mark


def test_every_null_must_be_excluded_and_the_first_can_contradict():
    nulls = {"uniform row": 1.0, "untrained twin": (1.5, 2.5)}
    assert decide(3.0, (2.6, 3.4), nulls, "above").mark == "reproduced"
    caught = decide(2.6, (2.2, 3.0), nulls, "above")
    assert caught.mark == "undecided"
    assert "untrained twin" in caught.reason
    assert decide(0.5, (0.3, 0.7), nulls, "above").mark == "contradicted"
    # below the twin but above chance: the twin alone does not contradict
    assert decide(1.2, (1.1, 1.3), nulls, "above").mark == "undecided"


def test_a_null_that_was_not_measured_leaves_it_open():
    decision = decide(3.0, (2.0, 4.0), {"uniform row": 1.0, "untrained twin": math.nan}, "above")
    assert decision.mark == "undecided"
    assert "untrained twin" in decision.remedy


def test_no_interval_or_no_number_is_undecided():
    assert decide(3.0, (math.nan, math.nan), 1.0, "above").mark == "undecided"
    assert decide(math.nan, (0.0, 1.0), 1.0, "above").mark == "undecided"


def test_impossible_is_contradicted_whatever_the_numbers():
    decision = decide(149.0, (148.0, 150.0), 135.0, "above", impossible="149 is the limit")
    assert decision.mark == "contradicted"
    assert "149 is the limit" in decision.reason


def test_beyond_a_later_null_is_not_called_unseparated():
    decision = decide(1.2, (1.1, 1.3), {"uniform row": 1.0, "untrained twin": (1.5, 2.5)}, "above", documents=20)
    assert "lies below untrained twin (1.5 … 2.5)" in decision.reason
    assert "About" not in decision.remedy


def test_the_mean_of_equal_numbers_is_inside_its_interval():
    for count in range(5, 40):
        for value in (0.1, 0.3, 1 / 3, 0.7, 12.3, -1.1):
            found = bootstrap_mean(np.full(count, value), draws=50)
            interval = (float(found.low), float(found.high))
            assert decide(float(found.estimate), interval, 100.0, "below", documents=count).mark == "reproduced"


def test_documents_needed_by_hand():
    # half-width 0.2 must shrink to the gap of 0.1: (0.2/0.1)² = 4 times the documents
    decision = decide(0.1, (-0.1, 0.3), 0.0, "above", documents=10)
    assert "About 40 documents" in decision.remedy
    assert "may not" in decide(0.0, (-0.1, 0.1), 0.0, "above", documents=10).remedy


def test_a_handful_of_documents_is_no_evidence():
    strong = (3.0, (2.9, 3.1), {"chance": 1.0}, True)
    few = verdict("H-separators", *strong, model="a model", corpus="a corpus", documents=4)
    assert few.mark == "undecided"
    assert "4 documents are too few" in few.reason
    assert verdict("H-separators", *strong, model="a model", corpus="a corpus", documents=5).mark == "reproduced"
    seeds = verdict("P-gating-loss", -0.1, (-0.12, -0.08), {"no change": 0.0}, **{**WHERE, "documents": 3})
    assert seeds.mark == "reproduced"  # three training seeds, as the table says


def test_an_estimate_within_its_null_is_not_a_matter_of_documents():
    assert "will not decide" in decide(0.1, (0.0, 0.2), (-0.8, 0.8), "above", documents=50).remedy


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1.0, (0.0, 2.0), 0.0, "left"), "above"),
        ((3.0, (0.0, 2.0), 0.0, "above"), "holds its estimate"),
        ((1.0, (0.0, 2.0), {}, "above"), "at least one null"),
    ],
)
def test_wrong_input_says_what_to_do(arguments, words):
    with pytest.raises(verdicts.VerdictError, match=words):
        decide(*arguments)


def test_what_was_not_measured_needs_no_null_and_shows_none():
    nan = float("nan")
    made = verdict("H-thirty", nan, (nan, nan), {}, **WHERE)
    assert made.mark == "undecided" and verdicts.table([made])["null"].tolist() == [""]
    assert "null" not in measured_html(made, marked=False)
    assert "null (grey): no change 0" in measured_html(replace(made, null={"no change": 0.0}), marked=False)


def test_the_table_holds_every_paper_and_no_key_twice():
    assert {c.paper for c in CLAIMS} == {"H", "P", "V"}
    assert len({c.key for c in CLAIMS}) == len(CLAIMS)
    assert [sum(c.paper == paper for c in CLAIMS) for paper in "HPV"] == [5, 10, 7]
    assert all(c.quantity in c.rule and c.threshold in c.rule for c in CLAIMS)


def test_a_verdict_keeps_what_it_rests_on():
    made = verdict("H-thirty", -0.25, (-0.35, -0.1), {"no change": 0.0}, True, **WHERE)
    assert (made.mark, made.paper, made.documents) == ("reproduced", "H", 40)
    assert made.null == {"no change": 0.0}
    with pytest.raises(FrozenInstanceError):
        made.mark = "contradicted"


def test_a_part_states_its_own_rule():
    part = verdict("H-range", 0.8, (0.5, 0.9), {"permuted": 0.0}, side="above", quantity="lift", **WHERE)
    assert part.mark == "reproduced"
    assert part.rule.startswith("lift: 95 % interval over documents above")


def test_claims_that_are_settled_by_arithmetic():
    assert verdict("P-rank-early", 120, (118, 122), {"flat": 135}, **WHERE).mark == "contradicted"
    assert "Theorem" in verdict("P-optimal", 0.2, (0.1, 0.3), {"POD": 0.0}, **WHERE).reason


def test_unknown_claims_list_the_known():
    with pytest.raises(UnknownClaim, match="H-anchors"):
        verdict("H-nothing", 0, (0, 0), {"null": 0.0}, **WHERE)


def test_all_parts_are_needed():
    good = verdict("H-range", -0.8, (-0.9, -0.7), {"permuted": 0.0}, **WHERE)
    open_ = verdict("H-range", -0.1, (-0.9, 0.7), {"permuted": 0.0}, **WHERE)
    bad = verdict("H-range", 0.8, (0.7, 0.9), {"permuted": 0.0}, **WHERE)
    assert all_of([good, good]).mark == "reproduced"
    assert all_of([good, open_]).mark == "undecided"
    assert all_of([good, open_, bad]).mark == "contradicted"
    assert all_of([good, open_, bad]).number == bad.number
    assert all_of([good, bad]).parts == (good, bad)


def test_the_table_has_a_row_a_verdict():
    made = verdict("H-thirty", -0.25, (-0.35, -0.1), {"no change": 0.0, "twin": (-0.05, 0.02)}, **WHERE)
    frame = table([made, made])
    assert len(frame) == 2
    assert frame["null"][0] == "no change 0; twin −0.05 … 0.02"
    unmeasured = verdict("H-thirty", -0.25, (-0.35, -0.1), {"twin": (math.nan, math.nan)}, **WHERE)
    assert table([unmeasured])["null"][0] == "twin not measured"
    assert (frame["low"][0], frame["high"][0]) == (-0.35, -0.1)

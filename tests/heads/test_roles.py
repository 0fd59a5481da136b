import numpy as np
import pandas as pd
import pytest

from lib.heads.roles import NO_SIGNAL, NONE_CLEAR, RULES, rule_of, with_roles


def heads(**scores):
    """A table of one head whose every score is at chance, except those given as (score, chance, low, high)."""
    row = {"z_norm": 1.0, "confidence": 0.1, "confidence_chance": 0.01}
    for rule in RULES:
        chance = 20.0 if rule.nearness else 1.0 if rule.score == "entropy_share" else 0.01
        score = 0.5 if rule.score == "entropy_share" else chance
        row |= {rule.score: score, f"{rule.score}_chance": chance} | {
            f"{rule.score}_{side}": score for side in ("low", "high")
        }
    for name, values in scores.items():
        row |= dict(zip((name, f"{name}_chance", f"{name}_low", f"{name}_high"), values, strict=True))
    return pd.DataFrame([row])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.role)
def test_each_rule_names_its_head_and_not_one_that_barely_misses(rule):
    if rule.nearness:
        enough, little = (2.0, 20.0, 1.5, 2.5), (19.0, 20.0, 18.0, 19.5)
    elif rule.score == "entropy_share":
        enough, little = (0.95, 1.0, 0.93, 0.97), (0.85, 1.0, 0.8, 0.89)
    else:
        enough, little = (0.8, 0.01, 0.7, 0.9), (0.2, 0.01, 0.15, 0.25)
    assert with_roles(heads(**{rule.score: enough}), 20).role[0] == rule.role
    assert with_roles(heads(**{rule.score: little}), 20).role[0] == NONE_CLEAR


def test_an_interval_that_reaches_chance_is_not_enough():
    assert with_roles(heads(previous_token=(0.8, 0.01, 0.0, 1.0)), 20).role[0] == NONE_CLEAR


def test_a_high_mass_on_what_is_everywhere_is_not_a_role():
    table = heads(same_sentence=(0.9, 0.8, 0.85, 0.95), period=(0.4, 0.2, 0.35, 0.45))
    assert with_roles(table, 20).role[0] == NONE_CLEAR


def test_the_stronger_of_one_tier_comes_first_and_the_other_is_told():
    table = with_roles(heads(self=(0.3, 0.01, 0.25, 0.35), next_token=(0.6, 0.01, 0.5, 0.7)), 20)
    assert (table.role[0], table.also[0]) == ("next token", "itself")
    assert table.role_strength[0] == pytest.approx((0.6 - 0.01) / 0.99)


def test_induction_comes_before_the_sink_it_rests_on():
    table = with_roles(heads(first_token=(0.9, 0.01, 0.8, 1), probe_induction=(0.5, 0.02, 0.4, 0.6)), 20)
    assert (table.role[0], table.also[0]) == ("induction", "position 0 sink")


def test_cls_at_position_0_is_called_by_its_name():
    same = (0.5, 0.01, 0.4, 0.6)
    assert with_roles(heads(first_token=same, cls=same), 20).role[0] == "delimiter: [CLS]"


def test_few_documents_leave_a_question_mark_except_on_the_probe():
    alone = with_roles(heads(self=(0.8, 0.01, np.nan, np.nan)), documents=1)
    assert alone.role[0] == "itself?" and rule_of("itself?").score == "self" and rule_of(NONE_CLEAR) is None
    assert with_roles(heads(self=(0.8, 0.01, 0.7, 0.9)), documents=4).role[0] == "itself?"
    assert with_roles(heads(self=(0.8, 0.01, 0.7, 0.9)), documents=5).role[0] == "itself"
    assert with_roles(heads(probe_induction=(0.8, 0.02, 0.7, 0.9)), documents=1).role[0] == "induction"


def test_a_head_that_writes_nothing_has_no_role_whatever_its_pattern():
    table = heads(self=(0.8, 0.01, 0.7, 0.9)).assign(z_norm=0.0)
    assert with_roles(table, 20).role[0] == NO_SIGNAL
    assert np.isnan(with_roles(table, 20).role_strength[0])
    assert with_roles(heads().assign(confidence=np.nan), 20).role[0] == NO_SIGNAL
